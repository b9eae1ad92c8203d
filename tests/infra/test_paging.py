"""Who is told of an alarm: composites tell for what rings together, and one of them mutes the others."""

import pytest

from infra.alarms import FUNCTIONS
from infra.composites import LONGEST_RULE, MOST_CHILDREN, any_of
from tests.infra.engine import Registered
from tests.infra.stages import run_stage, tenant, updated, with_tenants

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
COMPOSITE = "aws:cloudwatch/compositeAlarm:CompositeAlarm"
TOPIC = ["arn:aws:sns:eu-west-1:123456789012:onceward-prod_alarms"]
DOWN = "onceward-prod_platform-down"


def metric_alarms() -> dict[str, Registered]:
    return {each.inputs["name"]: each for each in updated("prod").of_type(ALARM)}


def composites() -> dict[str, Registered]:
    return {each.inputs["alarmName"]: each for each in updated("prod").of_type(COMPOSITE)}


def children(composite: Registered) -> list[str]:
    """The alarms that a rule names; a rule that says more than "any of these" fails."""
    parts = composite.inputs["alarmRule"].split(" OR ")
    assert all(part.startswith('ALARM("') and part.endswith('")') for part in parts)
    return [part.removeprefix('ALARM("').removesuffix('")') for part in parts]


def tells(alarm: Registered) -> bool:
    """Whether it tells people when it rings and when it is over, which go together."""
    told = [alarm.inputs.get(kind) for kind in ("alarmActions", "okActions")]
    assert told in ([TOPIC, TOPIC], [None, None])
    return told == [TOPIC, TOPIC]


def test_each_alarm_tells_by_itself_or_one_composite_tells_for_it() -> None:
    paged_for = [child for each in composites().values() for child in children(each)]
    assert len(paged_for) == len(set(paged_for))
    silent = {name for name, each in metric_alarms().items() if not tells(each)}
    assert silent == set(paged_for)
    assert "onceward-prod_ingest-failed" in silent
    assert silent < set(metric_alarms())


def test_every_composite_tells() -> None:
    assert all(tells(each) for each in composites().values())


def test_platform_down_rings_for_what_is_everybodys_alone() -> None:
    down = composites()[DOWN]
    assert children(down) == [
        f"onceward-prod_{part}-failing" for part in ("calls", "requests", "dispatch", "work")
    ]
    assert "actionsSuppressor" not in down.inputs


def test_platform_down_mutes_every_other_composite_and_the_tenants_own() -> None:
    muted = {name: each for name, each in composites().items() if name != DOWN}
    for each in muted.values():
        assert each.inputs["actionsSuppressor"] == {
            "alarm": DOWN,
            "waitPeriod": 240,
            "extensionPeriod": 1_200,
        }
    assert "onceward-prod-acme_alarm" in muted
    assert {f"onceward-prod_{name}-trouble" for name in FUNCTIONS} <= set(muted)


def test_it_stays_mute_until_the_failures_have_left_what_the_tenants_rules_look_at() -> None:
    rule = metric_alarms()["onceward-prod_tenants-failing-ingest"].inputs
    (query,) = rule["metricQueries"]
    extension = composites()["onceward-prod_tenants-failing"].inputs["actionsSuppressor"]["extensionPeriod"]
    # Rings as long as failures are in so many of the windows that CloudWatch looks at: where nobody calls any
    # more, at two older ones too (docs/adr/0129).
    windows = rule["evaluationPeriods"] + 2 - rule["datapointsToAlarm"] + 1
    assert extension >= windows * query["period"]


# What lasts until somebody cleans up: told by itself, while all is down too.
LASTING = {
    *(f"{queue}-dlq-depth" for queue in ("dispatch", "delivery", "orders", "webhooks", "notify")),
    *(f"{function}-given-up" for function in ("dispatch", "deliver", "fulfil", "reconcile")),
    *("dispatch-conflict", "dispatch-failures-lost"),
    *("bus-failed-deliveries", "bus-sent-to-dlq", "bus-events-lost"),
    *("lookup-impossible", "effect-orphaned", "several-charges"),
}
# A subscriber that is down is one tenant's, whatever the platform does.
OF_ONE_TENANT = {"tenants-deliveries"}


