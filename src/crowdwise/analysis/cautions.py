"""`cautions`: everything that a user should know before relying on a result, the most serious first."""

from typing import Final

from ..caution import Caution, in_order, listed
from ..crowd.labels import Labels
from ..crowd.protocol import Crowd, require_crowd
from ..crowd.reading_report import several
from ..families.dependence.pairs import pairs_refusal
from ..methods.adjudicator import AS_THEY_ARE
from ..results.calibration import is_calibrated
from ..results.in_parts import Inferred
from ..results.result import Result
from .findings import Findings
from .pairing import require_result, same_labels
from .rivals import Rivals
from .unnamed import caution_of_unnamed

# With fewer items, too little is known of the workers, and the share of right labels is a matter of chance.
_FEWEST_ITEMS: Final = 50


def cautions(result: Inferred, labels: Crowd) -> tuple[Caution, ...]:
    """Return what to know before relying on a result, the most serious first; () if there is nothing.

    These are the cautions of the fit itself, and what comparing the workers finds: copies, blocks, one worker who
    decides, other readings of the same labels. Workers are compared where that is quick. `aggregate` calls this.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 2], ["ann", "ann"], ["cat", "dog"])
    >>> for caution in cautions(cw.MajorityVote().fit(labels, warn=False), labels):
    ...     print(caution)
    Confidence is rough: there are 2 items, and fewer than 50 say little about workers.
    Confidence is a guess: there is one worker, so nothing shows how good the labels are. Let a second worker label
    some items.
    """
    require_result(result)
    require_crowd(labels, "cautions")
    return cautions_in(Findings(result, labels))


def cautions_in(found: Findings) -> tuple[Caution, ...]:
    """Return what `cautions` does, given what was found about a result already."""
    result, labels = found.result, found.labels
    some: list[Caution] = [*result.cautions, *found.deciders, *_dependent(found), *_overlap(labels)]
    if found.rivals is not None and not _is_said(found.rivals, result):
        some.append(found.rivals.caution)
    if isinstance(result, Result) and isinstance(labels, Labels):
        some += caution_of_unnamed(result, same_labels(result, labels))
    if labels.n_items < _FEWEST_ITEMS:
        is_of_sets = isinstance(labels, Labels) and labels.sets is not None
        what = ("pair of item and class", "pairs of item and class") if is_of_sets else ("item", "items")
        items = f"is 1 {what[0]}" if labels.n_items == 1 else f"are {labels.n_items} {what[1]}"
        some.append(
            Caution(
                "few items",
                f"Confidence is rough: there {items}, and fewer than {_FEWEST_ITEMS} say little about workers.",
            )
        )
    if result.recalibration is None and not is_calibrated(result.method.calibrated_as):
        some.append(
            Caution(
                "uncalibrated",
                f"Confidence is not calibrated: crowdwise has no constant for {result.method.calibrated_as}, so it is "
                "the raw score.",
                "Give gold= (--gold), to which confidence is fitted.",
            )
        )
    return in_order(some)


def _is_said(rivals: Rivals, result: Inferred) -> bool:
    """Whether the only other reading is the one with all votes, which the caution about followers is about already."""
    leaders = result.workers.leaders
    return rivals.how == [AS_THEY_ARE] and leaders is not None and bool((leaders >= 0).any())


def _overlap(labels: Crowd) -> list[Caution]:
    """Return a caution if no item has labels of two workers, so that nothing shows how good they are."""
    if labels.n_workers == 1:
        sentence = "Confidence is a guess: there is one worker, so nothing shows how good the labels are."
        return [Caution("no overlap", sentence, "Let a second worker label some items.")]
    if labels.n_labels == labels.n_items:
        sentence = "Confidence is a guess: no item has two labels, so nothing shows how good the labels are."
        return [Caution("no overlap", sentence, "Let a second worker label some items.")]
    return []


def _dependent(found: Findings) -> list[Caution]:
    """Return a caution about blocks of workers who count in full, or one that nobody looked for blocks."""
    if found.blocks is None:
        return [_not_compared(found.labels)]
    followers = [] if found.followers is None else [found.followers.caution]
    said = {name for caution in followers for name in caution.workers}
    counted = found.result.workers.counted_as
    names = found.labels.names.workers
    in_full = set((names if counted is None else names.filter(counted == 1)).to_list())
    members_of = [(block, set(block.members["worker"])) for block in found.blocks]
    blocks = [block for block, names in members_of if names <= in_full and not names <= said]
    if not blocks:
        return followers
    members = tuple(name for block in blocks for name in block.members["worker"])
    what = "a block that agrees" if len(blocks) == 1 else f"{len(blocks):,} blocks that agree"
    return [
        *followers,
        Caution(
            "blocks",
            f"Confidence may be too high: {len(members):,} of {several(found.labels.n_workers, 'worker', 'workers')} "
            f"are in {what} more often than independent workers would: {listed(members)}.",
            "Find out whether they copy; `crowdwise blocks labels.csv` (cw.blocks) says who agrees with whom.",
            workers=members,
        ),
    ]


def _not_compared(labels: Crowd) -> Caution:
    """Say that workers were not compared, and what does it, or, where that would be refused too, why not."""
    what = "Whether workers are independent was not looked at"
    if labels.set_valued:
        return Caution("not compared", f"{what}: votes that name several classes are not compared.")
    refusal = pairs_refusal(labels.n_workers, labels.n_classes)
    if refusal:
        return Caution("not compared", f"{what}. {refusal}")
    return Caution("not compared", f"{what}.", "`crowdwise blocks labels.csv` (cw.blocks) does.")
