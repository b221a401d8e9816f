"""What is measured: rows (a client and its flags), the columns shown, and the goals they answer."""

import tempfile
from types import SimpleNamespace

import connections
import lists
import loads
import scaling
from goals import Goal, at_most, ratio
from parts import CPU, LOOKUP, MIB, REQUEST_COLUMNS, RSS, Row, Section, Setting, gets, hits


def p1(s):
    section = closed_loop(s, "P1", "8 KiB GETs over HTTP/1.1, 64 in flight", s.origin.http)
    section.rows.append(lists.curl(s, "curl -Z, the whole program", s.origin.http))
    return section


def p1_waiting(s):
    title = "the same from an origin that waits 2 ms, so that loops do go to sleep"
    return closed_loop(s, "P1w", title, s.origin.waiting, rounds=3)


def closed_loop(s, name, title, prefix, rounds=5):
    # A queue of 64 behind the wire, so that the wire is never short of work while a closure is on its way to
    # its thread. The raw program and AsyncHTTPClient refill from the completion itself and need none.
    plain = gets(s, prefix=prefix)
    netspool = [*plain, "--queued", "64"]
    return Section(name, title, [
        Row("raw tuned", "raw", plain),
        Row("raw naive", "raw", [*plain, "--naive"]),
        Row("raw tuned, header lines kept", "raw", [*plain, "--headers"]),
        Row("netspool", "netspool", netspool),
        Row("netspool, loop thread", "netspool", [*netspool, "--delivery", "loop"]),
        Row("AsyncHTTPClient, futures", "ahc", plain),
    ], [
        ratio("CPU of netspool on the loop thread to raw tuned", "netspool, loop thread", "raw tuned", CPU, 1.05),
        ratio("CPU of netspool to raw tuned", "netspool", "raw tuned", CPU, 1.1),
        ratio("CPU of netspool to AsyncHTTPClient", "netspool", "AsyncHTTPClient, futures", CPU, 0.33),
    ], REQUEST_COLUMNS, base="raw tuned", rounds=rounds)


def p1_doors(s):
    """The doors of Swift's concurrency beside those with closures."""
    plain = [*gets(s, prefix=s.origin.http), "--queued", "64"]
    return Section("P1a", "8 KiB GETs over HTTP/1.1, 64 in flight, a task that waits for each", [
        Row("netspool", "netspool", plain),
        Row("netspool, async", "netspool", [*plain, "--door", "async"]),
    ], [
        ratio("CPU of the async door to closures", "netspool, async", "netspool", CPU, 1.15),
    ], REQUEST_COLUMNS, base="netspool", rounds=7)


def p2(s):
    flags = ["--latency", "--url-prefix", s.origin.http, "--requests", str(s.scale.latency_requests)]
    return Section("P2", "8 KiB GETs over HTTP/1.1, one in flight", [
        Row("raw tuned", "raw", flags),
        Row("netspool", "netspool", flags),
        Row("netspool, loop thread", "netspool", [*flags, "--delivery", "loop"]),
        Row("netspool, async", "netspool", [*flags, "--door", "async"]),
        Row("AsyncHTTPClient, futures", "ahc", flags),
    ], [
        ratio("p50 of netspool to raw tuned", "netspool", "raw tuned", "p50_us", 1.2),
        ratio("p50 of netspool on the loop thread to raw tuned", "netspool, loop thread", "raw tuned", "p50_us", 1.05),
    ], REQUEST_COLUMNS, base="raw tuned", metric="p50_us")


