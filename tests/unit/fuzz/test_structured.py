"""The fuzzer's oracles on inputs that Hypothesis shapes: events, keys, JSON, proofs, records, files."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import (
    batches,
    http_handlers,
    identities,
    json_bodies,
    pending,
    requests,
    stored,
    tenant_files,
    workers,
)
from fuzz.choices import Choices
from fuzz.keys import check_values
from fuzz.webhook_proofs import SCHEMES, check_any, check_changed, check_receiver, right
from handlers import read
from tests.fakes.work import InMemoryWork
from tests.unit.fuzz import strategies as odd

# A profile of our own: every test of this file together stays below some ten seconds of one core. `None`: a
# machine that is busy is no fault (hangs are found by the guided fuzzer, which has a limit for each input).
few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@many
@given(odd.KEY_VALUES)
def test_a_key_is_what_a_second_reader_of_the_header_finds(values: list[str]) -> None:
    check_values(values)


@many
@given(odd.JSON_TEXT)
def test_any_text_is_refused_or_has_one_canonical_form(text: str) -> None:
    json_bodies.check_canonical(text.encode("utf-8", "surrogatepass"))


@many
@given(odd.VALUES)
def test_any_value_has_the_form_of_rfc_8785(value: object) -> None:
    json_bodies.check_canonical(json.dumps(value).encode())
    json_bodies.check_schemas(json.dumps(value).encode())


@few
@given(st.data(), st.sampled_from(sorted(json_bodies.BODIES)))
def test_every_schema_takes_a_body_as_it_is_or_lists_faults(data: st.DataObject, operation: str) -> None:
    json_bodies.check_schemas(data.draw(odd.bodies(operation)))


@few
@given(st.data())
def test_every_event_is_read(data: st.DataObject) -> None:
    requests.check_request(
        data.draw(odd.events("/v1/leads", data.draw(st.binary(max_size=80)), ordinary=False))
    )


@few
@given(st.data(), st.sampled_from(["leads", "orders"]))
def test_ingest_answers_every_event_and_makes_nothing_by_halves(data: st.DataObject, operation: str) -> None:
    http_handlers.check_ingest(data.draw(odd.events(f"/v1/{operation}", data.draw(odd.bodies(operation)))))


@few
@given(st.data(), st.sampled_from(["appointments", "payments"]))
def test_execute_answers_every_event_and_makes_nothing_by_halves(data: st.DataObject, operation: str) -> None:
    http_handlers.check_execute(data.draw(odd.events(f"/v1/{operation}", data.draw(odd.bodies(operation)))))


@few
@given(st.data(), st.sampled_from(SCHEMES), st.sampled_from(["acme", "other", "", "ACME", "a#b", "é"]))
def test_webhooks_answers_every_event_and_lets_nobody_in_without_proof(
    data: st.DataObject, scheme: Any, tenant: str
) -> None:
    body = data.draw(odd.bodies("webhooks"))
    event = data.draw(odd.events("/v1/webhooks/{tenant}/{source}", body))
    event["pathParameters"] = {"tenant": tenant, "source": data.draw(st.sampled_from([scheme, "", "é/.."]))}
    check_receiver(event, proved=False)
    if event["multiValueHeaders"] is not None:
        event["multiValueHeaders"] |= right(scheme, body)
        check_receiver(event, proved=None if tenant == "acme" else False)


@few
@given(st.data(), st.sampled_from(sorted(read.OPERATIONS)), odd.TEXT | odd.KEY)
def test_read_answers_every_path(data: st.DataObject, resource: str, parameter: str) -> None:
    event = data.draw(odd.events(resource, b""))
    path = data.draw(
        st.sampled_from([{"id": parameter, "key": parameter}, {}, None, {"id": None, "key": None}])
    )
    http_handlers.check_read(event | {"pathParameters": path})


@few
@given(st.data())
def test_the_authorizer_lets_in_one_key_and_no_other(data: st.DataObject) -> None:
    event = data.draw(odd.events("/v1/leads", b""))
    arn = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/dev/POST/v1/leads"
    http_handlers.check_authorizer(event | {"methodArn": arn})


@many
@given(
    st.sampled_from(SCHEMES),
    st.binary(max_size=60),
    st.integers(0, 500),
    st.sampled_from("0aZ=, \té\ud800\x00"),
    st.booleans(),
)
def test_no_changed_byte_of_body_or_proof_is_believed(
    scheme: Any, body: bytes, at: int, letter: str, in_body: bool
) -> None:
    check_changed(scheme, body, at, letter, in_body=in_body)


@many
@given(st.sampled_from(SCHEMES), st.binary(max_size=20), st.data())
def test_no_wrong_proof_is_believed(scheme: Any, body: bytes, data: st.DataObject) -> None:
    names = st.sampled_from(sorted(right(scheme, body)))
    headers = data.draw(st.dictionaries(names, st.lists(odd.TEXT | odd.KEY, max_size=3)))
    check_any(scheme, headers, body)
    # A right one of another body, among others.
    check_any(scheme, right(scheme, body + b"!") | headers, body)


ATTRIBUTES = st.sampled_from(stored.ATTRIBUTES)


@st.composite
def images(draw: st.DrawFn) -> dict[str, Any]:
    """An item, members gone, of every type of DynamoDB, or new."""
    item = dict(draw(st.sampled_from(stored.images())))
    for name in draw(st.sets(st.sampled_from([*sorted(item), "new"]), max_size=3)):
        item.pop(name, None)
        if draw(st.booleans()):
            item[name] = draw(ATTRIBUTES)
    return item


@few
@given(images(), odd.JSON_TEXT)
def test_whatever_is_stored_or_queued_is_read_or_corrupt(image: dict[str, Any], body: str) -> None:
    stored.check_image(image)
    stored.check_body(body)


@few
@given(
    st.lists(st.fixed_dictionaries({}, optional={"NewImage": images(), "OldImage": images()}), max_size=3),
    st.sampled_from(["INSERT", "MODIFY", "REMOVE", "LATER"]),
    st.sets(st.sampled_from(["records", "topics", "work", "parking"])),
    st.sampled_from([30_000, 0]),
)
def test_dispatch_loses_nothing_of_any_batch(
    changes: list[dict[str, Any]], name: str, down: set[str], remaining: int
) -> None:
    records = [
        {
            "eventName": name,
            "eventSource": "aws:dynamodb",
            "dynamodb": change | {"SequenceNumber": str(100 + number)},
        }
        for number, change in enumerate(changes)
    ]
    batches.check_dispatch({"Records": records}, batches.Outside(frozenset(down)), remaining)


@few
@given(st.lists(odd.JSON_TEXT, max_size=3), st.sampled_from([200, 404, 500, None]))
def test_queues_of_any_messages_are_worked_through(bodies: list[str], status: int | None) -> None:
    texts = [body.encode("utf-8", "replace").decode() for body in bodies]
    event = batches.queue_event(Choices(b""), texts)
    batches.check_dispatch(event)
    for operation in ("webhooks", "orders"):
        workers.check_worker(event, operation, workers.Outside(status), InMemoryWork())


@few
@given(odd.VALUES, st.lists(images(), max_size=3))
def test_the_bus_and_the_index_may_hold_anything(detail: Any, items: list[dict[str, Any]]) -> None:
    batches.check_notify({"detail": detail})
    batches.check_notify({"detail": {"tenantId": "acme", "event": detail}})
    pending.check_reconcile(items, batches.NOW + 3_600_000)


YAML_LINES = st.sampled_from(
    [
        *(
            "id: acme",
            "name: Acme",
            "tier: pro",
            "stages: [local]",
            "keys: [server]",
            "synthetic: !!bool maybe",
        ),
        *(
            "name: &a A",
            "tier: *a",
            'name: "\\uD800"',
            "<<: {tier: pro}",
            "? [a]\n: b",
            "keys: {a: [1, {}]}",
            "- a",
        ),
        *(
            "status: 0x" + "f" * 5000,
            "dashboard: [[[[[[]]]]]]",
            "id: 1",
            "operations: {leads: {keyFields: [a.b, '*']}}",
        ),
        *(
            "encryption: {kmsKeyArn: x}",
            "alarms: null",
            "subscriptions: [{protocol: x}]",
            "---",
            "\tx: y",
            "é: 1",
        ),
    ]
)


@few
@given(st.lists(YAML_LINES | odd.TEXT | odd.VALUES.map(lambda value: f"name: {value!r}"), max_size=8))
def test_any_text_is_a_tenant_or_faults_with_their_places(lines: list[str]) -> None:
    tenant_files.check_file("\n".join(lines).encode("utf-8", "replace").decode())


@many
@given(
    st.ip_addresses().map(str) | odd.TEXT | st.from_regex(r"https://[a-z0-9.\[\]:@%]{1,20}(/[a-z.%;{}?#]*)?")
)
def test_files_and_functions_judge_an_address_alike(text: str) -> None:
    identities.check_address(text)
    identities.check_url(text)


@many
@given(st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZILOUa\uff18", min_size=25, max_size=27) | odd.TEXT)
def test_an_id_is_ours_or_none(text: str) -> None:
    identities.check_id(text)
