"""What the program asks for: one registration, with the options that decide how to get there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ops.local.diff import EVERY
from ops.local.errors import UpdateFailedError
from ops.local.state import Entry
from ops.local.urn import label_of


@dataclass(frozen=True)
class Asked:
    """A registration: the entry as it shall be (without id and outputs) and how to get there."""

    entry: Entry
    aliases: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    replace_on: tuple[str, ...] = ()
    delete_before_replace: bool = False

    def refuse_paths(self) -> None:
        """Raise UpdateFailedError for an option that is a path into a property: none is passed over."""
        for option, paths in (("ignoreChanges", self.ignore_changes), ("replaceOnChanges", self.replace_on)):
            for path in paths:
                if path != EVERY and not path.isidentifier():
                    raise UpdateFailedError(
                        f"{label_of(self.entry.urn)}: {option}: {path}: the local platform takes names of "
                        f"whole properties, or {EVERY} for all"
                    )

    def inputs_over(self, old: Mapping[str, Any] | None) -> dict[str, Any]:
        """The inputs asked for, but for ignored changes, where they are as in `old` (if there was)."""
        inputs = dict(self.entry.inputs)
        if old is None:
            return inputs
        if EVERY in self.ignore_changes:
            return dict(old)
        for name in self.ignore_changes:
            inputs.pop(name, None)
            if name in old:
                inputs[name] = old[name]
        return inputs
