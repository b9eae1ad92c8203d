"""A stage's settings: defaults, and faults that name the key and the rule."""

import json
from typing import Any

import pytest

from infra.settings import Settings, SettingsError, parse
from tests.infra.stages import STAGES, settings_of


def parsed(stage: str = "prod", **values: Any) -> Settings:
    return parse({key: json.dumps(value) for key, value in values.items()}, stage)


def test_a_stage_that_says_nothing_is_the_careful_one() -> None:
    settings = parsed()
    assert settings.protect_data
    assert settings.require_tls
    assert not settings.audit
    assert settings.stream_partial_failures
    assert settings.bundle_platform == "aarch64"


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_of_the_repository_can_be_read(stage: str) -> None:
    assert settings_of(stage).stage == stage


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("logRetentionDays", 8, "must be one of 1, 3, 5, 7, 14"),
        ("logRetentionDays", "a week", "valid integer"),
        ("authorizerCacheSeconds", 3601, "less than or equal to 3600"),
        ("authorizerCacheSeconds", -1, "greater than or equal to 0"),
        ("corsOrigins", [], "at least 1 item"),
        ("corsOrigins", ["*", "https://a.example.com"], "'\\*' is every origin already"),
        ("corsOrigins", ["https://a.example.com/path"], "must be a web origin"),
        ("corsOrigins", ["http://a.example.com"], "must be https"),
        ("corsOrigins", ["https://a.example.com:443"], "must leave out the default port"),
        ("corsOrigins", ["https://a.example.com:70000"], "must have a port of at most 65535"),
        ("corsOrigins", "https://a.example.com", "valid tuple"),
        ("alarmEmail", "nobody", "match pattern"),
        ("reservedConcurrency", {"dispatcher": 5}, "authorizer"),
        ("workerConcurrency", {"deliver": 1}, "greater than or equal to 2"),
        ("workerConcurrency", {"dispatch": 5}, "Extra inputs are not permitted"),
        ("workReceives", 1, "greater than or equal to 2"),
        ("webhookRatePerSecond", 0, "greater than or equal to 1"),
        ("webhookBurst", 5001, "less than or equal to 5000"),
        ("deployment", "blue-green", "'all-at-once' or 'canary'"),
        ("standInUrl", "http://example.com:1", "match pattern"),
        ("reservedConcurrency", {"ingest": 0}, "greater than or equal to 1"),
        ("customDomain", {"name": "api.example.com"}, "Field required"),
        ("customDomain", {"name": "API", "certificateArn": "arn"}, "match pattern"),
        ("bundlePlatform", "x86", "aarch64"),
        ("logLevel", "TRACE", "DEBUG"),
        ("audit", "perhaps", "valid boolean"),
        ("redeploy", -1, "greater than or equal to 0"),
        ("protectdata", False, "Extra inputs are not permitted"),
        ("tenantsDirectory", "", "at least 1 character"),
    ],
)
def test_a_faulty_setting_is_refused_by_key_and_rule(key: str, value: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=rf"Pulumi\.prod\.yaml:\n.*onceward:{key}[^\n]*: .*{message}"):
        parsed(**{key: value})


def test_every_fault_is_listed_at_once() -> None:
    with pytest.raises(SettingsError) as raised:
        parsed(logRetentionDays=8, logLevel="TRACE", protectdata=True)
    for key in ("logRetentionDays", "logLevel", "protectdata"):
        assert f"onceward:{key}: " in str(raised.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("requireTls", False), ("bundlePlatform", "native"), ("streamPartialFailures", False)),
        ("standInUrl", "http://127.0.0.1:9999"),
    ],
)
def test_what_the_local_aws_lacks_is_a_setting_of_local_only(key: str, value: Any) -> None:
    parsed("local", **{key: value})
    for stage in ("dev", "prod"):
        with pytest.raises(SettingsError, match=rf"onceward:{key}: .*is for the stage 'local' only"):
            parsed(stage, **{key: value})


def test_a_canary_needs_what_the_local_aws_has_not() -> None:
    assert parsed("prod", deployment="canary").deployment == "canary"
    with pytest.raises(SettingsError, match="deployment: canary: the local AWS has no CodeDeploy"):
        parsed("local", deployment="canary")


@pytest.mark.parametrize(
    ("function", "reserved"), [("fulfil", 10), ("deliver", 4), ("dispatch", 2)], ids=lambda value: str(value)
)
def test_a_queue_may_not_use_up_its_functions_reserved_concurrency(function: str, reserved: int) -> None:
    with pytest.raises(SettingsError, match=rf"reservedConcurrency\.{function}: must be above \d+, the most"):
        parsed(reservedConcurrency={function: reserved})


def test_a_queue_that_leaves_some_of_it_is_taken() -> None:
    assert parsed(reservedConcurrency={"fulfil": 11, "dispatch": 3}).queue_concurrency["fulfil"] == 10
    settings = parsed(reservedConcurrency={"fulfil": 5}, workerConcurrency={"fulfil": 4})
    assert settings.queue_concurrency == {"fulfil": 4, "deliver": 10, "dispatch": 2}


def test_the_stage_itself_is_not_a_setting() -> None:
    with pytest.raises(SettingsError, match="onceward:stage: the stage is the stack's name"):
        parse({"stage": "dev"}, "prod")
