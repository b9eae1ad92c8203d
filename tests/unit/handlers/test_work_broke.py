"""Whose failures a worker counts as ours: by those a release is rolled back, by a destination's it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from handlers.domain.errors import Unavailable
from handlers.domain.outbound import Answer, AnswerLost, NotSent
from tests.unit.handlers.dispatch_bench import emf
from tests.unit.handlers.work_bench import MAX_RECEIVES, WorkBench, messages, tenant_config, webhook

if TYPE_CHECKING:
    from typing import Any

PUT = {"url": "https://crm.acme.example/contacts/{id}", "method": "PUT"}


def counted(bench: WorkBench, capsys: pytest.CaptureFixture[str], receives: int = 1) -> dict[str, Any]:
    event = webhook(1)
    bench.store.write(event)
    bench.deliver(messages(event, receives=receives))
    [emitted] = emf(capsys.readouterr().out)
    assert emitted["DeliveryFailed"] == [1]
    return emitted


@pytest.mark.parametrize("receives", [1, MAX_RECEIVES])
@pytest.mark.parametrize("error", [NotSent("down"), AnswerLost("slow"), None])
def test_a_destination_that_is_down_stops_no_release(
    error: Exception | None, receives: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(*_: object) -> Answer:
        if error is None:
            return Answer(500, {}, b"")
        raise error

    bench = WorkBench(configs={"acme": tenant_config(destination=PUT)}, answer=answer)
    assert "WorkBroke" not in counted(bench, capsys, receives)


def test_nor_does_a_tenant_that_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    assert "WorkBroke" not in counted(WorkBench(), capsys)


@pytest.mark.parametrize("receives", [1, MAX_RECEIVES])
def test_code_that_breaks_does(receives: int, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(*_: object) -> Answer:
        raise TypeError

    bench = WorkBench(configs={"acme": tenant_config(destination=PUT)}, answer=answer)
    assert counted(bench, capsys, receives)["WorkBroke"] == [1]


def test_and_so_does_what_we_cannot_reach_ourselves(capsys: pytest.CaptureFixture[str]) -> None:
    bench = WorkBench(config_error=Unavailable("tenants", "AccessDeniedException"))
    assert counted(bench, capsys)["WorkBroke"] == [1]
