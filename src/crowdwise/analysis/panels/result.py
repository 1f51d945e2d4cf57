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
_LOSES_NOTHING: Final = "measured by its own answers, a panel never loses to a judge"
# Differences that are shown as zero.
_NOTHING: Final = 0.0005


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
        left = found.height - len(said)
        if left > 0:
            said.append(f"{several(left, 'more pair errs', 'more pairs err')} together.")
        if not found.height:
            said.append(self._no_pair())
        if self.dependence is not None:
            blocks = self.dependence.blocks[:_MOST_NAMED]
            agreeing = self._agreeing(self.dependence)
            said += [f"Without any truth, by which judges agree: {agreeing[0].lower()}{agreeing[1:]}"]
            said += map(str, blocks)
            said += self.dependence.cautions
        return said

    def _agreeing(self, found: Dependence) -> str:
        """Return how many agree too often; what all are worth is said by their errors."""
        if not found.blocks:
            return found.summary
        members = sum(block.members.height for block in found.blocks)
        are = f"{several(members, 'judge', 'judges')} of {found.workers:,} are in"
        return (
            f"{are} {several(len(found.blocks), 'block', 'blocks')}, whose members agree more often than independent "
            "judges of the same quality would."
        )

    def _no_pair(self) -> str:
        few = self.redundancy.not_compared
        why = f"{LEAST_SHARED} items, on some of which each is right and on others wrong, are needed"
        if not self.pairs.height:
            return f"No two judges could be compared: {why}."
        compared = several(self.pairs.height, "pair", "pairs")
        more = f" {several(few, 'pair', 'pairs')} could not be compared ({why})." if few else ""
        no = "No" if self.known else "If the panel is right, no"
        return f"{no} two judges err together clearly more than all do ({compared} compared). {_UNSEEN}{more}"

    @property
    def _believed(self) -> str:
        return "" if self.known else "If the panel is right, "

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
            return [
                f"No truth is known, so all of this holds only if the panel is right. Then {name} is right most often: "
                f"{alone}.",
                self._panel_or_best(),
            ]
        together = f"{_percent(best.panel.value)} ({_percent(best.panel.low)} to {_percent(best.panel.high)})"
        flattered = (
            f" {name} was picked because it did best on these items, so its own share is about "
            f"{100 * best.optimism:.1f} points too high; the difference allows for that."
        )
        sure = best.gain.low > 0 or best.gain.high < 0
        open_end = "" if sure else " Which of the two is better cannot be told from these items."
        return [
            f"On {several(self.items, 'item', 'items')} whose truth is known, the panel of {len(self.names):,} judges "
            f"({self.method}) is right in {together}, the best judge, {name}, in {alone}.",
            f"The panel is {_better(best.gain, f' than {name}')}.{flattered if best.optimism >= 0.0005 else ''}"
            f"{open_end}",
        ]

    def _panel_or_best(self) -> str:
        """Return why it cannot be told without truth whether the panel beats its best judge, and what would tell."""
        best, cannot = self.best, "Whether the panel beats its best judge cannot be told"
        if not best.differ:
            return f"{cannot}: both say the same on all items that {self.best_name} judged."
        half = _percent(1.96 * (best.differ / _RANDOM) ** 0.5).removesuffix("%")
        return (
            f"{cannot}: {_LOSES_NOTHING}. The two differ on {_percent(best.differ)} of the items. The truth of "
            f"{_RANDOM} items drawn at random would tell the difference to about {half} points either way."
        )

    def _effective(self) -> list[str]:
        found = self.redundancy
        if found.effective is None or found.correlation is None:
            return ["How many independent judges the panel is worth is not known: too few items have errors of two."]
        rough = "" if self.known else " This is rough: only truth tells how far judges err together."
        return [
            f"{self._believed}{several(len(self.names), 'judge', 'judges')} are worth {'' if self.known else 'about '}"
            f"{found.effective:.1f} independent ones: the errors of two correlate by {found.correlation:.2f} on "
            f"average.{rough}"
        ]

    def _smallest(self) -> list[str]:
        found = self.smallest
        if found is None:
            return []
        other = "the panel" if self.known else "a majority vote of all"
        if not found.judges:
            tried = f"No majority vote of up to {len(found.curve):,} judges"
            return [f"{tried} is as good as {other}, to within one standard error."] if self.known else []
        members = listed(self.names.gather(list(found.judges)))
        good = f"is as good as {other}, to within one standard error"
        alone = f"{members} alone {good}" if len(found.judges) == 1 else f"a majority vote of {members} {good}"
        if self.known:
            return [f"{alone.replace('a majority', 'A majority', 1)}: {other} is {_better(found.gain)}."]
        if len(found.judges) == len(self.names):
            return []
        others = len(self.names) - len(found.judges)
        return [
            f"{several(others, 'judge', 'judges')} you could do without, if the panel is right: {alone}. Weighting "
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
            if not most["changed"]:
                return ["Leaving out any one judge would change no answer."]
            return [
                f"Leaving out {most['judge']} would change the most answers ({_percent(most['changed'])}), leaving out "
                f"{least['judge']} the fewest ({_percent(least['changed'])})."
            ]
        if most["loss_low"] > 0:
            return [f"The panel needs {most['judge']} most: without it, it would {_loss(most)}."]
        if most["loss"] <= 0:
            return ["The panel would lose nothing on these items without any one of its judges."]
        return [
            f"No single judge is clearly needed on these items: without {most['judge']}, the one missed most, the "
            f"panel would {_loss(most)}."
        ]

    def _pair(self, row: dict[str, Any]) -> str:
        together = f"{row['correlation']:.2f} ({row['low']:.2f} to {row['high']:.2f}"
        said = (
            f"{self._believed}{row['one']} and {row['other']} err together: their errors correlate by {together}; all "
            f"pairs {self.redundancy.correlation:.2f} on average). Both are wrong on {_percent(row['both_wrong'])} of "
            f"{row['shared']:,} items, by chance {_percent(row['by_chance'])}."
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
    return _in_words(
        (gain.value, gain.low, gain.high), f"points better{than}", f"points worse{than}", ("better", "worse")
    )


def _loss(row: dict[str, Any]) -> str:
    """Return what the panel would lose or gain without a judge, in words."""
    ends = row["loss"], row["loss_low"], row["loss_high"]
    value = _in_words(ends, "points", "points", ("lost", "gained"))
    return f"{'gain' if ends[0] < -_NOTHING else 'lose'} {value}"


def _in_words(ends: tuple[float, float, float], more: str, less: str, words: tuple[str, str]) -> str:
    """Return a difference and its interval; ends on the other side of zero than the difference are said in words."""
    value, low, high = (100 * end for end in ends)
    if value < -100 * _NOTHING:
        value, low, high, more, words = -value, -high, -low, less, words[::-1]
        if low < 0:
            return f"{value:.1f} {more} ({high:.1f} {words[0]} to {-low:.1f} {words[1]})"
    return f"{value + 0.0:.1f} {more} ({_signed(low)} to {_signed(high)})"


def _signed(points: float) -> str:
    return f"{round(points, 1) + 0.0:.1f}"
