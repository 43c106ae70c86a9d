"""Calls that know nothing of each other, in jobs, and bars that show how far long work has come.

Threads are those of an executor, processes and clusters joblib's. Calls in jobs within such a thread are made by it.
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

MANY = 10_000  # steps from which on a bar writes thousands and millions
KEPT = 4  # executors, of different numbers of threads
AT_ONCE = 2  # calls for each job that are begun and whose results are not taken
MOST_THREADS = max(256, 2 * (os.cpu_count() or 1))
_kept = {}  # executors that nobody uses, by their numbers of threads, the last one used last
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _kept.clear())  # another process has none of their threads


def check_jobs(n_jobs):
    """Return a number of threads as joblib takes it, and no more than do any good."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"The 'n_jobs' parameter must be None or an integer other than 0. Got {shown(n_jobs)}.")
    return max(min(int(n_jobs), MOST_THREADS), -(2**31))


def delayed(call):
    """Return a function that returns the call and what it is given, to be made in a job."""
    return lambda *given, **more: (call, given, more)


def in_jobs(calls, n_jobs, verbose, name, unit):
    """Return the results of delayed calls, in their order; a bar counts them unless `verbose` is 0."""
    return list(each_in_jobs(calls, len(calls), n_jobs, verbose, name, unit))


def each_in_jobs(calls, total, n_jobs, verbose, name, unit):
    """Yield the same one by one, so that neither all results need be held nor what all of the calls are given.

    Calls return what they find and change nothing of the caller's, so they run where joblib is told to: in threads, or
    in processes of this machine or of others.
    """
    if total <= 1 and not verbose:  # which takes no jobs
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

    # Large arrays are files to other processes of this machine, which may write to what they read of them.
    options = {"n_jobs": check_jobs(n_jobs), "prefer": "threads", "mmap_mode": "c"}
    try:
        parallel = Parallel(**options, return_as="generator")
    except ValueError:  # joblib's "multiprocessing" and ray's give all results at once
        parallel = Parallel(**options)
    _hear_of_losses(parallel._backend)
    return parallel((_called, (call, [_is_plain(a) for a in given], *given), more) for call, given, more in calls)


def jobs_are_threads():
    """Return whether calls in jobs may change what they share."""
    from joblib.parallel import ThreadingBackend, get_active_backend

    return type(get_active_backend(prefer="threads")[0]) is ThreadingBackend


@contextmanager
def shared(jobs):
    """A function `for_each(function, items)`, whose results are those of each item, in `jobs` threads.

    The function may change what is shared. The caller's thread is one of them, for what is to be done may take less
    time than one that waits for the others needs to hear of it.
    """
    if jobs == 1:
        yield one_by_one
        return
    with _threads(jobs - 1) as submit:
        yield partial(_among, submit, jobs - 1)


def one_by_one(function, items):
    """Return the results of a function of each item."""
    return [function(item) for item in items]


def _among(submit, others, function, items):
    """Return the results of a function of each item, computed by the caller's thread and `others` more."""
    left, out = enumerate(items), [None] * len(items)

    def work():
        for k, item in left:  # of which each thread takes the next
            out[k] = function(item)

    begun = [submit(work) for _ in range(min(others, len(items) - 1))]
    work()
    for one in begun:
        one.result()
    return out


def _in_threads(calls, jobs):
    """Yield the results of calls in `jobs` threads, some of which are started ahead.

    joblib looks every 10 ms whether its threads have ended, which is longer than many a call.
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
    """A function that has calls made by `jobs` threads; after an error or an interrupt they are not waited for.

    Threads that have done all they were given are kept for the next call, for they hold memory that need not be asked
    of the system again: new ones take a twentieth to a tenth of a call of 30 ms.
    """
    process = os.getpid()
    executor, ended = _kept.pop(jobs, None) or _executor(jobs)
    try:
        yield executor.submit
    except BaseException:
        ended.set()  # for Python waits for calls that run at its end
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    if process == os.getpid():  # not one that was forked meanwhile
        _kept[jobs] = executor, ended
    for least in [*_kept][:-KEPT]:
        _kept.pop(least, None)  # its threads end


def _executor(jobs):
    """Return an executor, and an event for which its threads look: they hear by it that nobody waits for them."""
    ended = threading.Event()

    from joblib.parallel import ThreadingBackend, parallel_config

    def begin():
        threading.current_thread().unwanted = (ended,)
        parallel_config(ThreadingBackend(nesting_level=1), n_jobs=1)

    return ThreadPoolExecutor(jobs, initializer=begin), ended


def _hear_of_losses(backend):
    """Have joblib told of a call that dask gives up; it would wait for it forever (seen up to joblib 1.6)."""
    name = "submit" if hasattr(backend, "submit") else "apply_async"  # before joblib 1.5
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
    """Return the result of a call, whose arrays are what they were to the caller."""
    return call(*[as_plain(a) if known else a for a, known in zip(given, plain, strict=True)], **more)


def _is_plain(a):
    """Return whether an argument is an array in memory, or a list of some, that may be written to."""
    if type(a) is list:
        return bool(a) and all(map(_is_plain, a))
    return type(a) is np.ndarray and a.flags.writeable


def as_plain(a):
    """Return a plain, writable array, where another process made a memory map of it or write-protected it."""
    if type(a) is list:
        return [as_plain(v) for v in a]
    a = np.asarray(a)
    return a if a.flags.writeable else a.copy()


def count_jobs(n_jobs):
    """Return the number of calls that run at once, in threads if nothing else is set.

    Processes that others started may start some as well; a thread that makes a call for another one starts none.
    """
    from joblib.parallel import get_active_backend

    backend, usual = get_active_backend(prefer="threads")
    n_jobs = check_jobs(n_jobs)
    alone = n_jobs == 1 or hasattr(threading.current_thread(), "unwanted")
    return 1 if alone else backend.effective_n_jobs(usual if n_jobs is None else n_jobs)


def parts_for_jobs(items, n_jobs):
    """Return items in parts for a number of jobs, no part empty."""
    return [part for part in np.array_split(items, count_jobs(n_jobs)) if len(part)]


@contextmanager
def progress(total, verbose, name, unit):
    """A function that counts steps, with a word about them; a bar on stderr shows both unless `verbose` is 0.

    A bar within another one is taken away at its end. `total` is None where nobody knows it; if it is 0 then, the bar
    goes as well.
    """
    if not verbose or sys.stderr is None:  # as where Python has no console
        yield nothing
        return
    from tqdm.auto import tqdm

    scale = total is not None and total >= MANY
    with tqdm(total=total, desc=name, unit=unit, unit_scale=scale, leave=None) as bar:
        lock = threading.Lock()  # tqdm adds without one, and threads count what they have done

        def count(steps=1, word=""):
            with lock:
                bar.update(steps)
                if word:
                    bar.set_postfix_str(word)

        yield count
        if total is None and not bar.n:  # a bar of nothing says nothing
            bar.leave = False


def nothing(steps=1, word=""):
    """Ignore steps that are counted where no progress is shown."""
