"""Which of the machine's processors clients and servers run on, and how many threads or loops are tried there."""

import os

# Below this clients and servers share all: half of two cores would measure something else.
APART_MIN = 4
STEPS = [1, 2, 4, 8, 16]


class Cores:
    """`every`: all that we may use. `clients`, `servers`: the two halves, apart where there are enough of them."""

    def __init__(self, every=None, neighbours=None):
        self.every = sorted(every or os.sched_getaffinity(0), key=neighbours or core_of)
        half = len(self.every) // 2
        self.are_apart = len(self.every) >= APART_MIN
        self.clients = self.every[:half] if self.are_apart else self.every
        self.servers = self.every[half:] if self.are_apart else self.every

    def steps(self, which="every"):
        """1, 2, 4 ... as far as these cores go: more threads than cores would measure the kernel's turns."""
        return [step for step in STEPS if step <= len(getattr(self, which))]

    def text(self):
        if not self.are_apart:
            return f"{len(self.every)} cores, clients and servers on all of them"
        return f"{len(self.every)} cores, clients on {numbers(self.clients)}, servers on {numbers(self.servers)}"


def core_of(number):
    """Threads of one core stand side by side, so that a half has whole cores."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list", encoding="ascii") as text:
            first = text.read().replace("-", ",").split(",")[0]
    except OSError:
        return number, number
    return int(first), number


def numbers(cores):
    """`0-7`, or all of them where they have gaps."""
    first, last = min(cores), max(cores)
    if len(cores) == last - first + 1 and len(cores) > 1:
        return f"{first}-{last}"
    return ",".join(str(number) for number in sorted(cores))


def stay_on(cores):
    """For a child, before it becomes its program. None where there is nothing to say."""
    return (lambda: os.sched_setaffinity(0, cores)) if cores else None
