"""What a section is made of: its scale, its rows, its columns."""

from dataclasses import dataclass, field

from cores import Cores

MIB = 1 << 20
CPU, RSS, LOOKUP = "cpu_us_per_request", "rss_max_bytes", "lookup_ns"


@dataclass
class Scale:
    requests: int
    latency_requests: int
    deep: int
    entries: int  # bodies in a cache
    large_bytes: int
    share: float  # of the time that what is paced takes
    counted_requests: tuple  # few and many, for the difference of instruction counts

    @staticmethod
    def full():
        return Scale(requests=60_000, latency_requests=20_000, deep=100_000, entries=10_000, large_bytes=1 << 30, share=1,
                     counted_requests=(1_000, 5_000))

    @staticmethod
    def quick():
        return Scale(requests=6_000, latency_requests=2_000, deep=10_000, entries=10_000, large_bytes=1 << 28, share=0.25,
                     counted_requests=(1_000, 2_000))


@dataclass
class Setting:
    binaries: object
    origin: object
    work: str
    scale: Scale
    cores: Cores = field(default_factory=Cores)
    machine: str = ""  # in one line, for the results of each section


@dataclass
class Row:
    label: str
    client: str
    flags: list
    outputs: list = field(default_factory=list)
    seconds_max: int = 120
    errors_share: float = 0  # of the requests that may fail: refusals that are what is measured
    fills: bool = False  # the first run fills a store that the later ones find full
    beside: "Row | None" = None  # what another process does meanwhile; it is ended with the row
    cores: list = field(default_factory=list)  # that it may run on; empty: all
    environment: dict = field(default_factory=dict)
    copies: list = field(default_factory=list)  # flags of each of several processes that run at once, behind those of the row
    program_requests: int = 0  # not 0: a whole program, which is measured from outside, and what it is asked for


@dataclass
class Section:
    name: str
    title: str
    rows: list
    goals: list
    columns: list
    base: str | None = None  # the row that the ratio column divides by
    metric: str = CPU  # what that column divides
    rounds: int = 5  # unless told otherwise; fewer where no goal is as close as a twentieth
    chart: dict = field(default_factory=dict)  # a curve against what the rows vary: {metric, x, places: {label: [series, x]}}

    def record(self, missing):
        """What the results keep of it: enough to draw it later, and why rows are left out."""
        rows = [{"label": row.label, "client": row.client, "missing": missing.get(row.client, "")} for row in self.rows]
        return {"section": self.name, "title": self.title, "base": self.base, "metric": self.metric, "chart": self.chart,
                "columns": [column[1] for column in self.columns], "rows": rows}


# (heading, key, divisor, decimals, with spread)
REQUEST_COLUMNS = [
    ("CPU us/req", CPU, 1, 1, True), ("user", "cpu_user_us_per_request", 1, 1, False),
    ("req/s", "requests_per_second", 1, 0, False), ("p50 us", "p50_us", 1, 1, False),
    ("p99 us", "p99_us", 1, 1, False), ("RSS MiB", RSS, MIB, 1, False),
]


def gets(s, *more, prefix=None):
    return ["--url-prefix", prefix or s.origin.http, "--requests", str(s.scale.requests), *more]


def hits(s, name):
    return ["--hits", "--url-prefix", f"{s.origin.http}/fresh", "--cache", f"{s.work}/{name}-netspool"]
