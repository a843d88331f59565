"""Rows of results, and how they are printed."""
import json
from typing import Callable, NamedTuple, Optional

from .statistics import Spread


class Bar(NamedTuple):
    """What a row must reach."""
    limit: float
    at_least: bool

    def met(self, value):
        return value >= self.limit if self.at_least else value <= self.limit

    def text(self, form):
        return ("at least " if self.at_least else "at most ") + form(self.limit)


def at_least(limit):
    return Bar(limit, True)


def at_most(limit):
    return Bar(limit, False)


def times(x):
    return "%.3gx" % x


def percent(x):
    return "%.2f%%" % (x * 100)


def milliseconds(x):
    return "%.1f ms" % (x * 1e3)


def megabytes(x):
    return "%.1f MB" % (x / 1e6)


def rate(x):
    return "%.1fk/s" % (x / 1e3) if x < 1e6 else "%.2fM/s" % (x / 1e6)


def microseconds(x):
    return "%.1f us" % (x * 1e6)


def count(x):
    return "%d" % x


class Row(NamedTuple):
    measure: str
    against: str              # peer, or "" when the bar is absolute
    value: Optional[Spread]   # None: could not be measured
    form: Callable            # float to text
    bar: Optional[Bar]
    figures: str              # what the value was made of

    @property
    def verdict(self):
        """OK or MISSED, with a question mark when the spread crosses the bar."""
        if self.value is None:
            return "-"
        if self.bar is None:
            return ""
        middle, low, high = (self.bar.met(x) for x in self.value)
        return ("OK" if middle else "MISSED") + ("" if low == high else "?")

    def value_text(self):
        if self.value is None:
            return "-"
        middle, low, high = self.value
        if low == high:
            return self.form(middle)
        return "%s (%s..%s)" % (self.form(middle), self.form(low), self.form(high))

    def bar_text(self):
        return self.bar.text(self.form) if self.bar else ""

    def cells(self):
        return [self.measure, self.against, self.value_text(), self.bar_text(),
                self.verdict, self.figures]

    def as_json(self):
        return {
            "measure": self.measure,
            "against": self.against,
            "value": self.value and self.value._asdict(),
            "bar": self.bar and self.bar._asdict(),
            "verdict": self.verdict,
            "figures": self.figures,
        }


HEAD = ["measure", "against", "result", "bar", "", "figures"]


def plain(rows):
    lines = [HEAD] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                   + "\n" for line in lines)


def markdown(rows):
    lines = [HEAD, ["---"] * len(HEAD)] + [row.cells() for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def summary(rows):
    judged = [row for row in rows if row.bar]
    met = sum(row.verdict.startswith("OK") for row in judged)
    unsure = sum(row.verdict.endswith("?") for row in judged)
    unknown = sum(row.verdict == "-" for row in judged)
    text = "%d of %d bars reached" % (met, len(judged))
    text += ", %d too close or too noisy to be sure" % unsure if unsure else ""
    return text + (", %d not measured" % unknown if unknown else "")


def write_json(path, rows, context):
    with open(path, "w") as f:
        json.dump(dict(context, rows=[row.as_json() for row in rows]), f, indent=1)
        f.write("\n")
