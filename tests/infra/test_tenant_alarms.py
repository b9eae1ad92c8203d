"""The alarms on tenants: a handful of queries over all of them, and those of a tenant with its own."""

from collections.abc import Iterable
from typing import Any

import pytest

from handlers.domain import metric_catalogue
from infra import query_limits
from infra.alarm import QueryAlarm
from infra.expressions import MetricReference, in_expression
from infra.naming import Names
from infra.query_limits import QueryLimitError
from infra.tenant_alarms import tenant_rules
from tenants.models import Tenant
from tests.infra.engine import Registered, Run
from tests.infra.stages import previewed, run_stage, tenant, with_tenants

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
COMPOSITE = "aws:cloudwatch/compositeAlarm:CompositeAlarm"
RULES = {
    *(f"tenants-failing-{function}" for function in ("ingest", "execute", "webhooks", "read")),
    *(f"tenants-stuck-{function}" for function in ("dispatch", "notify", "deliver", "fulfil", "reconcile")),
    *("tenants-throttled", "tenants-deliveries", "tenants-provider-trouble"),
}


def on_all_tenants(run: Run, stage: str) -> dict[str, Registered]:
    """The alarms that ask for their metrics, by name without the stage."""
    return {
        each.inputs["name"].removeprefix(f"onceward-{stage}_"): each
        for each in run.of_type(ALARM)
        if query_of(each) is not None
    }


def query_of(alarm: Registered) -> dict[str, Any] | None:
    (*_, query) = alarm.inputs.get("metricQueries", [{}])
    return query if query.get("expression", "").startswith("SELECT") else None


def asked_for(alarm: Registered) -> MetricReference:
    query = query_of(alarm)
    assert query is not None
    (reference,) = in_expression(query["expression"])
    return reference


def dev(*tenants: Tenant, **changes: Any) -> Run:
    return run_stage("dev", with_tenants(tenants), **changes)


def many(number: int, **fields: Any) -> Iterable[Tenant]:
    return [tenant(f"tenant-{each:03}", dashboard="shared", **fields) for each in range(number)]


def test_the_alarms_on_all_tenants_are_as_many_for_one_as_for_fifty() -> None:
    assert set(on_all_tenants(previewed("prod"), "prod")) == RULES
    one, fifty = (dev(*many(number), watchAllTopics=True) for number in (1, 50))
    assert set(on_all_tenants(one, "dev")) == set(on_all_tenants(fifty, "dev")) == RULES
    for name, alarm in on_all_tenants(one, "dev").items():
        assert on_all_tenants(fifty, "dev")[name].inputs == alarm.inputs


@pytest.mark.parametrize("rule", sorted(RULES - {"tenants-deliveries"}))
def test_a_query_is_about_what_is_emitted_for_each_tenant_of_this_stage_alone(rule: str) -> None:
    asked = asked_for(on_all_tenants(previewed("prod"), "prod")[rule])
    assert asked.namespace == metric_catalogue.NAMESPACE
    assert asked.dimension_names == frozenset(metric_catalogue.OF_TENANT)
    ((_, service),) = asked.dimensions
    function = service.removeprefix("onceward-prod_")
    if function == metric_catalogue.API:
        emitted = {
            each.name for each in metric_catalogue.ACCESS_LOG if metric_catalogue.OF_TENANT in each.dimensions
        }
    else:
        emitted = set(metric_catalogue.PER_TENANT[function])
    assert asked.name in emitted
    # An average of what is 1 or 0 on every request is a share; what is there in trouble only can be summed.
    shares = {"Failed", "Throttled", "EffectTrouble"}
    assert asked.statistic == ("Average" if asked.name in shares else "Sum")


def test_a_query_has_a_line_for_each_tenant_and_the_worst_first() -> None:
    for name, alarm in on_all_tenants(previewed("prod"), "prod").items():
        query = query_of(alarm)
        assert query is not None
        group = "TopicName" if name == "tenants-deliveries" else "TenantId"
        function = query["expression"].removeprefix("SELECT ").split("(")[0]
        assert query["expression"].endswith(f' GROUP BY "{group}" ORDER BY {function}() DESC')
        assert (query["returnData"], query["period"]) == (True, 300)


