"""Independent calls in jobs, and progress bars for long work.

Threads belong to an executor of this module; processes and clusters are joblib's. Within such a thread, calls in jobs
run one after the other in that thread.
"""

import os
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from numbers import Integral

import numpy as np

from ._conversion import shown

MANY = 10_000  # number of steps from which a bar abbreviates thousands and millions
KEPT = 4  # most idle executors, with different numbers of threads
AT_ONCE = 2  # calls per job that are started before their results are taken
MOST_THREADS = max(256, 2 * (os.cpu_count() or 1))
_kept = {}  # idle executors, by their numbers of threads; the one used last is last
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _kept.clear())  # the child has none of their threads


def check_jobs(n_jobs):
    """Return a valid number of jobs as joblib reads it, limited to a useful number."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"The 'n_jobs' parameter must be None or an integer other than 0. Got {shown(n_jobs)}.")
    return max(min(int(n_jobs), MOST_THREADS), -(2**31))


def delayed(call):
    """Return a function that returns the call and what it is given, to be made in a job."""
    return lambda *given, **more: (call, given, more)


def in_jobs(calls, n_jobs, verbose, name, unit):
    """Return the results of delayed calls in order; a progress bar counts them unless `verbose` is 0."""
    return list(each_in_jobs(calls, len(calls), n_jobs, verbose, name, unit))


def each_in_jobs(calls, total, n_jobs, verbose, name, unit):
    """Yield the results of delayed calls in order, so that results and arguments need not all be in memory.

    Calls return their results and do not change the caller's objects, so they can run wherever joblib is configured to
    run them: in threads, or in processes of this or other machines.
    """
    if total <= 1 and not verbose:  # a single call needs no job
        yield from (call(*arguments, **keywords) for call, arguments, keywords in calls)
        return
    with progress(total, verbose, name, unit) as count:
        for result in _results(calls, total, n_jobs):
            yield result
            count()


def _results(calls, total, n_jobs):
    in_threads = jobs_are_threads()
    jobs = count_jobs(n_jobs) if in_threads else None
    if jobs == 1 or total <= 1:
        return (call(*arguments, **keywords) for call, arguments, keywords in calls)
    if in_threads:
        return _in_threads(calls, min(jobs, total))
    from joblib import Parallel

    # Large arrays are sent to other local processes as files, opened such that writing to them changes nothing.
    options = {"n_jobs": check_jobs(n_jobs), "prefer": "threads", "mmap_mode": "c"}
    try:
        parallel = Parallel(**options, return_as="generator")
    except ValueError:  # joblib's "multiprocessing" and ray do not support generators
        parallel = Parallel(**options)
    _hear_of_losses(parallel._backend)
    return parallel((_called, (call, [_is_plain(a) for a in given], *given), more) for call, given, more in calls)


def jobs_are_threads():
    """Return whether jobs are threads, so that calls may change shared objects."""
    from joblib.parallel import ThreadingBackend, get_active_backend

    return type(get_active_backend(prefer="threads")[0]) is ThreadingBackend


@contextmanager
def shared(jobs):
    """Provide `for_each(function, items)`, which returns a function's results for all items from `jobs` threads.

    The function may change shared objects. The caller's thread takes part, because a short task may be done before a
    waiting thread would wake up.
    """
    if jobs == 1:
        yield one_by_one
        return
    with _threads(jobs - 1) as submit:
        yield partial(_among, submit, jobs - 1)


def one_by_one(function, items):
    """Return a function's results for all items, computed one after the other."""
    return [function(item) for item in items]


def _among(submit, others, function, items):
    """Return a function's results for all items, computed by the caller's thread and `others` more."""
    left, out = enumerate(items), [None] * len(items)

    def work():
        for k, item in left:  # an iterator that all threads share
            out[k] = function(item)

    begun = [submit(work) for _ in range(min(others, len(items) - 1))]
    work()
    for one in begun:
        one.result()
    return out


def _in_threads(calls, jobs):
    """Yield the results of calls in `jobs` threads; some calls are started ahead.

    joblib is not used, because it polls its threads every 10 ms, longer than many calls take.
    """
    begun = deque()
    with _threads(jobs) as submit:
        for call, given, more in calls:
            begun.append(submit(call, *given, **more))
            if len(begun) == AT_ONCE * jobs:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


