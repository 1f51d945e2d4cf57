"""Where users find the engine of Spark: `from crowdwise.engines import spark`."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "spark":
        return import_module(".fitting.engines.spark", __package__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