def test_a_share_has_to_last_and_a_count_rings_at_once() -> None:
    for name, alarm in on_all_tenants(previewed("prod"), "prod").items():
        quarters = "failing" in name or name == "tenants-provider-trouble"
        share = {"tenants-throttled": 0.5}.get(name, 0.25 if quarters else None)
        m_of_n = (alarm.inputs["datapointsToAlarm"], alarm.inputs["evaluationPeriods"])
        assert alarm.inputs["threshold"] == (share or 1)
        assert m_of_n == ((2, 3) if share else (1, 1))
        assert alarm.inputs["treatMissingData"] == "notBreaching"


def test_deliveries_of_all_topics_are_watched_where_the_stage_is_alone() -> None:
    asked = asked_for(on_all_tenants(previewed("prod"), "prod")["tenants-deliveries"])
    assert (asked.namespace, asked.name) == ("AWS/SNS", "NumberOfNotificationsFailed")
    assert (asked.dimension_names, asked.dimensions) == (frozenset({"TopicName"}), ())
    # It would ring for another stage's topics too, so a stage that may have neighbours does without.
    assert set(on_all_tenants(previewed("dev"), "dev")) == RULES - {"tenants-deliveries"}


def test_what_tells_people_is_no_topic_of_a_tenants() -> None:
    query = query_of(on_all_tenants(previewed("prod"), "prod")["tenants-deliveries"])
    assert query is not None
    assert "\"TopicName\" != 'onceward-prod_alarms'" in query["expression"]


def test_a_tenant_whose_alarms_are_off_rings_neither_its_own_nor_those_of_all() -> None:
    run = dev(tenant("bee", alarms={"enabled": False}), tenant("tea"), watchAllTopics=True)
    assert not [each for each in run.of_type(ALARM) if each.name.startswith("bee.")]
    assert not [each for each in run.of_type(COMPOSITE) if each.name.startswith("bee.")]
    for name, alarm in on_all_tenants(run, "dev").items():
        query = query_of(alarm)
        assert query is not None
        left_out = "\"TopicName\" != 'onceward-dev-bee'" if "deliveries" in name else "\"TenantId\" != 'bee'"
        assert left_out in query["expression"]
        assert "'tea'" not in query["expression"]


def test_a_tenant_that_shares_its_dashboard_shares_its_alarms() -> None:
    run = dev(tenant("bee", dashboard="shared"), tenant("tea"))
    own = {each.name for kind in (ALARM, COMPOSITE) for each in run.of_type(kind) if "." in each.name}
    rules = ("failed-requests", "provider-trouble", "throttled-requests", "failed-deliveries", "stuck-work")
    assert own == {"tea.alarm", *(f"tea.alarm.{rule}" for rule in rules)}


def test_a_tenants_own_alarms_tell_by_the_one_over_them() -> None:
    run = dev(tenant("bee"))
    children = [each.inputs for each in run.of_type(ALARM) if each.name.startswith("bee.")]
    assert len(children) == 5
    assert not [each for each in children if each.keys() & {"alarmActions", "okActions"}]
    rule = run.one(COMPOSITE, "bee.alarm").inputs["alarmRule"]
    assert rule == " OR ".join(f'ALARM("{each["name"]}")' for each in children)
    assert run.one(COMPOSITE, "bee.alarm").inputs["alarmName"] == "onceward-dev-bee_alarm"


