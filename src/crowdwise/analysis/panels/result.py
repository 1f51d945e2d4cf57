"""`JudgesResult`: what is found about judges and their panel, as tables and sentences."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import polars as pl

from ...caution import Caution, listed
from ...crowd.reading_report import several
from ...errors import require_extra
from ...numerics import Array
from ...results.tables import as_html
from ..blocks import Dependence
from .best import Best, Gain, Smallest
from .drift import curve_sentences, drift_sentences
from .positions import Positions
from .redundancy import LEAST_SHARED, Redundancy

# The most pairs and blocks that are named in sentences.
_MOST_NAMED: Final = 3
# How many random items it is said for how well they would tell the panel from the best judge.
_RANDOM: Final = 100

_UNSEEN: Final = (
    "That is no all-clear: an error that all judges share, and pairs who share few items, cannot be seen like this."
)
_LOSES_NOTHING: Final = "by its own opinion a panel never loses to a judge"


@dataclass(frozen=True, eq=False, repr=False)
class JudgesResult:
    """How good each judge is, and the panel beside its best judge; `str` gives it in sentences.

    Attributes:
        judges: One row per judge, the best first: judge, votes, measured (votes on the items that are measured),
            accuracy, low and high (95 % interval; without known classes, the quality by what the panel believes), gain
            (how much better the panel is on the items of the judge, paired) with gain_low and gain_high, loss (how much
            worse the panel is without the judge) with loss_low and loss_high, agreement (with what the others say
            without the judge) with agreement_low and agreement_high, changed (the share of answers that are others
            without the judge), and in_smallest (whether it is in the smallest sufficient panel). Null is not known.
        pairs: One row per two judges, those that err together most first; see `Redundancy`.
        positions: What the order of things does to verdicts.
        known: Whether judges are measured by known classes. If not, everything holds if the panel is right.
        items: How many items judges are measured by.
        method: The method that made the panel's answers.
        best: The best judge beside the panel.
        redundancy: How far judges err together, and how many independent judges they are worth.
        smallest: The fewest judges whose majority is enough; None if that takes too long.
        names: The judges in the order that `best` and `smallest` number them in.
        dependence: Which judges agree too often to be independent, by labels alone; None if that takes too long.
        cautions: What to know before trusting this.
        refitted: Whether the panel was fitted without each judge. If not, loss, agreement and changed are null.
        others: (items, judges), the codes of the answers without each judge; None without `refitted`.
        drift: Each judge now and before; None without a history.
        curve: Each judge by period; None if there are no periods.
        period: The period of the curve.
    """

    judges: pl.DataFrame
    pairs: pl.DataFrame
    positions: Positions
    known: bool
    items: int
    method: str
    best: Best
    redundancy: Redundancy
    smallest: Smallest | None
    names: pl.Series
    dependence: Dependence | None
    cautions: tuple[Caution, ...]
    refitted: bool
    others: Array | None = None
    drift: pl.DataFrame | None = None
    curve: pl.DataFrame | None = None
    period: str = field(default="")

    def with_drift(self, drift: pl.DataFrame) -> "JudgesResult":
        """Return the same with what changed since a history."""
        return replace(self, drift=drift)

    def with_curve(self, curve: pl.DataFrame, period: str) -> "JudgesResult":
        """Return the same with a curve for each judge."""
        return replace(self, curve=curve, period=period)

    @property
    def best_name(self) -> Any:
        """The name of the best judge."""
        return self.names[self.best.judge]

    @property
    def chart(self) -> Any:
        """An Altair chart: how often each judge is right, with its interval; needs the extra `report`."""
        require_extra("report", "A chart")
        from .. import charts

        return judges_chart(self, charts.PLAIN)

    @property
    def summary(self) -> str:
        """What was found about the panel, in a few sentences."""
        return " ".join(self.about_panel())

    def about_panel(self) -> list[str]:
        """Return the panel beside its best judge, the effective number of judges, and who is needed."""
        return [*self._side_by_side(), *self._effective(), *self._smallest(), *self._missed()]

    def about_pairs(self) -> list[str]:
        """Return who errs together, what the panel would lose without one of them, and who agrees too often."""
        found = self.pairs.filter("together")
        said = [self._pair(row) for row in found.head(_MOST_NAMED).to_dicts()]
        if said and not self.known:
            said[0] = f"If the panel is right, {said[0]}"
        left = found.height - len(said)
        if left > 0:
            said.append(f"{several(left, 'more pair errs', 'more pairs err')} together.")
        if not found.height:
            compared = several(self.pairs.height, "pair", "pairs")
            few = self.redundancy.not_compared
            more = f" {few:,} pairs could not be compared ({LEAST_SHARED} items with errors of both are needed)."
            said.append(
                f"No two judges err together more than the panel does in the mean ({compared} compared). {_UNSEEN}"
                f"{more if few else ''}"
            )
        if self.dependence is not None:
            blocks = self.dependence.blocks[:_MOST_NAMED]
            said += ["By the labels alone: " + self.dependence.summary, *map(str, blocks)]
            said += self.dependence.cautions
        return said

    def about_changes(self) -> list[str]:
        """Return who changed since the history, and who changes from period to period; empty if nothing was asked."""
        said = [] if self.drift is None else drift_sentences(self.drift)
        return said if self.curve is None else said + curve_sentences(self.curve, self.period)

    def sentences(self) -> list[str]:
        """Return everything that was found as sentences."""
        return [*self.about_panel(), *self.about_pairs(), *self.positions.sentences(), *self.about_changes()]

    def _side_by_side(self) -> list[str]:
        best, name = self.best, self.best_name
        row = self.judges.filter(pl.col("judge") == name).row(0, named=True)
        alone = f"{_percent(row['accuracy'])} ({_percent(row['low'])} to {_percent(row['high'])})"
        if not self.known:
            half = _percent(1.96 * (best.differ / _RANDOM) ** 0.5).removesuffix("%")
            return [
                f"No class is known, so what follows holds if the panel is right. Then {name} is right most often: "
                f"{alone}.",
                f"Whether the panel beats its best judge cannot be told: {_LOSES_NOTHING}. The two differ on "
                f"{_percent(best.differ)} of {self.items:,} items; {_RANDOM} items drawn at random, decided by "
                f"somebody who knows, would tell the difference to about {half} points.",
            ]
        together = f"{_percent(best.panel.value)} ({_percent(best.panel.low)} to {_percent(best.panel.high)})"
        sure = best.gain.low > 0 or best.gain.high < 0
        open_end = "" if sure else " Which of the two is better cannot be told from these items."
        return [
            f"On {self.items:,} items of known class the panel of {len(self.names):,} ({self.method}) is right in "
            f"{together}, the best judge, {name}, in {alone}.",
            f"The panel is {_better(best.gain, f' than {name}')}, given that {name} was chosen by "
            f"these items, which flatters it by {100 * best.optimism:.1f} points.{open_end}",
        ]

    def _effective(self) -> list[str]:
        found = self.redundancy
        if found.effective is None or found.correlation is None:
            return ["How many independent judges the panel is worth is not known: too few items have errors of two."]
        believed = "" if self.known else "If the panel is right, "
        return [
            f"{believed}{several(len(self.names), 'judge', 'judges')} are worth {found.effective:.1f} independent ones:"
            f" the errors of two correlate by {found.correlation:.2f} on average."
        ]

    def _smallest(self) -> list[str]:
        found = self.smallest
        if found is None:
            return []
        if not found.judges:
            tried = f"No majority of {len(found.curve):,} judges or fewer comes within a standard error of "
            return [f"{tried}{'the panel' if self.known else 'the majority of all'}."]
        members = listed(self.names.gather(list(found.judges)))
        alone = "alone is" if len(found.judges) == 1 else "are enough: by majority they are"
        gain = found.gain
        by = f"it is {_better(gain)}"
        if self.known:
            return [f"{members} {alone} within a standard error of the panel: {by}."]
        if len(found.judges) == len(self.names):
            return []
        others = len(self.names) - len(found.judges)
        return [
            f"{several(others, 'judge', 'judges')} you could do without, if the panel is right: {members} "
            f"{'is' if len(found.judges) == 1 else 'are'} within a standard error of the majority of all. Weighting "
            "all judges, as the panel does, was better than leaving some out wherever that was measured."
        ]

    def _missed(self) -> list[str]:
        if not self.refitted:
            return ["What the panel would be without single judges was left out, because that takes long here."]
        by = "loss" if self.known else "changed"
        order = self.judges.drop_nulls(by).sort(by, "judge", descending=[True, False])
        if not order.height:
            return []
        most, least = order.row(0, named=True), order.row(-1, named=True)
        if not self.known:
            return [
                f"Leaving out {most['judge']} would change the most answers ({_percent(most['changed'])}), leaving out "
                f"{least['judge']} the fewest ({_percent(least['changed'])})."
            ]
        if most["loss_low"] > 0:
            return [f"The judge to keep is {most['judge']}: without it the panel would {_loss(most)}."]
        return [
            f"No single judge is missed clearly; most is {most['judge']}, without which the panel would {_loss(most)}."
        ]

    def _pair(self, row: dict[str, Any]) -> str:
        said = (
            f"{row['one']} and {row['other']} err together: their errors correlate by {row['correlation']:.2f} "
            f"({row['low']:.2f} to {row['high']:.2f}; all pairs {self.redundancy.correlation:.2f} on average). Both "
            f"are wrong on {_percent(row['both_wrong'])} of {row['shared']:,} items, by chance "
            f"{_percent(row['by_chance'])}."
        )
        if not self.refitted:
            return said
        name = "loss" if self.known else "changed"
        one, other = (self.judges.filter(pl.col("judge") == row[role]).row(0, named=True) for role in ("one", "other"))
        if self.known:
            return f"{said} Without {row['one']} the panel would {_loss(one)}, without {row['other']} {_loss(other)}."
        return (
            f"{said} Leaving out {row['one']} would change {_percent(one[name])} of the answers, "
            f"leaving out {row['other']} {_percent(other[name])}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        smallest = self.smallest
        return {
            "known": self.known,
            "items": self.items,
            "method": self.method,
            "best": {
                "judge": self.best_name,
                **{key: value for key, value in asdict(self.best).items() if key != "judge"},
            },
            "effective": self.redundancy.effective,
            "correlation": self.redundancy.correlation,
            "smallest": None
            if smallest is None
            else {"judges": self.names.gather(list(smallest.judges)).to_list(), **_plain(smallest.gain)},
            "judges": _rows(self.judges),
            "pairs": _rows(self.pairs),
            "positions": _rows(self.positions.judges),
            "position_shares": _rows(self.positions.shares),
            "drift": None if self.drift is None else _rows(self.drift),
            "curve": None if self.curve is None else _rows(self.curve),
            "sentences": self.sentences(),
            "remarks": list(self.positions.remarks),
            "cautions": [one.to_dict() for one in self.cautions],
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        what = "known" if self.known else "no known"
        return f"JudgesResult({len(self.names):,} judges on {self.items:,} items of {what} class)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, and the tables."""
        return as_html(self.sentences(), {"Judges, the best first": self.judges, "Pairs of judges": self.pairs.head(5)})


