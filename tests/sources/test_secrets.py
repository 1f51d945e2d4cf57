"""Passwords, keys and signatures in addresses are in no message, wherever an address is given."""

from pathlib import Path

import pytest

import crowdwise as cw
from crowdwise.addresses import is_address, shown_words, without_secrets
from tests.support.commands import Command

SECRET = "hushQ7"
ADDRESSES = [
    f"postgresql://crowd:{SECRET}@127.0.0.1:1/db",
    f"postgresql://crowd:a?{SECRET}@127.0.0.1:1/db",
    f"postgresql://crowd:a#{SECRET}@127.0.0.1:1/db",
    f"postgresql://crowd:a/{SECRET}@127.0.0.1:1/db",
    f"postgresql://crowd:{SECRET}/b@127.0.0.1:1/db",
    f"postgresql://crowd:a {SECRET}@127.0.0.1:1/db",
    f"postgresql://crowd:a@{SECRET}@127.0.0.1:1/db",
    f"postgresql:/crowd:{SECRET}@127.0.0.1:1/db",
    f" postgresql://crowd:{SECRET}@127.0.0.1:1/db",
    f"jdbc:postgresql://127.0.0.1:1/db?user=crowd&password={SECRET}",
    f"host=127.0.0.1 user=crowd password={SECRET} dbname=db",
    f"mysql://crowd:{SECRET}@127.0.0.1:1/db",
    f"foo://127.0.0.1:1/votes.csv?X-Amz-Signature={SECRET}&x=1",
]
COMMANDS = [
    "aggregate {address}",
    "aggregate votes.csv --gold {address}",
    "aggregate votes.csv --truth {address}",
    "aggregate votes.csv --costs {address}",
    "aggregate votes.csv -m one_coin --history {address}",
    "aggregate votes.csv --save-state {address}",
    "aggregate votes.csv --label-names {address}",
    "aggregate votes.csv -o {address}",
    "aggregate votes.csv --workers {address}",
    "aggregate votes.csv --review {address}",
    "aggregate votes.csv -m mv --engine disk --workdir {address}",
    "blocks votes.csv -o {address}",
    "next votes.csv --budget 1 -o {address}",
    "convert {address} -o all.csv",
    "questions {address}",
    "compare votes.csv --methods mv -o {address}",
    "report votes.csv -o {address}",
    "state show {address}",
    "state merge {address} {address} -o sum.state",
    "state merge votes.csv votes.csv -o {address}",
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_a_secret(
    command: str, tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text("item,worker,label\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n")
    for address in ADDRESSES:
        if "--save-state" in command and not is_address(address):
            continue  # a name that a file can have
        ended = run(*(word.format(address=address) for word in command.split()))
        assert ended.returncode in (1, 2), ended.stdout
        assert ended.stderr.startswith("error: ") or "\nerror: " in ended.stderr
        assert SECRET not in ended.stderr + ended.stdout
        assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.parametrize("address", ["https://host/x", "s3://bucket/x", "postgresql:/crowd:hush@host/x"])
def test_a_folder_is_no_address(address: str, tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("simulate", "-o", address, "--items", "5")
    assert ended.returncode == 2
    assert "what is given is an address" in ended.stderr
    assert "host" not in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_error_in_python_has_a_secret(address: str, tmp_path: Path) -> None:
    labels = cw.Labels.from_arrays([1, 1], ["a", "b"], ["x", "y"])
    result = cw.MajorityVote().fit(labels)
    for call in (
        lambda: cw.read_labels(address),
        lambda: cw.read_truth(address),
        lambda: cw.read_labels(tmp_path, label_names=address),
        lambda: result.write(address),
        lambda: cw.report(result, labels, path=address),
        lambda: cw.History.read(address),
        lambda: cw.decide(result, address),
    ):
        with pytest.raises((cw.DataError, cw.CallError)) as problem:
            call()
        assert SECRET not in str(problem.value)


@pytest.mark.parametrize(
    "text",
    [
        "s3://crowd/v/1.parquet cannot be read",
        "https://host:8080/x.csv is empty.",
        "abfss://box@account.dfs.core.windows.net/x.csv",
        "s3://crowd/a:b@c.csv",
        "worker 'user:ann@x.org'",
        "C:/Users/a@b/x.csv",
        "foo:// is no address that we read; there are postgresql://, s3:// and gs://.",
        "http://[::1]:9000/x",
        "postgresql://host:5432/db has no table",
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"postgres:u:{SECRET}@host",
        f"//u:{SECRET}@host/db",
        f"postgresql:\\\\u:{SECRET}@host",
        f"postgresql://u:{SECRET}",
        f"'postgresql://u:{SECRET}@host/db'.",
        f"postgresql+psycopg2://u:{SECRET}@host/db, s3://key:{SECRET}@bucket",
        f"https://{SECRET}@host/x",
        f"https://account.blob.core.windows.net/c/v.csv?sv=1&sig={SECRET}",
        f"AccountName=x;AccountKey={SECRET}==;EndpointSuffix=y",
        f"password='a b{SECRET}'",
        f"PGPASSWORD = {SECRET}",
        f"aws_secret_access_key={SECRET}",
    ],
)
def test_secrets_are_hidden_in_any_text(text: str) -> None:
    for whole in (False, True):
        assert SECRET not in without_secrets(text, whole=whole)
    assert SECRET not in without_secrets(f"There is no file {text} here")
    assert SECRET not in " ".join(shown_words(["aggregate", text, "--gold", text, "--storage", f"x={SECRET}"]))
    with pytest.raises(cw.DataError) as problem:
        raise cw.DataError(f"{text} cannot be read")
    assert SECRET not in str(problem.value)


def test_slips_are_addresses_too() -> None:
    assert all(map(is_address, [one for one in ADDRESSES if not one.startswith("host=")]))
    assert not any(map(is_address, ["votes.csv", "a/b:c", "C:\\votes.csv", "C:/votes.csv", "12:30", "a:b.csv"]))
