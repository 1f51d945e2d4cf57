"""`UNSUPPORTED`: the classes of crowd-kit that crowdwise does not have. They can be imported, and refuse to be made.

To support one, write its module and remove it from the table.
"""

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from typing import Any, Final, NamedTuple

from crowdwise.compat.crowdkit.aggregation.base import (
    BaseEmbeddingsAggregator,
    BaseImageSegmentationAggregator,
    BaseTextsAggregator,
)
from crowdwise.errors import CallError


class _Module(NamedTuple):
    """A module of crowd-kit: what its classes aggregate, their base class, and their names."""

    aggregates: str
    base: type
    classes: tuple[str, ...]


UNSUPPORTED: Final[Mapping[str, _Module]] = {
    "aggregation.embeddings": _Module("embeddings", BaseEmbeddingsAggregator, ("ClosestToAverage", "HRRASA", "RASA")),
    "aggregation.image_segmentation": _Module(
        "segmentations",
        BaseImageSegmentationAggregator,
        ("SegmentationEM", "SegmentationMajorityVote", "SegmentationRASA"),
    ),
    "aggregation.texts": _Module("texts", BaseTextsAggregator, ("ROVER", "TextHRRASA", "TextRASA")),
    "learning": _Module("what neural networks are trained on", object, ("CoNAL", "CrowdLayer", "TextSummarization")),
}


def add_unsupported_modules(package: str) -> None:
    """Make the modules of the table importable from a package, which is imported already."""
    for path, (aggregates, base, names) in UNSUPPORTED.items():
        module: Any = module_from_spec(ModuleSpec(f"{package}.{path}", None))
        module.__doc__ = f"crowd-kit's classes about {aggregates}, which crowdwise does not have."
        classes = {name: _unsupported_class(name, base, aggregates, module.__name__) for name in names}
        vars(module).update(classes)
        sys.modules[module.__name__] = module
        parent_name, _, module_name = module.__name__.rpartition(".")
        parent: Any = sys.modules[parent_name]
        setattr(parent, module_name, module)
        if "." in path:  # as in crowd-kit, aggregation has the classes of its modules too
            vars(parent).update(classes)
            parent.__all__ += names


def _unsupported_class(name: str, base: type, aggregates: str, module: str) -> type:
    sentence = f"crowdwise has no {name}: it aggregates labels, not {aggregates}; use crowd-kit itself for that."

    def refuse(self: Any, *args: Any, **options: Any) -> None:
        raise CallError(sentence)

    return type(name, (base,), {"__init__": refuse, "__doc__": sentence, "__module__": module})