def judges_chart(result: JudgesResult, style: Any) -> Any:
    """Draw how often the panel and each judge are right, with intervals."""
    from .. import charts

    rows = result.judges.select(
        pl.col("judge").cast(pl.String),
        "accuracy",
        *(pl.col(end).fill_null(pl.col("accuracy")) for end in ("low", "high")),
    ).drop_nulls()
    if result.known:
        panel = result.best.panel
        top = pl.DataFrame(
            {"judge": ["the panel"], "accuracy": [panel.value], "low": [panel.low], "high": [panel.high]}
        )
        rows = pl.concat([top, rows])
    across = "Share right" if result.known else "Share right, if the panel is right"
    return charts.intervals(rows.head(_MOST_DRAWN), across, style)


_MOST_DRAWN: Final = 60


def _rows(table: pl.DataFrame) -> Sequence[Any]:
    found: Sequence[Any] = json.loads(table.write_json()) if table.width else []
    return found


def _plain(gain: Gain) -> dict[str, float]:
    return {"behind": gain.value, "behind_low": gain.low, "behind_high": gain.high}


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.1%}"


def _better(gain: Gain, than: str = "") -> str:
    """Return how much better or worse the panel is, in words."""
    value, low, high = (100 * end for end in (gain.value, gain.low, gain.high))
    if value < 0:
        return f"{-value:.1f} points worse{than} ({-high:.1f} to {-low:.1f})"
    return f"{value:.1f} points better{than} ({low:.1f} to {high:.1f})"


def _loss(row: dict[str, Any]) -> str:
    """Return what the panel would lose or gain without a judge, in words."""
    value, low, high = (100 * row[name] for name in ("loss", "loss_low", "loss_high"))
    if value < 0:
        return f"gain {-value:.1f} points ({-high:.1f} to {-low:.1f})"
    return f"lose {value:.1f} points ({low:.1f} to {high:.1f})"
