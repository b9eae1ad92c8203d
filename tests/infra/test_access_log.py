"""The metrics of the access log: what the gateway refuses, by stage and by tenant."""

import re
from string import ascii_lowercase

import pytest

from handlers.domain.metric_catalogue import ACCESS_LOG, API
from infra.access_log import MAX_TENANTS_OF_A_FILTER, MetricFilter, TooManyTenants, line, metric_filters
from infra.naming import Names
from tests.infra.stages import run_stage, tenant, updated, with_tenants

FILTER = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
NAMES = Names("dev")


def matches(pattern: str, logged: dict[str, str]) -> bool:
    """What CloudWatch makes of patterns like ours: comparisons with `*` at an end, && and ||."""

    def compared(found: re.Match[str]) -> str:
        member, operator, value = found.groups()
        wanted = re.escape(value).replace(r"\*", ".*")
        same = re.fullmatch(wanted, logged[member]) is not None
        return str(same if operator == "=" else not same)

    assert (pattern[0], pattern[-1]) == ("{", "}")
    said = re.sub(r'\$\.(\w+) (!?=) "([^"]*)"', compared, pattern[1:-1])
    said = said.replace("&&", "and").replace("||", "or").strip()
    assert re.fullmatch(r"(True|False|and|or|[() ])+", said), said
    return bool(eval(said))


def counted(filters: tuple[MetricFilter, ...], **members: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Metric, value and dimensions that a line makes."""
    logged = dict.fromkeys(line(NAMES), "-") | {"service": "onceward-dev_api"} | members
    return [
        (each.metric, each.value, tuple(each.dimensions)) for each in filters if matches(each.pattern, logged)
    ]


OF_ALL = ("Service",)
OF_TENANT = ("Service", "TenantId")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"status": "201", "tenant": "acme"}, [("Throttled", "0", OF_TENANT)]),
        (
            {"status": "429", "tenant": "acme", "gatewayError": "THROTTLED"},
            [("Throttled", "1", OF_ALL), ("Throttled", "1", OF_TENANT)],
        ),
        # A webhook's route has a rate, and nobody knows yet whose it is.
        ({"status": "429", "gatewayError": "THROTTLED"}, [("Throttled", "1", OF_ALL)]),
        ({"status": "401", "gatewayError": "UNAUTHORIZED"}, [("Unauthorized", "1", OF_ALL)]),
        ({"status": "403", "gatewayError": "ACCESS_DENIED"}, [("Unauthorized", "1", OF_ALL)]),
        # A function's own: a key that may not do this, and a webhook without proof.
        ({"status": "403", "tenant": "acme"}, [("Throttled", "0", OF_TENANT)]),
        ({"status": "401"}, []),
        ({"status": "404", "gatewayError": "MISSING_AUTHENTICATION_TOKEN"}, []),
    ],
)
def test_a_line_counts_once_for_its_stage_and_once_for_its_tenant(
    members: dict[str, str], expected: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    assert counted(metric_filters(["acme"]), **members) == expected


def test_every_metric_of_the_catalogue_is_made_under_its_dimensions_and_no_other_is() -> None:
    made = {(each.metric, tuple(each.dimensions)) for each in metric_filters(["acme"])}
    assert made == {(each.name, dimensions) for each in ACCESS_LOG for dimensions in each.dimensions}


def many(count: int, ending: str = "") -> list[str]:
    return [f"tenant-{number:05d}{ending}" for number in range(count)]


def test_of_more_tenants_than_a_filter_may_tell_apart_each_is_still_counted_once() -> None:
    filters = metric_filters(many(9_000))
    # However many tenants there are; CloudWatch takes a hundred filters a log group.
    assert filters == metric_filters([])
    assert len(filters) <= 100
    for one in ("tenant-00000", "tenant-01237", *(f"acm{letter}" for letter in ascii_lowercase)):
        assert counted(filters, status="200", tenant=one) == [("Throttled", "0", OF_TENANT)]
    zeros = [each for each in filters if each.value == "0"]
    for each in zeros:
        whose = [one for one in many(9_000) if matches(each.pattern, {"status": "200", "tenant": one})]
        assert len(whose) <= MAX_TENANTS_OF_A_FILTER


def test_more_than_can_be_told_apart_are_refused_before_anything_is_made() -> None:
    with pytest.raises(TooManyTenants, match="901 tenants of this stage have ids that end in one of '3dnx'"):
        metric_filters([*many(MAX_TENANTS_OF_A_FILTER, "x"), "acme", "acmed"])
    with pytest.raises(TooManyTenants):
        run_stage("dev", with_tenants([tenant(each) for each in many(MAX_TENANTS_OF_A_FILTER + 1, "x")]))


def test_the_program_makes_them_on_the_access_log() -> None:
    made = updated("dev").of_type(FILTER)
    assert len(made) == len(metric_filters(["acme"]))
    for each in made:
        assert each.inputs["logGroupName"] == NAMES.access_log_group
        told = each.inputs["metricTransformation"]
        assert told["namespace"] == "Onceward"
        # CloudWatch takes no default value beside dimensions, of which there may be three.
        assert "defaultValue" not in told
        assert set(told["dimensions"].values()) <= {f"$.{name}" for name in line(NAMES)}
        assert 1 <= len(told["dimensions"]) <= 3


def test_the_name_of_the_log_is_the_service_of_its_metrics() -> None:
    assert line(NAMES)["service"] == NAMES.platform(API) == "onceward-dev_api"
