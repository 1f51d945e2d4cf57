"""Write exports by the platforms' own code. Runs in an environment of its own: `make test-platforms`.

python -m tests.support.platform_exports label_studio FOLDER  # makes JSON, JSON-MIN, CSV and TSV of FOLDER/export.json
python -m tests.support.platform_exports label_studio_check FILE  # whether Label Studio takes the predictions of a file
python -m tests.support.platform_exports argilla FOLDER           # makes flat.json, parquet and a folder as of to_disk
python -m tests.support.platform_exports toloka FOLDER            # makes pool.tsv with the columns of toloka-kit
"""

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Choices name="mood" toName="text"><Choice value="a"/><Choice value="b"/></Choices>
  <TextArea name="reason" toName="text"/>
</View>
"""


def label_studio(folder: Path) -> None:
    """Convert an export to the small formats, by label-studio-sdk."""
    from label_studio_sdk.converter import Converter

    converter = Converter(CONFIG, str(folder), download_resources=False)
    source = str(folder / "export.json")
    converter.convert_to_json(source, str(folder / "json"), is_dir=False)
    converter.convert_to_json_min(source, str(folder / "min"), is_dir=False)
    converter.convert_to_csv(source, str(folder / "csv"), is_dir=False, header=True, sep=",")
    converter.convert_to_csv(source, str(folder / "tsv"), is_dir=False, header=True, sep="\t")


def label_studio_check(file: Path) -> None:
    """Let label-studio-sdk say what is wrong with the predictions of a file, and print it."""
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(CONFIG)
    wrong: list[Any] = []
    for task in json.loads(file.read_text()):
        for prediction in task["predictions"]:
            wrong += interface.validate_prediction(prediction, return_errors=True)
    sys.stdout.write(json.dumps(wrong))


def argilla(folder: Path) -> None:
    """Write records by argilla: `votes.json` in the folder has rows of item, worker and label."""
    import argilla as rg
    from argilla.records._io import GenericIO, HFDatasetsIO, JsonIO

    rg.Argilla._default_client = SimpleNamespace(  # records and settings ask for one, though nothing is sent
        api=SimpleNamespace(datasets=None, questions=None, fields=None, metadata=None, vectors=None)
    )
    votes = json.loads((folder / "votes.json").read_text())
    questions = [rg.LabelQuestion(name="q", labels=["a", "b"]), rg.TextQuestion(name="why")]
    settings = rg.Settings(fields=[rg.TextField(name="text")], questions=questions)
    records = []
    for item in dict.fromkeys(row[0] for row in votes):
        said = [row for row in votes if row[0] == item]
        responses = [rg.Response("q", label, user_id=UUID(int=worker), status="submitted") for _, worker, label in said]
        responses.append(rg.Response("q", "a", user_id=UUID(int=99), status="discarded"))
        responses.append(rg.Response("why", "because", user_id=UUID(int=1), status="submitted"))
        suggestions = [rg.Suggestion("q", "b", agent="gpt", score=0.5)]
        records.append(rg.Record(id=f"r{item}", fields={"text": "x"}, responses=responses, suggestions=suggestions))
    (folder / "flat.json").write_text(json.dumps(GenericIO.to_list(records, flatten=True)))
    (folder / "columns.json").write_text(json.dumps(GenericIO.to_dict(records, flatten=True)))
    disk = folder / "disk"
    (disk / ".argilla").mkdir(parents=True)
    settings.to_json(disk / ".argilla" / "settings.json")
    JsonIO.to_json(records, disk / "records.json")
    HFDatasetsIO.to_datasets(records, SimpleNamespace(schema=settings.schema)).to_parquet(folder / "train.parquet")


def toloka(folder: Path) -> None:
    """Write the assignments of a pool with the columns that toloka-kit knows."""
    from toloka.client.assignment import GetAssignmentsTsvParameters

    votes = json.loads((folder / "votes.json").read_text())
    names = [field.value for field in GetAssignmentsTsvParameters.Field]
    status = GetAssignmentsTsvParameters.Status
    with (folder / "pool.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["INPUT:image", "OUTPUT:q", "GOLDEN:q", "HINT:text", *names], "", delimiter="\t")
        writer.writeheader()
        for item, worker, label in votes:
            for state in status if worker == 1 else [status.APPROVED]:
                who = f"w{worker}" if state in (status.APPROVED, status.SUBMITTED) else f"{state.value}"
                row = {"INPUT:image": f"i{item}", "OUTPUT:q": label, "ASSIGNMENT:worker_id": who}
                writer.writerow({**row, "ASSIGNMENT:status": state.value, "ASSIGNMENT:started": "2026-01-01"})


if __name__ == "__main__":
    platform, place = sys.argv[1:]
    globals()[platform](Path(place))
