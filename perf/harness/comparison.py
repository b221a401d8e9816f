"""What differs between two results, and what only seems to."""

from dataclasses import dataclass

from metrics import COMPARED, METRICS, Metric, digits
from stats import summary

# A difference counts above this many times the larger spread, as those of two results of the same are rarely so far apart.
SPREADS = 2
# Below this share nothing counts: few rounds can agree better than the next few will.
SHARE_MIN = 0.01
WORDS = ["worse", "better", "same", "?"]
QUIET = {"same", "?"}
# Other machines make other numbers.
MACHINE = ["processor", "cores", "kernel", "governor", "quick", "versions"]


@dataclass
class Change:
    label: str
    metric: Metric
    before: float
    after: float
    threshold: float | None  # None: too few rounds to know the noise

    @property
    def word(self):
        if self.threshold is None:
            return "?"
        if abs(self.after - self.before) <= self.threshold:
            return "same"
        return "worse" if (self.after > self.before) != self.metric.more_is_better else "better"

    def text(self):
        ratio = f"{self.after / self.before:.3f} times" if self.before else "from zero"
        noise = "noise unknown" if self.threshold is None else f"noise {self.share(self.threshold)}"
        return f"{ratio} ({self.metric.text(self.before)} -> {self.metric.text(self.after)}, {noise})"

    def share(self, value):
        return f"+-{digits(100 * value / self.before)} %" if self.before else digits(value)


def of_sections(before, after):
    """All values that both have."""
    answer = []
    for label, row in before.rows.items():
        other = after.rows.get(label)
        for key in COMPARED if other else []:
            mine, theirs = usable(row, key), usable(other, key)
            if mine and theirs:
                answer.append(change(label, METRICS[key], mine, theirs))
    return answer


def usable(row, key):
    """Of rounds in which every request came to its end."""
    return [record[key] for record in row.records if key in record and not record.get("errors")]


def change(label, metric, mine, theirs):
    (old, old_spread), (new, new_spread) = summary(mine), summary(theirs)
    is_known = min(len(mine), len(theirs)) > 1
    noise = max(SPREADS * max(old_spread, new_spread), SHARE_MIN * old)
    return Change(label, metric, old, new, noise if is_known else None)


def of_verdicts(before, after):
    """Goals that are met no longer, or now."""
    old = {one["goal"]: one["verdict"] for one in before.verdicts}
    return [f"{one['goal']}: {old[one['goal']]} -> {one['verdict']}" for one in after.verdicts
            if old.get(one["goal"], one["verdict"]) != one["verdict"]]


def of_machines(before, after):
    if not before.machines or not after.machines:
        return []
    old, new = before.machines[-1], after.machines[-1]
    return [f"{key}: {old[key]} / {new[key]}" for key in MACHINE if key in old and key in new and old[key] != new[key]]


def lonely(mine, other):
    """Rows the other result lacks; a section it lacks altogether is named once."""
    answer = []
    for name, section in mine.sections.items():
        if name not in other.sections:
            answer.append(name)
        else:
            answer += [f"{name}, {label}" for label in section.rows if label not in other.sections[name].rows]
    return sorted(answer)
