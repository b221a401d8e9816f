"""Which curves a section has: percentiles, something against a load, something over time."""

import axis as axes
from charts import Line, lines
from metrics import METRICS, digits


def of(section):
    return "".join(make(section) for make in (against, percentiles, over_time))


def percentiles(section):
    """Latency by percentile; of rows that vary a load, one chart for each, if it is latency that they are about."""
    if not section.chart:
        return percentile_chart(section.rows.values(), "latency by percentile")
    if section.chart["metric"] not in ("p50_us", "p99_us"):
        return ""
    loads = sorted({x for _, x in section.chart["places"].values()})
    title = "latency by percentile at {} " + section.chart["x"]
    return "".join(percentile_chart(rows_at(section, x), title.format(digits(x))) for x in loads)


def rows_at(section, x):
    return [row for label, row in section.rows.items() if section.chart["places"].get(label, (None, None))[1] == x]


def percentile_chart(rows, title):
    """Each further nine is as wide as the one before."""
    series = [Line(row.label, row.client, row.percentiles()) for row in rows if row.percentiles()]
    if not series:
        return ""
    highest = axes.LAST_NINE if max(line.points[-1][0] for line in series) >= 100 else 99.99
    values = [y for line in series for _, y in line.points]
    return lines(title, series, axes.nines(highest), axes.fitting(values, duration),
                 "percentile; the last point is the slowest request")


def against(section):
    """One metric against what the rows vary: `chart` names it, and each row has its series and its place there."""
    chart = section.chart
    if not chart:
        return ""
    metric = METRICS[chart["metric"]]
    series = {}
    for row in section.rows.values():
        name, x = chart["places"].get(row.label, (None, None))
        if name is not None and row.median(metric.key) is not None:
            series.setdefault(name, Line(name, row.client, [])).points.append((x, row.median(metric.key) / metric.divisor))
    drawn = [line for line in series.values() if line.points]
    if not drawn:
        return ""
    xs = sorted({x for line in drawn for x, _ in line.points})
    x_axis = axes.logarithmic(xs[0], xs[-1], digits) if xs[-1] > xs[0] > 0 else axes.linear(max(xs[-1], 1), digits)
    x_axis.ticks = [(x, digits(x)) for x in xs]
    values = [y for line in drawn for _, y in line.points]
    y_axis = axes.fitting(values, digits)
    return lines(f"{metric.title} in {metric.unit}", drawn, x_axis, y_axis, chart["x"])


def over_time(section):
    """The slowest answer of each slice of time, of the last round: what a fault did and how long it lasted."""
    if section.chart:
        return ""  # about a load, and not about what happens under it
    series = [Line(row.label, row.client, [(at, worst) for at, worst in row.records[-1]["timeline_us"] if worst > 0])
              for row in section.rows.values() if row.records and row.records[-1].get("timeline_us")]
    series = [line for line in series if line.points]
    if not series:
        return ""
    end = max(line.points[-1][0] for line in series)
    values = [y for line in series for _, y in line.points]
    return lines("slowest answer over time", series, axes.linear(end, lambda value: f"{value:g} s"),
                 axes.fitting(values, duration), "time at which the request should have left")


def duration(microseconds):
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1)):
        if microseconds >= size:
            return f"{digits(microseconds / size)} {unit}"
    return f"{digits(microseconds)} µs"
