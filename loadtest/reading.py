"""The checker's rules for reads: every tenant reads its own records, and is refused those of others. Pure."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from loadtest.history import conclusive
from loadtest.stored import as_read
from loadtest.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadtest.history import Attempt
    from loadtest.stored import StoredReceipt
    from loadtest.verdict import Violations


class Reading:
    """Judges reads as they come, and at the end whether there were enough. Memory grows with the tenants."""

    def __init__(self) -> None:
        self._unanswered: dict[tuple[str, str], Attempt] = {}
        self._answered: set[tuple[str, str]] = set()
        self._known: set[tuple[str, str]] = set()  # who asked for a record, and whose it is
        self._owners: set[str] = set()  # tenants with a record
        self._accepted: set[str] = set()  # tenants that were given an answer that stands

    def seen(self, owners: Iterable[str], accepted: Iterable[str]) -> None:
        """These tenants have a record; these were given an answer that stands."""
        self._owners.update(owners)
        self._accepted.update(accepted)

    def judge(
        self, attempt: Attempt, receipt: StoredReceipt | None, found: Violations, *, recorded: bool
    ) -> None:
        """One read. `receipt`: of the record that it asks for; `recorded`: there is such a record."""
        pair = (attempt.tenant, attempt.body_hash)
        if receipt is not None:
            self._known.add((attempt.tenant, receipt.tenant))
        if not conclusive(attempt.status):
            self._unanswered[pair] = attempt
            return
        self._answered.add(pair)
        if receipt is not None:
            _check(attempt, receipt, found, recorded=recorded)

    def check(self, found: Violations) -> None:
        """Every read came to an answer, and every tenant read of its own records and of another's."""
        for (tenant, record_id), attempt in self._unanswered.items():
            if (tenant, record_id) not in self._answered:
                detail = f"record {record_id}: its last attempt ended with {attempt.status or 'no answer'}"
                found.add(Kind.READS_INCOMPLETE, tenant, "", detail)
        for tenant in sorted(self._accepted & self._owners):
            if (tenant, tenant) not in self._known:
                found.add(Kind.READS_INCOMPLETE, tenant, "", "it read none of its own records")
            others = self._owners - {tenant}
            if others and not any(reader == tenant != owner for reader, owner in self._known):
                found.add(Kind.READS_INCOMPLETE, tenant, "", "it asked for no record of another tenant")


def _check(attempt: Attempt, receipt: StoredReceipt, found: Violations, *, recorded: bool) -> None:
    """A tenant reads its own record, byte for byte, and nobody else's."""
    record_id = attempt.body_hash
    if receipt.tenant != attempt.tenant:
        if attempt.status != HTTPStatus.NOT_FOUND:
            detail = f"{attempt.tenant} asked for record {record_id} and was answered {attempt.status}"
            found.add(Kind.CROSS_TENANT, receipt.tenant, receipt.key, detail)
    elif not recorded:
        return  # said once already: there is no such record
    elif attempt.status != HTTPStatus.OK:
        detail = f"its tenant reads record {record_id} and is answered {attempt.status}"
        found.add(Kind.LOST_RECORD, receipt.tenant, receipt.key, detail)
    elif attempt.response_body != as_read(receipt):
        detail = f"record {record_id} is read with other bytes"
        found.add(Kind.WRONG_CONTENT, receipt.tenant, receipt.key, detail)
