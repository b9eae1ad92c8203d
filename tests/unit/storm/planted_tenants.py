"""To plant: what belongs to one tenant, under another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.storm.stories import Story


def refusal_that_tells(story: Story) -> None:
    story.answered("beta", "k1", "another", 422, "the key was used for record-1")


def foreign_record(story: Story) -> None:
    """acme's record is written under beta."""
    moved = replace(story.records.pop("acme#record-1"), pk="beta#record-1", tenant_id="beta")
    story.records["beta#record-1"] = moved


def foreign_record_attribute(story: Story) -> None:
    story.records["acme#record-1"] = replace(story.records["acme#record-1"], tenant_id="beta")


def foreign_event(story: Story) -> None:
    """acme's event goes to beta's topic."""
    story.events[0] = replace(story.events[0], queue_tenant="beta")


def foreign_event_attribute(story: Story) -> None:
    story.events[0] = replace(story.events[0], tenant_attribute="beta")


def foreign_event_source(story: Story) -> None:
    story.events[0] = replace(story.events[0], source="/onceward/local/beta")


def foreign_receipt(story: Story) -> None:
    """A key that only acme sent has a receipt under beta, and all that follows."""
    story.store("beta", "k4", "four", ("record-9", "event-9"))
    story.record("beta", "four", ("record-9", "event-9"))
    story.publish("beta", "four", ("record-9", "event-9"))


def foreign_receipt_attribute(story: Story) -> None:
    story.receipts["acme#k1"] = replace(story.receipts["acme#k1"], tenant_id="beta")


def foreign_answer(story: Story) -> None:
    """beta is answered with acme's lead."""
    story.attempts.append(story.attempt("beta", "k1", "one", 1, replayed=True))


def foreign_content(story: Story) -> None:
    """Something that only acme sent is stored under beta, and no receipt says why."""
    story.record("beta", "bare", ("record-9", "event-9"))


def shared_id(story: Story) -> None:
    story.unseen("acme", "k6", "one")
    story.replay("acme", "k6", "one", 1)
    story.store("acme", "k6", "one", ("record-1", "event-1"))


def shared_event_id(story: Story) -> None:
    """Two receipts have one event id; the event of the first was never sent."""
    story.accept("acme", "k6", "six", 6)
    story.receipts["acme#k6"] = replace(story.receipts["acme#k6"], event_id="event-1")
    story.records["acme#record-6"] = replace(story.records["acme#record-6"], event_id="event-1")
    story.events = [one for one in story.events if one.event_id != "event-6"]
