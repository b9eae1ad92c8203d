"""What is wrong with tenant files, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One broken rule at one place.

    `file` is the path as the caller's directory spells it, `line` counts from 1, `field` is a dotted
    path such as `keys[0].origins[1]` (or `file` / `yaml` where no field can be named).
    """

    file: str
    line: int
    field: str
    rule: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.rule}"


class TenantFileError(Exception):
    """Tenant files that cannot be used; `faults` holds every fault of every file, in file order."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        noun = "fault" if len(self.faults) == 1 else "faults"
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(f"{len(self.faults)} {noun} in the tenant files:\n{lines}")
