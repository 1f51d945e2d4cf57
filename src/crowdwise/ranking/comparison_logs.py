"""`LOGS`: comparisons in files whose rows are nested: judgments of FastChat and arena-hard, promptfoo, Label Studio."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..errors import DataError
from ..platforms.fields import Location, entries, first_text, path_of, text_or_none, value_at
from ..platforms.label_studio import LABEL_STUDIO, is_annotation, tasks, worker_of
from ..platforms.promptfoo import PROMPTFOO, judge_of, results
from ..sources.input import Input
from .comparison_columns import PAIRS, PROMPTS

# What names objects in the tasks of Label Studio, besides the columns of tables.
_TEXTS: Final = tuple(
    (f"{word}{gap}1", f"{word}{gap}2") for word in ("text", "answer", "response") for gap in ("", "_")
)
_ARENA_HARD: Final = {"A>>B": "left", "A>B": "left", "A=B": "tie", "B=A": "tie", "B>A": "right", "B>>A": "right"}
_BASELINE: Final = "baseline"


class Vote(NamedTuple):
    """One comparison. `winner` is "left", "right" or "tie"; None if the log has no verdict."""

    item: str
    judge: str
    left: str
    right: str
    winner: str | None


class Log(NamedTuple):
    """A kind of file with comparisons.

    Attributes:
        name: What it is, for messages.
        recognises: Takes a file, and returns whether it is of this kind, by its beginning.
        read: Takes a file and the fields that the user names, by role, and yields the comparisons.
        ordered: Whether `left` is what the judge saw first.
    """

    name: str
    recognises: Callable[[Input], bool]
    read: Callable[[Input, Mapping[str, str | None]], Iterator[Vote]]
    ordered: bool


def _fastchat(file: Input, named: Mapping[str, str | None]) -> Iterator[Vote]:
    """Yield two votes for each row: in the second game, the second model was shown first."""
    for at, row in entries([file], "line"):
        item, judge = str(at.field(row, named.get("item") or "question_id")), _joined(row.get("judge"))
        first, second = str(at.field(row, "model_1")), str(at.field(row, "model_2"))
        won = {"model_1": first, "model_2": second}
        for left, right, said in ((first, second, row.get("g1_winner")), (second, first, row.get("g2_winner"))):
            winner = "tie" if said == "tie" else {left: "left", right: "right"}.get(won.get(str(said), ""))
            yield Vote(item, judge, left, right, winner)


def _joined(value: Any) -> str:
    return path_of(value) if isinstance(value, list) else text_or_none(value) or "judge"


def _arena_hard(file: Input, named: Mapping[str, str | None]) -> Iterator[Vote]:
    """Yield a vote for each game. The baseline is A in the first game and B in the second, and so on."""
    for at, row in entries([file], "line"):
        item = first_text(row, named.get("item") or "question_id", "uid")
        if item is None:
            raise at.unlike("has neither 'question_id' nor 'uid'")
        model, baseline = str(at.field(row, "model")), first_text(row, "baseline", "baseline_model") or _BASELINE
        games = row.get("games")
        played = [{} if game is None else game for game in games] if isinstance(games, list) else games
        for number, game in enumerate(at.objects(played, "'games'", "a game")):  # a game without an answer is null
            left, right = (baseline, model) if number % 2 == 0 else (model, baseline)
            winner = _ARENA_HARD.get(str(game.get("score")).replace("[", "").replace("]", ""))
            yield Vote(item, _joined(row.get("judge")), left, right, winner)


def _promptfoo(file: Input, named: Mapping[str, str | None]) -> Iterator[Vote]:
    """Yield the output that was selected against each of the others of its test."""
    tests: dict[tuple[str, str, str], list[tuple[str, str, bool]]] = {}
    for at, row in entries([file], "result", results):
        provider = row.get("provider")
        model = first_text(provider, "label", "id") if isinstance(provider, dict) else text_or_none(provider)
        prompt = text_or_none(value_at(row, "prompt.label")) or str(row.get("promptIdx"))
        item = str(at.field(row, named.get("item") or "testIdx"))
        for one in at.objects(value_at(row, "gradingResult.componentResults"), "'componentResults'", "a component"):
            assertion = one.get("assertion")
            if isinstance(assertion, dict) and assertion.get("type") == "select-best":
                asked = item, judge_of(assertion.get("provider")), str(assertion.get("value"))
                tests.setdefault(asked, []).append((model or "output", prompt, one.get("pass") is True))
    if not tests:
        raise DataError(f"{file.name} has no result of a select-best assertion: there is nothing to rank.")
    shown = [(model, prompt) for outputs in tests.values() for model, prompt, _ in outputs]
    models, prompts = ({one[place] for one in shown} for place in (0, 1))

    def named_by(model: str, prompt: str) -> str:
        if len(prompts) == 1:
            return model
        return prompt if len(models) == 1 else path_of((model, prompt))

    for (item, judge, _), outputs in tests.items():
        best = [named_by(*one[:2]) for one in outputs if one[2]]
        for model, prompt, is_best in outputs if len(best) == 1 else []:
            if not is_best and (other := named_by(model, prompt)) != best[0]:
                yield Vote(item, judge, best[0], other, "left")


def _label_studio(file: Input, named: Mapping[str, str | None]) -> Iterator[Vote]:
    for at, entry, number in tasks([file], None):
        task = entry["task"] if is_annotation(entry) else entry
        data = at.object(task.get("data") or {}, "'data'")
        annotations = [entry] if is_annotation(entry) else at.objects(task.get("annotations"), "annotations", "one")
        said = [(one, value) for one in annotations for value in _selected(at, one)]
        if not said:
            continue
        left, right = _fields_of_objects(at, data, named)
        prompt = named.get("item")
        item = str(at.field(data, prompt)) if prompt else first_text(data, *PROMPTS) or str(number)
        for annotation, winner in said:
            judge = worker_of(annotation.get("completed_by")) or "annotator"
            yield Vote(item, judge, str(at.field(data, left)), str(at.field(data, right)), winner)


def _selected(at: Location, annotation: Mapping[str, Any]) -> Iterator[str | None]:
    if annotation.get("was_cancelled"):
        return
    for one in at.objects(annotation.get("result"), "result", "a result"):
        if one.get("type") == "pairwise":
            selected = value_at(one, "value.selected")
            yield selected if selected in ("left", "right") else None


def _fields_of_objects(at: Location, data: Mapping[str, Any], named: Mapping[str, str | None]) -> tuple[str, str]:
    left, right = named.get("left"), named.get("right")
    if left is not None and right is not None:
        return left, right
    known = next((pair for pair in (*PAIRS, *_TEXTS) if set(pair) <= data.keys()), None)
    if known is None:
        raise DataError(
            f"{at.file.name}: the data of {at.where} ({', '.join(map(repr, data))}) do not say which two objects were "
            "compared. Name the two fields with left= (--left-column) and right= (--right-column)."
        )
    return known


LOGS: Final = (
    Log("judgments of FastChat", lambda file: {"g1_winner", "model_1"} <= file.first.keys(), _fastchat, True),
    Log("judgments of arena-hard", lambda file: {"games", "model"} <= file.first.keys(), _arena_hard, True),
    Log(PROMPTFOO.name, PROMPTFOO.recognises, _promptfoo, False),
    Log(LABEL_STUDIO.name, LABEL_STUDIO.recognises, _label_studio, True),
)
