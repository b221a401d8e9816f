"""Sections S1 to S8: the same work by 1, 2, 4, 8 and 16 threads or loops, as far as the machine has cores.

Where there are enough of them clients and servers have cores of their own. The clients count over a stretch of time, each
thread, loop and request by itself: one count for all would be what slows them down.
"""

import lists
import parts
from goals import Goal
from parts import CPU, MIB, RSS, Row, Section

RATE = "requests_per_second"
IN_FLIGHT = 64  # for each loop
# Behind the wire, so that it is never short of work.
QUEUED = 16
COLUMNS = [("per s", RATE, 1, 0, True), ("CPU us each", CPU, 1, 2, True), ("RSS MiB", RSS, MIB, 1, False)]


def named(name, step, unit):
    return f"{name}, {step} {unit}{'' if step == 1 else 's'}"


class Rows:
    """The rows of a section, and the curve that they are: by name, one for each step."""

    def __init__(self, unit):
        self.unit, self.rows, self.places = unit, [], {}

    def add(self, name, step, client, flags, **more):
        label = named(name, step, self.unit)
        self.rows.append(Row(label, client, flags, **more))
        self.places[label] = [name, step]

    def section(self, name, title, goals, base=None, rounds=3):
        chart = {"metric": RATE, "x": f"{self.unit}s", "places": self.places}
        return Section(name, title, self.rows, goals, COLUMNS, base=base, metric=RATE, rounds=rounds, chart=chart)


def a_second(text, row, limit):
    """At least so many millions: the time of each, as all goals are about what is least."""
    return Goal(f"{text} ({limit:g} M/s)", 1_000 / limit, lambda one: 1e9 / one[row][RATE], "ns")


def slower(text, row, base, limit):
    """How many times the base's rate is that of the row."""
    return Goal(text, limit, lambda one: one[base][RATE] / one[row][RATE])


def cpu(text, row, base, limit):
    return Goal(text, limit, lambda one: one[row][CPU] / one[base][CPU], row=row, metric=CPU, base=base)


def window(s):
    return ["--milliseconds", str(int(2_000 * s.scale.share))]


def s1_enqueue(s):
    """To a port that never answers, making the operation included. Raw C hands nothing over: it has no queue."""
    rows, every = Rows("thread"), s.cores.every
    for step in s.cores.steps():
        for name, client, count in (("netspool", "netspool", 4 * s.scale.deep), ("AsyncHTTPClient", "ahc", s.scale.deep)):
            rows.add(name, step, client, ["--callers", "--threads", str(step), "--requests", str(count)], cores=every)
    alone = named("netspool", 1, "thread")
    goals = [a_second(f"handing over by {step}", named("netspool", step, "thread"), millions)
             for step, millions in ((1, 1.7), (4, 5), (16, 10)) if step in s.cores.steps()]
    goals += [slower(f"{step} threads to one alone", named("netspool", step, "thread"), alone, 1)
              for step in s.cores.steps() if step > 1]
    return rows.section("S1", "operations made and handed over, by threads", goals, base=alone)


def s2_hits(s):
    """All threads ask one engine with one store."""
    rows, every, steps = Rows("thread"), s.cores.every, s.cores.steps()
    hits = [*parts.hits(s, "s2"), "--distinct", "1000", *window(s)]
    bare = ["--store", "lmdb", "--folder", f"{s.work}/s2-lmdb", "--distinct", "1000", "--requests", str(20 * s.scale.requests)]
    for step in steps:
        threads = ["--threads", str(step)]
        rows.add("LMDB in C", step, "stores", [*bare, *threads], cores=every)
        rows.add("netspool, closures", step, "netspool", [*hits, *threads], cores=every)
        rows.add("netspool, await", step, "netspool", [*hits, *threads, "--door", "async"], cores=every)
    goals = [a_second(f"hits by {door}, {step} at once", named(f"netspool, {door}", step, "thread"), millions)
             for step, millions in ((1, 0.7), (4, 2.5), (16, 8)) if step in steps for door in ("closures", "await")]
    base = named("netspool, closures", 1, "thread")
    return rows.section("S2", "fresh hits of 8 KiB in one store, by threads", goals, base=base)


