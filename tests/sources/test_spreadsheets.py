"""Workbooks of Excel, in and out."""

import io
import zipfile
from collections.abc import Callable
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
    monkeypatch.setattr("crowdwise.sources.spreadsheets._MOST_UNPACKED", 1 << 20)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        changed.writestr("xl/workbook.xml", b" " * (4 << 20))
    content = bytearray(path.read_bytes())
    place = content.rfind(b"PK\x01\x02") + 24
    content[place : place + 4] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(cw.DataError, match="unpacks to more than"):
        cw.read_labels(path)


def changed(path: Path, change: Callable[[str, bytes], tuple[str, bytes]]) -> None:
    """Write a workbook of `ROWS` to a path; `change` takes the name and the content of each part, and returns both."""
    with zipfile.ZipFile(io.BytesIO(workbook({"Votes": ROWS}))) as sound, zipfile.ZipFile(path, "w") as file:
        for part in sound.infolist():
            file.writestr(*change(part.filename, sound.read(part)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'r="B2"', b'r="xfd1048576"', "uses 1,048,576 rows and 16,384 columns"),
        (b'<c r="B2"', b"<c s='>" + b" " * 300 + b"' r = 'XFD001048576'", "uses 1,048,576 rows and 16,384 columns"),
        (b'r="B2"', b'r="XFE2"', "column 16,385, and a sheet ends at 1,048,576 and 16,384"),
        (b'r="B2"', b'r="ZZZZZZZ4294967295"', "and a sheet ends at 1,048,576 and 16,384"),
        (b'r="B2"', b'r="A0000000001048577"', "a cell in row 1,048,577"),
        (b'<row r="2"', b'<row r="4294967295"', "and a sheet ends at 1,048,576 and 16,384"),
        (b'<row r="2"', b'<row r="1048576"><c/>' + b"<c/>" * 9000 + b'</row><row r="2"', "1,048,576 rows and 9,001 "),
    ],
    ids=[
        "lower case",
        "long tag",
        "beyond XFD",
        "overflow",
        "beyond the last row",
        "row",
        "row of cells without names",
    ],
)
@pytest.mark.parametrize("folder", ["worksheets", "elsewhere"])
def test_no_sheet_is_larger_than_what_its_cells_were_counted_to_be(
    old: bytes, new: bytes, message: str, folder: str, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.xlsx"

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        content = content.replace(old, new) if "sheet1" in name else content
        return name.replace("worksheets/", f"{folder}/"), content.replace(b"worksheets/", f"{folder}/".encode())

    changed(path, change)
    with pytest.raises(cw.DataError, match=message):
        cw.read_labels(path)


def test_cells_without_names_are_beside_each_other(tmp_path: Path) -> None:
    path = tmp_path / "votes.xlsx"
    rows = b"".join(b"<row><c><v>%d</v></c><c><v>1</v></c><c><v>2</v></c></row>" % row for row in range(20_000))
    changed(path, lambda name, content: (name, content.replace(b"</sheetData>", rows + b"</sheetData>")))
    assert cw.read_labels(path).report.rows > 20_000


def test_a_panic_of_the_library_that_reads_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdwise.sources.spreadsheets._check_room", lambda _: 0)  # which refuses all panics we know
    path = tmp_path / "bomb.xlsx"
    far = b'r="ZZZZZZZ4294967295"'
    changed(path, lambda name, content: (name, content.replace(b'r="B2"', far) if "sheet1" in name else content))
    with pytest.raises(cw.DataError, match=r"damaged, or no workbook \(capacity overflow\)"):
        cw.read_labels(path)
