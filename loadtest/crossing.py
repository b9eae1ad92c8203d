"""The checker's rules across keys: what two keys, or two tenants, must not have in common. Pure.

The keys of a run are judged a part at a time; what such a rule compares is kept on a shelf meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from loadtest.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadtest.partitions import Shelf
    from loadtest.verdict import Violations


class Crossing:
    """Keeps what concerns several keys until all of them were seen, and judges it then.

    Attributes:
        slots: how many are booked. repeated: how many attempt ids are more than once in the history, and the
            first of them. Both are known after `check`.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.slots = 0
        self.repeated = 0
        self.repeated_id = ""

    def attempt(self, attempt_id: str) -> None:
        """There was an attempt with this id."""
        self._shelf.add(attempt_id, ["attempt", attempt_id])

    def named(self, what: str, identity: str, pk: str) -> None:
        """A key has this id. `what`: of an ``id`` (of its record) or an ``event``."""
        self._shelf.add(identity, ["named", identity, what, pk])

    def told(self, tenant: str, word: str, pk: str) -> None:
        """A refusal of `pk` told `tenant` this word, which may be an id."""
        self._shelf.add(word, ["told", word, tenant, pk])

    def booked(self, tenant: str, slot: str, record_id: str, pk: str) -> None:
        """A receipt (with its key) or a record (without) books a slot."""
        self._shelf.add(slot, ["slot", slot, tenant, record_id, pk])

    def refused(self, tenant: str, slot: str, pk: str) -> None:
        """`pk` was told that its slot is taken."""
        self._shelf.add(slot, ["refused", slot, tenant, pk])

    def charged(self, account: str, downstream_key: str, pk: str) -> None:
        """The provider took money. `pk`: whose answer names the charge; '' where none does."""
        self._shelf.add(downstream_key, ["charged", downstream_key, account, pk])

    def check(self, found: Violations) -> None:
        """Judge everything that was kept."""
        rules: dict[str, Callable[[str, dict[str, list[list[Any]]], Violations], None]] = {
            "attempt": self._check_attempts,
            "named": self._check_names,
            "slot": self._check_slots,
            "refused": self._check_refused,
            "charged": self._check_charged,
        }
        for part in self._shelf.parts():
            by_name: defaultdict[str, defaultdict[str, list[list[Any]]]]
            by_name = defaultdict(lambda: defaultdict(list))
            for kind, name, *row in part:
                by_name[name][kind].append(row)
            for name, rows in by_name.items():
                for kind, rule in rules.items():
                    if kind in rows:
                        rule(name, rows, found)

    def _check_attempts(self, name: str, rows: dict[str, list[list[Any]]], _found: Violations) -> None:
        if len(rows["attempt"]) > 1:
            self.repeated += 1
            self.repeated_id = min(self.repeated_id or name, name)

    def _check_names(self, name: str, rows: dict[str, list[list[Any]]], found: Violations) -> None:
        """One id belongs to one tenant and key, and a refusal names no record of another tenant."""
        owners: dict[str, str] = {}
        for what, pk in rows["named"]:
            owner = owners.setdefault(what, pk)
            if owner != pk:
                kind = Kind.SHARED_ID if _tenant(owner) == _tenant(pk) else Kind.CROSS_TENANT
                _broken(found, kind, pk, f"{what} {name} is {owner}'s too")
        tenants = [_tenant(pk) for what, pk in rows["named"] if what == "id"]
        for tenant, pk in rows.get("told", ()):
            if tenants and tenant not in tenants:
                _broken(found, Kind.CROSS_TENANT, pk, f"a refusal names record {name} of {tenants[-1]}")

    def _check_slots(self, name: str, rows: dict[str, list[list[Any]]], found: Violations) -> None:
        """One appointment a slot."""
        booked: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for tenant, record_id, pk in rows["slot"]:
            booked[tenant][record_id] = booked[tenant].get(record_id) or pk
        self.slots += len(booked)
        for tenant, ids in booked.items():
            if len(ids) > 1:
                pks = sorted(pk or f"{tenant}#" for pk in ids.values())
                detail = f"{name} is booked {len(ids)} times: {', '.join(pks)}"
                _broken(found, Kind.SLOT_BOOKED_TWICE, pks[-1], detail)

    def _check_refused(self, name: str, rows: dict[str, list[list[Any]]], found: Violations) -> None:
        """Nobody is told that a slot is taken which nobody has."""
        booked = {tenant for tenant, *_ in rows.get("slot", ())}
        for tenant, pk in rows["refused"]:
            if tenant not in booked:
                detail = f"told that {name or 'its slot'} is taken, and nobody has it"
                _broken(found, Kind.WRONG_DECISION, pk, detail)

    def _check_charged(self, name: str, rows: dict[str, list[list[Any]]], found: Violations) -> None:
        """One charge under one downstream key."""
        under: defaultdict[str, list[str]] = defaultdict(list)
        for account, pk in rows["charged"]:
            under[account].append(pk)
        for pks in under.values():
            if len(pks) > 1:
                detail = f"{len(pks)} charges under downstream key {name}"
                _broken(found, Kind.SECOND_CHARGE, next(filter(None, pks), "#"), detail)


def _tenant(pk: str) -> str:
    return pk.partition("#")[0]


def _broken(found: Violations, kind: Kind, pk: str, detail: str) -> None:
    tenant, _, key = pk.partition("#")
    found.add(kind, tenant, key, detail)