def gets(s, step, *more):
    on_the_wire = ["--concurrency", str(IN_FLIGHT * step), "--queued", str(QUEUED * step)]
    return ["--url-prefix", s.origin.prompt, *on_the_wire, *window(s), *more]


def add_raw(rows, s, step):
    """So many processes, each with a loop and an address of its own; their rates are added up."""
    flags = ["--requests", str(s.scale.requests)]
    copies = [["--url-prefix", s.origin.prompt.replace("127.0.0.1", f"127.0.0.{number + 1}")] for number in range(step)]
    rows.add("raw tuned, a process each", step, "raw", flags, copies=copies, cores=s.cores.clients)


def add_loops(rows, s, step, *hosts, split=False):
    flags, cores = [*gets(s, step, *hosts), "--loops", str(step)], s.cores.clients
    rows.add("netspool", step, "netspool", [*flags, "--delivery", "loop"], cores=cores)
    if split:
        rows.add("netspool, split", step, "netspool", [*flags, "--delivery", "loop", "--split"], cores=cores)
    rows.add("AsyncHTTPClient", step, "ahc", [*flags, "--addresses"], cores=cores)


def s3_loops(s):
    """As many origins as loops, one on each."""
    rows, steps = Rows("loop"), s.cores.steps("clients")
    for step in steps:
        add_raw(rows, s, step)
        add_loops(rows, s, step, "--hosts", str(step))
    one = named("netspool", 1, "loop")
    goals = []
    for step in steps:
        own, raw = named("netspool", step, "loop"), named("raw tuned, a process each", step, "loop")
        goals.append(slower(f"rate of raw C to netspool, {step} of each", own, raw, 1 / 0.8))
        if step > 1:
            goals.append(cpu(f"CPU per GET with {step} loops to one", own, one, 1.05))
    return rows.section("S3", f"8 KiB GETs, {IN_FLIGHT} in flight for each loop, an origin for each", goals, base=one)


def s4_hot(s):
    """All ask the same origin, which is on one loop, or on all of them (`splitsHotOrigins`)."""
    rows, steps = Rows("loop"), s.cores.steps("clients")
    for step in steps:
        add_raw(rows, s, step)
        add_loops(rows, s, step, split=step > 1)
    one = named("netspool", 1, "loop")
    goals = []
    for step in steps[1:]:
        own, split, raw = (named(what, step, "loop") for what in ("netspool", "netspool, split", "raw tuned, a process each"))
        goals.append(slower(f"one hot origin, one loop to {step}", own, one, 1))
        goals.append(slower(f"one split origin, raw C to {step} loops", split, raw, 1 / 0.8))
    return rows.section("S4", f"8 KiB GETs to one origin, {IN_FLIGHT} in flight for each loop", goals, base=one)


def s5_automatic(s):
    """As many origins as the most loops, and the same number in flight for all rows: only the number of loops differs."""
    steps = s.cores.steps("clients")
    flags = [*gets(s, steps[-1], "--delivery", "loop"), "--hosts", str(steps[-1])]

    def row(label, *more):
        return Row(label, "netspool", [*flags, *more], cores=s.cores.clients)

    fixed = [row(named("netspool", step, "loop"), "--loops", str(step)) for step in steps]
    chosen, unset = row("netspool, .automatic", "--automatic"), row("netspool, nothing set")

    def best_to(row):
        return Goal(f"rate of the best fixed number to \"{row.label}\"", 1.1,
                    lambda one: max(one[each.label][RATE] for each in fixed) / one[row.label][RATE])

    return Section("S5", "the number of loops that a program gets which does not ask for one", [*fixed, chosen, unset],
                   [best_to(chosen), best_to(unset)], COLUMNS, base=fixed[0].label, metric=RATE, rounds=3)


