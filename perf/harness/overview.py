"""The goals by their numbers, in words, and what a whole group of sections answers."""

import re

# What each asks for, and the command that answers it.
GOALS = {
    "P1": ("Network GETs cost next to nothing over tuned libcurl in C, and a third of AsyncHTTPClient", "perf/run P1 P1w P1c P1o P1a P1l"),
    "P2": ("One in flight: latency within 5 % of C", "perf/run P2"),
    "P3": ("A fresh hit in the cache: a microsecond, whatever the size of the body", "perf/run P3 P3l P3s P3m"),
    "P4": ("Enqueueing takes a microsecond, and depth costs nothing", "perf/run P4"),
    "P5": ("Memory: 300 bytes per queued operation, 30 MiB for a list of any length", "perf/run P5 P5l"),
    "P6": ("A durable freeze costs its database commit", "perf/run P6 P6s"),
    "P7": ("A big download to files: two fifths of AsyncHTTPClient's CPU, 64 MiB", "perf/run P7 P7a"),
    "P8": ("HTTP/2 over TLS costs next to nothing over libcurl in C", "perf/run P8"),
    "P9": ("The adaptive width finds the best fixed one, within 10 %", "perf/run P9"),
    "P10": ("Urgent requests overtake bulk work", "perf/run P10"),
    "P11": ("The loop is never held up, whatever the origin does", "perf/run P11"),
    "P15": ("Nobody's trouble is another's, and overload costs no throughput", "perf/run P15 P15o"),
    "P13": ("A handshake of TLS costs what it costs libcurl in C", "perf/run P13"),
    "P14": ("Ten thousand origins cost little more than one", "perf/run P14"),
    "P16": ("The tool costs less than curl -Z", "perf/run P16"),
    "S1": ("Enqueueing by many threads is never slower than by one", "perf/run S1"),
    "S2": ("Hits by many threads: millions a second", "perf/run S2"),
    "S3": ("GETs by several loops: four fifths of as many C programs", "perf/run S3"),
    "S4": ("Several loops never slow a single hot origin down", "perf/run S4"),
    "S5": ("A program gets the right number of loops without asking", "perf/run S5"),
    "S6": ("A hop between threads costs 15 %, with the server on other cores", "perf/run S6"),
    "S7": ("200,000 durable requests a second", "perf/run S7"),
    "S8": ("The tool with eight loops: 150,000 URLs a second", "perf/run S8"),
    "P12": ("Instructions and allocations only go down", "perf/budget"),
}


def group_of(section_name):
    """`P3` for `P3l`; what callgrind counts belongs to the budgets."""
    if section_name.startswith("callgrind"):
        return "P12"
    found = re.match(r"P\d+", section_name)
    return found.group() if found else section_name


def order_of(section_name):
    """P2 before P10, P3 before P3l, and all of them before S1."""
    group = group_of(section_name)
    if re.fullmatch(r"[PS]\d+", group):
        return group[0], int(group[1:]), section_name
    return "Z", 0, section_name


def command_of(section_name):
    """What measures it again."""
    return "perf/run --callgrind" if section_name.startswith("callgrind") else f"perf/run {section_name}"


def status(verdicts):
    words = [verdict["verdict"] for verdict in verdicts]
    if "MISS" in words:
        return "MISS"
    return "PASS" if words and "NOT MEASURED" not in words else "NOT MEASURED"


def tally(verdicts):
    """`3 of 5 met, 1 not measured`."""
    words = [verdict["verdict"] for verdict in verdicts]
    unmeasured = words.count("NOT MEASURED")
    return f"{words.count('PASS')} of {len(words)} met" + (f", {unmeasured} not measured" if unmeasured else "")
