"""Tests of what `rank` reads: tables and logs of arenas, platforms and preference data; and what it refuses."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.cli.app import app
from tests.support.exports import annotation, result


def _counts(found: cw.RankResult) -> dict[str, tuple[int, int, int]]:
    """Return the wins, losses and ties of every object."""
    rows = found.objects.select("object", "wins", "losses", "ties").rows()
    return {name: (wins, losses, ties) for name, wins, losses, ties in rows}


def _rank(source: Any, **options: Any) -> cw.RankResult:
    return cw.rank(source, warn=False, **options)


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_battles_of_an_arena(tmp_path: Path) -> None:
    words = ["model_a", "model_b", "tie", "tie (bothbad)", "model_a"]
    rows = [
        {
            "question_id": f"q{number}",
            "model_a": "gpt",
            "model_b": "llama",
            "winner": word,
            "judge": f"user_{number}",
            "turn": 1,
            "conversation_a": [{"role": "user", "content": "Hi"}],
        }
        for number, word in enumerate(words)
    ]
    found = _rank(_lines(tmp_path / "battles.jsonl", rows))
    assert _counts(found) == {"gpt": (2, 1, 2), "llama": (1, 2, 2)}
    assert not any("No column says" in remark for remark in found.remarks)  # every question is a prompt
    (tmp_path / "battles.json").write_text(json.dumps(rows))
    assert _counts(_rank(tmp_path / "battles.json")) == _counts(found)


def test_battles_with_a_column_for_each_outcome() -> None:
    votes = pl.DataFrame(
        {
            "id": [1, 2, 3],
            "model_a": ["x", "y", "x"],
            "model_b": ["y", "x", "y"],
            "winner_model_a": [1, 0, 0],
            "winner_model_b": [0, 1, 0],
            "winner_tie": [0, 0, 1],
        }
    )
    assert _counts(_rank(votes)) == {"x": (2, 0, 1), "y": (0, 2, 1)}


def test_judgments_of_fastchat_are_two_games(tmp_path: Path) -> None:
    games = [("model_1", "model_1"), ("model_1", "model_2"), ("tie", "error")]
    rows = [
        {
            "question_id": 81 + number,
            "model_1": "a",
            "model_2": "b",
            "g1_winner": one,
            "g2_winner": other,
            "judge": ["gpt-4", "pair-v2"],
        }
        for number, (one, other) in enumerate(games)
    ]
    found = _rank(_lines(tmp_path / "gpt-4_pair.jsonl", rows))
    assert _counts(found) == {"a": (3, 1, 1), "b": (1, 3, 1)}
    # In the second game, the second model was shown first: in both it won by its place.
    row = found.positions.row(0, named=True)
    assert (row["judge"], row["in_both_orders"], row["flips"], row["to_first"]) == ("gpt-4 / pair-v2", 2, 1, 1)
    assert any("1 row without a winner" in remark for remark in found.remarks)


def test_judgments_of_arena_hard_turn_with_the_game(tmp_path: Path) -> None:
    rows = [
        {"question_id": "q1", "model": "m", "judge": "gpt-4", "games": [{"score": "B>>A"}, {"score": "A>B"}]},
        {"question_id": "q2", "model": "m", "judge": "gpt-4", "games": [{"score": "A=B"}, {"score": "B>A"}]},
    ]
    assert _counts(_rank(_lines(tmp_path / "m.jsonl", rows))) == {"m": (2, 1, 1), "baseline": (1, 2, 1)}


def test_annotations_of_alpaca_eval(tmp_path: Path) -> None:
    rows = [
        {
            "instruction": f"Say {number}",
            "output_1": "x",
            "generator_1": "davinci",
            "output_2": "y",
            "generator_2": "mine",
            "annotator": "weighted",
            "preference": preference,
        }
        for number, preference in enumerate([1.0, 2.0, 1.93, 1.5, None])
    ]
    (tmp_path / "annotations.json").write_text(json.dumps(rows))
    found = _rank(tmp_path / "annotations.json")
    assert _counts(found) == {"mine": (2, 1, 1), "davinci": (1, 2, 1)}
    assert found.positions.height == 0  # alpaca_eval shows them in random order and does not write which


@pytest.mark.parametrize("extra", [{}, {"task": ["t1", "t2", "t3"]}])
def test_comparisons_of_crowd_kit(extra: dict[str, Any]) -> None:
    votes = {"worker": ["w"] * 3, "left": ["a", "b", "c"], "right": ["b", "c", "a"], "label": ["a", "b", "a"]}
    assert _counts(_rank(pl.DataFrame(votes | extra))) == {"a": (2, 0, 0), "b": (1, 1, 0), "c": (0, 2, 0)}


def test_pools_of_toloka(tmp_path: Path) -> None:
    header = ["INPUT:image_left", "INPUT:image_right", "OUTPUT:result", "GOLDEN:result", "ASSIGNMENT:task_id"]
    header += ["ASSIGNMENT:worker_id", "ASSIGNMENT:status"]
    rows = [
        ["a.jpg", "b.jpg", "left", "", "t1", "w1", "APPROVED"],
        ["a.jpg", "b.jpg", "image_right", "", "t1", "w2", "APPROVED"],
        ["a.jpg", "c.jpg", "a.jpg", "", "t2", "w1", "APPROVED"],
        ["c.jpg", "a.jpg", "left", "", "t3", "w3", "REJECTED"],
    ]
    path = tmp_path / "assignments.tsv"
    path.write_text("\n".join("\t".join(row) for row in [header, *rows]) + "\n")
    found = _rank(path)
    assert _counts(found) == {"a.jpg": (2, 1, 0), "b.jpg": (1, 1, 0), "c.jpg": (0, 1, 0)}
    assert found.judges["judge"].to_list() == ["w1", "w2"]
    assert any("1 assignment that was not accepted, such as 'REJECTED'" in remark for remark in found.remarks)


def test_preference_data_name_the_winner_first() -> None:
    votes = pl.DataFrame({"prompt": [1, 2, 3], "chosen_model": ["x", "x", "y"], "rejected_model": ["y", "z", "z"]})
    found = _rank(votes)
    assert _counts(found) == {"x": (2, 0, 0), "y": (1, 1, 0), "z": (0, 2, 0)}
    assert found.positions.height == 0


def test_what_promptfoo_selected_wins_against_each_other_output(tmp_path: Path) -> None:
    rows = []
    for test, best in enumerate(["gpt", "claude", "gpt"]):
        for provider in ("gpt", "claude", "llama"):
            component = {
                "pass": provider == best,
                "assertion": {"type": "select-best", "value": "the funniest", "provider": "judge-1"},
            }
            rows.append(
                {
                    "testIdx": test,
                    "promptIdx": 0,
                    "provider": {"id": provider},
                    "prompt": {"label": "joke"},
                    "gradingResult": {"pass": True, "componentResults": [component]},
                }
            )
    (tmp_path / "out.json").write_text(json.dumps({"evalId": "e", "results": {"results": rows, "prompts": []}}))
    found = _rank(tmp_path / "out.json")
    assert _counts(found) == {"gpt": (4, 1, 0), "claude": (2, 2, 0), "llama": (0, 3, 0)}
    assert found.judges["judge"].to_list() == ["judge-1"]


def test_pairwise_tasks_of_label_studio(tmp_path: Path) -> None:
    tasks = [
        {
            "id": number,
            "data": {"prompt": f"p{number}", "model_a": "x", "model_b": "y", "answer1": "One", "answer2": "Two"},
            "annotations": [annotation("ann", result(side, "pairwise")), annotation("bob", result("left", "pairwise"))],
        }
        for number, side in enumerate(["left", "right"])
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    found = _rank(tmp_path / "export.json")
    assert _counts(found) == {"x": (3, 1, 0), "y": (1, 3, 0)}
    assert found.judges["judge"].to_list() == ["ann", "bob"]


def test_scores_are_compared_within_a_judge_and_a_prompt() -> None:
    scores = pl.DataFrame(
        {
            "prompt": [1, 1, 1, 2, 2],
            "judge": ["j"] * 5,
            "model": ["x", "y", "z", "x", "y"],
            "score": [5, 3, 3, 4, 5],
        }
    )
    assert _counts(_rank(scores, scores=True)) == {"x": (2, 1, 0), "y": (1, 1, 1), "z": (0, 1, 1)}


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["A", "[[A]]", "[[A>>B]]", "1", "1.0", "Model A", "a>b"], (7, 0, 0)),
        (["b", "[[B]]", "A<B", "model_b", "2", "y", "SECOND"], (0, 7, 0)),
        (["[[C]]", "tie (inconsistent)", "Tie(bothbad)", "both bad", "both-good", "neither", "A=B"], (0, 0, 7)),
    ],
)
def test_verdicts_as_people_and_judges_write_them(words: list[str], counts: tuple[int, int, int]) -> None:
    votes = {"question": range(7), "Model A": ["x"] * 7, "Model B": ["y"] * 7, "winner": words}
    assert _counts(_rank(pl.DataFrame(votes)))["x"] == counts


@pytest.mark.parametrize("columns", [("Model A", "Model B"), ("response_a", "response_b"), ("left_item", "right_item")])
def test_what_aggregate_points_here_is_read(columns: tuple[str, str]) -> None:
    votes = pl.DataFrame({columns[0]: ["a", "b"], columns[1]: ["b", "a"], "judge": ["j", "k"], "winner": ["a", "tie"]})
    with pytest.raises(cw.DataError, match="rank these with `crowdwise rank`"):
        cw.aggregate(votes)
    assert _counts(_rank(votes)) == {"a": (1, 0, 1), "b": (0, 1, 1)}


def test_columns_of_preference_data_may_have_hyphens() -> None:
    votes = pl.DataFrame({"prompt": [1, 2], "chosen-model": ["x", "x"], "rejected-model": ["y", "z"]})
    assert _counts(_rank(votes)) == {"x": (2, 0, 0), "y": (0, 1, 0), "z": (0, 1, 0)}


def test_a_judge_may_be_a_list_of_its_model_and_its_prompt(tmp_path: Path) -> None:
    rows = [
        {"question_id": 1, "model_a": "x", "model_b": "y", "winner": "tie", "judge": ["gpt-4", "pair-v2"]},
        {"question_id": 2, "model_a": "x", "model_b": "y", "winner": "model_a", "judge": ["gpt-4", "pair-v2"]},
    ]
    found = _rank(_lines(tmp_path / "judgments.jsonl", rows))
    assert found.judges["judge"].to_list() == ["gpt-4 / pair-v2"]
    assert _rank(pl.DataFrame(rows)).judges.equals(found.judges)


def test_logs_that_aggregate_cannot_use_are_pointed_here(tmp_path: Path) -> None:
    games = [
        {"question_id": f"q{number}", "model": "m", "judge": "j", "games": [{"score": "A>B"}]} for number in (1, 2)
    ]
    pairs = [
        {"question_id": number, "model_1": "a", "model_2": "b", "g1_winner": "tie", "g2_winner": "tie", "judge": ["j"]}
        for number in (1, 2)
    ]
    for rows in (games, pairs):
        with pytest.raises(cw.DataError, match="rank these with `crowdwise rank`"):
            cw.aggregate(_lines(tmp_path / "log.jsonl", rows))


def test_a_game_of_arena_hard_without_an_answer_is_no_vote(tmp_path: Path) -> None:
    rows = [{"uid": "q", "model": "m", "judge": "j", "games": [None, {"score": "A>B"}]}]
    found = _rank(_lines(tmp_path / "m.jsonl", rows))
    assert _counts(found) == {"baseline": (0, 1, 0), "m": (1, 0, 0)}
    assert any("1 row without a winner" in remark for remark in found.remarks)


def test_scores_without_the_option_are_pointed_to_it() -> None:
    with pytest.raises(cw.DataError, match=r"rank these with scores=True \(--from-scores\)"):
        _rank(pl.DataFrame({"prompt": [1, 1], "model": ["x", "y"], "score": [1, 2]}))


_GOOD: dict[str, list[Any]] = {"prompt": [1, 2], "left": ["a", "b"], "right": ["b", "a"], "winner": ["a", "tie"]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"right": ["b", "b"]}, "row 2: 'b' is compared with itself"),
        ({"winner": ["a", "c"]}, "row 2: the winner 'c' is neither 'b' nor 'a' nor a tie"),
        ({"left": ["a", ""]}, "row 2: column 'left' is empty"),
        ({"left": ["a"] * 2, "right": ["a"] * 2}, r"row 1: 'a' is compared with itself \(2 rows are like this\)"),
        ({"winner": [None, None]}, "No row has a winner"),
    ],
)
def test_bad_rows_are_refused_in_a_sentence(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(cw.DataError, match=said):
        _rank(pl.DataFrame(_GOOD | changed))


def test_too_many_objects_are_refused_in_a_sentence() -> None:
    count = 10_001
    votes = {"left": range(count), "right": range(1, count + 1), "winner": ["left"] * count}
    with pytest.raises(cw.DataError, match=r"10,002 objects, and at most 5,000 can be ranked at once"):
        _rank(pl.DataFrame({name: pl.Series(list(values)).cast(pl.String) for name, values in votes.items()}))


@pytest.mark.parametrize(
    "columns",
    [("left", "right"), ("model_a", "model_b"), ("chosen", "rejected"), ("generator_1", "generator_2")],
)
def test_comparisons_given_to_aggregate_are_pointed_here(columns: tuple[str, str]) -> None:
    votes = pl.DataFrame({columns[0]: ["a"], columns[1]: ["b"], "judge": ["j"], "winner": ["a"]})
    with pytest.raises(cw.DataError, match="rank these with `crowdwise rank`"):
        cw.aggregate(votes)


def test_on_the_command_line(tmp_path: Path) -> None:
    rows = [(number % 20, f"j{number % 3}", "a", "b", "a" if number % 4 else "b") for number in range(60)]
    votes = pl.DataFrame(rows, schema=["prompt", "judge", "left", "right", "winner"], orient="row")
    votes.write_csv(tmp_path / "votes.csv")
    files = {name: str(tmp_path / f"{name}.csv") for name in ("votes", "ranking", "pairs", "judges")}
    words = ["rank", files["votes"], "-o", files["ranking"], "--pairs", files["pairs"], "--judges", files["judges"]]
    page = str(tmp_path / "page.html")
    done = CliRunner().invoke(app, [*words, "--report", page, "--json"])
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    assert content["written"] == [*list(files.values())[1:], page]
    assert pl.read_csv(files["ranking"])["object"].to_list() == ["a", "b"]
    assert pl.read_csv(files["pairs"])["seen"].to_list() == [60]
    assert pl.read_csv(files["judges"])["judge"].to_list() == ["j0", "j1", "j2"]
    shown = CliRunner().invoke(app, ["rank", files["votes"]]).stdout
    assert "a is first of 2" in shown
