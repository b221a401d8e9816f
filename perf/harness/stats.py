"""The middle of repeated measurements and how far they lie apart."""

import statistics

# Below this many rounds the quartiles are guesses, and the whole range is the honest spread.
ROUNDS_FOR_QUARTILES = 5


def spread(values):
    """Between the quartiles; with few values, between the extremes."""
    if len(values) < ROUNDS_FOR_QUARTILES:
        return max(values) - min(values)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return high - low


def summary(values):
    """(median, spread), or None without values."""
    values = [value for value in values if value is not None]
    return (statistics.median(values), spread(values)) if values else None
