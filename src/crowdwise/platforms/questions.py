"""The votes, or the known truths, of one question of an export."""

from collections.abc import Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

import polars as pl

from ..crowd.read_options import Duplicates, ReadOptions
from ..crowd.reading_report import several
from ..errors import CallError, DataError, did_you_mean
from ..sources.class_lists import one_class_a_row
from ..sources.input import Input
from ..sources.rows import Rows, rows_of_frame
from ..sources.unpacking import Content
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
_STATED: Final = "Votes count by the probabilities that follow from the log; --votes hard ignores them."
# The labels where each class is asked for by itself.
_YES, _NO = "yes", "no"
# How many classes an answer chose.
_CHOSEN: Final = pl.col("labels").list.drop_nulls().list.len()


def vote_rows(gathered: Gathered, files: Sequence[Input], options: ReadOptions) -> Rows:
    """Return the votes of the question that the user names, or of the only one.

    Raises:
        CallError: There are several questions and the user names none, or one that is not there; or several classes
            may be chosen, and the user does not say what to do.
        DataError: The question is no choice, or has no vote.
    """
    name, platform = files[0].name, gathered.platform
    question = _choose_question(gathered, options.question, name)
    answers = _with_reasons(question.table(), options, takes_models=platform.judges or options.models)
    used = answers.filter(pl.col("reason").is_null())
    counts = _streamed(answers.group_by("reason", "chosen").agg(pl.len().alias("answers")))
    counts_used = counts.filter(pl.col("reason").is_null())
    not_one = counts_used.filter(pl.col("chosen") != 1)
    # Where several classes may be chosen, to choose none is an answer too.
    needs_multi = bool(not_one.height if question.several else not_one.filter(pl.col("chosen") > 1).height)
    if needs_multi and options.multi == "refuse":
        raise _several_chosen(int(not_one["answers"].sum()), int(counts_used["answers"].sum()), question, name)
    if options.multi == "each":
        votes = used
    else:
        votes = _each_chosen(used.filter(pl.col("chosen") > 0))
        is_empty = pl.col("reason").is_null() & (pl.col("chosen") == 0)
        counts = counts.with_columns(pl.when(is_empty).then(pl.lit("empty")).otherwise("reason").alias("reason"))
    left_out = {**gathered.left_out, **_left_out(counts, answers)}
    roles, sets = list(options.roles), options.multi == "each"
    soft = question.states and options.votes == "soft" and not (sets or options.numeric)
    if sets:
        labels = pl.col("labels").list.drop_nulls().alias("label")
        votes = one_class_a_row(votes.with_columns(labels), None, question.name or "label")
    rows = votes
    votes = votes.select(*roles, *(("none", "first") if sets else ()))
    height, classes, first = _streamed(
        votes.select(pl.len(), pl.col("label").n_unique().alias("classes"), pl.col("label").drop_nulls().first())
    ).row(0)
    if height == 0:
        said = "; ".join(f"{count:,} {what}" for what, count in left_out.items())
        raise DataError(" ".join([f"{name}, {platform.name}, has no vote in it: {said}.", *gathered.remarks]))
    if options.classes is None:
        _refuse_free_text(height, classes, first, question)
    asked = f"; labels are the answers{_named(question)}" if question.name else ""
    remarks = (f"{name} is {platform.name}{asked}.", *gathered.remarks)
    policy: Duplicates | None = None
    if needs_multi and options.multi == "set":
        if options.policy not in ("error", "set"):
            raise CallError(
                f"duplicates={options.policy!r} (--duplicates) does nothing here, where every answer is a set of "
                'classes: leave it out, or say multi="each" (--multi each).'
            )
        policy = "set"
    elif not sets and options.duplicates is None and platform.judges and _has_samples(votes, files):
        policy, remarks = "samples", (*remarks, _SAMPLED)
    found = {role: role for role in options.roles} | {"label": question.name or "label"}
    if soft and options.policy in ("error", "samples", "drop", "all") and policy != "set":
        votes = _with_probabilities(rows, alone=(policy or options.policy) != "error").select(*roles, "probability")
        found, remarks = found | {"probability": "log-probabilities"}, (*remarks, _STATED)
    return rows_of_frame(
        votes,
        found,
        name,
        (height, question.size),
        remarks=remarks,
        answers=question.answers + sum(gathered.left_out.values()),
        left_out=left_out,
        policy=policy,
        seconds=used.select("worker", "seconds"),
    )


