"""Calls that know nothing of each other, in threads, and a bar that shows how far they have come."""

from joblib import Parallel


def in_threads(tasks, n_jobs, verbose, name, unit):
    """The results of delayed calls, in their order; above 0 `verbose` shows a bar of this name on stderr."""
    options = {"n_jobs": n_jobs, "prefer": "threads", "require": "sharedmem"}
    if not verbose:
        return Parallel(**options)(tasks)
    return list(progress(Parallel(**options, return_as="generator")(tasks), len(tasks), verbose, name, unit))


def progress(items, total, verbose, name, unit):
    """The items in turn; a bar counts them unless `verbose` is 0."""
    if not verbose:
        return items
    from tqdm.auto import tqdm

    return tqdm(items, total=total, desc=name, unit=unit)
