"""Take the votes, or the known truths, of one question out of what an export holds."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import polars as pl

from ..crowd.encoding import Duplicates
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import several
from ..errors import CallError, DataError, did_you_mean
from ..sources.input import Input
from ..sources.rows import Rows, rows_of_frame
from .gathering import Gathered, Question
from .platform import CHOICE

# A question with more classes than this is free text; and so is one with more than `_MANY_CLASSES`, if there are
# more than one for every `_ROWS_PER_CLASS` answers.
_MOST_CLASSES: Final = 1000
_MANY_CLASSES: Final = 100
_ROWS_PER_CLASS: Final = 5
# The most questions that a message lists.
_MOST_LISTED: Final = 12
_SAMPLED: Final = (
    "Judges answered several times about the same items: each answer is a vote, as with --duplicates samples; "
    "--duplicates drop, first, last or error do otherwise."
)
# The labels where each class is asked for by itself.
_YES, _NO = "yes", "no"


def vote_rows(gathered: Gathered, files: Sequence[Input], options: ReadOptions) -> Rows:
    """Return the votes of the question that the user names, or of the only one.

    Args:
        gathered: What is in the export.
        files: Its files.
        options: What the user asks for.

    Raises:
        CallError: There are several questions and the user names none, or one that is not there; or several classes
            may be chosen, and the user does not say what to do.
        DataError: The question is no choice, or has no vote.
    """
    name, platform = files[0].name, gathered.platform
    question = choose_question(gathered, options.question, name)
    rows = question.table()
    is_model = pl.col("model") if not platform.judges and not options.models else pl.lit(False)
    marked = (pl.col("status") != "") & ~pl.col("status").str.to_lowercase().is_in(list(options.status))
    rows = rows.with_columns(
        pl.when("gold")
        .then(pl.lit("gold"))
        .when(is_model)
        .then(pl.lit("model"))
        .when(marked)
        .then("status")
        .alias("reason")
    )
    used = rows.filter(pl.col("reason").is_null())
    are_several = _chose_several(used, question)
    if are_several and options.multi == "refuse":
        raise _several_chosen(used, question, name)
    if options.multi == "each":
        table = _each_class(used, question)
    else:
        empty = pl.when(pl.col("label").is_null()).then(pl.lit("empty"))
        rows = rows.with_columns(pl.coalesce("reason", empty).alias("reason"))
        table = rows.filter(pl.col("reason").is_null())
    left_out = {**gathered.left_out, **_reasons(rows)}
    if table.height == 0:
        said = "; ".join(f"{count:,} {what}" for what, count in left_out.items())
        raise DataError(" ".join([f"{name}, {platform.name}, has no vote in it: {said}.", *gathered.remarks]))
    table = table.select(*options.roles)
    if options.classes is None:
        _refuse_free_text(table["label"], question)
    asked = f"; labels are the answers{_named(question)}" if question.name else ""
    remarks = (f"{name} is {platform.name}{asked}.", *gathered.remarks)
    policy: Duplicates | None = None
    if are_several and options.multi == "set":
        if options.policy not in ("error", "set"):
            raise CallError(
                f"duplicates={options.policy!r} (--duplicates) does nothing here, where every answer is a set of "
                'classes: leave it out, or say multi="each" (--multi each).'
            )
        policy = "set"
    elif options.duplicates is None and platform.judges and _has_samples(table, files):
        policy, remarks = "samples", (*remarks, _SAMPLED)
    return rows_of_frame(
        table.lazy(),
        {role: role for role in options.roles} | {"label": question.name or "label"},
        name,
        remarks=remarks,
        answers=question.answers + sum(gathered.left_out.values()),
        left_out=left_out,
        policy=policy,
        seconds=used.unique("answer", maintain_order=True).lazy().select("worker", "seconds"),
    )


def _has_samples(votes: pl.DataFrame, files: Sequence[Input]) -> bool:
    """Return whether a judge answered several times about an item.

    If two of the files are equal, the same answers were given twice and are no samples.
    """
    if not votes.select("item", "worker").is_duplicated().any():
        return False
    contents = [Path(one.content).read_bytes() if isinstance(one.content, str) else one.content for one in files]
    return len({sha256(content).digest() for content in contents}) == len(contents)


def truths_of(gathered: Gathered, options: ReadOptions, name: str) -> pl.DataFrame:
    """Return the known truths of a question: the columns item and truth. Raises `DataError` if there are none."""
    with_gold = {key: one for key, one in gathered.questions.items() if one.table()["gold"].any()}
    if not with_gold:
        raise DataError(
            f"{name}, {gathered.platform.name}, has no known truth in it: no answer is marked as gold or ground truth."
        )
    if options.question is None and len(with_gold) == 1:
        (question,) = with_gold.values()
    else:
        question = choose_question(gathered, options.question, name)
    rows = question.table().filter("gold")
    if options.multi == "each":
        rows = _each_class(rows, question)
    return rows.filter(pl.col("label").is_not_null()).select("item", pl.col("label").alias("truth"))


def choose_question(gathered: Gathered, wanted: str | None, name: str) -> Question:
    """Return the question that is named, or the only one that is a choice. Raises as `votes_of` does."""
    questions = gathered.questions
    if wanted is not None:
        if wanted not in questions:
            hint = did_you_mean(wanted, list(questions))
            raise CallError(f"{name} has no question {wanted!r}; it has {_listed(questions)}.{hint}")
        if questions[wanted].type != CHOICE:
            raise DataError(
                f"The question {wanted!r} asks for {questions[wanted].type}, and not for one of some classes, so there "
                "is nothing to vote on."
            )
        return questions[wanted]
    choices = {key: one for key, one in questions.items() if one.type == CHOICE}
    if len(choices) == 1:
        return next(iter(choices.values()))
    if not choices:
        raise DataError(f"{name} asks for no classes: it has {_listed(questions)}.")
    raise CallError(
        f"{name} has {len(choices)} questions: {_listed(choices)}. Choose one by --question NAME (question= in Python)."
    )


def questions_frame(gathered: Gathered) -> pl.DataFrame:
    """Return a row for each question: what is asked, and how many items, workers and answers there are."""
    rows = []
    for question in gathered.questions.values():
        table = question.table()
        votes = table.filter(~pl.col("gold"), pl.col("status") == "", pl.col("label").is_not_null())
        rows.append(
            {
                "question": question.name,
                "type": question.type,
                "items": votes["item"].n_unique(),
                "workers": votes.filter(~pl.col("model"))["worker"].n_unique(),
                "models": votes.filter("model")["worker"].n_unique(),
                "answers": votes["answer"].n_unique(),
                "classes": votes["label"].n_unique() if question.type == CHOICE else None,
                "several": question.several,
                "gold": table.filter("gold")["item"].n_unique(),
                "left_out": question.answers - votes["answer"].n_unique() - table.filter("gold")["answer"].n_unique(),
            }
        )
    return pl.DataFrame(rows)


def long_table(gathered: Gathered) -> pl.DataFrame:
    """Return every answer to every question: question, item, worker, label, kind, status, gold, seconds and time.

    A row is one chosen class; an answer without one has a row without a label.
    """
    tables = [question.table() for question in gathered.questions.values()]
    for name in ("item", "label"):
        if len({table[name].dtype for table in tables} - {pl.Null}) > 1:  # text holds any value
            tables = [table.with_columns(pl.col(name).cast(pl.String)) for table in tables]
    return pl.concat(
        [
            table.select(
                pl.lit(question.name).alias("question"),
                "item",
                "worker",
                "label",
                pl.when("model").then(pl.lit("model")).otherwise(pl.lit("human")).alias("kind"),
                "status",
                "gold",
                "seconds",
                "time",
            )
            for question, table in zip(gathered.questions.values(), tables, strict=True)
        ],
        how="vertical_relaxed",
    )


def _chose_several(used: pl.DataFrame, question: Question) -> bool:
    """Return whether some answer chose several classes; or none, where several may be chosen."""
    if used.height > used["answer"].n_unique():
        return True
    return question.several and bool(used["label"].is_null().any())


def _several_chosen(used: pl.DataFrame, question: Question, name: str) -> CallError:
    """Return the error that asks what to do where several classes may be chosen."""
    count = used.filter((pl.len().over("answer") > 1) | pl.col("label").is_null())["answer"].n_unique()
    first = f"; first: {question.first_several}" if question.first_several else ""
    return CallError(
        f"{count:,} of {used['answer'].n_unique():,} answers of {name}{_named(question)} chose no class or several"
        f"{first}. --multi set makes each a vote for a set of classes, --multi each asks for every class by itself "
        "(multi= in Python)."
    )


def _each_class(used: pl.DataFrame, question: Question) -> pl.DataFrame:
    """Return the answers where an item is an item with a class, and labels are yes and no."""
    classes = question.table()["label"].drop_nulls().unique().sort().alias("class")
    answers = used.select("answer", "item", "worker", "time").unique("answer", maintain_order=True)
    pairs = answers.join(classes.to_frame(), how="cross", maintain_order="left_right")
    chosen = used.select("answer", pl.col("label").alias("class"), pl.lit(_YES).alias("chosen"))
    joined = pairs.join(chosen.unique(), on=["answer", "class"], how="left", maintain_order="left")
    item = pl.format("{}: {}", "item", "class")
    return joined.select(item.alias("item"), "worker", pl.col("chosen").fill_null(_NO).alias("label"), "time")


def _reasons(rows: pl.DataFrame) -> dict[str, int]:
    """Return why answers are not used, in words, and how many of each."""
    counts = dict(
        rows.filter(pl.col("reason").is_not_null())
        .group_by("reason")
        .agg(pl.col("answer").n_unique())
        .sort("reason")
        .rows()
    )
    words: dict[str, int] = {}
    for reason, count in counts.items():
        if reason == "model":
            models = rows.filter(pl.col("reason") == "model")["worker"].n_unique()
            of = several(models, "model", "models")
            words[f"{'prediction' if count == 1 else 'predictions'} of {of} not used; --models takes them"] = count
        elif reason == "gold":
            words[f"{'answer is a known truth' if count == 1 else 'answers are known truths'}, and no votes"] = count
        else:
            words[f"{reason} {'answer' if count == 1 else 'answers'} not used"] = count
    return words


def _refuse_free_text(labels: pl.Series, question: Question) -> None:
    """Raise `DataError` if there are so many classes that the answers must be free text."""
    classes = labels.n_unique()
    if classes > _MOST_CLASSES or (classes > _MANY_CLASSES and classes * _ROWS_PER_CLASS > len(labels)):
        raise DataError(
            f"The {len(labels):,} answers{_named(question)} have {classes:,} different values; this looks like free "
            f"text, such as {labels[0]!r}, and not like classes. If each different value is a class, declare all "
            "classes with classes= (--classes)."
        )


def _named(question: Question) -> str:
    """Return the end of a phrase that names the question, if it has a name."""
    return f" to the question {question.name!r}" if question.name else ""


def _listed(questions: Mapping[str, Question]) -> str:
    """Return the questions in words, each with its type and number of answers."""
    each = [
        f"{one.name!r} ({several(one.answers, 'answer', 'answers')}{'' if one.type == CHOICE else f', {one.type}'})"
        for one in list(questions.values())[:_MOST_LISTED]
    ]
    more = len(questions) - _MOST_LISTED
    return ", ".join(each) + (f" and {more} more" if more > 0 else "")
