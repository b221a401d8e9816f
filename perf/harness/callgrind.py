"""Instructions per request in user space, by callgrind: where times drown in noise, these can be compared.

Each client runs twice with different numbers of requests; the difference has neither start nor end in it.
One in flight repeats within 1 %. With 64 it is about 3 %: how many answers one wake-up finds is chance.
"""

import os
import re
import shutil
import subprocess

import measure
import parts
from goals import at_most, ratio
from parts import Row, Section

METRIC = "instructions_per_request"
SECONDS_MAX = 300  # a client is about fifty times slower here
ROUNDS_MAX = 3


def make(setting):
    h2 = ["--h2", "--ca", setting.origin.ca, "--url-prefix", setting.origin.https]
    return [
        section(setting, "callgrind 64", "instructions per request, 64 in flight", ["--queued", "64"], []),
        section(setting, "callgrind h2", "instructions per request over HTTP/2, 64 streams", [*h2, "--queued", "64"], h2),
        hits(setting),
        section(setting, "callgrind 1", "instructions per request, one in flight", ["--latency"], ["--latency"]),
    ]


def section(setting, name, title, netspool, others):
    prefix = ["--url-prefix", setting.origin.http]
    return Section(name, title, [
        Row("raw tuned", "raw", [*prefix, *others], seconds_max=SECONDS_MAX),
        Row("netspool", "netspool", [*prefix, *netspool], seconds_max=SECONDS_MAX),
        Row("netspool, loop thread", "netspool", [*prefix, *netspool, "--delivery", "loop"], seconds_max=SECONDS_MAX),
        Row("AsyncHTTPClient, futures", "ahc", [*prefix, *others], seconds_max=SECONDS_MAX),
    ], [
        ratio("instructions of netspool on the loop thread to raw tuned", "netspool, loop thread", "raw tuned", METRIC, 1.05),
        ratio("instructions of netspool to raw tuned", "netspool", "raw tuned", METRIC, 1.1),
    ], [("instructions", METRIC, 1, 0, True)], base="raw tuned", metric=METRIC)


def hits(setting):
    few = ["--distinct", "200"]
    flags = [*parts.hits(setting, "callgrind"), *few]
    return Section("callgrind hit", "instructions per fresh hit of 8 KiB", [
        Row("LMDB in C, pointer", "stores", ["--store", "lmdb", "--folder", f"{setting.work}/callgrind-lmdb", *few], fills=True),
        Row("store, lookup and freshness", "inside",
            ["--lookup", "--store", "decision", "--cache", f"{setting.work}/callgrind-inside", "--url-prefix", "http://127.0.0.1", *few],
            seconds_max=SECONDS_MAX, fills=True),
        Row("netspool, hit", "netspool", flags, seconds_max=SECONDS_MAX, fills=True),
        Row("netspool, hit, loop thread", "netspool", [*flags, "--delivery", "loop"], seconds_max=SECONDS_MAX, fills=True),
    ], [
        at_most("instructions of a hit", "netspool, hit", METRIC, 5_000, ""),
    ], [("instructions", METRIC, 1, 0, True)], base="LMDB in C, pointer", metric=METRIC)


def run_row(row, setting):
    """In place of `measure.run_row`: what callgrind counted, or why it did not."""
    if row.client not in setting.binaries.paths:
        return None
    if not shutil.which("valgrind"):
        return {"failure": "valgrind is not installed"}
    program = without_debug_info(setting, row.client)
    if row.fills:
        measure.run([program, *row.flags, "--requests", "1000"], SECONDS_MAX)
    totals = []
    for requests in setting.scale.counted_requests:
        record = total(setting, program, [*row.flags, "--requests", str(requests)])
        if not measure.good(record):
            return record
        totals.append(record["instructions"])
    few, many = setting.scale.counted_requests
    return {METRIC: (totals[1] - totals[0]) / (many - few)}


def profile(setting):
    """The file that the last run has written."""
    return os.path.join(setting.work, "callgrind.out")


def without_debug_info(setting, client):
    """valgrind 3.19 gives up on the DWARF 5 that Swift writes; the names of functions stay."""
    copy = os.path.join(setting.work, f"{client}.stripped")
    if not os.path.exists(copy):
        subprocess.run(["strip", "-g", "-o", copy, setting.binaries.paths[client]], check=True, timeout=60)
    return copy


def total(setting, program, flags, *more):
    """What the client printed, with the instructions of the whole process; by `--collect-bus=yes` also its atomic steps."""
    command = ["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={profile(setting)}", *more,
               program, *flags, "--warmup", "200", "--limit-seconds", str(SECONDS_MAX)]
    record = measure.run(command, SECONDS_MAX)
    if measure.good(record):
        with open(profile(setting)) as text:
            found = re.search(r"^(?:summary|totals): (\d+) ?(\d*)", text.read(), re.MULTILINE)
        record["instructions"], record["atomics"] = int(found.group(1)), int(found.group(2) or 0)
    return record
