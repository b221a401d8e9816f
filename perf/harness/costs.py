"""What one request costs in user space, independent of the machine's speed: instructions, atomic steps and allocations.

Everything runs twice with different numbers of requests, one in flight; the difference has neither start nor end in it.
"""

import os
import shutil
from dataclasses import dataclass

import allocations
import budgets
import callgrind
import measure

SECONDS_MAX = 600
# Fewer below callgrind, where a client is about fifty times slower. Of hits more, and of few URLs: each second an answer's
# Age is another and its fields are made anew, once a minute the store writes that it was used, and what that costs shall not
# depend on how fast the machine is.
COUNTED_REQUESTS, COUNTED_HITS, ALLOCATED_REQUESTS = (1_000, 2_000), (1_000, 11_000), (1_000, 3_000)
# The least of them counts: an answer that comes in two pieces, as the machine likes, is one turn of the loop more.
COUNTS = 3
NEEDED = ["raw", "netspool", "inside", "allocations"]


@dataclass
class Cost:
    name: str
    flags: list
    client: str = "netspool"
    fills: bool = False  # a first run fills the cache
    folder: str = ""  # removed before each run


def of_requests(setting):
    gets = ["--latency", "--url-prefix", setting.origin.waiting]
    cache = os.path.join(setting.work, "budget-cache")
    hits = ["--hits", "--concurrency", "1", "--distinct", "20", "--cache", cache, "--url-prefix", f"{setting.origin.http}/fresh"]
    frozen = os.path.join(setting.work, "budget-frozen")
    freezes = ["--freeze", "--store", "single", "--body-bytes", "1024", "--cache", frozen, "--url-prefix", setting.origin.http]
    return [
        Cost(budgets.BASE, gets, "raw"),
        Cost("GET", gets),
        Cost("GET on the loop thread", [*gets, "--delivery", "loop"]),
        Cost("hit", hits, fills=True),
        Cost("hit on the loop thread", [*hits, "--delivery", "loop"], fills=True),
        Cost("durable record", freezes, "inside", folder=frozen),
    ]


def obstacle(binaries):
    """Why nothing can be counted; None if it can."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    missing = [client for client in NEEDED if client not in binaries.paths]
    return f"{missing[0]} {binaries.missing.get(missing[0], 'was not built')}" if missing else None


def count(setting):
    """(name, what) -> value."""
    answer = {}
    for cost in of_requests(setting):
        answer[cost.name, "allocations"] = allocated(setting, cost)
        for what, value in counted(setting, cost).items():
            # How often the threads of a GET look whether more has come is chance, and so are the locks they take for it.
            if what != "atomics" or not cost.name.startswith("GET"):
                answer[cost.name, what] = value
    return answer


def counted(setting, cost):
    program = callgrind.without_debug_info(setting, cost.client)
    counts = COUNTED_HITS if cost.fills else COUNTED_REQUESTS
    return per_request(
        counts, lambda flags: callgrind.total(setting, program, flags, "--collect-bus=yes"), cost, "instructions", "atomics")


def allocated(setting, cost):
    program = setting.binaries.paths[cost.client]
    library = setting.binaries.paths["allocations"]

    def total(flags):
        return allocations.run(library, [program, *flags, "--limit-seconds", str(SECONDS_MAX)], SECONDS_MAX, setting.work)

    return per_request(ALLOCATED_REQUESTS, total, cost, "allocations")["allocations"]


def per_request(counts, total, cost, *keys):
    if cost.fills:
        must_end_well(total([*cost.flags, "--requests", "1000"]), cost)
    few, many = ([one_run(cost, total, count) for _ in range(COUNTS)] for count in counts)
    return {key: (min(run[key] for run in many) - min(run[key] for run in few)) / (counts[1] - counts[0]) for key in keys}


def one_run(cost, total, count):
    if cost.folder:
        shutil.rmtree(cost.folder, ignore_errors=True)
    return must_end_well(total([*cost.flags, "--requests", str(count)]), cost)


def must_end_well(record, cost):
    if not measure.good(record):
        raise SystemExit(f"{cost.name}: {record.get('failure') or 'some of its requests failed'}")
    return record
