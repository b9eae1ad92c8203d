"""What an update did."""

from dataclasses import dataclass


@dataclass(frozen=True)
class UpdateSummary:
    """What an update (or a preview of one) did, by URN, each in the order in which it was done."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    replaced: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: tuple[str, ...]

    @property
    def changes(self) -> int:
        """How many resources were touched."""
        return len(self.created) + len(self.updated) + len(self.replaced) + len(self.deleted)
