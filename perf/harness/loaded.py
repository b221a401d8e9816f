"""Results read back: sections in the order of their measurement, each with its rows, rounds and verdicts."""

import statistics
from dataclasses import dataclass, field

import results
from metrics import METRICS
from stats import bounds

# The number a section is about, if it does not say: the first of these that its rows have.
HEADLINES = ["instructions_per_request", "lookup_ns", "cpu_us_per_request", "cpu_seconds", "enqueue_ns", "bytes_per_queued",
             "rss_max_bytes"]


@dataclass
class Row:
    label: str
    client: str = ""
    missing: str = ""  # why nothing was measured
    records: list = field(default_factory=list)

    def values(self, key):
        return [record[key] for record in self.records if key in record]

    def median(self, key):
        values = self.values(key)
        return statistics.median(values) if values else None

    def bounds(self, key):
        return bounds(self.values(key))

    def percentiles(self):
        """[(percent, us)]: the median of the rounds at each percentile."""
        rounds = [dict(record["latency_us"]) for record in self.records if record.get("latency_us")]
        if not rounds:
            return []
        common = {percent for percent in set.intersection(*(set(one) for one in rounds)) if self.supports(percent)}
        return [(percent, statistics.median(one[percent] for one in rounds)) for percent in sorted(common)]


    def supports(self, percent):
        """Whether at least one request lies beyond it. The slowest always counts."""
        return percent == 100 or (100 - percent) / 100 * min(self.values("requests"), default=0) >= 1


@dataclass
class Section:
    name: str
    title: str = ""
    machine: str = ""  # that gave the numbers
    base: str | None = None
    metric: str | None = None
    columns: list = field(default_factory=list)
    chart: dict = field(default_factory=dict)
    rows: dict = field(default_factory=dict)
    verdicts: list = field(default_factory=list)

    def row(self, label):
        return self.rows.setdefault(label, Row(label))

    def has(self, key):
        return any(row.values(key) for row in self.rows.values())

    def headline(self):
        """The metric of the section's first chart."""
        wanted = [self.metric] if self.metric else []
        return next((METRICS[key] for key in wanted + HEADLINES if key in METRICS and self.has(key)), None)


@dataclass
class Results:
    machines: list = field(default_factory=list)
    sections: dict = field(default_factory=dict)

    def section(self, name):
        return self.sections.setdefault(name, Section(name))

    def verdicts(self):
        return [verdict for section in self.sections.values() for verdict in section.verdicts]


def load(paths):
    """Several files are one report; what is measured again in a later file replaces the earlier section."""
    answer = Results()
    for path in paths:
        take(results.read(path), answer)
    return answer


def take(lines, answer):
    fresh = Results()
    for line in lines:
        TAKERS[line["kind"]](line, fresh)
    answer.machines += fresh.machines
    answer.sections.update(fresh.sections)


def take_section(line, answer):
    section = answer.section(line["section"])
    section.title, section.base, section.metric = line["title"], line["base"], line["metric"]
    section.columns, section.chart = line["columns"], line["chart"]
    section.machine = line.get("machine", "")
    for row in line["rows"]:
        section.row(row["label"]).client = row["client"]
        section.row(row["label"]).missing = row["missing"]


def take_run(line, answer):
    row = answer.section(line["section"]).row(line["label"])
    row.client = row.client or line.get("client", "")
    if "failure" in line:
        row.missing = line["failure"]
    else:
        row.records.append(line)


def take_verdict(line, answer):
    answer.section(line["section"]).verdicts.append(line)


TAKERS = {
    "machine": lambda line, answer: answer.machines.append(line),
    "section": take_section, "run": take_run, "verdict": take_verdict,
}
