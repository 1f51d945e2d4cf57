"""A test of Spark on a store that speaks as S3 does: `make test-s3a` downloads Hadoop's jars for that, and runs it."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw

pytest.importorskip("pyspark", reason="the extra spark is not installed")

# boto3, which moto and this test use, warns of Pythons that it will leave behind.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

# The jars are older than the Hadoop of Spark, whose defaults have units ("60s") and classes that they do not know.
_OLDER = {
    "aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "threads.keepalivetime": "60",
    "connection.timeout": "200000",
    "connection.establish.timeout": "5000",
    "connection.ttl": "300000",
    "multipart.purge.age": "86400",
}


def test_labels_are_read_from_a_store_and_answers_written_there() -> None:
    folder = os.environ.get("CROWDWISE_S3A_JARS")
    if not folder:
        pytest.skip("CROWDWISE_S3A_JARS does not name a folder with the jars of hadoop-aws")
    jars = sorted(map(str, Path(folder).glob("*.jar")))
    assert jars, f"CROWDWISE_S3A_JARS={folder} has no jars"
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
        keys = {"aws_access_key_id": "name", "aws_secret_access_key": "word", "region_name": "us-east-1"}
        store: Any = boto3.client("s3", endpoint_url=address, **keys)
        store.create_bucket(Bucket="crowd")
        rows = cw.simulate(100, 8, 3, seed=11).rows
        votes = io.BytesIO()
        rows.write_parquet(votes)
        store.put_object(Bucket="crowd", Key="votes/1.parquet", Body=votes.getvalue())
        said = _aggregate("s3a://crowd/votes", "s3a://crowd/truth.parquet", address, jars)
        names = [one["Key"] for one in store.list_objects_v2(Bucket="crowd")["Contents"]]
        assert "truth.parquet/_SUCCESS" in names, said
        assert all(name.startswith(("votes/", "truth.parquet/")) for name in names)  # nothing else is left
        files = [store.get_object(Bucket="crowd", Key=name)["Body"].read() for name in names if "/part-" in name]
    finally:
        server.stop()
    found = pl.concat([pl.read_parquet(file) for file in files]).sort("item")
    expected = cw.BWA().fit(cw.Labels.from_frame(rows)).to_frame().sort("item")
    assert found["label"].to_list() == expected["label"].to_list()
    assert found["score"].to_numpy() == pytest.approx(expected["score"].to_numpy(), rel=1e-9)


def _aggregate(votes: str, target: str, address: str, jars: list[str]) -> str:
    """Run the command line on a store at an address; return what it said."""
    settings = {"endpoint": address, "access.key": "name", "secret.key": "word", "path.style.access": "true"}
    options = [f"--conf spark.hadoop.fs.s3a.{name}={value}" for name, value in (settings | _OLDER).items()]
    given = " ".join(["--driver-class-path", ":".join(jars), *options, "pyspark-shell"])
    command = [sys.executable, "-m", "crowdwise", "aggregate", votes, "-m", "bwa", "-o", target]
    done = subprocess.run(
        [*command, "--engine", "spark", "--master", "local[2]"],
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr
