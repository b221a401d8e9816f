"""What a number was measured on."""

import os
import platform
import subprocess
import sys
import time

from build import PERF

# More than this in the run queue before we begin: somebody else is working here.
CALM_LOAD_MAX = 0.5


def describe(rounds, quick):
    load = os.getloadavg()[0]
    if load > CALM_LOAD_MAX:
        print(f"the machine is not quiet (load {load:.1f}): ratios will be blurred, absolute values wrong", file=sys.stderr)
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "processor": processor(), "cores": os.cpu_count(), "kernel": platform.release(), "load": round(load, 2),
        "commit": first_line("git", "-C", PERF, "describe", "--always", "--dirty", "--abbrev=12"),
        "libcurl": first_line("pkg-config", "--modversion", "libcurl"),
        "libuv": first_line("pkg-config", "--modversion", "libuv"),
        "swift": first_line("swift", "--version"),
        "rounds": rounds, "quick": quick,
    }


def processor():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.split("\n", 1)[0].strip() or "unknown"
