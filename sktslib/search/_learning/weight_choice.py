"""The parameter `weight` of estimators that are fitted on queries: weights, or what learns them from labels."""

import numpy as np

from ...distances._series import full_weight
from ...utils.validation import shown
from .._comparison import with_metric
from .learned_queries import Learned, length_limits, single
from .query_weights import share_scale


class WeightChoice:
    """Mixin of estimators whose queries may have weights that are learned from labels.

    What learns them is a `MetricWeights`, of a layer above: it is known by the method that learns.
    """

    @property
    def _is_fixed(self):
        """Whether the parameter `query` holds queries."""
        return self.query is not None and not isinstance(self.query, str)

    @property
    def _weight_learner(self):
        """What learns the weights of points and channels from labels, if `weight` is that."""
        return self.weight if hasattr(type(self.weight), "_learned_of_query") else None

    def _given_weight(self, weight):
        """The weights that `fit` is given, or those of the parameter."""
        for given in (weight, self.weight):
            for value in given if isinstance(given, list) else [given]:
                if hasattr(value, "_learned_of_query") and value is not self._weight_learner:
                    raise TypeError(
                        f"MetricWeights must be the parameter 'weight', {type(self).__name__}(weight=MetricWeights()): "
                        f"no class, no entry of a list, and not what 'fit' is given. Got {shown(given)}."
                    )
        return self.weight if weight is None and self._weight_learner is None else weight

    def _read_fixed(self, X, weight):
        """Keep the queries of the parameter, whose weights are learned from labels, and the labels that they go by.

        What cannot be learned is refused here, before a metric is chosen, which takes long.
        """
        if self._weight_learner is None:
            return
        self._weight_learner._made_within(self)._check_query(self, self.metric_)
        if self._is_fixed:
            queries, names = self._read_queries(X, None, weight, None)
            self._fixed = queries, None if names is None else names.tolist()

    def _marked_queries(self, marked):
        """The queries of the parameter as if they were learned, each from the occurrences of its class."""
        queries, names = self._fixed
        classes, learned = marked.labels.classes.tolist(), []
        if len(queries) == 1 and names is None:  # whatever the label of its occurrences is
            names = classes if len(classes) == 1 else ["a single label"]
        for how, name in zip(queries, range(1, len(queries) + 1) if names is None else names, strict=True):
            if name not in classes:
                raise ValueError(
                    "'y' must have the name of each query as a label, or its number from 1, or a single label for one "
                    f"query. Got {shown(classes)}, and not {name!r}. Give queries in a dict by the labels, or label "
                    "only what is an occurrence, as in y == 'N'."
                )
            number = classes.index(name)
            lengths = np.diff(single(marked.ranges[marked.code == number + 1]))
            limits = length_limits(lengths if lengths.size else np.array([how.m]), how.m)
            learned.append(Learned(how.x, how.w, None, number, limits))
        return learned

    def _weighed(self, queries, learned, marked, ty):
        """The queries with weights that are learned from labels, drawn to those that they have."""
        compared, weights = with_metric(self.metric_, queries), []
        for k, (how, one) in enumerate(zip(compared, learned, strict=True)):
            how = how._replace(limits=self._limits_to_learn(how, one))
            own = marked.ranges[marked.code == one.number + 1]
            found, w = self._weight_learner._learned_of_query(self, how, marked.data, ty, own)
            learned[k], weights = one._replace(weights=found), [*weights, w]
        weights = share_scale(weights, [full_weight(how.w, how.x) for how in queries])
        return [how._replace(w=w) for how, w in zip(queries, weights, strict=True)], learned

    def _limits_to_learn(self, how, one):
        """The least and the largest length of what weights are learned from."""
        return one.limits

    def _keep_weights(self, learned):
        """Show what learned the weights, of several queries a list."""
        if self._weight_learner is not None:
            found = [one.weights for one in learned]
            self.metric_weights_ = found if len(found) > 1 else found[0]
