"""The report: one HTML file that needs nothing beside it, neither network nor fonts."""

import os
from html import escape

import charts
import curves
import distance
import overview
from metrics import METRICS, digits

HERE = os.path.dirname(os.path.abspath(__file__))
# Shown as charts of their own below the headline, where rows have them.
SIDE_CHARTS = ["requests_per_second", "rss_max_bytes", "allocations_per_request"]
TABLE_KEYS = list(METRICS)
NAMES = {"time": "measured", "commit": "commit", "processor": "processor", "cores": "cores", "apart": "of them", "descriptors": "descriptors", "memory": "memory",
         "governor": "governor", "kernel": "kernel", "system": "system", "load": "load before", "rounds": "rounds",
         "quick": "quick run"}


def write(loaded, path):
    with open(path, "w", encoding="utf-8") as out:
        out.write(page(loaded))


def page(loaded):
    verdicts = loaded.verdicts()
    body = header(loaded, verdicts) + goals_table(loaded) + environment(loaded.machines)
    body += "".join(show_section(section) for section in in_order(loaded)) + how_to_read()
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>NetSpool: measurements</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="color-scheme" content="light dark"><style>{beside("page.css")}</style></head>'
            f'<body><main>{body}</main><script>{beside("page.js")}</script></body></html>\n')


def in_order(loaded):
    return sorted(loaded.sections.values(), key=lambda section: overview.order_of(section.name))


def beside(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as text:
        return text.read()


def header(loaded, verdicts):
    machine = loaded.machines[-1] if loaded.machines else {}
    count = "".join(f"<li>{chip(word)} {sum(one['verdict'] == word for one in verdicts)}</li>"
                    for word in ("PASS", "MISS", "NOT MEASURED"))
    quick = ('<p class="warning">A quick run, with a tenth of the requests: a check that everything works, not a number.</p>'
             if any(one.get("quick") for one in loaded.machines) else "")
    return (f'<header><button id="theme" type="button">dark or light</button><h1>NetSpool: measurements</h1>'
            f'<p>{escape(machine.get("time", ""))}, commit {escape(machine.get("commit", "unknown"))}</p>'
            f'<ul class="counts">{count}</ul>{quick}</header>')


def chip(word):
    sign = {"PASS": "✓", "MISS": "✗"}.get(word, "–")
    return f'<span class="chip {word.split()[0].lower()}">{sign} {word}</span>'


def goals_table(loaded):
    groups = {}
    for section in loaded.sections.values():
        groups.setdefault(overview.group_of(section.name), []).append(section)
    rows = "".join(goal_row(name, text, command, groups.get(name, []))
                   for name, (text, command) in overview.GOALS.items())
    return f'<section><h2>Goals</h2><table class="goals">{rows}</table></section>'


def goal_row(name, text, command, sections):
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    what = overview.tally(verdicts) if verdicts else f"not in this report: {command}"
    anchor = f'<a href="#{escape(sections[0].name)}">{name}</a>' if sections else name
    return (f'<tr><th>{anchor}</th><td>{escape(text)}<br><small>{escape(what)}</small></td>'
            f'<td>{chip(overview.status(verdicts))}</td></tr>')


def environment(machines):
    """The last machine in full; of earlier results what may differ."""
    earlier = "".join(f"<li>{escape(one['time'])}, commit {escape(one['commit'])}, {one['rounds']} rounds, "
                      f"load before {one['load']}{', quick' if one['quick'] else ''}</li>" for one in machines[:-1])
    also = f"<p>Also in this report:</p><ul>{earlier}</ul>" if earlier else ""
    return f'<section><h2>Environment</h2>{"".join(facts(machine) for machine in machines[-1:])}{also}</section>'


def facts(machine):
    own = [(text, machine[key]) for key, text in NAMES.items() if key in machine]
    versions = machine.get("versions") or {key: machine[key] for key in ("libcurl", "libuv", "swift") if key in machine}
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(plain(value))}</dd></div>"
                    for name, value in [*own, *versions.items()])
    return f'<dl class="facts">{cells}</dl>'