def p3(s):
    requests = ["--distinct", str(s.scale.entries), "--requests", str(2 * s.scale.requests), "--warmup", str(s.scale.entries)]
    slowly = 1200  # the first one fills what it measures

    def bare(label, store):
        return Row(label, "stores", ["--store", store, "--folder", f"{s.work}/p3-{store}", *requests], seconds_max=slowly)

    def lookup(label, client, store, folder, *more):
        flags = ["--lookup", "--store", store, "--cache", f"{s.work}/p3-{folder}", *requests, *more]
        return Row(label, client, [*flags, "--url-prefix", "http://127.0.0.1"], seconds_max=slowly)

    def inside(label, depth):
        return lookup(label, "inside", depth, "inside")

    def foundation(label, store, *more):
        return lookup(label, "foundation", store, store, *more)

    def netspool(label, *more):
        return Row(label, "netspool", [*hits(s, "p3"), *requests, *more], seconds_max=slowly)

    # What takes milliseconds is asked for less often, and has fewer bodies: it fills in the square of their number.
    rarely = ["--requests", "300", "--warmup", "10", "--distinct", "300"]
    return Section("P3", f"an 8 KiB body by key among {s.scale.entries:,}, in batches of 1,000", [
        bare("LMDB in C, pointer", "lmdb"),
        bare("LMDB in C, copy", "lmdb-copy"),
        inside("store, lookup", "lookup"),
        inside("store, lookup and freshness", "decision"),
        inside("store, the same from the key's text", "key"),
        netspool("netspool, hit"),
        netspool("netspool, hit, loop thread", "--delivery", "loop"),
        foundation("Swift dictionary", "dictionary"),
        foundation("NSCache", "nscache"),
        foundation("URLCache, memory", "urlcache"),
        foundation("URLCache, disk", "urlcache-disk", *rarely),
        bare("SQLite", "sqlite"),
        bare("files", "file"),
    ], [
        ratio("a lookup with freshness to bare LMDB", "store, lookup and freshness", "LMDB in C, pointer", LOOKUP, 2),
        at_most("a hit through the public API", "netspool, hit", LOOKUP, 1200, "ns"),
        ratio("a hit to SQLite", "netspool, hit", "SQLite", LOOKUP, 0.25),
        ratio("a hit to files", "netspool, hit", "files", LOOKUP, 0.25),
        ratio("a hit to URLCache in memory", "netspool, hit", "URLCache, memory", LOOKUP, 1),
        ratio("a hit to URLCache on disk", "netspool, hit", "URLCache, disk", LOOKUP, 1 / 5000),
    ], [
        ("ns each", LOOKUP, 1, 0, True), ("p99 of batches", "lookup_p99_ns", 1, 0, False),
        ("CPU us", CPU, 1, 2, False), ("RSS MiB", RSS, MIB, 1, False),
    ], base="LMDB in C, pointer", metric=LOOKUP)


def p3_latency(s):
    flags = [*hits(s, "p3l"), "--concurrency", "1", "--requests", str(s.scale.requests)]
    return Section("P3l", "8 KiB hits, each sent from the closure of the one before: from enqueue to closure", [
        Row("netspool, hit", "netspool", flags),
        Row("netspool, hit, loop thread", "netspool", [*flags, "--delivery", "loop"]),
    ], [at_most("p50 of a hit", "netspool, hit", "p50_us", 1.2, "us")], REQUEST_COLUMNS)


def p3_sizes(s):
    def row(label, folder, size):
        requests = ["--distinct", "64", "--requests", str(s.scale.requests), "--folder", folder, "--body-bytes", str(size)]
        return Row(label, "netspool", [*hits(s, f"p3s-{folder}"), *requests])

    small, large = "netspool, 1 KiB", "netspool, 1 MiB"
    return Section("P3s", "hits by size of the body, a byte of each page read", [
        row(small, "k", 1 << 10), row(large, "m", 1 << 20),
    ], [
        ratio("a hit of 1 MiB to one of 1 KiB", large, small, LOOKUP, 2),
    ], [("ns each", LOOKUP, 1, 0, True), ("CPU us", CPU, 1, 2, False), ("RSS MiB", RSS, MIB, 1, False)],
        base=small, metric=LOOKUP)


def p3_misses(s):
    """A store of its own each time, removed afterwards."""
    def row(label, folder, *more):
        store = f"{s.work}/p3m-netspool"
        return Row(label, "netspool", [*gets(s, *more, prefix=s.origin.http + folder), "--queued", "64", "--cache", store], [store])

    plain = Row("netspool, no cache", "netspool", [*gets(s, "--unique", prefix=s.origin.http + "/fresh"), "--queued", "64"])
    stored, bare = "netspool, answers stored", "LMDB in C, the same bodies put, 100 a commit"
    folder = f"{s.work}/p3m-lmdb"
    puts = ["--per-commit", "100", "--sync", "0", "--folder", folder, "--body-bytes", "8192", "--requests", str(s.scale.requests)]

    def without_puts(one):
        return (one[stored][CPU] - one[bare][CPU]) / one[plain.label][CPU]

    return Section("P3m", "8 KiB GETs that miss, 64 in flight", [
        plain,
        row(stored, "/fresh", "--unique"),
        row("netspool, answers with no-store", "/unstored", "--unique"),
        row("netspool, answers revalidated", "/stale", "--warmup", "11000"),
        Row(bare, "stores", puts, [folder]),
    ], [
        ratio("CPU of a stored miss to one without cache", stored, plain.label, CPU, 1.25),
        Goal("the same without LMDB's own cost", 1.25, without_puts),
    ], REQUEST_COLUMNS, base=plain.label, rounds=3)


