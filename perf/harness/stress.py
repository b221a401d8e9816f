"""What the stress scripts share: their options, the origin they load, and the one line they end with."""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from dataclasses import dataclass

import build
import measure
import origin

NEEDED = ["netspool", "cli"]


@dataclass
class Setting:
    name: str
    paths: dict
    served: object
    work: str
    is_quick: bool

    def scaled(self, number):
        return number // 10 if self.is_quick else number

    def client(self, flags, seconds_max):
        """What the client of the library printed, with `failure` if it did not end well in time."""
        return measure.run([self.paths["netspool"], "--limit-seconds", str(seconds_max), *flags], seconds_max)


@contextlib.contextmanager
def setting(name, about, needed=("netspool",)):
    """Builds what is needed, unless told not to, and runs the origins as long as the block lasts."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    parser.add_argument("--skip-build", action="store_true", help="run what was built before")
    parser.add_argument("--build-path", help="where the Swift package is built (default perf/.build)")
    parser.add_argument("--work", help="directory for what is written (default: the temporary one)")
    options = parser.parse_args()
    others = [client for client in build.CLIENTS if client not in needed]
    binaries = build.build(options.build_path, options.skip_build, without=others)
    for client in needed:
        if client not in binaries.paths:
            end(name, None, f"{client}: {binaries.missing[client]}")
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        with origin.Origin(work, 1 << 30, binaries.paths["waiting"]) as served:
            yield Setting(name, binaries.paths, served, work, options.quick)


class Checks:
    """Sentences that must be true; the first that is not is the reason of the verdict."""

    def __init__(self):
        self.broken = []

    def must(self, is_true, sentence):
        if not is_true:
            self.broken.append(sentence)


def judge(name, checks, summary):
    """Ends the process with the verdict."""
    if checks.broken:
        end(name, False, "; ".join([*checks.broken, summary]))
    end(name, True, summary)


def end(name, is_met, text):
    """0 if all is well, 1 if not, 2 if that could not be found out."""
    word = "NOT MEASURED" if is_met is None else "PASS" if is_met else "MISS"
    print(f"stress {name}: {word}, {text}", flush=True)
    sys.exit({True: 0, False: 1, None: 2}[is_met])


def resident_bytes(pid, field="VmRSS"):
    """Of another process; 0 once it has gone."""
    with contextlib.suppress(OSError, IndexError):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":")), 0)
    return 0


def descriptors(pid):
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def wait_until_gone(process, seconds_max, every=0.2, look=lambda: None):
    """Looks now and then until the process has ended; kills it when time is up. Answers whether it ended by itself."""
    limit = time.monotonic() + seconds_max
    while process.poll() is None:
        if time.monotonic() > limit:
            process.kill()
            process.wait()
            return False
        look()
        time.sleep(every)
    return True
