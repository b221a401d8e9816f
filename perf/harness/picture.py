"""A section's bars as an SVG that stands alone, for a page that shows pictures and no HTML."""

from html import escape

import axis as axes
from metrics import METRICS, digits

WIDTH, LABEL, VALUE, BAR, TOP = 760, 250, 130, 30, 44
# As in page.css.
LIGHT = {"ink": "#1b1f24", "soft": "#57606a", "netspool": "#0072b2", "raw": "#57606a", "ahc": "#d55e00", "curl": "#00795a"}
DARK = {"ink": "#e6e9ed", "soft": "#a4adb8", "netspool": "#56b4e9", "raw": "#b4bcc6", "ahc": "#ff9248", "curl": "#2fc79b"}


def write(section, path):
    metric = METRICS[section.metric or "cpu_us_per_request"]
    measured = [(row, row.median(metric.key)) for row in section.rows.values() if row.median(metric.key) is not None]
    if not measured:
        raise SystemExit(f"{section.name} has no {metric.title}")
    axis = axes.linear(max(value for _, value in measured), digits)
    bars = "".join(bar(number, row, value, metric, axis) for number, (row, value) in enumerate(measured))
    said = ", ".join(f"{row.label}: {metric.text(value)}" for row, value in measured)
    height = TOP + BAR * len(measured) + 10
    with open(path, "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img">\n<title>{escape(section.title)}: {escape(metric.title)}</title>\n<desc>{escape(said)}</desc>\n'
            f'<style>\ntext {{ font: 15px system-ui, sans-serif; }}\n{style(LIGHT)}'
            f'@media (prefers-color-scheme: dark) {{\n{style(DARK)}}}\n</style>\n'
            f'<text class="ink" x="0" y="20" font-weight="600">{escape(section.title)}: {escape(metric.title)} in {metric.unit}</text>\n'
            f'{bars}</svg>\n')


def style(colours):
    return "".join(f".{name} {{ fill: {colour}; }}\n" for name, colour in colours.items())


def bar(number, row, value, metric, axis):
    y = TOP + BAR * number
    length = (WIDTH - LABEL - VALUE) * axis.place(value)
    client = row.client if row.client in LIGHT else "soft"
    return (f'<text class="ink" x="0" y="{y + 16}">{escape(row.label)}</text>'
            f'<rect class="{client}" x="{LABEL}" y="{y}" width="{length:.1f}" height="20" rx="2"/>'
            f'<text class="soft" x="{LABEL + length + 8:.1f}" y="{y + 16}">{escape(metric.text(value))}</text>\n')
