"""What a person reads: one table a section, one line a goal."""

import sys

from stats import summary


def show(section, rounds, missing, out):
    """Prints the section and answers its verdicts."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    print(f"\n{section.name}: {section.title} ({len(rounds)} rounds, medians, +- is the spread)")
    headings = ["client", *(column[0] for column in section.columns), *(["ratio"] if section.base else [])]
    layout([headings, *(line(section, row, rounds, missing) for row in section.rows)])
    return [show_goal(section, goal, rounds, out) for goal in section.goals]


def line(section, row, rounds, missing):
    records = [one[row.label] for one in rounds if row.label in one]
    if not records:
        return [row.label, missing.get(row.client, "failed in every round")]
    failed = f" ({len(records)} of {len(rounds)} ended well)" if len(records) < len(rounds) else ""
    cells = [cell(records, *column[1:]) for column in section.columns]
    return [row.label + failed, *cells, *([ratio_cell(section, row, rounds)] if section.base else [])]


def cell(records, key, divisor, decimals, with_spread):
    found = summary([record[key] / divisor for record in records if key in record])
    if found is None:
        return "-"
    return f"{found[0]:,.{decimals}f}" + (f" +-{found[1]:,.{decimals}f}" if with_spread else "")


def ratio_cell(section, row, rounds):
    """The median of the rounds' own ratios, not the ratio of the medians."""
    pairs = [(one.get(row.label, {}).get(section.metric), one.get(section.base, {}).get(section.metric)) for one in rounds]
    found = summary([mine / base for mine, base in pairs if mine is not None and base])
    return f"{found[0]:.2f}" if found else "-"


def layout(lines):
    columns = max(len(one) for one in lines)
    full = [one for one in lines if len(one) == columns]
    widths = [max(len(one[index]) for one in full) for index in range(columns)]
    widths[0] = max(len(one[0]) for one in lines)
    for one in lines:
        cells = [one[0].ljust(widths[0])]
        cells += [text.rjust(widths[index + 1]) if len(one) == columns else text for index, text in enumerate(one[1:])]
        print("  " + "  ".join(cells))


def show_goal(section, goal, rounds, out):
    verdict, median, spread = goal.judge(rounds)
    out.write("verdict", section=section.name, goal=goal.text, limit=goal.limit, unit=goal.unit,
              row=goal.row, metric=goal.metric, base=goal.base, per=goal.per, median=median, spread=spread, verdict=verdict)
    print_goal(goal.text, verdict, median, spread, goal.limit, goal.unit)
    return verdict


def print_goal(text, verdict, median, spread, limit, unit):
    if median is None:
        print(f"  {verdict}: {text}, at most {limit:g} {unit}")
        return
    near = ", closer to the limit than the spread" if abs(median - limit) <= spread else ""
    print(f"  {verdict}: {text}: {median:,.3g} {unit} +-{spread:,.2g}, at most {limit:g}{near}")


def show_summary(verdicts):
    counts = {name: verdicts.count(name) for name in ("PASS", "MISS", "NOT MEASURED")}
    print("\n" + ", ".join(f"{count} {name}" for name, count in counts.items()))
