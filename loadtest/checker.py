"""The checker: what clients saw, what was stored and what was published must tell one story. Pure.

Every promise of DESIGN section 2 that can be seen from outside is a rule here, and every rule has a test
that plants its violation. It shares no code with the platform that it checks.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING

from loadtest import effects
from loadtest.answers import Answers, KeyAnswers, Reply
from loadtest.verdict import Kind, Verdict, Violations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord


def check(
    answers: Answers,
    receipts: Iterable[StoredReceipt],
    records: Iterable[StoredRecord],
    events: Iterable[AuditEvent] | None,
    planned: int = 0,
) -> Verdict:
    """Judge a run.

    Args:
        answers: what the clients know, from the history.
        receipts, records, events: what of this run is in the tables and was in the audit queues; None for
            events where no queue listens, and then nothing is said about events.
        planned: how many attempts the plan has; a history with fewer is incomplete.
    """
    found = Violations()
    by_pk = {receipt.pk: receipt for receipt in receipts}
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for pk, heard in answers.by_pk.items():
        _check_key(heard, by_pk.get(pk), found)
        ids[pk] |= heard.record_ids
        if pk in by_pk and by_pk[pk].record_id:
            ids[pk].add(by_pk[pk].record_id or "")
    effects.Effects(answers, by_pk, ids, found).check(records, events)
    _check_ids(ids, found)
    _check_run(answers, planned, found)
    counts = answers.counts
    counts.writes = len(by_pk)
    counts.never_accepted = sum(pk not in by_pk and not heard.answered for pk, heard in answers.by_pk.items())
    return Verdict(
        counts=counts,
        violations=tuple(found.kept),
        by_kind={kind.value: count for kind, count in found.counted.most_common()},
        events_checked=events is not None,
        writes_of={pk: len(ids[pk]) for pk in answers.by_pk},
    )


def _check_run(answers: Answers, planned: int, found: Violations) -> None:
    counts = answers.counts
    if counts.requests < planned:
        detail = f"the plan has {planned} requests, the history {counts.requests}"
        found.add(Kind.INCOMPLETE_RUN, "", "", detail)
    if not counts.created + counts.replays:
        found.add(Kind.NOTHING_ACCEPTED, "", "", f"of {counts.requests} requests not one was answered 2xx")


def _check_key(heard: KeyAnswers, receipt: StoredReceipt | None, found: Violations) -> None:
    def broken(kind: Kind, detail: str) -> None:
        found.add(kind, heard.tenant, heard.key, detail)

    for status, times in heard.unexpected.items():
        broken(Kind.UNEXPECTED_ANSWER, f"{times} answers with status {status}")
    if heard.unreadable:
        broken(Kind.UNREADABLE_ANSWER, f"{heard.unreadable} answers of 2xx carry no id")
    if heard.misaddressed:
        broken(Kind.MISADDRESSED, f"{heard.misaddressed} answers carry another request's correlation id")
    if heard.created > 1:
        broken(Kind.SECOND_WRITE, f"{heard.created} answers say that the request was new ({_ids(heard)})")
    if heard.answered and not heard.created and not heard.uncertain:
        broken(Kind.NO_FIRST_ANSWER, "every answer says it is a replay, and no first attempt is missing")
    if receipt is None:
        _check_missing_receipt(heard, found)
        _check_replays(heard, next(iter(heard.first), None), found)
        return
    if heard.answered and not receipt.completed:
        broken(Kind.UNFINISHED_RECEIPT, "it was answered 2xx, and its receipt is not completed")
    _check_stored_answer(heard, receipt, found)
    _check_bodies(heard, receipt, found)


def _check_missing_receipt(heard: KeyAnswers, found: Violations) -> None:
    if heard.answered:
        found.add(
            Kind.LOST_WRITE, heard.tenant, heard.key, f"answered 2xx ({_ids(heard)}), but there is no receipt"
        )
    elif heard.refused:
        found.add(
            Kind.LOST_WRITE, heard.tenant, heard.key, "answered 422, but there is no receipt to differ from"
        )


def _check_stored_answer(heard: KeyAnswers, receipt: StoredReceipt, found: Violations) -> None:
    """First answer, stored answer and replays must be one; `body` None is an answer too large to keep."""
    stored = None
    if receipt.status is not None and receipt.body is not None:
        stored = Reply(receipt.status, sha256(receipt.body.encode()).hexdigest(), receipt.headers)
    first = next(iter(heard.first), None) if len(heard.first) == 1 else None
    if stored and first and stored != first:
        found.add(
            Kind.STORED_ANSWER,
            heard.tenant,
            heard.key,
            f"the receipt holds another answer than attempt {heard.first[first]} was given: "
            + _differ(first, stored),
        )
    _check_replays(heard, first or stored, found)


def _check_replays(heard: KeyAnswers, reference: Reply | None, found: Violations) -> None:
    """Every replay equals the first answer; without one (it was never seen), replays equal each other."""
    for reply, attempt in heard.replays.items():
        reference = reference or reply
        for kind, same in (
            (Kind.REPLAY_STATUS, reply.status == reference.status),
            (Kind.REPLAY_BODY, reply.response_hash == reference.response_hash),
            (Kind.REPLAY_HEADERS, reply.headers == reference.headers),
        ):
            if not same:
                detail = (
                    f"attempt {attempt} was given another answer than the first: {_differ(reference, reply)}"
                )
                found.add(kind, heard.tenant, heard.key, detail)


def _check_bodies(heard: KeyAnswers, receipt: StoredReceipt, found: Violations) -> None:
    """The key belongs to the body that was stored; with that body it is a 2xx, with another a 422."""
    owner = receipt.lead_hash
    if owner not in heard.sent:
        found.add(
            Kind.WRONG_CONTENT,
            heard.tenant,
            heard.key,
            "the receipt holds a lead that nobody sent with this key",
        )
    for _ in heard.accepted - {owner}:
        found.add(
            Kind.ACCEPTED_MISMATCH,
            heard.tenant,
            heard.key,
            "another body than the stored one was answered 2xx",
        )
    if owner in heard.refused:
        found.add(Kind.FALSE_MISMATCH, heard.tenant, heard.key, "the body that is stored was answered 422")


def _check_ids(ids: dict[str, set[str]], found: Violations) -> None:
    """One id belongs to one tenant and key."""
    owners: dict[str, str] = {}
    for pk, record_ids in ids.items():
        for record_id in sorted(record_ids):
            owner = owners.setdefault(record_id, pk)
            if owner != pk:
                tenant, _, key = pk.partition("#")
                same = owner.partition("#")[0] == tenant
                kind = Kind.SHARED_ID if same else Kind.CROSS_TENANT
                found.add(kind, tenant, key, f"id {record_id} is {owner}'s too")


def _ids(heard: KeyAnswers) -> str:
    shown = sorted(heard.record_ids)[:3]
    return f"ids {', '.join(shown)}{', ...' if len(heard.record_ids) > len(shown) else ''}"


def _differ(expected: Reply, got: Reply) -> str:
    """What of two replies differs, for people."""
    parts = []
    if got.status != expected.status:
        parts.append(f"status {got.status} for {HTTPStatus(expected.status).value}")
    if got.response_hash != expected.response_hash:
        parts.append(f"body bytes with SHA-256 {got.response_hash[:12]} for {expected.response_hash[:12]}")
    if got.headers != expected.headers:
        parts.append(f"headers {dict(got.headers)} for {dict(expected.headers)}")
    return "; ".join(parts)
