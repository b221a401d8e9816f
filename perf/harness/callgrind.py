"""Instructions per request in user space: repeatable where times are not.

Each client runs twice with different numbers of requests; the difference has neither start nor end in it.
"""

import os
import re
import shutil
import subprocess

import goals
import table

FEW, MANY = 1_000, 3_000
SECONDS_MAX = 300  # about fifty times slower than without


def show(setting, out):
    print(f"\nInstructions per request (callgrind, 8 KiB, 64 in flight, {FEW:,} against {MANY:,} requests)")
    if not shutil.which("valgrind"):
        print("  NOT MEASURED: valgrind is not installed")
        return ["NOT MEASURED"]
    plain = ["--url-prefix", setting.origin.http]
    rows = [
        ("raw tuned", "raw", plain), ("raw naive", "raw", [*plain, "--naive"]),
        ("netspool", "netspool", [*plain, "--queued", "64"]),
        ("netspool, loop thread", "netspool", [*plain, "--queued", "64", "--delivery", "loop"]),
        ("AsyncHTTPClient, futures", "ahc", plain),
    ]
    counted = {}
    for label, client, flags in rows:
        found = per_request(setting, client, flags)
        if isinstance(found, float):
            counted[label] = {"instructions": found}
            out.write("run", section="callgrind", label=label, round=0, command=flags, instructions_per_request=found)
        counted_text = f"{found:,.0f}" if isinstance(found, float) else found
        print(f"  {label.ljust(26)}  {counted_text.rjust(10)}")
    goal = goals.ratio("instructions of netspool to raw tuned", "netspool", "raw tuned", "instructions", 1.05)
    verdict, median, spread = goal.judge([counted])
    out.write("verdict", section="callgrind", goal=goal.text, limit=goal.limit, unit=goal.unit,
              median=median, spread=spread, verdict=verdict)
    table.print_goal(goal.text, verdict, median, spread, goal.limit, goal.unit)
    return [verdict]


def per_request(setting, client, flags):
    """The number, or a sentence why there is none."""
    if client not in setting.binaries.paths:
        return setting.binaries.missing.get(client, "missing")
    program = without_debug_info(setting, client)
    few, many = (total(setting, program, flags, requests) for requests in (FEW, MANY))
    if few is None or many is None:
        return "failed"
    return (many - few) / (MANY - FEW)


def without_debug_info(setting, client):
    """valgrind before 3.20 gives up on the DWARF 5 that Swift writes; names of functions stay."""
    copy = os.path.join(setting.work, f"{client}.stripped")
    subprocess.run(["strip", "-g", "-o", copy, setting.binaries.paths[client]], check=True, timeout=60)
    return copy


def total(setting, program, flags, requests):
    profile = os.path.join(setting.work, "callgrind.out")
    command = ["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={profile}", program, *flags,
               "--requests", str(requests), "--warmup", "200", "--limit-seconds", str(SECONDS_MAX)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX + 10)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0 or '"errors":0' not in done.stdout:
        return None
    with open(profile) as text:
        found = re.search(r"^(?:summary|totals): (\d+)", text.read(), re.MULTILINE)
    return int(found.group(1)) if found else None
