"""Calls that know nothing of each other, in jobs, and bars that show how far long work has come."""

from contextlib import contextmanager

from joblib import Parallel

from .validation import check_jobs

MANY = 10_000  # steps from which on a bar writes thousands and millions


def in_jobs(calls, n_jobs, verbose, name, unit, *, shared=True):
    """The results of delayed calls, in their order; a bar counts them unless `verbose` is 0.

    Calls that fill arrays of the caller's, `shared` ones, need threads; others run where joblib is told to.
    """
    options = {"n_jobs": check_jobs(n_jobs), "prefer": "threads", "require": "sharedmem" if shared else None}
    if len(calls) == 1:  # joblib takes longer than a short search
        found = (call(*arguments, **keywords) for call, arguments, keywords in calls)
    elif verbose:
        found = _one_by_one(options)(calls)
    else:
        return Parallel(**options)(calls)
    results = []
    with progress(len(calls), verbose, name, unit) as count:
        for result in found:
            results.append(result)
            count()
    return results


def _one_by_one(options):
    try:
        return Parallel(**options, return_as="generator")
    except ValueError:  # joblib's "multiprocessing" gives all results at once
        return Parallel(**options)


@contextmanager
def progress(total, verbose, name, unit):
    """A function that counts steps, with a word about them; a bar on stderr shows both unless `verbose` is 0.

    A bar within another one is taken away at its end. `total` is None where nobody knows it.
    """
    if not verbose:
        yield _nothing
        return
    from tqdm.auto import tqdm

    scale = total is not None and total >= MANY
    with tqdm(total=total, desc=name, unit=unit, unit_scale=scale, leave=None) as bar:

        def count(steps=1, word=""):
            bar.update(steps)
            if word:
                bar.set_postfix_str(word)

        yield count


def _nothing(steps=1, word=""):
    """What counts where nobody looks."""
