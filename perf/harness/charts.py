"""The charts of the report as HTML with inline SVG.

Lines are drawn in a square that stretches to the room there is, and all text is HTML beside it, so that it keeps its
size on a telephone. Colours tell clients apart, and never alone: there is a label at each bar, and dashes at each line.
"""

from dataclasses import dataclass
from html import escape

import axis as axes
from metrics import digits

SIDE = 1000  # of the square that lines are drawn in
DASHES = ["", "9 5", "2 5", "14 4 2 4"]
ALONE = ["netspool", "ahc", "curl", "foundation", "aria2", "raw"]
COLOURED = {"raw", "netspool", "ahc", "inside", "foundation", "stores", "curl", "aria2", "cli"}


@dataclass
class Line:
    label: str
    client: str
    points: list  # (x, y)


def colour(client):
    return f"c-{client}" if client in COLOURED else "c-other"


def bars(section, metric):
    """A bar for each row with a whisker for its spread; dots on a logarithmic axis, where a length means nothing."""
    rows = list(section.rows.values())
    measured = [value for row in rows for value in row.values(metric.key)]
    if not measured:
        return ""
    axis = axes.fitting(measured, lambda value: digits(value / metric.divisor))
    marks = goal_marks(section, metric)
    body = "".join(bar(section, row, metric, axis, marks.get(row.label)) for row in rows)
    note = ", logarithmic" if axis.is_logarithmic else ""
    best = "more is better" if metric.more_is_better else "less is better"
    unit = f" in {metric.unit}" if metric.unit else ""
    return (f'<figure><figcaption>{escape(metric.title)}{unit}{note} <small>{best}</small></figcaption>'
            f'<div class="bars">{body}</div></figure>')


def bar(section, row, metric, axis, goal):
    median = row.median(metric.key)
    if median is None:
        # A row without this metric has no place here; one without any has a reason.
        return left_out(row) if not row.records else ""
    low, high = (f"{100 * axis.place(value):.2f}%" for value in row.bounds(metric.key))
    end = f"{100 * axis.place(median):.2f}%"
    mark = f'<line class="goal" x1="{goal_place(axis, goal)}" x2="{goal_place(axis, goal)}" y1="0" y2="24"/>' if goal else ""
    shape = (f'<circle class="fill" cx="{end}" cy="12" r="6"/>' if axis.is_logarithmic
             else f'<rect class="fill" x="0" y="4" width="{end}" height="16" rx="2"/>')
    base = section.rows[section.base].median(metric.key) if section.base in section.rows else None
    ratio = f'<small>{digits(median / base)}&times;</small>' if base and metric.key == section.metric else "<small></small>"
    return (f'<div class="bar {colour(row.client)}"><span class="label">{escape(row.label)}</span>'
            f'<svg height="24" role="img" aria-label="{escape(metric.text(median))}">'
            f'<line class="ground" x1="0" x2="100%" y1="12" y2="12"/>{shape}'
            f'{whiskers(low, high)}{mark}</svg>'
            f'<span class="value">{escape(metric.text(median))}</span>{ratio}</div>')


def whiskers(low, high):
    """With a halo, so that they show on the bar as on the ground; none where the rounds agree."""
    return whisker("halo", low, high) + whisker("whisker", low, high) if low != high else ""


def whisker(kind, low, high):
    ends = [(low, high, 12, 12), (low, low, 7, 17), (high, high, 7, 17)]
    return "".join(f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>' for x1, x2, y1, y2 in ends)


def left_out(row):
    why = escape(row.missing or "not measured")
    return f'<div class="bar none"><span class="label">{escape(row.label)}</span><span class="why">{why}</span></div>'


def goal_place(axis, goal):
    return f"{100 * min(1, axis.place(goal)):.2f}%"


def goal_marks(section, metric):
    """Row -> the most it may be to meet all goals set on this metric."""
    marks = {}
    for verdict in section.verdicts:
        if verdict.get("metric") != metric.key:
            continue
        base = section.row(verdict["base"]).median(metric.key) if verdict.get("base") else verdict.get("per", 1)
        if base:
            most = verdict["limit"] * base
            marks[verdict["row"]] = min(most, marks.get(verdict["row"], most))
    return marks


def lines(title, series, x_axis, y_axis, x_title):
    """Curves with a legend that names each, and a dot at every measured point."""
    styled = style(series)
    curves = "".join(curve(line, dash, x_axis, y_axis) for line, dash in styled)
    grid = "".join(grid_line("y", y_axis.place(value)) for value, _ in y_axis.ticks)
    grid += "".join(grid_line("x", x_axis.place(value)) for value, _ in x_axis.ticks)
    labels = "".join(f'<span class="y" style="bottom:{100 * y_axis.place(value):.2f}%">{escape(text)}</span>'
                     for value, text in y_axis.ticks)
    labels += "".join(f'<span class="x" style="left:{100 * x_axis.place(value):.2f}%">{escape(text)}</span>'
                      for value, text in x_axis.ticks)
    legend = "".join(legend_entry(line, dash) for line, dash in styled)
    note = " <small>logarithmic</small>" if y_axis.is_logarithmic else ""
    return (f'<figure><figcaption>{escape(title)}{note}</figcaption><div class="plot">'
            f'<svg viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none">{grid}{curves}</svg>{labels}</div>'
            f'<p class="axis">{escape(x_title)}</p><ul class="legend">{legend}</ul></figure>')


def style(series):
    """A client's second line is dashed, its third dotted; lines of one client alone have colours too."""
    if len(series) > 2 and len({line.client for line in series}) == 1:
        return [(Line(line.label, ALONE[number % len(ALONE)], line.points), DASHES[number % len(DASHES)])
                for number, line in enumerate(series)]
    seen = {}
    answer = []
    for line in series:
        number = seen.get(line.client, 0)
        seen[line.client] = number + 1
        answer.append((line, DASHES[number % len(DASHES)]))
    return answer


def curve(line, dash, x_axis, y_axis):
    places = [(SIDE * x_axis.place(x), SIDE * (1 - y_axis.place(y))) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    # A line of no length with round ends is a dot, also in a stretched square.
    dots = "".join(f'<path class="dot" d="M{x:.1f},{y:.1f}h0"/>' for x, y in places) if len(places) < 40 else ""
    return (f'<g class="{colour(line.client)}"><polyline points="{path}" stroke-dasharray="{dash}"/>{dots}'
            f'<title>{escape(line.label)}</title></g>')


def grid_line(way, place):
    at = SIDE * (place if way == "x" else 1 - place)
    ends = f'x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{SIDE}"' if way == "x" else f'x1="0" x2="{SIDE}" y1="{at:.1f}" y2="{at:.1f}"'
    return f'<line class="grid" {ends}/>'


def legend_entry(line, dash):
    return (f'<li class="{colour(line.client)}"><svg width="34" height="12"><line x1="1" x2="33" y1="6" y2="6" '
            f'stroke-dasharray="{dash}"/></svg>{escape(line.label)}</li>')