@contextmanager
def _threads(jobs):
    """Provide a function that runs calls in `jobs` threads; an error or an interrupt abandons running calls.

    Idle threads are kept for the next call together with their memory: starting new ones takes a twentieth to a tenth
    of a call of 30 ms.
    """
    process = os.getpid()
    executor, ended = _kept.pop(jobs, None) or _executor(jobs)
    try:
        yield executor.submit
    except BaseException:
        ended.set()  # because at its end, Python waits for running calls
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    if process == os.getpid():  # not in a forked child
        _kept[jobs] = executor, ended
    for least in [*_kept][:-KEPT]:
        _kept.pop(least, None)  # this ends its threads


def _executor(jobs):
    """Return an executor, and an event that tells its threads that their results are not needed any more."""
    from joblib.parallel import ThreadingBackend, parallel_config

    ended = threading.Event()

    def begin():
        threading.current_thread().unwanted = (ended,)
        parallel_config(ThreadingBackend(nesting_level=1), n_jobs=1)

    return ThreadPoolExecutor(jobs, initializer=begin), ended


def _hear_of_losses(backend):
    """Tell joblib about calls that dask gives up; otherwise it waits for them forever (up to joblib 1.6)."""
    name = "submit" if hasattr(backend, "submit") else "apply_async"  # the name before joblib 1.5
    if type(backend).__name__ != "DaskDistributedBackend" or name in vars(backend):
        return
    submit = getattr(backend, name)

    def heard(batch, callback=None):
        def tell(future):
            if future.exception() is not None:
                callback(future.exception())

        future = submit(batch, callback)
        future.add_done_callback(tell)
        return future

    setattr(backend, name, heard)


def _called(call, plain, *given, **more):
    """Return the result of a call whose arrays are made plain and writable again, as the caller had them."""
    return call(*[as_plain(a) if known else a for a, known in zip(given, plain, strict=True)], **more)


def _is_plain(a):
    """Return whether an argument is a writable array in memory, or a list of such arrays."""
    if type(a) is list:
        return bool(a) and all(map(_is_plain, a))
    return type(a) is np.ndarray and a.flags.writeable


def as_plain(a):
    """Return a plain, writable array if another process made it a memory map or write-protected."""
    if type(a) is list:
        return [as_plain(v) for v in a]
    a = np.asarray(a)
    return a if a.flags.writeable else a.copy()


def count_jobs(n_jobs):
    """Return the number of calls that run at once, by default in threads.

    In a thread that runs a job itself the number is 1.
    """
    from joblib.parallel import get_active_backend

    backend, usual = get_active_backend(prefer="threads")
    n_jobs = check_jobs(n_jobs)
    alone = n_jobs == 1 or hasattr(threading.current_thread(), "unwanted")
    return 1 if alone else backend.effective_n_jobs(usual if n_jobs is None else n_jobs)


def parts_for_jobs(items, n_jobs):
    """Return items in non-empty parts, as many as there are jobs."""
    return [part for part in np.array_split(items, count_jobs(n_jobs)) if len(part)]


@contextmanager
def progress(total, verbose, name, unit):
    """Provide a function that counts steps, with a word about them, and shows both in a bar unless `verbose` is 0.

    A bar inside another one is removed at its end. `total` is None if it is unknown; such a bar is removed if nothing
    was counted.
    """
    if not verbose or sys.stderr is None:  # Python may have no console
        yield nothing
        return
    from tqdm.auto import tqdm

    scale = total is not None and total >= MANY
    with tqdm(total=total, desc=name, unit=unit, unit_scale=scale, leave=None) as bar:
        lock = threading.Lock()  # because threads count steps, and tqdm has no lock

        def count(steps=1, word=""):
            with lock:
                bar.update(steps)
                if word:
                    bar.set_postfix_str(word)

        yield count
        if total is None and not bar.n:  # remove a bar that has counted nothing
            bar.leave = False


def nothing(steps=1, word=""):
    """Ignore counted steps, where no progress is shown."""
