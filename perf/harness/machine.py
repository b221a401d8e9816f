"""What a number was measured on."""

import json
import os
import platform
import re
import resource
import subprocess
import sys
import time

from build import PERF
from cores import Cores

# More than this in the run queue before we begin: somebody else is working here.
CALM_LOAD_MAX = 0.5

BUNDLED = os.path.join(PERF, "bundled.json")
LIBRARIES = ["libcurl", "libuv", "lmdb", "openssl", "sqlite3"]
# The first number in what each prints.
PROGRAMS = {"nginx": ["nginx", "-v"], "curl": ["curl", "--version"], "aria2": ["aria2c", "--version"],
            "valgrind": ["valgrind", "--version"]}


def describe(rounds, quick):
    load = os.getloadavg()[0]
    if load > CALM_LOAD_MAX:
        print(f"the machine is not quiet (load {load:.1f}): ratios will be blurred, absolute values wrong", file=sys.stderr)
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "processor": processor(), "cores": len(os.sched_getaffinity(0)), "apart": Cores().text(),
        "descriptors": resource.getrlimit(resource.RLIMIT_NOFILE)[0], "memory": memory(), "governor": governor(),
        "kernel": platform.release(), "system": system(), "load": round(load, 2),
        **(of_bundle() or {"commit": commit(), "versions": versions()}), "rounds": rounds, "quick": quick,
    }


def in_a_line(described):
    """Whose number it is."""
    return f"{described['processor']}, {described['apart']}, kernel {described['kernel']}, commit {described['commit']}"


def commit():
    return first_line("git", "-C", PERF, "describe", "--always", "--dirty", "--abbrev=12")


def of_bundle():
    """What `perf/bundle` wrote down where it built: there is neither git nor pkg-config where the bundle runs."""
    try:
        with open(BUNDLED, encoding="utf-8") as text:
            return json.load(text)
    except OSError:
        return None


def versions():
    found = {name: number_in(first_line("pkg-config", "--modversion", name)) for name in LIBRARIES}
    found.update((name, number_in(first_line(*command))) for name, command in PROGRAMS.items())
    found["swift"] = number_in(first_line("swift", "--version"))
    found["AsyncHTTPClient"] = pinned("async-http-client")
    return found


def pinned(package):
    """The exact version that the manifest asks for."""
    with open(os.path.join(PERF, "Package.swift"), encoding="utf-8") as manifest:
        found = re.search(rf'/{package}", exact: "([^"]+)"', manifest.read())
    return found.group(1) if found else "unknown"


def processor():
    return field_of("/proc/cpuinfo", "model name") or platform.machine()


def memory():
    kibibytes = (field_of("/proc/meminfo", "MemTotal") or "").removesuffix(" kB")
    return f"{int(kibibytes) / (1 << 20):.1f} GiB" if kibibytes.isdigit() else "unknown"


def governor():
    try:
        with open("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", encoding="ascii") as text:
            return text.read().strip()
    except OSError:
        return "not shown by this machine"  # as in most virtual ones


def system():
    return (field_of("/etc/os-release", "PRETTY_NAME", "=") or "unknown").strip('"')


def field_of(path, name, separator=":"):
    try:
        with open(path, encoding="utf-8") as lines:
            return next((line.split(separator, 1)[1].strip() for line in lines if line.startswith(name)), None)
    except OSError:
        return None


def number_in(text):
    found = re.search(r"\d+(\.\d+)+", text)
    return found.group() if found else "not installed"


def first_line(*command):
    """Of standard output or, as nginx has it, standard error. Server programs live outside most users' PATH."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path})
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return (done.stdout or done.stderr).split("\n", 1)[0].strip() or "unknown"
