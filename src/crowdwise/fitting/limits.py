"""`Limits`: what a method cannot do, and why. `Method.require` refuses by it."""

from dataclasses import dataclass

from ..data.crowd import Place


@dataclass(frozen=True)
class Limits:
    """What a method cannot do. A reason is a clause for the sentence that refuses it; empty if there is no such limit.

    Attributes:
        in_memory: Why all labels must be in memory at once, "because ...".
        not_in_cluster: Why it cannot run in a cluster, as what it needs.
        no_gold: Why the classes of some items cannot be known beforehand, "because ...".
        no_history: Why what it learns from some labels cannot be added to what it learns from others, "because ...".
        unexplained: Why the scores cannot be split into what each vote adds.
        most_classes: The largest number of classes; None for any number.
        takes_sets: Whether a vote may name several classes.
    """

    in_memory: str = ""
    not_in_cluster: str = ""
    no_gold: str = ""
    no_history: str = ""
    unexplained: str = ""
    most_classes: int | None = None
    takes_sets: bool = False

    @property
    def places(self) -> list[Place]:
        """Where the labels may be: in memory, on disk, in a Spark cluster."""
        if self.in_memory:
            return ["memory"]
        return ["memory", "disk"] if self.not_in_cluster else ["memory", "disk", "spark"]
