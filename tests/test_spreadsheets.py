"""Workbooks of Excel, in and out."""

import io
import zipfile
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl
import pytest
import xlsxwriter
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.cli.app import app

ROWS: list[list[Any]] = [
    ["item", "worker", "label"],
    ["007", "=1+1", "x"],
    ["007", "b", "y"],
    ["8", "b", None],
    [9, "b", "x"],
]


def workbook(sheets: dict[str, list[list[Any]]]) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"strings_to_formulas": False}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for column, value in enumerate(row):
                    sheet.write(number, column, value)
    return file.getvalue()


def sheets(path: Path) -> dict[str, pl.DataFrame]:
    book = fastexcel.read_excel(path)
    return {name: pl.DataFrame(book.load_sheet(name)) for name in book.sheet_names}


@pytest.mark.parametrize("name", ["votes.xlsx", "votes"])
@pytest.mark.parametrize("engine", ["memory", "auto", "disk"])
def test_the_first_sheet_is_read_and_text_stays_text(name: str, engine: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(workbook({"Votes": ROWS, "Notes": [["nothing"]]}))
    labels = cw.read_labels(path, engine=engine)
    assert labels.n_labels == 3
    assert labels.report.missing == 1
    assert labels.names.workers.sort().to_list() == ["=1+1", "b"]
    assert cw.MajorityVote().fit(labels).to_frame()["item"].sort().to_list() == ["007", "9"]
    assert labels.report.understood == ("Read the first of 2 sheets, 'Votes' (--sheet takes another).",)
    labels.close()


def test_another_sheet_is_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "votes.xlsx"
    wide: list[list[Any]] = [["id", "ann", "bob", "cy"], ["a", "yes", "no", "yes"], ["b", "yes", None, "no"]]
    path.write_bytes(workbook({"Notes": [["nothing"]], "Survey": wide}))
    labels = cw.read_labels(path, sheet="Survey", wide=True)
    assert (labels.n_labels, labels.n_workers) == (5, 3)
    assert cw.read_labels(path, sheet="Survey").n_labels == 5
    with pytest.raises(cw.CallError, match="There is no sheet 'Surveys'; the sheets are 'Notes', 'Survey'"):
        cw.read_labels(path, sheet="Surveys")
    with path.open("rb") as file:
        assert cw.read_labels(file, sheet="Survey").n_labels == 5


def test_results_are_three_sheets_and_come_back(tmp_path: Path) -> None:
    rows = pl.DataFrame({"item": ["007", "007", "8", "=1+1"], "worker": [2**60, 7, 7, 7], "label": list("xyxx")})
    labels, out = tmp_path / "labels.csv", tmp_path / "labels.xlsx"
    rows.write_csv(labels)
    done = CliRunner().invoke(app, ["aggregate", str(labels), "-m", "mv", "-o", str(out)])
    assert done.exit_code == 0, done.output
    found = sheets(out)
    assert list(found) == ["Labels", "Workers", "Review"]
    assert found["Labels"]["item"].to_list() == ["007", "8", "=1+1"]
    assert found["Workers"]["worker"].to_list() == [str(2**60), "7"]  # Excel would round the first
    assert found["Review"]["item"][0] == "007"
    assert found["Review"]["reason"][0] == "1 'x' against 1 'y'; the best two are tied"
    assert "Very few labels" in found["Workers"]["reasons"][0]
    assert cw.read_truth(out, truth="label").rows() == [("007", "x"), ("8", "x"), ("=1+1", "x")]
    on_disk = cw.read_labels(labels, engine="disk")
    cw.MajorityVote().fit(on_disk).write(out, tmp_path / "workers.xlsx", columns="cleanlab")
    assert "consensus_label" in sheets(out)["Labels"].columns
    assert sheets(out)["Disputed"]["item"][0] == "007"
    assert "annotator_quality" in sheets(tmp_path / "workers.xlsx")["Table"].columns


def test_what_does_not_fit_into_a_sheet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.xlsx"
    path.write_bytes(b"as before")
    with pytest.raises(cw.DataError, match="would have more than 1,048,575 rows"):
        cw.write({path: pl.DataFrame({"item": range(1_048_576)})})
    with pytest.raises(cw.DataError, match="a text of 40,000 characters"):
        cw.write({path: pl.DataFrame({"item": ["x" * 40_000]})})
    assert path.read_bytes() == b"as before"


def test_bombs_and_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    corners = [[*row] for row in ROWS]
    path = tmp_path / "bomb.xlsx"
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(corners):
            for column, value in enumerate(row):
                sheet.write(number, column, value)
        sheet.write(1_048_575, 16_383, "far away")
    path.write_bytes(file.getvalue())
    with pytest.raises(cw.DataError, match="uses 1,048,576 rows and 16,384 columns"):
        cw.read_labels(path)
    # The same, where cells do not say where they are.
    with zipfile.ZipFile(io.BytesIO(workbook({"Votes": ROWS}))) as sound, zipfile.ZipFile(path, "w") as changed:
        for part in sound.infolist():
            text = sound.read(part)
            if "sheet1" in part.filename:
                far = b'<row r="1048576">' + b"<c><v>1</v></c>" * 16_000 + b"</row></sheetData>"
                text = text.replace(b"</sheetData>", far)
            changed.writestr(part, text)
    with pytest.raises(cw.DataError, match="more places than fit into memory"):
        cw.read_labels(path)
    for content in (workbook({"Votes": ROWS})[:-30], b"PK\x03\x04[Content_Types].xml", b"PK\x03\x04"):
        path.write_bytes(content)
        with pytest.raises(cw.DataError, match="damaged, or no workbook"):
            cw.read_labels(path)
    path.write_bytes(workbook({"Empty": []}))
    with pytest.raises(cw.DataError, match="its sheet is empty"):
        cw.read_labels(path)


def test_a_part_that_lies_about_its_size_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdwise.data.spreadsheets._MOST_UNPACKED", 1 << 20)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        changed.writestr("xl/worksheets/sheet1.xml", b" " * (4 << 20))
    content = bytearray(path.read_bytes())
    place = content.rfind(b"PK\x01\x02") + 24
    content[place : place + 4] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(cw.DataError, match="unpacks to more than"):
        cw.read_labels(path)