def p4(s):
    shallow, deep = "netspool, 100 queued", f"netspool, {s.scale.deep:,} queued"
    queued = gets(s, "--unique", "--queued")
    handing = ["--enqueue", "--requests", str(s.scale.deep)]
    return Section("P4", "the queue: depth, and the caller's time", [
        Row(shallow, "netspool", [*queued, "100"]),
        Row(deep, "netspool", [*queued, str(s.scale.deep)]),
        Row("netspool, handing over", "netspool", handing),
        Row("AsyncHTTPClient, handing over", "ahc", handing),
    ], [
        ratio(f"CPU with {s.scale.deep:,} queued to 100 queued", deep, shallow, CPU, 1.05),
        at_most("caller's time to enqueue", "netspool, handing over", "enqueue_ns", 1000, "ns"),
    ], [
        ("CPU us/req", CPU, 1, 1, True), ("req/s", "requests_per_second", 1, 0, False),
        ("make ns", "make_ns", 1, 0, True), ("enqueue ns", "enqueue_ns", 1, 0, True),
        ("of it CPU", "enqueue_cpu_ns", 1, 0, False), ("RSS MiB", RSS, MIB, 1, False),
    ])


def p5(s):
    waiting = ["--memory", "--requests", str(s.scale.deep)]
    return Section("P5", "memory: each queued operation, and the peak with 64 in flight", [
        Row("netspool, queued", "netspool", waiting),
        Row("AsyncHTTPClient, queued", "ahc", waiting),
        Row("raw tuned, 64 in flight", "raw", gets(s)),
        Row("netspool, 64 in flight", "netspool", gets(s, "--queued", "64")),
        Row("AsyncHTTPClient, 64 in flight", "ahc", gets(s)),
    ], [
        at_most("bytes per queued operation", "netspool, queued", "bytes_per_queued", 300, "B"),
        ratio("peak of netspool to AsyncHTTPClient", "netspool, 64 in flight", "AsyncHTTPClient, 64 in flight", RSS, 0.6),
    ], [("bytes each", "bytes_per_queued", 1, 0, True), ("RSS MiB", RSS, MIB, 1, True)], rounds=3)


def p6(s):
    """Requests of 1 KiB, or the store's records of them, that are on the disk when they are said to be. New stores each time, but
    for the one that is opened."""
    def bare(label, per_commit, requests):
        folder = f"{s.work}/p6-lmdb-{per_commit}"
        flags = ["--per-commit", str(per_commit), "--folder", folder, "--body-bytes", "1024", "--requests", str(requests)]
        return Row(label, "stores", flags, [folder])

    def frozen(label, way, requests):
        folder = f"{s.work}/p6-frozen-{way}"
        flags = ["--freeze", "--store", way, "--cache", folder, "--body-bytes", "1024", "--requests", str(requests),
                 "--url-prefix", "http://127.0.0.1"]
        return Row(label, "inside", flags, [folder] if not way.endswith("open") else [])

    many, few, held = s.scale.deep // 5, s.scale.deep // 100, s.scale.deep * 10
    bulk, single, opened = "enqueued, in bulk", "enqueued, one by one", f"an engine's store, opened with {held:,}"
    return Section("P6", "a durable record of 1 KiB", [
        bare("LMDB in C, 100 a commit", 100, many), bare("LMDB in C, 1 a commit", 1, few),
        frozen(bulk, "engine", many), frozen("the store alone, in bulk", "bulk", many),
        frozen(single, "engine-single", few), frozen("the store alone, one by one", "single", few),
        frozen(opened, "engine-open", held),
    ], [
        ratio("a frozen request in bulk to LMDB with 100 a commit", bulk, "LMDB in C, 100 a commit", "freeze_ns", 1.2),
        at_most("a frozen request in bulk", bulk, "freeze_ns", 5_000, "ns"),
        ratio("a frozen request alone to its commit in LMDB", single, "LMDB in C, 1 a commit", "freeze_ns", 1.3),
        at_most(f"opening with {held:,} records", opened, "open_seconds", 1, "s"),
    ], [("ns each", "freeze_ns", 1, 0, True), ("opened in s", "open_seconds", 1, 3, True), ("RSS MiB", RSS, MIB, 1, False)],
        base="LMDB in C, 100 a commit", metric="freeze_ns")