def s6_doors(s):
    """P1 and P1a with clients and server apart: two cores for everything flatter a hop between threads."""
    plain = gets(s, 1)
    raw = Row("raw tuned", "raw", ["--url-prefix", s.origin.prompt, "--requests", str(s.scale.requests)], cores=s.cores.clients)
    rows = [raw] + [Row(label, "netspool", [*plain, *more], cores=s.cores.clients) for label, more in (
        ("netspool, loop thread", ["--delivery", "loop"]), ("netspool", []), ("netspool, async", ["--door", "async"]))]
    return Section("S6", "8 KiB GETs with one loop, 64 in flight, by the way in which answers come", rows, [
        cpu("CPU of the async door to closures", "netspool, async", "netspool", 1.15),
        cpu("CPU of the queue's delivery to raw tuned", "netspool", raw.label, 1.15),
    ], COLUMNS, base=raw.label, metric=CPU, rounds=5)


def s7_freezes(s):
    rows, every, many = Rows("thread"), s.cores.every, s.scale.deep // 5
    folder = f"{s.work}/s7-lmdb"
    bare = Row("LMDB in C, 100 a commit", "stores", ["--per-commit", "100", "--folder", folder, "--body-bytes", "1024",
                                                    "--requests", str(many)], [folder], cores=every)
    for step in s.cores.steps():
        folder = f"{s.work}/s7-netspool-{step}"
        flags = ["--freeze", "--cache", folder, "--body-bytes", "1024", "--url-prefix", "http://127.0.0.1:9", *window(s)]
        rows.add("netspool", step, "netspool", [*flags, "--threads", str(step)], outputs=[folder], cores=every)
    section = rows.section("S7", "durable requests of 1 KiB in batches of 1,000, by threads", [
        a_second(f"a frozen request, {step} at once", named("netspool", step, "thread"), 0.2) for step in s.cores.steps()
    ], base=named("netspool", 1, "thread"))
    section.rows.insert(0, bare)
    section.columns = [("ns each, LMDB", "freeze_ns", 1, 0, True), *COLUMNS]
    return section


def s8_fetch(s):
    """The tool, which starts and ends within the measurement, and curl's. Its list leads to several origins."""
    rows, count, steps = Rows("loop"), 3 * s.scale.requests, s.cores.steps("clients")
    prefixes = [s.origin.prompt.replace("127.0.0.1", f"127.0.0.{number + 1}") for number in range(16)]
    urls = [f"{prefixes[number % 16]}/t/{number % 10_000 + 1:06d}.bin?{number}" for number in range(count)]
    path = lists.write(s, "s8.list", (f"{url}\n" for url in urls))
    curls = lists.write(s, "s8.list.curl", (f'url = "{url}"\noutput = "/dev/null"\n' for url in urls[: count // 4]))
    for step in steps:
        flags = ["fetch", path, "--no-cache", "--jobs", str(IN_FLIGHT * step), "--quiet"]
        rows.add("netspool fetch", step, "cli", flags, environment={"NETSPOOL_LOOPS": str(step)}, program_requests=count,
                 cores=s.cores.clients)
    one, most = named("netspool fetch", 1, "loop"), named("netspool fetch", steps[-1], "loop")
    goals = [cpu(f"CPU per URL with {steps[-1]} loops to one", most, one, 1.1)] if len(steps) > 1 else []
    if 8 in steps:
        goals.append(a_second("a URL with 8 loops", named("netspool fetch", 8, "loop"), 0.15))
    title = f"a list of {count:,} URLs at 16 origins, 8 KiB each, {IN_FLIGHT} jobs for each loop"
    section = rows.section("S8", title, goals, base=one)
    section.rows.append(Row("curl -Z", "curl", lists.curl_flags(curls), program_requests=count // 4, cores=s.cores.clients))
    return section


MAKERS = {"S1": s1_enqueue, "S2": s2_hits, "S3": s3_loops, "S4": s4_hot, "S5": s5_automatic, "S6": s6_doors, "S7": s7_freezes,
          "S8": s8_fetch}