def plain(value):
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def show_section(section):
    headline = section.headline()
    keys = [headline.key] if headline else []
    keys += [key for key in SIDE_CHARTS if key not in keys and section.has(key) and wants(section, key)]
    drawn = curves.against(section) or "".join(charts.bars(section, METRICS[key]) for key in keys)
    drawn += curves.percentiles(section) + curves.over_time(section)
    title = f"{section.name}: {section.title}" if section.title else section.name
    return (f'<section id="{escape(section.name)}"><h2>{escape(title)}</h2>{measured_on(section)}{verdict_list(section)}'
            f'<div class="charts">{drawn}</div>{numbers(section)}{commands(section)}</section>')


def measured_on(section):
    """Sections of one report may come from several machines."""
    return f"<p><small>On {escape(section.machine)}.</small></p>" if section.machine else ""


def wants(section, key):
    """A section says its columns; one from an older file shows what it has."""
    return not section.columns or key in section.columns


def verdict_list(section):
    items = "".join(f'<li>{chip(one["verdict"])} <span>{goal_text(one)}</span></li>' for one in section.verdicts)
    return f'<ul class="verdicts">{items}</ul>' if items else '<p class="none">No goal is set here.</p>'


def goal_text(verdict):
    most = distance.value(verdict["limit"], verdict["unit"])
    if verdict["median"] is None:
        return f'{escape(verdict["goal"])}: goal at most {escape(most)}'
    measured = distance.value(verdict["median"], verdict["unit"])
    return (f'{escape(verdict["goal"])}: <b>{escape(measured)}</b> ±{escape(digits(verdict["spread"]))}, '
            f'goal at most {escape(most)} <small>({escape(distance.words(verdict))})</small>')


def numbers(section):
    keys = [key for key in TABLE_KEYS if section.has(key)]
    head = "".join(f"<th>{escape(METRICS[key].title)}{unit_of(key)}</th>" for key in keys)
    rows = "".join(number_row(row, keys) for row in section.rows.values())
    return (f'<details><summary>All numbers</summary><div class="wide"><table class="numbers">'
            f'<tr><th>client</th>{head}<th>rounds</th></tr>{rows}</table></div></details>')


def unit_of(key):
    return f"<br><small>{escape(METRICS[key].unit)}</small>" if METRICS[key].unit else ""


def number_row(row, keys):
    if not row.records:
        return f'<tr><th>{escape(row.label)}</th><td colspan="{len(keys) + 1}">{escape(row.missing or "not measured")}</td></tr>'
    cells = "".join(f"<td>{number_cell(row, METRICS[key])}</td>" for key in keys)
    return f"<tr><th>{escape(row.label)}</th>{cells}<td>{len(row.records)}</td></tr>"


def number_cell(row, metric):
    median = row.median(metric.key)
    if median is None:
        return ""
    low, high = row.bounds(metric.key)
    return f"{digits(median / metric.divisor)} <small>±{digits((high - low) / metric.divisor)}</small>"


def commands(section):
    lines = "\n".join(f'{row.client}: {" ".join(row.records[-1]["command"])}'
                      for row in section.rows.values() if row.records and "command" in row.records[-1])
    again = escape(overview.command_of(section.name))
    return f"<details><summary>Commands: <code>{again}</code></summary><pre>{escape(lines)}</pre></details>"


def how_to_read():
    return ('<section><h2>How to read this</h2><p>Values are medians of interleaved rounds, each in a process of its own. '
            'Whiskers and ± are the spread: between the quartiles, or between the extremes below five rounds. '
            'A ratio is the median of the rounds’ own ratios where it is judged, and of the medians beside a bar. '
            'The vertical dashed line at a bar is its goal. Absolute values drift between machines; ratios from one run '
            'can be quoted.</p></section>')
