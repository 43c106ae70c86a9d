"""Types of arguments, for annotations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from ._given_times import Sampling

# A recording or a collection: an array or a table, or a list of them of any lengths.
Sequences: TypeAlias = ArrayLike | Sequence[ArrayLike]
# A query, or several, which may have names; of these each may be a dictionary of its channels.
Query: TypeAlias = ArrayLike | Mapping[Any, ArrayLike]
Queries: TypeAlias = ArrayLike | Sequence[Query] | Mapping[Any, Query]
# Times of samples, numbers or datetimes; of several series a list.
Times: TypeAlias = ArrayLike | Sampling | Sequence[ArrayLike | None] | Mapping[Any, ArrayLike]
# A distance: its name, a metric object or a function of two series.
MetricLike: TypeAlias = str | Callable[..., Any]
