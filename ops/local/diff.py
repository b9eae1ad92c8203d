"""What must be done about a resource: a pure comparison of what is and what is asked for."""

import enum
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ops.local.archives import ARCHIVE, is_archive
from ops.local.state import Entry
from ops.local.wire import has_unknown

EVERY = "*"
"""Stands for all properties in Pulumi's options ignoreChanges and replaceOnChanges."""


class Step(enum.Enum):
    """What an update does with a resource; the value is the sign that `pulumi up` shows."""

    CREATE = "+"
    UPDATE = "~"
    REPLACE = "+-"
    DELETE = "-"
    SAME = " "


Report = Callable[[Step, str, tuple[str, ...]], None]
"""Is told each step when it is done: the step, the URN, the changed properties."""


@dataclass(frozen=True)
class Identity:
    """Which properties make a resource the one it is.

    `names`: together they are its address on AWS; another address is another resource. `fixed`: cannot be
    changed on a resource that exists. A change of either means a replacement.
    """

    names: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The step, the properties it is for, and whether the old resource must go before the new one comes."""

    step: Step
    changed: tuple[str, ...] = ()
    delete_first: bool = False
    same_address: bool = False
    """The replacement has the address of the old resource: both cannot be there at once."""


def changed_properties(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the properties that differ, sorted; one not known yet counts as differing."""
    names = sorted(old.keys() | new.keys())
    return tuple(n for n in names if not _same(old.get(n), new.get(n)))


def plan(
    old: Entry | None,
    inputs: Mapping[str, Any],
    identity: Identity,
    *,
    replace_on: Collection[str] = (),
    delete_before_replace: bool = False,
) -> Plan:
    """What to do with a resource that is now `old` and shall have `inputs`.

    `replace_on`: further properties whose change is a replacement, or `EVERY`.
    """
    if old is None:
        return Plan(Step.CREATE)
    changed = changed_properties(old.inputs, inputs)
    if not changed:
        return Plan(Step.SAME)
    if EVERY not in replace_on and not set(changed) & {*identity.names, *identity.fixed, *replace_on}:
        return Plan(Step.UPDATE, changed)
    same_address = bool(identity.names) and not set(changed) & set(identity.names)
    return Plan(Step.REPLACE, changed, delete_before_replace or same_address, same_address)


def _same(old: Any, new: Any) -> bool:  # noqa: ANN401 (any JSON values)
    if is_archive(old) and is_archive(new):
        return bool(old[ARCHIVE]["sha256"] == new[ARCHIVE]["sha256"])
    return type(old) is type(new) and bool(old == new) and not has_unknown(new)


def deletion_order(entries: Collection[Entry]) -> list[Entry]:
    """The entries with every one before those it depends on.

    Entries whose dependencies are not among them count as free of those. Raises ValueError if some depend
    on each other in a circle, which no program can register.
    """
    waiting = {id(entry): entry for entry in entries}
    by_urn: dict[str, list[int]] = {}
    for key, entry in waiting.items():
        by_urn.setdefault(entry.urn, []).append(key)
    users = dict.fromkeys(waiting, 0)
    for entry in entries:
        for dependency in set(entry.dependencies):
            for key in by_urn.get(dependency, []):
                users[key] += 1
    ordered: list[Entry] = []
    free = [key for key, count in users.items() if count == 0]
    while free:
        entry = waiting.pop(free.pop(0))
        ordered.append(entry)
        for dependency in set(entry.dependencies):
            for key in by_urn.get(dependency, []):
                users[key] -= 1
                if users[key] == 0:
                    free.append(key)
    if waiting:
        raise ValueError(f"resources depend on each other: {sorted(e.urn for e in waiting.values())}")
    return ordered
