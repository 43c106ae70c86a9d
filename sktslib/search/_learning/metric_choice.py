"""The parameter `metric` of estimators that are fitted on queries: a name, an object, or "auto"."""

from copy import copy

from joblib import delayed

from ...distances._metric_parameter import MetricParameter
from ...distances._metrics.registry import get_metric
from ...utils._jobs import in_jobs
from ...utils.validation import shown
from .chosen_metric import AUTO, blocks_of, compare
from .held_out_report import HeldOut


def _is_auto(metric):
    """Whether a metric is to be chosen; capital letters do not count, as in all names of metrics."""
    return isinstance(metric, str) and metric.lower() == AUTO


class MetricChoice(MetricParameter):
    """Mixin of estimators that choose their metric by labels.

    They have `_candidates()`, what is tried; `_evidence(marked, block, weight, ty)`, what a trial of one of them finds
    in a block; and `_resolve()`, which sees what metric and other parameters mean together.
    """

    def _get_metric(self, metric, params):
        if not _is_auto(metric):
            return super()._get_metric(metric, params)
        if params:
            raise ValueError(
                f"'metric_params' must be None where metric='auto', which chooses them. Got {shown(params)}. Name a "
                "metric, for example 'adtw', to set its parameters."
            )
        return get_metric("adtw", {"omega": "auto"})

    def _made_metric(self):
        """A metric object of its own, the chosen one if one was; nothing is fixed by queries yet."""
        return self._candidate.metric if hasattr(self, "_candidate") else super()._made_metric()

    def _forget_choice(self):
        """Drop what an earlier fit chose."""
        learned = "cv_results_", "best_index_", "self_training_", "report_", "metric_weights_"
        for name in ("_candidate", "_fixed", *learned):
            vars(self).pop(name, None)

    def _choose(self, marked, weight, times):
        """Choose what metric="auto" stands for by a marked recording; too few occurrences leave it as it is."""
        self.report_ = None
        if not _is_auto(self.metric):
            return
        self.cv_results_ = self.best_index_ = None
        n = marked.data.shape[1]
        candidates, blocks, ty = self._candidates(), blocks_of(marked.ranges, n), self._as_times(times, n)
        if not blocks:
            return
        trials = [self._tried(candidate) for candidate in candidates]
        calls = [delayed(trial._evidence)(marked, block, weight, ty) for trial in trials for block in blocks]
        found = in_jobs(calls, self.n_jobs, self.verbose, "choose the metric", "trial")
        evidence = [found[k : k + len(blocks)] for k in range(0, len(found), len(blocks))]
        self.cv_results_, self.best_index_ = compare(candidates, evidence)
        self._take(candidates[self.best_index_])
        self.report_ = HeldOut.together([block.found for block in evidence[self.best_index_]]).report(marked)

    def _tried(self, candidate):
        """An estimator that compares as a candidate does, and works for itself and in silence."""
        trial = copy(self)
        trial.n_jobs, trial.verbose, trial.max_gap = None, 0, None  # times are numbers by then, as `_max_gap` is
        vars(trial).update(dict.fromkeys({"threshold", "percentile"} & vars(trial).keys()))  # what separates is learned
        trial._take(candidate)
        return trial

    def _take(self, candidate):
        """Compare as a candidate does."""
        self._candidate, self.metric_ = candidate, candidate.metric
        self._resolve()
