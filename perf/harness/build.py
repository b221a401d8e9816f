"""Builds the clients. One that cannot be built is missing, with its reason, and the others go on."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

PERF = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRODUCTS = {"netspool": "bench-netspool", "ahc": "bench-ahc", "foundation": "bench-foundation",
            "cli": "netspool"}
# Programs of others, which are measured where they are installed.
INSTALLED = {"curl": "curl", "aria2": "aria2c"}
CLIENTS = ["raw", "stores", *PRODUCTS, "inside", *INSTALLED]
# (name, folder with a Makefile, file that it makes)
C_PROGRAMS = [("raw", "raw", "raw"), ("stores", "stores", "stores"), ("waiting", "origin", "waiting"), ("prompt", "origin", "prompt"),
              ("allocations", "allocations", "allocations.so"), ("measured", "programs", "measured")]

# A first build compiles all of AsyncHTTPClient and its dependencies.
BUILD_SECONDS_MAX = 3600


@dataclass
class Binaries:
    paths: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def build(build_path=None, skip=False, without=(), is_static=False):
    """With `is_static` Swift's own libraries are linked in."""
    scratch = os.path.abspath(build_path or os.path.join(PERF, ".build"))
    os.makedirs(scratch, exist_ok=True)
    binaries = Binaries(missing={client: "left out" for client in without})
    for name, (path, command) in recipes(scratch, is_static).items():
        if name not in without:
            add(binaries, name, path, None if skip else command, scratch)
    for client, program in INSTALLED.items():
        if client not in without:
            find(binaries, client, program)
    for needed in ("waiting", "prompt", "measured"):
        if needed in binaries.missing:
            raise SystemExit(f"{needed} {binaries.missing[needed]}")
    return binaries


def recipes(scratch, is_static=False):
    """Name -> (program, the command that makes it)."""
    answer = {}
    for name, folder, file in C_PROGRAMS:
        out = os.path.join(scratch, folder)
        answer[name] = os.path.join(out, file), ["make", "-s", "-C", os.path.join(PERF, folder), f"OUT={out}"]
    for name, product in PRODUCTS.items():
        answer[name] = os.path.join(scratch, "release", product), [
            "swift", "build", "-c", "release", "--package-path", PERF, "--scratch-path", scratch,
            "--disable-index-store", "--product", product, *(["--static-swift-stdlib"] if is_static else [])]
    inside = os.path.join(PERF, "inside", "build")
    answer["inside"] = os.path.join(scratch, "release", "bench-inside"), [inside, scratch, *(["-static-stdlib"] if is_static else [])]
    return answer


def add(binaries, client, path, command, scratch):
    """Runs the command, if any, and enters the program it makes."""
    if command:
        log = os.path.join(scratch, f"{client}.log")
        print(f"building {client} ...", file=sys.stderr, flush=True)
        if not succeeded(command, log):
            binaries.missing[client] = f"did not build, see {log}"
            return
    if os.access(path, os.X_OK):
        binaries.paths[client] = path
    else:
        binaries.missing[client] = "not built"


def find(binaries, client, program):
    path = shutil.which(program)
    if path:
        binaries.paths[client] = path
    else:
        binaries.missing[client] = f"left out: {program} is not installed"


def succeeded(command, log):
    with open(log, "w") as output:
        try:
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=BUILD_SECONDS_MAX)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(error, file=output)
            return False
    return done.returncode == 0
