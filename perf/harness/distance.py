"""How far a measured value is from its goal, in words."""

from metrics import digits

# From here on a multiple reads better than a percentage.
PERCENT_MAX = 2
# Below this a fraction does.
FRACTION_MAX = 0.01


def words(verdict):
    median, limit = verdict["median"], verdict["limit"]
    if median is None:
        return ""
    near = "; closer to the goal than the spread" if abs(median - limit) <= verdict["spread"] else ""
    return beside(median, limit) + near


def beside(median, limit):
    if limit <= 0 or median <= 0:
        return "at the goal" if median == limit else f"{digits(abs(median - limit))} {'over' if median > limit else 'under'}"
    if median > limit:
        over = median / limit
        return f"{digits(over)} times what it may be" if over >= PERCENT_MAX else f"{100 * (over - 1):.2g} % over"
    under = limit / median
    return f"{digits(under)} times better" if under >= PERCENT_MAX else f"{100 * (1 - median / limit):.2g} % to spare"


def value(number, unit):
    """`1.72×`, `1/5,000`, `348 B`."""
    if number is None:
        return "–"
    if unit != "x":
        return f"{digits(number)} {unit}".strip()
    return f"1/{digits(1 / number)}" if 0 < number < FRACTION_MAX else f"{digits(number)}×"
