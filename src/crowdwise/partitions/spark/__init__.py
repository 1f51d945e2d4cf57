"""Labels in a Spark cluster: parts on its executors, and files in and out. Needs the extra `spark`."""

from .labels import LabelsOnSpark, send
from .parts import item_names, keep_parts, kept_parts, labelled_parts

__all__ = ["LabelsOnSpark", "item_names", "keep_parts", "kept_parts", "labelled_parts", "send"]
