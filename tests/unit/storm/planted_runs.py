"""To plant: runs that prove nothing, and reads that are wrong or missing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from loadtest.history import Outcome
from loadtest.operations import LEADS
from tests.unit.storm.stories import Story, document, lead_hash

if TYPE_CHECKING:
    from loadtest.history import Attempt


def never_accepted(story: Story) -> None:
    for _ in range(50):
        story.answered("beta", "k9", "nine", 500)


def never_replayed(story: Story) -> None:
    story.accept("acme", "k9", "nine", 9)
    for _ in range(50):
        story.answered("acme", "k9", "nine", 503)


def still_running(story: Story) -> None:
    """A 409 is not in the contract of a lead."""
    story.answered("acme", "k1", "one", 409)


def own_fault(story: Story) -> None:
    """A 500 of the function's own: no outage, but a fault that nobody foresaw."""
    _broken(story, 500, "internal-error", "1")


def outage_without_an_end(story: Story) -> None:
    """A 503 that does not say when to come again."""
    _broken(story, 503, "store-unavailable", None)


def _broken(story: Story, status: int, slug: str, retry_after: str | None) -> None:
    story.answered("acme", "k1", "one", status)
    body = json.dumps({"type": f"urn:onceward:problem:{slug}"})
    story.attempts[-1] = replace(story.attempts[-1], response_body=body, retry_after=retry_after)


def replayed_before_it_was_sent(story: Story) -> None:
    """A replay, the same to the last byte, that was heard before the request of the first answer was sent."""
    early = story.replay("acme", "k1", "one", 1)
    story.attempts[-1] = replace(early, start_ms=100.0, end_ms=150.0)


def refused_before_another_body_was_sent(story: Story) -> None:
    story.answered("acme", "k1", "another", 422)
    story.attempts[-1] = replace(story.attempts[-1], start_ms=100.0, end_ms=150.0)


def two_keys_without_a_sign(story: Story) -> None:
    """Of seven keys, three were never accepted: what of the others proves is little."""
    story.unseen("beta", "k6", "six", Outcome.FAIL)
    story.unseen("beta", "k7", "seven", Outcome.FAIL)


def reads_unanswered(story: Story) -> None:
    story.attempts = [replace(one, status=500) if _reads(one, "acme") else one for one in story.attempts]


def reads_throttled(story: Story) -> None:
    story.attempts = [replace(one, status=429) if _reads(one, "acme") else one for one in story.attempts]


def no_reads(story: Story) -> None:
    story.attempts = [one for one in story.attempts if not _reads(one, "acme")]


def no_read_of_its_own(story: Story) -> None:
    story.attempts = [
        one for one in story.attempts if not (_reads(one, "acme") and one.body_hash == "record-1")
    ]


def only_reads_of_its_own(story: Story) -> None:
    story.attempts = [
        one for one in story.attempts if not (_reads(one, "acme") and one.body_hash == "record-2")
    ]


def _reads(attempt: Attempt, tenant: str) -> bool:
    return attempt.operation == LEADS.read_name and attempt.tenant == tenant


def one_attempt_missing(story: Story) -> None:
    story.unsent["acme", "k1", lead_hash("one")] += 1


def another_attempt_instead(story: Story) -> None:
    """As many attempts as planned, but a key of the plan was never sent and another one twice."""
    story.unsent["acme", "k99", lead_hash("one")] += 1
    story.unsent["acme", "k1", lead_hash("one")] -= 1


def one_attempt_twice(story: Story) -> None:
    """The history file of one worker is there twice."""
    story.attempts.append(story.attempts[1])


def foreign_read(story: Story) -> None:
    story.read("beta", 1, 200, document("one", "record-1"))


def forbidden_instead_of_not_found(story: Story) -> None:
    """A 403 for another tenant's id tells that there is such a thing."""
    story.read("beta", 1, 403, None)


def own_lead_unread(story: Story) -> None:
    story.read("acme", 1, 404, None)


def own_lead_read_with_other_bytes(story: Story) -> None:
    story.read("acme", 1, 200, document("one", "record-1").replace(": ", ":"))


# What of an event must fit its receipt, changed in one place each.
ENVELOPES: list[dict[str, str | None]] = [
    {"specversion": "0.3"},
    {"event_type": "lead.deleted"},
    {"source": "/onceward/dev/acme"},
    {"subject": "record-2"},
    {"time": "2026-01-01T00:00:00Z"},
    {"correlation_id": "of somebody else"},
    {"event_attribute": "event-2"},
    {"type_attribute": None},
]
