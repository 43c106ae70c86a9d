"""scikit-learn's own checks over every estimator, unpatched.

The only checks that may fail presume that the rows of `X` have no order. To the estimators below, rows are the time
points of one series.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

from sktslib import QuerySearcher, QuerySegmenter
from sktslib.neighbors import (
    DistanceKernel,
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesTransformer,
    PairwiseDistances,
    QueryDistances,
    RadiusNeighborsTimeSeriesTransformer,
)

ESTIMATORS = [
    QuerySearcher(),
    QuerySegmenter(),
    DistanceKernel(),
    KNeighborsTimeSeriesClassifier(),
    KNeighborsTimeSeriesTransformer(),
    PairwiseDistances(),
    QueryDistances(),
    RadiusNeighborsTimeSeriesTransformer(),
]


def expected_failures(estimator):
    if not isinstance(estimator, (QuerySearcher, QuerySegmenter)):
        return {}
    return {
        "check_methods_subset_invariance": "rows are time points: what is found in a piece of a series depends on its "
        "neighbours, and a piece may be shorter than the query",
        "check_methods_sample_order_invariance": "rows are time points: in another order they are another series",
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)
