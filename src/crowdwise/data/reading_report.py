"""What was repaired on the way in."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReadingReport:
    """What was read and what was repaired on the way in.

    Attributes:
        rows: Rows of the input.
        missing: Rows without a label, dropped.
        repeated: Rows that repeat an earlier one exactly, dropped.
        conflicts: (item, worker) pairs with more than one label, settled by `duplicates`.
        duplicates: The policy that settled them.
        unlabelled: Items of the input that are left without any label, and so without an answer.
        columns: Which column was taken for what.
    """

    rows: int
    missing: int = 0
    repeated: int = 0
    conflicts: int = 0
    duplicates: str = "error"
    unlabelled: int = 0
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def repairs(self) -> list[str]:
        """One sentence for each kind of repair that was made."""
        settled = {
            "first": "the first was kept",
            "last": "the last was kept",
            "all": "each counts as a vote",
            "set": "they are one vote for each class said",
            "drop": "all were dropped",
        }.get(self.duplicates, "")
        sentences = [
            (self.missing, "row without a label was dropped.", "rows without a label were dropped."),
            (
                self.repeated,
                "row that repeats an earlier one exactly was dropped.",
                "rows that repeat an earlier one exactly were dropped.",
            ),
            (
                self.conflicts,
                f"(item, worker) pair had more than one label: {settled}.",
                f"(item, worker) pairs had more than one label: {settled}.",
            ),
            (
                self.unlabelled,
                "item was left without any label and has no answer.",
                "items were left without any label and have no answer.",
            ),
        ]
        return [several(count, one, many) for count, one, many in sentences if count]


def several(count: int, one: str, many: str) -> str:
    """A number and what there is of it, in the singular or the plural."""
    return f"{count:,} {one if count == 1 else many}"
