"""From values to places between 0 and 1, with the values to print beside them."""

import math
from dataclasses import dataclass
from typing import Callable

# Wider than this from the smallest to the largest, and a linear axis shows only the largest.
LINEAR_RANGE_MAX = 30

# The nines of a percentile axis; 100 stands one nine beyond the last.
NINES = [(0, "0"), (50, "50"), (90, "90"), (99, "99"), (99.9, "99.9"), (99.99, "99.99 %")]
LAST_NINE = 99.999


@dataclass
class Axis:
    place: Callable[[float], float]
    ticks: list  # (value, text)
    is_logarithmic: bool = False


def linear(high, text):
    step = nice_step(high / 4)
    top = step * max(1, math.ceil(high / step - 1e-9))
    ticks = [step * index for index in range(round(top / step) + 1)]
    return Axis(lambda value: value / top, [(tick, text(tick)) for tick in ticks])


def logarithmic(low, high, text):
    first, last = math.log10(low) - 0.05, math.log10(high) + 0.05
    steps = (1, 2, 5) if last - first < 2 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(first), math.ceil(last) + 1) for step in steps]
    shown = [(tick, text(tick)) for tick in ticks if first <= math.log10(tick) <= last]
    every = max(1, math.ceil(len(shown) / 6))
    return Axis(lambda value: (math.log10(max(value, low)) - first) / (last - first), shown[::every], True)


def fitting(values, text):
    """Linear from zero, or logarithmic where that would hide the small ones."""
    positive = [value for value in values if value > 0]
    if positive and max(positive) > LINEAR_RANGE_MAX * min(positive):
        return logarithmic(min(positive), max(positive), text)
    return linear(max(positive, default=1), text)


def nines(highest):
    """Percentiles as HdrHistogram draws them: each further nine takes the same room."""
    def distance(percent):
        return -math.log10(1 - min(percent, LAST_NINE) / 100)

    width = distance(highest)
    return Axis(lambda percent: distance(percent) / width, [one for one in NINES if one[0] <= highest])


def nice_step(least):
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)