def test_its_alarms_have_the_thresholds_of_its_file() -> None:
    rules = {
        "failedRequests": {"threshold": 7, "minutes": 10, "sharePercent": 3},
        "throttledRequests": {"threshold": 9, "minutes": 15, "sharePercent": 40},
        "failedDeliveries": {"threshold": 3, "minutes": 1},
        "stuckWork": {"threshold": 2, "minutes": 5},
    }
    run = dev(tenant("bee", alarms=rules))
    alarms = {rule: run.one(ALARM, f"bee.alarm.{rule}").inputs for rule in named(rules)}
    assert {rule: alarm["threshold"] for rule, alarm in alarms.items()} == {
        "failed-requests": 7,
        "throttled-requests": 9,
        "failed-deliveries": 3,
        "stuck-work": 2,
    }
    failed, throttled = (summary(alarms[rule]) for rule in ("failed-requests", "throttled-requests"))
    failures = "FILL(m0, 0) + FILL(m1, 0) + FILL(m2, 0) + FILL(m3, 0)"
    requests = failures.replace("m", "n")
    assert failed == (
        f"IF(100 * ({failures}) >= 3 * ({requests}), {failures}, 0)",
        600,
        {("Failed", service, stat) for service in SERVICES for stat in ("Sum", "SampleCount")},
    )
    trouble = run.one(ALARM, "bee.alarm.provider-trouble").inputs
    assert trouble["threshold"] == 7
    assert summary(trouble) == (
        "IF(100 * (FILL(m0, 0)) >= 3 * (FILL(n0, 0)), FILL(m0, 0), 0)",
        600,
        {("EffectTrouble", "onceward-dev_execute", stat) for stat in ("Sum", "SampleCount")},
    )
    assert throttled == (
        "IF(100 * (FILL(m0, 0)) >= 40 * (FILL(n0, 0)), FILL(m0, 0), 0)",
        900,
        {("Throttled", "onceward-dev_api", stat) for stat in ("Sum", "SampleCount")},
    )
    total, query = alarms["failed-deliveries"]["metricQueries"]
    assert (total["expression"], query["metric"]["period"]) == ("FILL(m0, 0)", 60)
    assert query["metric"]["dimensions"] == {"TopicName": "onceward-dev-bee"}
    assert summary(alarms["stuck-work"])[2] == {
        *((name, "onceward-dev_dispatch", "Sum") for name in ("DispatchParked", "StillParked")),
        ("TopicRefused", "onceward-dev_notify", "Sum"),
        *(("WorkGivenUp", f"onceward-dev_{worker}", "Sum") for worker in ("deliver", "fulfil", "reconcile")),
    }


SERVICES = [f"onceward-dev_{name}" for name in ("ingest", "execute", "webhooks", "read")]


def named(rules: dict[str, Any]) -> list[str]:
    return ["".join(f"-{each.lower()}" if each.isupper() else each for each in rule) for rule in rules]


def summary(alarm: dict[str, Any]) -> tuple[str, int, set[tuple[str, str, str]]]:
    """An alarm's expression, its one period, and what it reads of tenant bee: name, service, statistic."""
    total, *queries = alarm["metricQueries"]
    (period,) = {query["metric"]["period"] for query in queries}
    assert {query["metric"]["dimensions"]["TenantId"] for query in queries} == {"bee"}
    read = {
        (query["metric"]["metricName"], query["metric"]["dimensions"]["Service"], query["metric"]["stat"])
        for query in queries
    }
    return total["expression"], period, read


def rules(silenced: int = 0) -> tuple[QueryAlarm, ...]:
    return tenant_rules(Names("dev"), [f"tenant-{number:03}" for number in range(silenced)])


def test_more_tenants_than_a_query_looks_at_are_refused() -> None:
    assert query_limits.check(rules(), 500, 0) is None
    with pytest.raises(QueryLimitError, match=r"10,001 tenants: .* 10,000 of them at most"):
        query_limits.check(rules(), 10_001, 0)


def test_more_tenants_than_a_query_returns_are_said_to_be_looked_at_by_the_worst() -> None:
    warning = query_limits.check(rules(), 501, 0)
    assert warning is not None
    assert "the 500 that are worst off" in warning


def test_more_silenced_tenants_than_a_query_can_spell_out_are_refused() -> None:
    assert query_limits.check(rules(silenced=30), 40, 30) is None
    with pytest.raises(QueryLimitError, match=r"90 tenants have `alarms.enabled: false`.* 2,048"):
        query_limits.check(rules(silenced=90), 100, 90)


def test_the_limits_hold_in_a_preview(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(QueryLimitError):
        dev(*many(90, alarms={"enabled": False}))
    dev(*many(3))
    assert "worst off" not in capsys.readouterr().err
    monkeypatch.setattr(query_limits, "MOST_LINES", 2)
    dev(*many(3))
    assert "3 tenants: an alarm on all tenants looks at the 2 that are worst off" in capsys.readouterr().err