def _with_reasons(answers: pl.LazyFrame, options: ReadOptions, takes_models: bool) -> pl.LazyFrame:
    """Add two columns: the reason why an answer is no vote, null if it is one, and how many classes it chose."""
    is_marked = (pl.col("status") != "") & ~pl.col("status").str.to_lowercase().is_in(list(options.status))
    reason = (
        pl.when("gold")
        .then(pl.lit("gold"))
        .when(pl.col("model") & ~pl.lit(takes_models))
        .then(pl.lit("model"))
        .when(is_marked)
        .then("status")
    )
    return answers.with_columns(reason.alias("reason"), _CHOSEN.alias("chosen"))


def _streamed(query: pl.LazyFrame) -> pl.DataFrame:
    """Return a short table that is made of many answers, which are not all in memory at once."""
    return query.collect(engine="streaming")


def _has_samples(votes: pl.LazyFrame, files: Sequence[Input]) -> bool:
    """Return whether a judge answered several times about an item.

    If two of the files are equal, the same answers were given twice and are no samples: for that, files are read once
    more.
    """
    # Eight bytes for each vote. Two pairs with the same hash are as good as impossible.
    pairs = _streamed(votes.select(pl.struct("item", "worker").hash().alias("pair")))
    if not pairs["pair"].is_duplicated().any():
        return False
    return len({_digest(file.content) for file in files}) == len(files)


def _digest(content: Content) -> bytes:
    if isinstance(content, bytes):
        return sha256(content).digest()
    with Path(content).open("rb") as file:
        return file_digest(file, "sha256").digest()


def truth_sets_of(gathered: Gathered, options: ReadOptions, name: str) -> pl.LazyFrame:
    """Return the known sets of classes of a question: the columns item and truth, a list. Raises as `truths_of`."""
    gold = _question_with_gold(gathered, options, name).table().filter("gold")
    return gold.select("item", pl.col("labels").list.drop_nulls().alias("truth"))


def truths_of(gathered: Gathered, options: ReadOptions, name: str) -> pl.DataFrame:
    """Return the known truths of a question: the columns item and truth. Raises `DataError` if there are none."""
    question = _question_with_gold(gathered, options, name)
    gold = question.table().filter("gold")
    truths = _each_class(gold, question) if options.multi == "each" else _each_chosen(gold)
    return truths.filter(pl.col("label").is_not_null()).select("item", pl.col("label").alias("truth")).collect()


def _question_with_gold(gathered: Gathered, options: ReadOptions, name: str) -> Question:
    questions = gathered.questions
    with_gold = [key for key, one in questions.items() if _streamed(one.table().select(pl.col("gold").any())).item()]
    if not with_gold:
        raise DataError(
            f"{name}, {gathered.platform.name}, has no known truth in it: no answer is marked as gold or ground truth."
        )
    if options.question is None and len(with_gold) == 1:
        return questions[with_gold[0]]
    return _choose_question(gathered, options.question, name)


def _choose_question(gathered: Gathered, wanted: str | None, name: str) -> Question:
    """Return the question that is named, or the only one that is a choice. Raises as `vote_rows` does."""
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
    is_vote = ~pl.col("gold") & (pl.col("status") == "") & (_CHOSEN > 0)
    rows = []
    for question in gathered.questions.values():
        votes = question.table().filter(is_vote)
        found = _streamed(
            question.table().select(
                pl.col("item").filter(is_vote).n_unique().alias("items"),
                pl.col("worker").filter(is_vote & ~pl.col("model")).n_unique().alias("workers"),
                pl.col("worker").filter(is_vote & pl.col("model")).n_unique().alias("models"),
                is_vote.sum().alias("answers"),
                pl.col("item").filter("gold").n_unique().alias("gold"),
                pl.col("gold").sum().alias("truths"),
            )
        ).row(0, named=True)
        classes = None
        if question.type == CHOICE:
            classes = _streamed(_each_chosen(votes).select(pl.col("label").n_unique())).item()
        rows.append(
            {
                "question": question.name,
                "type": question.type,
                **{key: found[key] for key in ("items", "workers", "models", "answers")},
                "classes": classes,
                "several": question.several,
                "gold": found["gold"],
                "left_out": question.answers - found["answers"] - found["truths"],
            }
        )
    return pl.DataFrame(rows)