def p6_sent(s):
    """From `enqueue` to the answer: recorded, sent and its outcome on the disk. The origin answers at once."""
    def sent(label, way, requests):
        folder = f"{s.work}/p6s-{way}"
        flags = ["--freeze", "--store", way, "--cache", folder, "--body-bytes", "1024", "--requests", str(requests),
                 "--url-prefix", s.origin.http]
        return Row(label, "netspool", flags, [folder])

    few = s.scale.deep // 100
    return Section("P6s", "frozen POSTs of 1 KiB that are sent", [
        sent("one lane", "lane", few), sent("16 lanes", "lanes", 4 * few), sent("one lane without order", "unordered", 4 * few),
    ], [], [("req/s", "requests_per_second", 1, 0, True), ("RSS MiB", RSS, MIB, 1, False)],
        base="one lane", metric="requests_per_second", rounds=3)


def p7(s):
    def row(label, client, files, *more):
        paths = [f"{s.work}/download-{number}.bin" for number in range(files)]
        flags = ["--download", f"{s.origin.http}/large.bin", *more]
        return Row(label, client, flags + [part for path in paths for part in ("--output", path)], paths)

    def extra(one, client, seconds="cpu_seconds"):
        return one[f"{client}, 4 files"][seconds] - one[f"{client}, 1 file"][seconds]

    return Section("P7", f"a download of {s.scale.large_bytes // MIB} MiB", [
        row("raw, counted", "raw", 0),
        row("raw, 1 file", "raw", 1),
        row("raw, 1 file, O_DIRECT", "raw", 1, "--sink", "direct"),
        row("raw, 4 files", "raw", 4),
        row("netspool, counted", "netspool", 0),
        row("netspool, 1 file", "netspool", 1),
        row("netspool, 1 file, SHA-256", "netspool", 1, "--digests"),
        row("netspool, 4 files", "netspool", 4),
        row("AsyncHTTPClient, counted", "ahc", 0),
        row("AsyncHTTPClient, 1 file", "ahc", 1),
        lists.curl_download(s),
        lists.aria2_download(s),
    ], [
        ratio("CPU to one file, of netspool to AsyncHTTPClient", "netspool, 1 file", "AsyncHTTPClient, 1 file", "cpu_seconds", 0.4),
        # A tenth for what is not a write call, as the noise of the two differences demands.
        Goal("CPU of three more files, of netspool to raw writes", 1.1, lambda one: extra(one, "netspool") / extra(one, "raw")),
        at_most("resident with 4 files", "netspool, 4 files", RSS, 64, "MiB", per=MIB),
    ], [
        ("CPU s", "cpu_seconds", 1, 3, True), ("seconds", "seconds", 1, 2, False), ("RSS MiB", RSS, MIB, 1, False),
    ], base="raw, 1 file", metric="cpu_seconds", rounds=3)


def p7_sequence(s):
    counted = ["--download", f"{s.origin.http}/large.bin"]
    return Section("P7a", f"a body of {s.scale.large_bytes // MIB} MiB as a sequence", [
        Row("netspool, closure", "netspool", counted),
        Row("netspool, sequence", "netspool", [*counted, "--door", "async"]),
        Row("AsyncHTTPClient, delegate", "ahc", counted),
    ], [
        ratio("CPU of a sequence to a closure", "netspool, sequence", "netspool, closure", "cpu_seconds", 1.1),
    ], [
        ("CPU s", "cpu_seconds", 1, 3, True), ("seconds", "seconds", 1, 2, False), ("RSS MiB", RSS, MIB, 1, False),
    ], base="netspool, closure", metric="cpu_seconds", rounds=7)


def p8(s):
    flags = ["--h2", "--ca", s.origin.ca, "--url-prefix", s.origin.https, "--requests", str(s.scale.requests)]
    return Section("P8", "8 KiB GETs over HTTP/2 and TLS, 64 streams", [
        Row("raw tuned", "raw", flags),
        Row("netspool", "netspool", [*flags, "--queued", "64"]),
        Row("AsyncHTTPClient, futures", "ahc", flags),
        lists.curl(s, "curl -Z, the whole program", s.origin.https, "--http2", "--cacert", s.origin.ca),
    ], [
        ratio("CPU of netspool to raw tuned", "netspool", "raw tuned", CPU, 1.05),
        ratio("CPU of netspool to AsyncHTTPClient", "netspool", "AsyncHTTPClient, futures", CPU, 0.5),
    ], REQUEST_COLUMNS, base="raw tuned")


