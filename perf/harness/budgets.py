"""The checked-in file of what a request may cost, and how a measurement compares with it."""

import os
import re

from build import PERF

PATH = os.path.join(PERF, "budgets")
# Above a budget by more than this fails. Below it by as much means: the budget can come down.
TOLERANCE = 0.05
SECTION = "P12"
KEYS = {"instructions": "instructions_per_request", "allocations": "allocations_per_request", "atomics": "atomics_per_request"}
FAILURES = {"NEW", "OVER"}
# What libcurl and libuv cost alone under the same load: shown beside a GET, and nothing of ours to budget.
BASE = "raw GET"
# All, libcurl's own included.
ALLOCATIONS_MAX = 35

HEAD = """\
# What one costs, one at a time: instructions in user space and atomic steps (callgrind), and allocations. Bodies of 8 KiB, records of 1 KiB.
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
        for (name, what), value in budgeted(costs).items():
            out.write(f"{name:<{width}}{what:<13} {text(value):>9}\n")


def budgeted(costs):
    return {key: value for key, value in costs.items() if key[0] != BASE}


def text(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.2f}"


def show(key, value, budget):
    """One line, and its word."""
    word = judge(value, budget)
    beside = f"of {text(budget):>9}  {100 * (value / budget - 1):+.1f} %" if budget else "has no budget yet"
    print(f"{word:5}  {key[0]:<24}{key[1]:<13}{text(value):>9}  {beside}")
    return word


def record(measured, out):
    """As a section of the results: a row for each kind of request, a goal for each budget. Answers the verdicts."""
    names = list(dict.fromkeys(name for name, _ in measured))
    rows = [{"label": name, "client": "netspool", "missing": ""} for name in names]
    out.write("section", section=SECTION, title="what one request costs, one at a time", base=None,
              metric="instructions_per_request", chart={}, columns=list(KEYS.values()), rows=rows)
    for name in names:
        costs = {KEYS[what]: value for (other, what), value in measured.items() if other == name}
        out.write("run", section=SECTION, label=name, round=0, client="netspool", **costs)
    known = read()
    verdicts = [record_goal(key, value, known.get(key), out) for key, value in budgeted(measured).items()]
    return [*verdicts, record_fewest(measured["GET", "allocations"], out)]


def record_fewest(value, out):
    verdict = "PASS" if value <= ALLOCATIONS_MAX else "MISS"
    out.write("verdict", section=SECTION, goal="allocations of a GET, libcurl's own included", limit=ALLOCATIONS_MAX, unit="",
              row="GET", metric=KEYS["allocations"], base=None, per=1, median=value, spread=0, verdict=verdict)
    print(f"{verdict}: {text(value)} allocations of a GET, libcurl's own included, at most {ALLOCATIONS_MAX}")
    return verdict


def record_goal(key, value, budget, out):
    word = judge(value, budget)
    verdict = "NOT MEASURED" if not budget else "MISS" if word in FAILURES else "PASS"
    out.write("verdict", section=SECTION, goal=f"{key[1]} of a {key[0]} to the budget", limit=1 + TOLERANCE, unit="x",
              row=None, metric=None, base=None, per=1, median=value / budget if budget else None, spread=0, verdict=verdict)
    show(key, value, budget)
    return verdict


def judge(value, budget):
    if not budget:
        return "NEW"
    if value > budget * (1 + TOLERANCE):
        return "OVER"
    return "LOWER" if value < budget * (1 - TOLERANCE) else "ok"
