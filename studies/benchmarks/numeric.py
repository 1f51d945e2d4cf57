"""Numeric methods on real crowds and on simulated ones: errors, and how often intervals cover.

    make study NAME=numeric

Real crowds are the folders of CROWDWISE_DATA/numeric. Writes the tables into docs/studies/numeric.md, between two
marks, and everything that was measured into docs/studies/numeric.csv.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.analysis import compare_numbers
from crowdwise.methods import NUMERIC_METHODS

_BEGIN, _END = "<!-- measured by make study NAME=numeric -->", "<!-- end of what was measured -->"
_PAGE: Final = Path("docs/studies/numeric.md")
_METHODS: Final[dict[str, Any]] = {
    **{key: NUMERIC_METHODS[key]() for key in ("mean", "median", "bwa", "robust", "lfc", "catd", "crh")},
    "crh squared": cw.NumericCRH("squared"),
    "robust without slopes": cw.NumericRobust(slopes=False),
}
_SEEDS: Final = range(40)
_SIMULATED: Final[dict[str, dict[str, Any]]] = {
    "five labels an item": {"items": 400, "workers": 30},
    "three labels an item": {"items": 200, "workers": 30, "labels_per_item": 3},
    "ten labels an item": {"items": 150, "workers": 25, "labels_per_item": 10},
    "5 % wild answers": {"items": 400, "workers": 30, "wild": 0.05},
    "10 % wild answers": {"items": 400, "workers": 30, "wild": 0.1},
    "slopes from .3 to 1": {"items": 400, "workers": 30, "slope": 0.3},
    "eight judges, slopes from .3 to 1": {"items": 200, "workers": 8, "labels_per_item": 8, "slope": 0.3},
}
# Labels are held out in so many parts, one at a time, and on so many of the simulated crowds.
_FOLDS: Final = 5
_HELD_OUT_SEEDS: Final = range(5)


def main() -> None:
    """Measure, print, and write the page and the table."""
    measured = pl.concat([on_real_crowds(Path(os.environ["CROWDWISE_DATA"]) / "numeric"), on_simulated_crowds()])
    measured.write_csv("docs/studies/numeric.csv", float_precision=4)
    text = page_part(measured)
    print(text)
    before, _, rest = _PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    _PAGE.write_text(f"{before}{_BEGIN}\n\n{text}\n\n{_END}{rest.partition(_END)[2]}", encoding="utf-8")


def on_real_crowds(folder: Path) -> pl.DataFrame:
    """Measure every method on every crowd in a folder."""
    rows = []
    for path in sorted(folder.iterdir()):
        numbers = cw.read_numbers(path / "label.csv", duplicates="all")
        labels = _rows_of(numbers)
        rows += [
            {"kind": "real", "crowd": path.name, **row, **held_out_errors(labels, _METHODS[row["method"]])}
            for row in compare_numbers(numbers, _METHODS, str(path / "truth.csv"))
        ]
        print(path.name, flush=True)
    return _table(rows)


def held_out_errors(rows: pl.DataFrame, method: Any) -> dict[str, float]:
    """Return how far off a method is about labels that it was not given: it says what their workers would answer.

    Args:
        rows: The labels, in the columns item, worker and label.
        method: The method.
    """
    fold = pl.Series(np.random.default_rng(0).permutation(rows.height) % _FOLDS)
    errors = []
    for number in range(_FOLDS):
        result = method.fit(cw.Numbers.from_frame(rows.filter(fold != number), duplicates="all"), warn=False)
        values = result.to_frame().select("item", "value")
        workers = result.workers_frame().with_columns(pl.col("bias").fill_null(0.0))
        slope = pl.col("slope").fill_null(1.0) if "slope" in workers.columns else pl.lit(1.0)
        asked = rows.filter(fold == number).join(values, on="item").join(workers, on="worker")
        centre = float(values["value"].to_numpy().mean())
        expected = centre + pl.col("bias") + slope * (pl.col("value") - centre)
        errors.append(asked.select(pl.col("label") - expected).to_series())
    every = pl.concat(errors).to_numpy()
    return {"held_out_mae": float(np.abs(every).mean()), "held_out_rmse": float(np.sqrt((every**2).mean()))}


def _rows_of(numbers: cw.Numbers) -> pl.DataFrame:
    names = numbers.names
    columns = {"item": names.items.gather(numbers.item_of), "worker": names.workers.gather(numbers.workers)}
    return pl.DataFrame({**columns, "label": numbers.labels})


def on_simulated_crowds() -> pl.DataFrame:
    """Measure every method on simulated crowds: means over seeds."""
    rows = []
    for name, parameters in _SIMULATED.items():
        for seed in _SEEDS:
            crowd = cw.simulate_numbers(**parameters, seed=seed)
            for key, method in _METHODS.items():
                result = method.fit(crowd.numbers)
                found = cw.numeric_errors(result, crowd.truth)
                row = {"kind": "simulated", "crowd": name, "method": key, **vars(found), **_of_workers(result, crowd)}
                rows.append(row | (held_out_errors(crowd.rows, method) if seed in _HELD_OUT_SEEDS else {}))
        print(name, flush=True)
    table = _table(rows)
    numbers = [column for column in table.columns if column not in ("kind", "crowd", "method")]
    return table.group_by("kind", "crowd", "method", maintain_order=True).agg(pl.col(numbers).mean())


def _of_workers(result: Any, crowd: Any) -> dict[str, Any]:
    """Return how often intervals of biases and spreads hold the true ones."""
    table = result.workers_frame().join(crowd.workers, on="worker", suffix="_true")
    bias = table["bias_true"] - table["bias_true"].mean()
    return {
        "of_bias": bias.is_between(table["bias_low"], table["bias_high"]).mean(),
        "of_spread": table["spread_true"].is_between(table["spread_low"], table["spread_high"]).mean(),
    }


def _table(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    names: tuple[str, ...] = ("mae", "rmse", "correlation", "coverage", "of_bias", "of_spread", "seconds", "iterations")
    names += ("held_out_mae", "held_out_rmse")
    text = dict.fromkeys(("kind", "crowd", "method"), pl.String)
    schema: Any = {**text, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def page_part(measured: pl.DataFrame) -> str:
    """Return the tables of the page."""
    real = measured.filter(kind="real")
    simulated = measured.filter(kind="simulated")
    return "\n\n".join(
        [
            "### Labels that were held out: mean absolute error, the mean is 1\n\n"
            + _held_out(measured, "held_out_mae"),
            "### Real crowds together\n\n" + _together(real),
            "### Simulated crowds: mean absolute error\n\n" + _crossed(simulated, "mae", ".3f"),
            "### Simulated crowds: share of truths inside the 95 % interval\n\n"
            + _crossed(simulated, "coverage", ".3f"),
        ]
    )


def _crossed(measured: pl.DataFrame, name: str, form: str) -> str:
    """Return a table with a row for each crowd and a column for each method."""
    crossed = measured.pivot("method", index="crowd", values=name)
    return _markdown(crossed.columns, [[row[0], *(format(value, form) for value in row[1:])] for row in crossed.rows()])


def _held_out(measured: pl.DataFrame, name: str) -> str:
    """Return a table with a row for each crowd and one for the mean of all real ones, relative to the method mean."""
    crossed = measured.pivot("method", index=["kind", "crowd"], values=name)
    methods = crossed.columns[2:]
    relative = crossed.with_columns(pl.col(methods) / pl.col("mean"))
    real = relative.filter(kind="real")
    mean = real.select(pl.lit("**mean of the real crowds**").alias("crowd"), pl.col(methods).mean())
    table = pl.concat([real.drop("kind"), mean, relative.filter(kind="simulated").drop("kind")])
    return _markdown(["crowd", *methods], [[row[0], *(f"{value:.3f}" for value in row[1:])] for row in table.rows()])


def _together(real: pl.DataFrame) -> str:
    """Return a table with a row for each method: errors relative to the mean, and on how many crowds it is better."""
    base = real.filter(method="mean").select("crowd", "mae", "rmse", "correlation")
    joined = real.join(base, on="crowd", suffix="_mean", maintain_order="left")
    found = joined.group_by("method", maintain_order=True).agg(
        (pl.col("mae") / pl.col("mae_mean")).mean().alias("MAE, mean is 1"),
        (pl.col("rmse") / pl.col("rmse_mean")).mean().alias("RMSE, mean is 1"),
        pl.col("correlation").mean().alias("correlation"),
        (pl.col("mae") < pl.col("mae_mean")).sum().alias("lower MAE"),
        (pl.col("rmse") < pl.col("rmse_mean")).sum().alias("lower RMSE"),
        (pl.col("correlation") > pl.col("correlation_mean")).sum().alias("higher correlation"),
    )
    return _markdown(
        found.columns,
        [[row[0], *(f"{value:.3f}" for value in row[1:4]), *(str(value) for value in row[4:])] for row in found.rows()],
    )


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
