"""What `execute` says of a request: one line, and counts."""

from __future__ import annotations

import json

import pytest

from tests.unit.handlers.payment_world import Fault, World


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    ("prepare", "faults", "outcome", "metrics"),
    [
        ([], [], "accepted", {"Accepted"}),
        ([[]], [], "replayed", {"Replayed"}),
        ([[Fault("charge", "kill-after")]], [], "in_progress", {"InProgress"}),
        ([[Fault("charge", "lost")]], [], "accepted", {"Accepted", "Takeover"}),
        ([], [Fault("charge", "lost")], "effect_unknown", {"EffectUnknown"}),
        ([], [Fault("charge", "refused")], "effect_failed", {"EffectFailed"}),
        ([], [Fault("put", "refused")], "failed", {"Failed"}),
    ],
)
def test_every_request_is_one_line_and_its_counts(
    world: World,
    prepare: list[list[Fault]],
    faults: list[Fault],
    outcome: str,
    metrics: set[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    for before in prepare:
        world.pay(*before)
    world.log.truncate(world.log.seek(0))
    capsys.readouterr()
    world.pay(*faults)
    (line,) = world.log.getvalue().splitlines()
    said = json.loads(line)
    assert (said["outcome"], said["tenant"], said["operation"]) == (outcome, "acme", "payments")
    assert said["correlation_id"] == "gateway-request-id"
    for private in ("pm_card", "order-7", '"k"'):
        assert private not in line
    emitted = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    counted = {name for each in emitted for name in each if isinstance(each[name], list)}
    assert counted == metrics | {"Failed", "EffectTrouble", "RequestLatency", "StoreLatency"}
    assert [each["EffectTrouble"] for each in emitted] == [[1 if outcome.startswith("effect_") else 0]]
    assert [each["Failed"] for each in emitted] == [[1 if outcome == "failed" else 0]]
    assert {each["Service"] for each in emitted} == {"onceward-local_execute"}
