"""The checker's rules for one key: its answers, its stored answer and its receipt tell one story. Pure."""

from __future__ import annotations

from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING

from loadtest.expected import CLOCKS_MS
from loadtest.heard import Reply
from loadtest.sequential import Says
from loadtest.verdict import Kind

if TYPE_CHECKING:
    from loadtest.answers import Answers
    from loadtest.heard import KeyAnswers
    from loadtest.sequential import Rules
    from loadtest.stored import StoredReceipt
    from loadtest.verdict import Violations


def check(heard: KeyAnswers, receipt: StoredReceipt | None, found: Violations, rules: Rules) -> None:
    """Judge what clients heard of one key, and its receipt; None where there is none.

    `rules`: the specification of its operation's keys, as exact as the clocks were.
    """
    _check_answers(heard, found)
    _check_in_progress(heard, found)
    if receipt is None:
        _check_missing_receipt(heard, found)
        _check_replays(heard, next(iter(heard.first), None), found)
        return
    others = heard.record_ids - {receipt.record_id}
    if others:
        detail = f"answered {_ids(heard)}, but the receipt's record is {receipt.record_id}"
        found.add(Kind.ANSWERED_ID, heard.tenant, heard.key, detail)
    _check_stored_answer(heard, receipt, found)
    _check_bodies(heard, receipt, found)
    _check_writer(heard, receipt, found, rules)


def _check_answers(heard: KeyAnswers, found: Violations) -> None:
    """Each answer by itself, and how many say that they are the first."""

    def broken(kind: Kind, detail: str) -> None:
        found.add(kind, heard.tenant, heard.key, detail)

    for status, times in heard.unexpected.items():
        broken(Kind.UNEXPECTED_ANSWER, f"{times} answers with status {status}")
    for times, kind, what in (
        (heard.unreadable, Kind.UNREADABLE_ANSWER, "of 2xx carry no id"),
        (heard.malformed, Kind.REPLAY_BODY, "are not, word for word, what webhooks are answered"),
        (heard.misaddressed, Kind.MISADDRESSED, "carry another request's correlation id"),
        (heard.misplaced, Kind.ANSWERED_ID, "have a Location that is not their record's"),
    ):
        if times:
            broken(kind, f"{times} answers {what}")
    if heard.created > 1:
        broken(Kind.SECOND_WRITE, f"{heard.created} answers say that the request was new ({_ids(heard)})")
    if heard.answered and not heard.created and heard.first_unseen_ms > heard.first_replay_ms + CLOCKS_MS:
        broken(Kind.NO_FIRST_ANSWER, "every answer says it is a replay, and no earlier attempt is unknown")


def _check_in_progress(heard: KeyAnswers, found: Violations) -> None:
    """A 409 "still running" is for execute mode, and only for a request that began before the first was done.

    That it was done is known from its own answer or from a replay of it, whichever came first.
    """
    late_ms = heard.last_in_progress_ms - heard.first_answer_ms
    if heard.in_progress and late_ms > CLOCKS_MS:
        detail = f"told that the first request still ran, {late_ms:.0f} ms after its answer was known"
        found.add(Kind.LATE_IN_PROGRESS, heard.tenant, heard.key, detail)


def _check_missing_receipt(heard: KeyAnswers, found: Violations) -> None:
    if heard.answered:
        found.add(
            Kind.LOST_WRITE, heard.tenant, heard.key, f"answered ({_ids(heard)}), but there is no receipt"
        )
    elif heard.refused or heard.in_progress:
        told = "422" if heard.refused else "409 in progress"
        found.add(
            Kind.LOST_WRITE, heard.tenant, heard.key, f"answered {told}, but there is no receipt behind it"
        )


def _check_stored_answer(heard: KeyAnswers, receipt: StoredReceipt, found: Violations) -> None:
    """First answer, stored answer and replays must be one; `body` None is an answer too large to keep."""
    stored = None
    if receipt.status is not None and receipt.body is not None:
        digest = sha256(receipt.body.encode("utf-8", "surrogatepass")).hexdigest()
        stored = Reply(receipt.status, digest, receipt.headers)
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
    fixed = heard.operation.duplicate
    if fixed is not None and reference is not None and heard.replays:
        # A duplicate of a webhook has an answer of its own; its words are checked where they are heard.
        reference = Reply(fixed, next(iter(heard.replays)).response_hash, reference.headers)
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

    def broken(kind: Kind, detail: str) -> None:
        found.add(kind, heard.tenant, heard.key, detail)

    owner = _owner(heard, receipt)
    stored = not receipt.refuses and (receipt.completed or receipt.document)
    if stored and owner not in heard.sent:
        broken(Kind.WRONG_CONTENT, "the receipt holds a body that nobody sent with this key")
    for _ in heard.accepted - {owner} if heard.operation.one_body else ():
        broken(Kind.ACCEPTED_MISMATCH, "another body than the stored one was answered 2xx")
    if owner in heard.refused:
        broken(Kind.FALSE_MISMATCH, "the body that is stored was answered 422")


def _owner(heard: KeyAnswers, receipt: StoredReceipt) -> str | None:
    """Whose key it is: a body's hash.

    A refusal that stands stores no body: the one that was refused is known from its answers.
    """
    if not receipt.refuses:
        return receipt.body_hash
    return next(iter(heard.declined), None) if len(heard.declined) <= 1 else None


def _check_writer(heard: KeyAnswers, receipt: StoredReceipt, found: Violations, rules: Rules) -> None:
    """Who was told that it is new wrote the receipt.

    In execute mode an attempt that nobody saw the end of may have left its claim to the one that finished.
    So may one whose lease another worker took for over: what it is told is what its successor did (DESIGN
    section 7, "lost lease").
    """
    if heard.created != 1 or receipt.correlation_id in heard.first.values():
        return
    writer = next((one for one in heard.calls if one.attempt_id == receipt.correlation_id), None)
    if (
        heard.operation.may_run
        and writer is not None
        and writer.body == _owner(heard, receipt)
        and (writer.says is Says.UNSEEN or rules.may_have_lost(writer))
    ):
        return
    detail = f"attempt {receipt.correlation_id} wrote the receipt, and another was told that it is new"
    found.add(Kind.WRONG_CONTENT, heard.tenant, heard.key, detail)


def check_ids(answers: Answers, ids: dict[str, set[str]], found: Violations) -> None:
    """One key has one id, wherever it is named: in answers, receipt and records."""
    for pk, heard in answers.by_pk.items():
        if len(ids[pk]) > 1 and heard.created <= 1:  # else said already
            detail = f"{len(ids[pk])} ids: {', '.join(sorted(ids[pk])[:3])}"
            found.add(Kind.SECOND_WRITE, heard.tenant, heard.key, detail)


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
