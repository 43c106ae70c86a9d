"""How long a recording is."""

from ...utils._given_times import given_times
from ...utils._sampling import interval
from ...utils.validation import as_times
from .._streaming.chunked_sequence import is_long

SAMPLE = 2**16  # times that tell the usual step


def recorded_hours(n, times):
    """Hours that n samples with valid times last: their number times the usual step, which no hole changes.

    Numbers count as seconds, and so do samples without times.
    """
    step = None
    if times is not None:
        some = given_times(times[:SAMPLE], "times") if is_long(times) else times[:SAMPLE]
        step = interval(as_times(some, len(some), "times"))
    return n * (step or 1.0) / 3600.0
