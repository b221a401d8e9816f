"""What each function costs per request, by callgrind, with names that a reader knows."""

import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass

import callgrind

LINE = re.compile(r"\s*([\d,]+) \([^)]*\)\s+(?:[^:]*:)?(.+) \[([^\]]*)\]$")
HEAP = {"malloc", "free", "calloc", "realloc", "_int_malloc", "_int_free", "_int_realloc", "malloc_consolidate",
        "unlink_chunk.constprop.0", "sysmalloc", "_int_memalign", "posix_memalign"}
# In this order they are shown.
PARTS = ["libcurl", "heap", "C library", "libuv", "Swift's runtime", "NetSpool", "the measuring client", "others"]
# Of a module of the client's own, by how Swift spells symbols.
MEASURING = re.compile(r"\d+Bench(Kit|NetSpool)")
# Its latencies are sorted at its end, by what the standard library puts into the program.
SORTING = re.compile(r"_stableSort|specialized _merge|_minimumMergeRunLength|_insertionSort|_mergeTopRuns|_finalizeRuns")
# The runtime's own functions come with all of their templates.
SHORT = re.compile(r"^.*swift::RefCounts<.*>::(\w+).*")
OWN = ["NetSpool", "Swift's runtime"]


@dataclass(frozen=True)
class Function:
    name: str
    part: str


def per_request(setting, client, flags, counts, prepare=lambda: None):
    """Function -> instructions. `prepare` goes before each run."""
    few, many = (run(setting, client, [*flags, "--requests", str(count)], prepare) for count in counts)
    spread = {function: (many[function] - few[function]) / (counts[1] - counts[0]) for function in many | few}
    names = demangled({symbol for symbol, _ in spread})
    answer = Counter()
    for (symbol, library), value in spread.items():
        name = names[symbol]
        answer[Function(name, part(name, symbol, library, client))] += value
    return answer


def run(setting, client, flags, prepare):
    """(symbol, library) -> instructions of the whole process."""
    prepare()
    callgrind.total(setting, callgrind.without_debug_info(setting, client), flags)
    shown = subprocess.run(["callgrind_annotate", "--threshold=100", callgrind.profile(setting)],
                           capture_output=True, text=True, check=True, timeout=120).stdout
    answer = Counter()
    for line in shown.splitlines():
        found = LINE.match(line)
        if found:
            answer[re.sub(r"'\d+$", "", found[2]), os.path.basename(found[3])] += int(found[1].replace(",", ""))
    return answer


def by_part(functions):
    answer = Counter()
    for function, value in functions.items():
        answer[function.part] += value
    return answer


def part(name, symbol, library, client):
    if library.startswith("libcurl"):
        return "libcurl"
    if library.startswith(("libc.so", "libc-", "ld-linux")):
        return "heap" if name in HEAP else "C library"
    if library.startswith("libuv"):
        return "libuv"
    if library.startswith("libswift"):
        return "Swift's runtime"
    if library.startswith(client):
        return "the measuring client" if client == "raw" or MEASURING.search(symbol) or SORTING.search(name) else "NetSpool"
    return "others"


def demangled(symbols):
    """Symbol -> what it is called in the source, without its parameters' types."""
    symbols = sorted(symbols)
    shown = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(symbols),
                           capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    return {symbol: SHORT.sub(r"swift::RefCounts::\1", name)[:120] for symbol, name in zip(symbols, shown, strict=True)}
