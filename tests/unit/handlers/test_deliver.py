"""`deliver`: each webhook reaches its destination as an upsert, and what fails comes again without harm."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from handlers.adapters.work_batch import pause_seconds
from handlers.domain.errors import CorruptItem, Refused, Unavailable
from handlers.domain.outbound import Answer, AnswerLost, DestinationForbidden, NotSent
from tests.stream_events import failed_ids
from tests.unit.handlers.dispatch_bench import emf
from tests.unit.handlers.work_bench import (
    MAX_RECEIVES,
    WorkBench,
    messages,
    tenant_config,
    webhook,
)

PUT = {"url": "https://crm.acme.example/contacts/{id}", "method": "PUT"}
POST = {"url": "https://crm.acme.example/contacts", "method": "POST"}


@pytest.fixture
def bench() -> WorkBench:
    return WorkBench(configs={"acme": tenant_config(destination=PUT)})


def written(bench: WorkBench, *numbers: int, **more: Any) -> Any:
    made = [webhook(number, **more) for number in numbers]
    for one in made:
        bench.store.write(one)
    return made


def test_an_event_is_put_where_its_source_wants_it_and_marked(bench: WorkBench) -> None:
    bench.secrets = {("acme", "destinations/webhooks/crm"): ("newest", "older")}
    [event] = written(bench, 1)

    response = bench.deliver(messages(event))

    assert response == {"batchItemFailures": []}
    [(method, url, headers, body)] = bench.calls
    assert (method, url) == ("PUT", "https://crm.acme.example/contacts/evt%2F1")
    assert body.decode() == event.document
    assert headers == {
        "Content-Type": "application/json",
        "Idempotency-Key": event.event_id,
        "X-Correlation-Id": "correlation-1",
        "Authorization": "Bearer newest",
    }
    assert (bench.status(event), bench.is_pending(event)) == ("DELIVERED", False)


def test_by_post_every_attempt_carries_the_same_key(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(destination=POST)}
    [event] = written(bench, 1)
    answers = iter([503, 200])
    bench.answer = lambda *_: Answer(next(answers), {}, b"")

    for receives in (1, 2):
        bench.deliver(messages(event, receives=receives))

    assert [(method, url) for method, url, _, _ in bench.calls] == [("POST", POST["url"])] * 2
    assert {headers["Idempotency-Key"] for _, _, headers, _ in bench.calls} == {event.event_id}
    assert "Authorization" not in bench.calls[0][2]
    assert bench.status(event) == "DELIVERED"


def test_without_a_destination_there_is_nothing_to_call(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config()}
    [event] = written(bench, 1)
    assert bench.deliver(messages(event)) == {"batchItemFailures": []}
    assert (bench.calls, bench.status(event)) == ([], "DELIVERED")


def test_a_suspended_tenants_events_were_accepted_and_are_delivered(bench: WorkBench) -> None:
    bench.configs = {"acme": tenant_config(status="suspended", destination=PUT)}
    [event] = written(bench, 1)
    bench.deliver(messages(event))
    assert bench.status(event) == "DELIVERED"


@pytest.mark.parametrize(
    ("status", "taken"),
    [
        *((status, True) for status in (200, 201, 204)),
        *((status, False) for status in (301, 400, 404, 408, 409, 425, 429, 500, 503)),
    ],
)
def test_only_a_success_is_a_delivery(bench: WorkBench, status: int, taken: bool) -> None:
    [event] = written(bench, 1)
    bench.answer = lambda *_: Answer(status, {}, b"not for the log")

    response = bench.deliver(messages(event))

    assert failed_ids(response) == ([] if taken else ["message-0"])
    assert bench.status(event) == ("DELIVERED" if taken else "RECEIVED")
    assert "not for the log" not in bench.log.getvalue()


@pytest.mark.parametrize(
    "error",
    [NotSent("crm: no"), AnswerLost("crm: no"), DestinationForbidden("crm: no"), KeyError("secret words")],
)
def test_what_fails_comes_again_after_a_pause_and_can_be_taken_at_once(
    bench: WorkBench, error: Exception
) -> None:
    [event] = written(bench, 1)

    def fails(*_: Any) -> Answer:
        raise error

    bench.answer = fails
    assert failed_ids(bench.deliver(messages(event, receives=2))) == ["message-0"]
    assert bench.pauses == {"handle-0": pause_seconds(2)}
    assert bench.is_pending(event)
    assert "secret words" not in bench.log.getvalue()

    bench.answer = lambda *_: Answer(200, {}, b"")
    assert bench.deliver(messages(event, receives=3)) == {"batchItemFailures": []}
    assert (bench.item(event).attempts, bench.status(event)) == (2, "DELIVERED")


def test_after_the_last_receive_it_has_failed_and_waits_for_a_person(
    bench: WorkBench, capsys: pytest.CaptureFixture[str]
) -> None:
    [event] = written(bench, 1)
    bench.answer = lambda *_: Answer(500, {}, b"")

    response = bench.deliver(messages(event, receives=MAX_RECEIVES))

    assert failed_ids(response) == ["message-0"]
    assert bench.pauses == {"handle-0": 0}
    assert (bench.status(event), bench.is_pending(event)) == ("FAILED", False)
    assert [line["outcome"] for line in bench.log_lines()] == ["given_up"]
    [emitted] = emf(capsys.readouterr().out)
    assert (emitted["DeliveryFailed"], emitted["WorkGivenUp"]) == ([1], [1])

    # Brought back by an operator, with a new count of receives.
    bench.answer = lambda *_: Answer(200, {}, b"")
    assert bench.deliver(messages(event)) == {"batchItemFailures": []}
    assert bench.status(event) == "DELIVERED"


@pytest.mark.parametrize("receives", [1, MAX_RECEIVES])
def test_an_outage_of_ours_is_no_failure_of_the_event(bench: WorkBench, receives: int) -> None:
    events = written(bench, 1, 2)
    bench.config_error = Unavailable("tenants", "ThrottlingException")

    response = bench.deliver(messages(*events, receives=receives))

    assert failed_ids(response) == ["message-0", "message-1"]
    assert [bench.item(event).attempts for event in events] == [1, 0]  # the second was not even tried
    # Pending still, whatever becomes of the message: the reconciler will send another.
    assert all(bench.is_pending(event) for event in events)
    # Whoever was not tried waits as long as who was, or a short outage would use up its receives.
    assert bench.pauses == {"handle-0": pause_seconds(receives), "handle-1": pause_seconds(receives)}


@pytest.mark.parametrize(
    "configs", [{}, {"acme": tenant_config(destination=PUT)}], ids=["tenant removed", "source removed"]
)
def test_what_nobody_says_where_it_goes_fails_to_the_dead_letter_queue(
    bench: WorkBench, configs: Any
) -> None:
    bench.configs = configs
    [event] = written(bench, 1, source="gone")

    assert failed_ids(bench.deliver(messages(event, receives=MAX_RECEIVES))) == ["message-0"]

    assert (bench.calls, bench.status(event)) == ([], "FAILED")
    assert "registry" in bench.log_lines()[0]["reason"]


@pytest.mark.parametrize("event_id", [".", "..", ""])
@pytest.mark.parametrize(("destination", "called"), [(PUT, False), (POST, True)])
def test_an_id_that_would_be_another_path_is_never_called(
    bench: WorkBench, event_id: str, destination: dict[str, str], called: bool
) -> None:
    bench.configs = {"acme": tenant_config(destination=destination)}
    event = replace(webhook(1), document=json.dumps({"source": "crm", "eventId": event_id}))
    bench.store.write(event)
    assert failed_ids(bench.deliver(messages(event))) == ([] if called else ["message-0"])
    # Where the id is no part of the path there is nothing wrong with it.
    assert [url for _, url, _, _ in bench.calls] == ([POST["url"]] if called else [])


def test_one_tenants_unreadable_secret_is_that_tenants_failure_and_nobody_elses(bench: WorkBench) -> None:
    bench.configs["bluebird"] = tenant_config("bluebird", destination=PUT)
    bench.unreadable = {"acme": Refused("secrets", "AccessDeniedException")}
    [mine], [theirs] = written(bench, 1), written(bench, 2, tenant="bluebird")

    assert failed_ids(bench.deliver(messages(mine, theirs, receives=MAX_RECEIVES))) == ["message-0"]

    assert (bench.status(mine), bench.is_pending(mine)) == ("FAILED", False)
    assert bench.status(theirs) == "DELIVERED"
    assert "destinations/webhooks/crm of tenant acme" in bench.log_lines()[0]["reason"]


def test_secrets_that_do_not_answer_are_everybodys_outage(bench: WorkBench) -> None:
    bench.configs["bluebird"] = tenant_config("bluebird", destination=PUT)
    bench.unreadable = {"acme": Unavailable("secrets", "ThrottlingException")}
    events = [*written(bench, 1), *written(bench, 2, tenant="bluebird")]
    assert failed_ids(bench.deliver(messages(*events, receives=MAX_RECEIVES))) == ["message-0", "message-1"]
    assert [bench.item(event).attempts for event in events] == [1, 0]
    assert all(bench.is_pending(event) for event in events)


def test_one_tenants_malformed_entry_is_that_tenants_failure_and_nobody_elses(bench: WorkBench) -> None:
    bench.configs["bluebird"] = tenant_config("bluebird", destination=PUT)
    bench.malformed = {"acme": CorruptItem("the registry's entry of tenant acme is malformed: webhooks")}
    [mine], [theirs] = written(bench, 1), written(bench, 2, tenant="bluebird")

    assert failed_ids(bench.deliver(messages(mine, theirs, receives=MAX_RECEIVES))) == ["message-0"]
    assert (bench.status(mine), bench.status(theirs)) == ("FAILED", "DELIVERED")