def test_nothing_but_what_lasts_until_somebody_cleans_up_is_told_while_all_is_down() -> None:
    alone = {name for name, each in metric_alarms().items() if tells(each)}
    assert alone == {f"onceward-prod_{name}" for name in LASTING | OF_ONE_TENANT}


def test_a_single_failure_rings_for_longer_than_its_composite_waits() -> None:
    down = composites()["onceward-prod_tenants-stuck"].inputs["actionsSuppressor"]
    parked = metric_alarms()["onceward-prod_dispatch-parked"].inputs
    (period,) = {each["metric"]["period"] for each in parked["metricQueries"] if "metric" in each}
    assert down["waitPeriod"] < period


def test_an_alarm_is_made_before_what_names_it() -> None:
    made = {name: each.urn for name, each in {**metric_alarms(), **composites()}.items()}
    for composite in composites().values():
        named = {*children(composite), composite.inputs.get("actionsSuppressor", {}).get("alarm", DOWN)}
        assert {made[name] for name in named} - {composite.urn} <= composite.dependencies


@pytest.mark.parametrize("name", ["calls-failing", "requests-failing", "dispatch-failing", "work-failing"])
def test_a_share_of_everything_mutes_and_no_number_alone(name: str) -> None:
    alarm = metric_alarms()[f"onceward-prod_{name}"].inputs
    total, *_ = alarm["metricQueries"]
    assert ") >= 50 * (" in total["expression"]
    assert alarm["threshold"] == 10


def test_no_alarm_has_more_metrics_than_one_may_have() -> None:
    for each in metric_alarms().values():
        queries = each.inputs.get("metricQueries", [])
        # CloudWatch's API reference, MetricDataQuery.
        assert sum("metric" in query for query in queries) <= 10
        assert sum("expression" in query for query in queries) <= 10
        assert [query.get("returnData", False) for query in queries].count(True) == min(len(queries), 1)


def test_what_has_to_happen_rings_when_it_does_not_or_nobody_knows() -> None:
    alarm = metric_alarms()["onceward-prod_reconcile-silent"].inputs
    assert (alarm["metricName"], alarm["statistic"]) == ("Invocations", "Sum")
    assert (alarm["comparisonOperator"], alarm["threshold"]) == ("LessThanThreshold", 1)
    assert alarm["treatMissingData"] == "breaching"
    others = {each.inputs["treatMissingData"] for each in metric_alarms().values() if each.inputs != alarm}
    assert others == {"notBreaching"}


def test_a_rule_that_cloudwatch_would_refuse_is_refused_here() -> None:
    assert any_of(["one", "two"]) == 'ALARM("one") OR ALARM("two")'
    most = [f"alarm-{number:03}" for number in range(MOST_CHILDREN)]
    assert len(any_of(most)) < LONGEST_RULE
    with pytest.raises(ValueError, match="100 alarms"):
        any_of([*most, "one-more"])
    with pytest.raises(ValueError, match="10240 characters"):
        any_of("x" * 200 + str(number) for number in range(60))


@pytest.mark.parametrize(("minutes", "seconds"), [(5, 1_200), (60, 3_600), (1_440, 86_400)])
def test_a_tenants_own_stay_mute_for_as_long_as_its_longest_window(minutes: int, seconds: int) -> None:
    # Else each tenant of a long window would tell of the outage, once it is over.
    rules = {"failedRequests": {"threshold": 5, "minutes": minutes}}
    run = run_stage("dev", with_tenants([tenant("bee", alarms=rules), tenant("cow")]))
    muted = {
        each.name: each.inputs["actionsSuppressor"]["extensionPeriod"]
        for each in run.of_type(COMPOSITE)
        if each.name.endswith(".alarm")
    }
    assert muted == {"bee.alarm": seconds, "cow.alarm": 1_200}
