"""What else must go when a resource is replaced under the address that it has: pure, as `diff`.

The old resource is deleted before the new one is made, and takes along what lives inside it (a role its
policies, a table its items). The record would still show them, unchanged, so they are taken down first and
made anew when the program registers them, as Pulumi does with the dependents of a deleteBeforeReplace.
"""

from collections.abc import Collection, Iterable, Mapping

from ops.local.diff import Identity, deletion_order
from ops.local.errors import UpdateFailedError
from ops.local.state import Entry
from ops.local.urn import label_of, type_of


def hanging_on(
    urns: Iterable[str], entries: Collection[Entry], identities: Mapping[str, Identity]
) -> list[Entry]:
    """The entries whose identity was made from one of the URNs, or from one of these in turn; users first.

    `identities`: by type; a resource of another type, or that only mentions the URNs elsewhere, stays.
    """
    gone = set(urns)
    found: list[Entry] = []
    waiting = [entry for entry in entries if entry.custom and entry.urn not in gone]
    while True:
        more = [entry for entry in waiting if _made_from(entry, gone, identities)]
        if not more:
            return deletion_order(found)
        found += more
        gone |= {entry.urn for entry in more}
        waiting = [entry for entry in waiting if entry.urn not in gone]


def refuse_to_lose(old: Entry, dependents: Iterable[Entry]) -> None:
    """Raise UpdateFailedError, naming it, if one that is protected or to be retained would be deleted."""
    for entry in dependents:
        if entry.protect or entry.retain:
            why = "protected" if entry.protect else "to be retained"
            raise UpdateFailedError(
                f"{label_of(entry.urn)} is {why}, and lives in {label_of(old.urn)}, which must be deleted to "
                "be replaced"
            )


def refuse_to_take_its_place(old: Entry) -> None:
    """Raise UpdateFailedError if the resource is to be retained: no second one can have its address."""
    if old.retain:
        raise UpdateFailedError(
            f"{label_of(old.urn)} is to be retained (retainOnDelete), and its replacement would have its "
            "address: give it another name"
        )


def _made_from(entry: Entry, urns: Collection[str], identities: Mapping[str, Identity]) -> bool:
    identity = identities.get(type_of(entry.urn), Identity())
    return any(
        not set(entry.property_dependencies.get(name, ())).isdisjoint(urns)
        for name in (*identity.names, *identity.fixed)
    )
