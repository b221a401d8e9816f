"""A goal is a value computed from one round, and the most it may be."""

from dataclasses import dataclass
from typing import Callable

from stats import summary


@dataclass
class Goal:
    """`row`, `metric`, `base` and `per` say where in a chart the goal belongs, if it is about one value there."""
    text: str
    limit: float
    value: Callable[[dict], float]
    unit: str = "x"
    row: str | None = None
    metric: str | None = None
    base: str | None = None
    per: float = 1

    def judge(self, rounds):
        """(verdict, median, spread): the value of each round by itself, so that drift between rounds cancels."""
        found = summary([self.of(one) for one in rounds])
        if found is None:
            return "NOT MEASURED", None, None
        return ("PASS" if found[0] <= self.limit else "MISS"), *found

    def of(self, one):
        try:
            return self.value(one)
        except (KeyError, ZeroDivisionError):
            return None


def ratio(text, row, base, metric, limit):
    return Goal(text, limit, lambda one: one[row][metric] / one[base][metric], row=row, metric=metric, base=base)


def at_most(text, row, metric, limit, unit, per=1):
    return Goal(text, limit, lambda one: one[row][metric] / per, unit, row, metric, per=per)