def p9(s):
    """Answers per second of the adaptive width and of fixed ones, from origins of three kinds."""
    origins = [  # (name, prefix, requests)
        # Over seconds: in its first half it is still looking for the width, and opens connections.
        ("fast", s.origin.http, 2 * s.scale.requests),
        ("slow", f"{s.origin.waiting}/wait/50/1000", 1_000),
        ("429 above 20", f"{s.origin.waiting}/wait/20/20", 4_000),
    ]
    fixed = [8, 16, 20, 32, 64]

    def row(name, prefix, requests, label, *width):
        flags = ["--unique", "--queued", "64", "--url-prefix", prefix, "--requests", str(requests), *width]
        # Refusals of the warm-up are counted too.
        return Row(f"{name}, {label}", "netspool", flags, errors_share=2)

    def good(one, label):
        return one[label]["requests_per_second"] * (1 - refused(one, label))

    def refused(one, label):
        return one[label]["errors"] / one[label]["requests"]

    def best_to_adaptive(name):
        return Goal(f"{name}: answers per second, of the best fixed width to adaptive", 1.1, lambda one: max(
            good(one, f"{name}, fixed {width}") for width in fixed) / good(one, f"{name}, adaptive"))

    rows = []
    for origin in origins:
        rows.append(row(*origin, "adaptive", "--adaptive", "--concurrency", "64"))
        rows += [row(*origin, f"fixed {width}", "--concurrency", str(width)) for width in fixed]
    limited = "429 above 20, adaptive"
    return Section("P9", "the adaptive width: a fast origin, a slow one, and one that refuses", rows, [
        *(best_to_adaptive(name) for name, _, _ in origins),
        Goal("refused by the last, of a hundred requests", 1, lambda one: 100 * refused(one, limited), "%"),
    ], [("errors", "errors", 1, 0, False), *REQUEST_COLUMNS], rounds=3)


def p10(s):
    """An urgent request now and then, beside as many of the lowest class as the width takes."""
    idle = ["--latency", "--url-prefix", s.origin.waiting, "--requests", str(s.scale.latency_requests // 10)]
    busy = [*idle, "--bulk", "256"]
    return Section("P10", "urgent GETs one by one, from an origin that waits 2 ms", [
        Row("netspool, idle", "netspool", idle),
        Row("netspool, 256 of class low waiting", "netspool", busy),
    ], [
        ratio("p99 of urgent ones under load to idle p99", "netspool, 256 of class low waiting", "netspool, idle", "p99_us", 2),
    ], REQUEST_COLUMNS, base="netspool, idle", metric="p99_us", rounds=3)


MAKERS = {
    "P1": p1, "P1w": p1_waiting, "P1c": loads.p1_width, "P1o": loads.p1_open, "P1a": p1_doors,
    "P2": p2,
    "P3": p3, "P3l": p3_latency, "P3s": p3_sizes, "P3m": p3_misses, "P4": p4, "P5": p5, "P5l": loads.p5_lists,
    "P6": p6, "P6s": p6_sent, "P7": p7, "P7a": p7_sequence, "P8": p8, "P9": p9, "P10": p10, "P11": loads.p11_lag,
    "P13": connections.p13_handshakes, "P14": connections.p14_hosts, "P1l": connections.p1_loops, "P16": loads.p16_lists,
    "P15": loads.p15_mixed, "P15o": loads.p15_overload,
    **scaling.MAKERS,
}
NAMES = list(MAKERS)


def clients(names, scale):
    """Those that the rows of these sections need; the rows are made for an origin that is not there."""
    nowhere = SimpleNamespace(ca="", **dict.fromkeys(["http", "https", "waiting", "prompt", "sick_http", "sick_https"], "http://127.0.0.1:1"))
    with tempfile.TemporaryDirectory() as work:
        return {row.client for section in make(Setting(None, nowhere, work, scale), names) for row in section.rows}


def make(setting, names):
    """All, if none is named."""
    return [maker(setting) for name, maker in MAKERS.items() if not names or name in names]