def long_table(gathered: Gathered) -> pl.DataFrame:
    """Return every answer to every question: question, item, worker, label, kind, status, gold, seconds and time.

    A row is one chosen class; an answer without one has a row without a label.
    """
    tables = [_each_chosen(one.table()) for one in gathered.questions.values()]
    for name in ("item", "label"):
        if len({table.collect_schema()[name] for table in tables} - {pl.Null()}) > 1:  # text holds any value
            tables = [table.with_columns(pl.col(name).cast(pl.String)) for table in tables]
    return pl.concat(
        [
            table.select(
                pl.lit(question).alias("question"),
                "item",
                "worker",
                "label",
                pl.when("model").then(pl.lit("model")).otherwise(pl.lit("human")).alias("kind"),
                "status",
                "gold",
                "seconds",
                "time",
            )
            for question, table in zip(gathered.questions, tables, strict=True)
        ],
        how="vertical_relaxed",
    ).collect()


def _several_chosen(not_one: int, used: int, question: Question, name: str) -> CallError:
    """Return the error that asks what to do where several classes may be chosen."""
    first = f"; first: {question.first_several}" if question.first_several else ""
    return CallError(
        f"{not_one:,} of {used:,} answers of {name}{_named(question)} chose no class or several{first}. --multi set "
        "makes each a vote for a set of classes, --multi each asks for every class by itself (multi= in Python)."
    )


def _each_chosen(answers: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row for each class that an answer chose, in the column label; one without a label if it chose none."""
    return answers.explode("labels").rename({"labels": "label"})


def _with_probabilities(votes: pl.LazyFrame, alone: bool) -> pl.LazyFrame:
    """Add the column probability, null for answers that state none: a row for each class that an answer states.

    With `alone`, a row for each answer: where a judge answered several times, each answer is a vote.
    """
    states = pl.col("stated").list.len() > 0
    if alone:
        best = pl.col("stated").list.get(pl.col("stated").list.arg_max(), null_on_oob=True)
        return votes.with_columns(pl.when(states).then(best).alias("probability"))
    classes = pl.when(states).then("stated_classes").otherwise(pl.concat_list("label"))
    chances = pl.when(states).then("stated").otherwise(pl.lit([None], dtype=pl.List(pl.Float64)))
    return votes.with_columns(classes.alias("label"), chances.alias("probability")).explode("label", "probability")


def _each_class(answers: pl.LazyFrame, question: Question) -> pl.LazyFrame:
    """Return a row for each answer and class, where an item is an item with a class, and labels are yes and no."""
    classes = _streamed(_each_chosen(question.table()).select(pl.col("label").drop_nulls().unique().sort()))["label"]
    pairs = answers.with_columns(pl.lit(classes).implode().alias("class")).explode("class").drop_nulls("class")
    is_chosen = pl.col("labels").list.contains(pl.col("class"))
    return pairs.select(
        pl.format("{}: {}", "item", "class").alias("item"),
        "worker",
        pl.when(is_chosen).then(pl.lit(_YES)).otherwise(pl.lit(_NO)).alias("label"),
        "time",
    )


def _left_out(counts: pl.DataFrame, answers: pl.LazyFrame) -> dict[str, int]:
    """Return why answers are not used, in words, and how many of each."""
    by_reason = counts.drop_nulls("reason").group_by("reason").agg(pl.col("answers").sum()).sort("reason")
    words: dict[str, int] = {}
    for reason, count in by_reason.rows():
        if reason == "model":
            models = _streamed(answers.filter(pl.col("reason") == "model").select(pl.col("worker").n_unique())).item()
            of = several(models, "model", "models")
            words[f"{'prediction' if count == 1 else 'predictions'} of {of} not used; --models takes them"] = count
        elif reason == "gold":
            words[f"{'answer is a known truth' if count == 1 else 'answers are known truths'}, and no votes"] = count
        else:
            words[f"{reason} {'answer' if count == 1 else 'answers'} not used"] = count
    return words


def _refuse_free_text(votes: int, classes: int, first: Any, question: Question) -> None:
    """Raise `DataError` if there are so many classes that the answers must be free text."""
    if classes > _MOST_CLASSES or (classes > _MANY_CLASSES and classes * _ROWS_PER_CLASS > votes):
        raise DataError(
            f"The {votes:,} answers{_named(question)} have {classes:,} different values; this looks like free "
            f"text, such as {first!r}, and not like classes. If each different value is a class, declare all "
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
