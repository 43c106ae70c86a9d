"""Parameters out of range: an error that names parameter, rule, value and way out, and nothing else."""

from functools import partial

import numpy as np
import pytest
from inputs import DTW_DICT, HUGE, Q, S, one, refused

from sktslib import QuerySearcher, QuerySegmenter, time_series_search
from sktslib import distances as d
from sktslib.search import Percentile, Subsequences
from sktslib.search.search_utils import start_sequences_index

pytestmark = pytest.mark.usefixtures("_nothing_is_printed")


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda v: d.dtw(Q, S, alpha=v), "'alpha' parameter of DTW"),
        (lambda v: d.DTW(alpha=v)(Q, S), "'alpha' parameter of DTW"),
        (lambda v: d.dtw(Q, S, window=v), "'window' parameter of DTW"),
        (lambda v: d.dtw(Q, S, window="sakoe-chiba", factor=v), "'factor' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dtw_type="psi-dtw", tolerance=v), "'tolerance' parameter of DTW"),
        (lambda v: d.dtw(Q, S, do_sign_norm=v), "'do_sign_norm' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dist=v), "'dist' parameter of DTW"),
        (lambda v: d.dtw(Q, S, dtw_type=v), "'dtw_type' parameter of DTW"),
        (lambda v: d.lcss(Q, S, v), "'eps' parameter of LCSS"),
        (lambda v: d.twed(Q, S, None, None, v), "'nu' parameter of TWED"),
        (lambda v: d.twed(Q, S, None, None, lmbda=v), "'lmbda' parameter of TWED"),
        (lambda v: d.twed(Q, S, None, None, p=v), "'p' parameter of TWED"),
        (lambda v: d.dlp(Q, Q, v), "'p' parameter"),
        (lambda v: d.minkowski_distance(Q, Q, p=v), "'p' parameter of Minkowski"),
        (lambda v: d.pearson_correlation(Q, Q, v), "'beta' parameter of PearsonCorrelation"),
        (lambda v: QuerySearcher(n_matches=v).fit(Q), "'n_matches' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(threshold=v).fit(Q), "'threshold' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(threshold=Percentile(v)).fit(Q), "'q' parameter of Percentile"),
        (lambda v: QuerySearcher(max_overlap=v).fit(Q), "'max_overlap' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(candidates=v).fit(Q), "'candidates' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(normalize=v).fit(Q), "'normalize' parameter of QuerySearcher"),
        (lambda v: QuerySearcher(metric_params=v).fit(Q), "'metric_params' parameter of QuerySearcher"),
        (lambda v: QuerySegmenter(background=v).fit(Q), "'background' parameter of QuerySegmenter"),
        (
            lambda v: time_series_search(DTW_DICT, Q, S, output=("percentile", v)),
            "'value' parameter of output=('percentile'",
        ),
        (lambda v: start_sequences_index(S, overlap=v), "'overlap' parameter"),
        (lambda v: d.get_metric("dtw", v), "'params' parameter"),
        (lambda v: d.CallableMetric(v)(Q, S), "'function' parameter of CallableMetric"),
        (lambda v: d.CallableMetric(one, v)(Q, S), "'parameters' parameter of CallableMetric"),
    ],
)
def test_parameters_out_of_range(call, parameter):
    for value in (np.nan, np.inf, -1, "1", HUGE):
        message = refused(partial(call, value), f"The {parameter}", "must", "Got ", error=(ValueError, TypeError))
        assert value is HUGE or repr(value) in message


@pytest.mark.parametrize("value", [-1, 0, "3", 2.5, np.nan])
def test_lengths_and_counts(value):
    for name, text in (("min_length", "a str among {'auto'}, "), ("max_length", "")):
        rule = f"{name!r} parameter of Subsequences must be {text}an int in the range [1, inf) or None. Got {value!r}"
        searcher = QuerySearcher(candidates=Subsequences(**{name: value}))
        refused(lambda searcher=searcher: searcher.fit(Q), rule, error=(ValueError, TypeError))
    rule = f"The 'lengths' parameter of QuerySegmenter must be an integer in the range [1, inf). Got {value!r}."
    for lengths in ((value, None), (None, value)):
        refused(lambda bounds=lengths: QuerySegmenter(lengths=bounds).fit(Q), rule, error=(ValueError, TypeError))
    refused(
        lambda: start_sequences_index(S, ("number", value)),
        "must be an integer",
        repr(value),
        error=(ValueError, TypeError),
    )


def test_a_rule_is_named_as_users_import_it():
    rule = "an instance of FalseDiscoveryRate, an instance of Conformal, an instance of Percentile"
    refused(lambda: QuerySearcher(threshold=-1).fit(Q), rule)


def test_numbers_beyond_64_bits_where_they_do_not_matter():
    want = QuerySearcher(n_matches=None).fit(Q).search(S)
    for searcher in (
        QuerySearcher(n_matches=2**62),
        QuerySearcher(n_matches=None, candidates=Subsequences(max_length=2**62)),
    ):
        np.testing.assert_array_equal(searcher.fit(Q).search(S).start, want.start)
    np.testing.assert_array_equal(
        QuerySegmenter(lengths=(None, 10**30)).fit(Q).segment(S).start, QuerySegmenter().fit(Q).segment(S).start
    )
    with pytest.warns(UserWarning, match="Nothing is found: the shortest of 'lengths' is 1000"):
        assert len(QuerySegmenter(lengths=(10**30, None)).fit(Q).segment(S)) == 0
    assert len(start_sequences_index(S, ("number", HUGE))) == 30
    assert len(start_sequences_index(S, ("number", 5), 1e300)) == 1
    assert d.dtw(Q, S, window="sakoe-chiba", factor=2**62) == d.dtw(Q, S)


OUTPUTS = {
    TypeError: [
        *[(v, "'output' must be a pair such as ('number', 3)") for v in (None, 3, "number", ("number",), (1, 2, 3))],
        (("number", True), "Got True."),
        (("threshold", None), "output=('threshold', value) must be a real number in the range (-inf, inf)."),
    ],
    ValueError: [
        (("nummer", 3), "Unknown kind 'nummer' of 'output'. Did you mean 'number'? Valid: number, percentile"),
        ((["number"], 3), "Unknown kind ['number'] of 'output'. Valid: number, percentile, threshold."),
        (("number", 0), "The 'value' parameter of output=('number', value) must be an integer in the range [1, inf)"),
        (("threshold", np.nan), "Got nan."),
        (("threshold", HUGE), "It does not fit into float64."),
        (("percentile", 101), "output=('percentile', value) must be a real number in the range [0, 100]. Got 101."),
        (("percentile", -1), "Got -1."),
    ],
}


@pytest.mark.parametrize(
    ("output", "error", "message"), [(o, e, m) for e, rows in OUTPUTS.items() for o, m in rows], ids=str
)
def test_malformed_output(output, error, message):
    refused(lambda: time_series_search(DTW_DICT, Q, S, output=output), message, error=error)
    refused(lambda: start_sequences_index(S, output), message, error=error)
