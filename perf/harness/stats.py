"""The middle of repeated measurements and how far they lie apart."""

import statistics

# Below this many rounds the quartiles are guesses, and the whole range is the honest spread.
ROUNDS_FOR_QUARTILES = 5


def bounds(values):
    """The quartiles; with few values, the extremes."""
    if len(values) < ROUNDS_FOR_QUARTILES:
        return min(values), max(values)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def spread(values):
    low, high = bounds(values)
    return high - low


def summary(values):
    """(median, spread), or None without values."""
    values = [value for value in values if value is not None]
    return (statistics.median(values), spread(values)) if values else None
