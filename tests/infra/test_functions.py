"""The functions: what each is given, and that it can be rolled back."""

import os
from collections.abc import Callable
from typing import Any, get_args

import pytest

from handlers import settings as handlers_settings
from infra.routes import ROUTES
from infra.settings import FunctionName
from tests.infra.engine import Registered
from tests.infra.stages import previewed, run_stage, updated, with_tenants

FUNCTION = "aws:lambda/function:Function"
NAMES: tuple[FunctionName, ...] = get_args(FunctionName)
QUEUES = "https://sqs.eu-west-1.amazonaws.com/123456789012/onceward-dev_"
SECRETS = {"SECRETS_PREFIX": "/onceward/dev/"}
WORK_QUEUES = {"ORDERS_QUEUE_URL": f"{QUEUES}orders", "WEBHOOKS_QUEUE_URL": f"{QUEUES}webhooks"}
TOPICS = {"TOPIC_ARN_PREFIX": "arn:aws:sns:eu-west-1:123456789012:onceward-dev-"}
RECEIPTS, RECORDS, TENANTS = (
    {f"{name.upper()}_TABLE": f"onceward-dev_{name}"} for name in ("receipts", "records", "tenants")
)
COMMON = {
    "STAGE": "dev",
    "POWERTOOLS_LOG_LEVEL": "INFO",
    "POWERTOOLS_METRICS_NAMESPACE": "Onceward",
}


def function(name: str, stage: str = "dev") -> Registered:
    return updated(stage).one(FUNCTION, f"{name}-function")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("authorizer", TENANTS),
        ("ingest", RECEIPTS | {"CORS_ORIGINS": "*"}),
        ("execute", RECEIPTS | SECRETS | {"SLOTS_TABLE": "onceward-dev_slots", "CORS_ORIGINS": "*"}),
        ("webhooks", RECEIPTS | TENANTS | SECRETS),
        ("read", RECEIPTS | RECORDS | {"CORS_ORIGINS": "*"}),
        (
            "dispatch",
            {
                **(RECORDS | TOPICS | WORK_QUEUES),
                "RETRY_QUEUE_URL": f"{QUEUES}dispatch-retry",
                "STREAM_PARTIAL_FAILURES": "honoured",
            },
        ),
        ("deliver", RECORDS | TENANTS | SECRETS | {"QUEUE_URL": f"{QUEUES}webhooks", "MAX_RECEIVES": "12"}),
        (
            "fulfil",
            {
                **(RECORDS | TENANTS | SECRETS),
                "QUEUE_URL": f"{QUEUES}orders",
                "MAX_RECEIVES": "12",
                "EVENT_BUS_NAME": "onceward-dev_orders",
            },
        ),
        ("notify", TOPICS),
        ("reconcile", RECORDS | WORK_QUEUES),
    ],
)
def test_a_function_gets_the_environment_that_it_reads(name: str, own: dict[str, str]) -> None:
    variables = function(name).inputs["environment"]["variables"]
    assert variables == COMMON | {"POWERTOOLS_SERVICE_NAME": name} | own


READERS: dict[str, Callable[[], Any]] = {
    "authorizer": handlers_settings.AuthorizerSettings.from_environment,
    "ingest": handlers_settings.IngestSettings.from_environment,
    "execute": handlers_settings.ExecuteSettings.from_environment,
    "webhooks": handlers_settings.WebhooksSettings.from_environment,
    "read": handlers_settings.ReadSettings.from_environment,
    "dispatch": handlers_settings.DispatchSettings.from_environment,
    "deliver": handlers_settings.WorkerSettings.from_environment,
    "fulfil": handlers_settings.WorkerSettings.from_environment,
    "notify": handlers_settings.NotifySettings.from_environment,
    "reconcile": handlers_settings.ReconcileSettings.from_environment,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_can_read_the_environment_that_it_gets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in tuple(os.environ):
        monkeypatch.delenv(variable)
    for variable, value in function(name).inputs["environment"]["variables"].items():
        monkeypatch.setenv(variable, value)
    assert READERS[name]().stage == "dev"


def test_the_stand_in_stands_in_for_whatever_is_outside_aws() -> None:
    run = run_stage("local", with_tenants([]), standInUrl="http://127.0.0.1:9999")
    given = {
        name: run.one(FUNCTION, f"{name}-function").inputs["environment"]["variables"].get("STAND_IN_URL")
        for name in NAMES
    }
    told = {"execute", "deliver", "fulfil"}
    assert given == {name: "http://127.0.0.1:9999" if name in told else None for name in NAMES}


def test_dispatch_is_told_that_the_local_stream_ignores_partial_failures() -> None:
    variables = function("dispatch", "local").inputs["environment"]["variables"]
    assert variables["STREAM_PARTIAL_FAILURES"] == "ignored"


@pytest.mark.parametrize("name", NAMES)
def test_a_function_runs_its_handler_on_arm_with_tracing_under_its_own_role(name: str) -> None:
    inputs = function(name).inputs
    assert inputs["handler"] == f"handlers.{name}.handler"
    assert inputs["runtime"] == "python3.13"
    assert inputs["architectures"] == ["arm64"]
    assert inputs["tracingConfig"] == {"mode": "Active"}
    assert inputs["role"] == f"arn:aws:iam::123456789012:role/onceward-dev_{name}"


@pytest.mark.parametrize("name", NAMES)
def test_every_update_publishes_a_version_and_the_alias_points_at_it(name: str) -> None:
    assert function(name).inputs["publish"] is True
    alias = updated("dev").one("aws:lambda/alias:Alias", f"{name}-live").inputs
    assert alias == {"functionName": f"onceward-dev_{name}", "functionVersion": "7", "name": "live"}


@pytest.mark.parametrize("name", NAMES)
def test_rights_and_log_group_are_there_before_the_function(name: str) -> None:
    run = updated("dev")
    logs = run.one("aws:cloudwatch/logGroup:LogGroup", f"{name}-logs")
    policy = run.one("aws:iam/rolePolicy:RolePolicy", f"{name}-policy")
    assert {logs.urn, policy.urn} <= function(name).dependencies
    assert logs.inputs["name"] == f"/aws/lambda/onceward-dev_{name}"


@pytest.mark.parametrize(("stage", "days"), [("local", 1), ("dev", 7), ("prod", 90)])
def test_every_log_is_encrypted_and_forgotten_in_the_stages_time(stage: str, days: int) -> None:
    for each in updated(stage).of_type("aws:cloudwatch/logGroup:LogGroup"):
        assert each.inputs["retentionInDays"] == days
        assert each.inputs["kmsKeyId"].endswith(":key/k1")


def test_concurrency_is_reserved_only_where_the_stage_says_so() -> None:
    run = run_stage("prod", with_tenants([]), reservedConcurrency={"ingest": 200})
    assert run.one(FUNCTION, "ingest-function").inputs["reservedConcurrentExecutions"] == 200
    assert "reservedConcurrentExecutions" not in run.one(FUNCTION, "read-function").inputs
    assert "reservedConcurrentExecutions" not in previewed("prod").one(FUNCTION, "ingest-function").inputs


def test_api_functions_end_before_the_gateway_gives_up() -> None:
    for name in {"authorizer", *(route.function for route in ROUTES)}:
        assert function(name).inputs["timeout"] < 29  # API Gateway's own limit, seconds
