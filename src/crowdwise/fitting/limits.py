"""`Limits`: what a method cannot do, and why. `Method.require` refuses by it."""

from dataclasses import dataclass

from ..crowd.protocol import Place


@dataclass(frozen=True)
class Limits:
    """What a method cannot do. A reason is a clause for the sentence that refuses it; empty if there is none."""

    in_memory: str = ""  # why all labels must be in memory at once, "because ..."
    not_in_cluster: str = ""  # what it needs that a cluster does not have
    no_gold: str = ""  # why the classes of some items cannot be known beforehand, "because ..."
    no_history: str = ""  # why what it learns from some labels cannot be added to what others teach, "because ..."
    unexplained: str = ""  # why the scores cannot be split into what each vote adds
    most_classes: int | None = None  # None for any number
    takes_sets: bool = False  # whether a vote may name several classes
    takes_soft: bool = False  # whether a vote may have a probability or a weight

    @property
    def places(self) -> list[Place]:
        """Where the labels may be: in memory, on disk, in a Spark cluster."""
        if self.in_memory:
            return ["memory"]
        return ["memory", "disk"] if self.not_in_cluster else ["memory", "disk", "spark"]
