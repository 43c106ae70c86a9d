"""Signs of a query: it as it was given, mirrored as a whole, or channel by channel."""

from itertools import product

import numpy as np

POLARITIES = ("same", "any", "channels")
MOST_CHANNELS = 8  # that may have signs of their own: a search takes as long as one of 256 queries then


def check_polarity(metric, polarity):
    """Refuse mirrored queries under a metric that is not defined for them."""
    if polarity != "same" and metric._has_domain:
        raise ValueError(
            f"The 'polarity' parameter must be 'same' with the {metric.full_name}, which is not defined for all values "
            f"of a mirrored query. Got {polarity!r}."
        )


def signs_of(polarity, channels):
    """The signs of a query (k,), or those of its channels (k, channels), as it was given first; None for these alone.

    Of the others those come first that mirror fewer channels, of as many those that mirror later ones.
    """
    if polarity == "same":
        return None
    if polarity == "any":
        return np.array([1, -1])
    if channels > MOST_CHANNELS:
        raise ValueError(
            f"polarity='channels' tries all signs of at most {MOST_CHANNELS} channels. Got {channels} channels. "
            "Select channels; or multiply those of the query that are known to be mirrored by -1 and take "
            "polarity='same'; or polarity='any' if all of them turn together."
        )
    signs = np.array(list(product([1, -1], repeat=channels)))
    return signs[np.argsort((signs < 0).sum(axis=1), kind="stable")]


def with_polarity(how, polarity):
    """A comparison whose query may have other signs, and so may each alternative of it."""
    if how.by_channel is not None and polarity == "channels":  # each channel finds its own, for it counts by itself
        return how._replace(by_channel=how.by_channel._replace(mirrored=True))
    return how if how.signs is not None else with_signs(how, signs_of(polarity, len(how.x)))


def with_signs(how, signs):
    """The same with signs that are known, None for those that are given."""
    if signs is None:
        return how
    known = [(one.x, one.w) for one in how.versions]
    mirrored = [(x * np.reshape(sign, (-1, 1)) + 0.0, w) for sign in signs for x, w in known]  # no zero is -0.0
    return how._replace(alternatives=tuple(mirrored[1:]), signs=signs)
