"""The section "In short", to be read aloud: the verdict with its numbers, what was changed, whom to look at."""

from ...analysis.calibration_measures import confidence_off
from ...analysis.recommendation import ENOUGH
from ...analysis.review import expected_errors
from ...caution import Caution
from ...crowd.reading_report import several
from ...errors import shortened
from ..blocks import Block, Bullets, Paragraph, Verdict
from ..report_data import ReportData
from .accuracy import accuracies

# Cautions of these kinds are said below, not first of all.
_NOT_SERIOUS = ("not compared", "gold", "history", "dropped", "numbers", "spelling")


def gather(data: ReportData) -> list[Block]:
    """Make three to five sentences."""
    crowd = (
        f"{several(data.labels.n_workers, 'worker', 'workers')} gave "
        f"{several(data.labels.n_labels, 'label', 'labels')} to {several(data.labels.n_items, 'item', 'items')}."
    )
    worst = [Paragraph(str(one), "warning") for one in doubt(data)]
    return [
        _verdict(data),
        *worst,
        Paragraph(crowd, "intro"),
        Bullets([_changes(data), *_workers(data)]),
    ]


def _verdict(data: ReportData) -> Verdict:
    """Say what to do with the answers: use them, review some of them, or get gold first; with the numbers."""
    advice = data.findings.recommend(data.source)
    said, next_ = _how_sure(data), str(advice)
    measured = accuracies(data)[:1]
    if advice.kind == "settle" or (advice.kind == "measure" and not measured):
        more = "more " if advice.known else ""
        wanted = several(advice.decisions, f"{more}known answer", f"{more}known answers")
        return Verdict("gold", f"Get gold: {wanted} first", [said, next_])
    good = measured[0].accuracy >= ENOUGH if measured else advice.kind == "enough"
    if good and doubt(data):
        return Verdict("review", "Review: read the warning below before you use the answers", [said])
    if good:
        return Verdict("ship", "Ship: the answers are good enough", [said])
    listed = data.to_review.height
    title = f"Review {several(listed, 'answer', 'answers')} before you use them" if listed else "Review the answers"
    held = [expected_errors(data.result, data.to_review)] if listed else []
    return Verdict("review", title, [said, *held, *([] if measured else [next_])])


def _how_sure(data: ReportData) -> str:
    """Say how many of the answers are right, as far as can be told, and as measured."""
    if data.known is not None:
        _, *others = accuracies(data)
        beside = "".join(f" {one.method[0].upper()}{one.method[1:]} has {one.accuracy:.1%} right." for one in others)
        return f"{confidence_off(data.result, data.known)}{beside}"
    expected = data.result.expected_accuracy
    return f"About {expected.value:.0%} of the answers are expected to be right: {expected.interval}."


def doubt(data: ReportData) -> list[Caution]:
    """Return the most serious caution; none if it is only about how the labels were read or what was not looked at."""
    return [one for one in data.cautions[:1] if one.kind not in _NOT_SERIOUS]


def _changes(data: ReportData) -> str:
    """Say how many answers are not what most workers say."""
    decided = ~data.majority.ties
    changed = int((data.result.answers != data.majority.answers)[decided].sum())
    ties = int(data.majority.ties.sum())
    settled = f" {several(ties, 'tie', 'ties')} of votes had to be settled." if ties else ""
    if not changed:
        return f"Every answer is what most workers say.{settled}"
    share = changed / data.labels.n_items
    return (
        f"{several(changed, 'answer is', 'answers are')} not what most workers say ({share:.1%} of the items).{settled}"
    )


def _workers(data: ReportData) -> list[str]:
    """Say who is worth a look; nothing if nobody looked."""
    unusual = data.findings.unusual
    if unusual is None:
        return []
    worth = unusual.filter(~unusual["reasons"].str.starts_with("Very few labels"))
    if not worth.height:
        return ["No worker stands out otherwise." if doubt(data) else "No worker stands out."]
    name, reasons = worth.row(0)
    first = f"worker {shortened(str(name), 60)}. {reasons}"
    if worth.height == 1:
        return [f"One worker is worth a look: {first}"]
    return [f"{several(worth.height, 'worker', 'workers')} are worth a look, first of all {first}"]
