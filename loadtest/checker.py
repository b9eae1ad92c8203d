"""The checker: what clients saw, what was stored and what was published must tell one story. Pure.

Every promise of DESIGN section 2 that can be seen from outside is a rule here, and every rule has a test
that plants its violation. It shares no code with the platform that it checks.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING

from loadtest import effects, proof
from loadtest.answers import Answers, KeyAnswers, Reply
from loadtest.verdict import Kind, Verdict, Violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadtest.expected import Expected
    from loadtest.stored import AuditEvent, StoredReceipt, StoredRecord

# How far the clocks of two workers may be apart (one machine: 0; NTP: tens of milliseconds), so that an
# attempt of another worker is not taken for a later one.
_SKEW_MS = 250.0


def check(
    answers: Answers,
    receipts: Iterable[StoredReceipt],
    records: Iterable[StoredRecord],
    events: Iterable[AuditEvent] | None,
    expected: Expected,
) -> Verdict:
    """Judge a run.

    Args:
        answers: what the clients know, from the history.
        receipts, records, events: what of this run is in the tables and was in the audit queues; None for
            events where no queue listens, and then nothing is said about events.
        expected: what the run was meant to do.
    """
    found = Violations()
    by_pk = {receipt.pk: receipt for receipt in receipts}
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for pk, heard in answers.by_pk.items():
        _check_key(heard, by_pk.get(pk), found)
        ids[pk] |= heard.record_ids
        if pk in by_pk and by_pk[pk].record_id:
            ids[pk].add(by_pk[pk].record_id or "")
    effects.Effects(answers, by_pk, ids, found, expected.stage).check(records, events)
    _check_writes(answers, ids, found)
    _check_ids("id", ids, found)
    _check_ids("event", _event_ids(by_pk), found)
    _check_leaks(answers, ids, found)
    proof.check(answers, expected, found)
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


def _check_key(heard: KeyAnswers, receipt: StoredReceipt | None, found: Violations) -> None:
    def broken(kind: Kind, detail: str) -> None:
        found.add(kind, heard.tenant, heard.key, detail)

    for status, times in heard.unexpected.items():
        broken(Kind.UNEXPECTED_ANSWER, f"{times} answers with status {status}")
    if heard.unreadable:
        broken(Kind.UNREADABLE_ANSWER, f"{heard.unreadable} answers of 2xx carry no id")
    if heard.misaddressed:
        broken(Kind.MISADDRESSED, f"{heard.misaddressed} answers carry another request's correlation id")
    if heard.misplaced:
        broken(Kind.ANSWERED_ID, f"{heard.misplaced} answers have a Location that is not their lead's")
    if heard.created > 1:
        broken(Kind.SECOND_WRITE, f"{heard.created} answers say that the request was new ({_ids(heard)})")
    if heard.answered and not heard.created and heard.first_unseen_ms > heard.first_replay_ms + _SKEW_MS:
        broken(Kind.NO_FIRST_ANSWER, "every answer says it is a replay, and no earlier attempt is unknown")
    if receipt is None:
        _check_missing_receipt(heard, found)
        _check_replays(heard, next(iter(heard.first), None), found)
        return
    others = heard.record_ids - {receipt.record_id}
    if others:
        broken(Kind.ANSWERED_ID, f"answered {_ids(heard)}, but the receipt's record is {receipt.record_id}")
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
    if heard.created == 1 and receipt.correlation_id not in heard.first.values():
        detail = f"attempt {receipt.correlation_id} wrote the receipt, and another was told that it is new"
        found.add(Kind.WRONG_CONTENT, heard.tenant, heard.key, detail)
    if owner in heard.refused:
        found.add(Kind.FALSE_MISMATCH, heard.tenant, heard.key, "the body that is stored was answered 422")


def _check_writes(answers: Answers, ids: dict[str, set[str]], found: Violations) -> None:
    """One key has one id, wherever it is named: in answers, receipt and records."""
    for pk, heard in answers.by_pk.items():
        if len(ids[pk]) > 1 and heard.created <= 1:  # else said already
            detail = f"{len(ids[pk])} ids: {', '.join(sorted(ids[pk])[:3])}"
            found.add(Kind.SECOND_WRITE, heard.tenant, heard.key, detail)


def _event_ids(receipts: dict[str, StoredReceipt]) -> dict[str, set[str]]:
    return {pk: {receipt.event_id} for pk, receipt in receipts.items() if receipt.event_id}


def _check_ids(what: str, ids: Mapping[str, set[str]], found: Violations) -> None:
    """One id belongs to one tenant and key."""
    owners: dict[str, str] = {}
    for pk, named in ids.items():
        for one in sorted(named):
            owner = owners.setdefault(one, pk)
            if owner != pk:
                tenant, _, key = pk.partition("#")
                same = owner.partition("#")[0] == tenant
                kind = Kind.SHARED_ID if same else Kind.CROSS_TENANT
                found.add(kind, tenant, key, f"{what} {one} is {owner}'s too")


def _check_leaks(answers: Answers, ids: Mapping[str, set[str]], found: Violations) -> None:
    """A refusal names no lead of another tenant."""
    owners = {one: pk.partition("#")[0] for pk, named in ids.items() for one in named}
    for (tenant, word), pk in answers.words.items():
        if owners.get(word, tenant) != tenant:
            detail = f"a refusal names lead {word} of {owners[word]}"
            found.add(Kind.CROSS_TENANT, tenant, pk.partition("#")[2], detail)


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
