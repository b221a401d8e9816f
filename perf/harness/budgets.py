"""The checked-in file of what a request may cost, and how a measurement compares with it."""

import os
import re

from build import PERF

PATH = os.path.join(PERF, "budgets")
# Above a budget by more than this fails. Below it by as much means: the budget can come down.
TOLERANCE = 0.05
FAILURES = {"NEW", "OVER"}

HEAD = """\
# What one request costs, one in flight, 8 KiB: instructions in user space (callgrind) and allocations.
# perf/budget measures again and fails if one has risen by more than 5 %. Only perf/budget --update writes here.
# {versions}
"""


def read(path=PATH):
    """(name, what) -> value. No file: no budgets yet."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as lines:
        found = [re.fullmatch(r"(.+?)\s{2,}(\w+)\s+([\d.]+)", line.strip()) for line in lines if not line.startswith("#")]
    return {(match[1], match[2]): float(match[3]) for match in found if match}


def write(costs, versions, path=PATH):
    width = max(len(name) for name, _ in costs) + 2
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD.format(versions=versions))
        for (name, what), value in costs.items():
            out.write(f"{name:<{width}}{what:<13} {text(value):>9}\n")


def text(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.2f}"


def judge(value, budget):
    if not budget:
        return "NEW"
    if value > budget * (1 + TOLERANCE):
        return "OVER"
    return "LOWER" if value < budget * (1 - TOLERANCE) else "ok"
