"""Each rule of a tenant file: the wrong line, and the field and rule that the fault names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenants.loader import load_all
from tests.unit.tenants.files import TENANT, TIERS, directory, faults_of, spelt

if TYPE_CHECKING:
    from pathlib import Path

SQS = "arn:aws:sqs:eu-west-1:123456789012:events"


def replaced(line: str) -> str:
    """The base file with `line` in place of the base's line of that field, or after the last."""
    field = line.split(":", maxsplit=1)[0]
    kept = [old for old in TENANT.splitlines() if not old.startswith(f"{field}:")]
    return "\n".join([*kept, line]) + "\n"


@pytest.mark.parametrize(
    ("line", "field", "rule"),
    [
        ("id: Acme", "id", "must be 3 to 32 of a-z, 0-9 and '-'"),
        ("id: other", "id", "must be the file's name without .yaml ('acme')"),
        ("id: 7", "id", "must be text (is 7)"),
        ("name: ''", "name", "must be one line of text"),
        ('name: "two\\nlines"', "name", "must be one line of text"),
        (f"name: {'x' * 101}", "name", "must have at most 100 characters"),
        ("tier: gold", "tier", "must be a tier of tiers.yaml (small)"),
        ("status: paused", "status", "must be 'active' or 'suspended' (is 'paused')"),
        ("stages: []", "stages", "must not be empty"),
        ("stages: local", "stages", "must be a list (is 'local')"),
        ("stages: [local, Prod]", "stages[1]", "must be 2 to 12 of a-z and 0-9"),
        ("stages: [local, my-stage]", "stages[1]", "must be 2 to 12 of a-z and 0-9"),
        ("stages: [local, local]", "stages", "must not repeat itself: local is there twice"),
        ("keys: []", "keys", "must not be empty"),
        ("keys: [one, two, three]", "keys", "must have at most 2 entries"),
        ("keys: [server, server]", "keys", "must not repeat itself: server is there twice"),
        ("keys: [Server]", "keys[0]", "must be 1 to 32 of a-z, 0-9 and '-'"),
        ("keys: [{operations: ['*']}]", "keys[0].name", "is required"),
        ("keys: [{name: a, secret: b}]", "keys[0].secret", "is not a known field"),
        ("keys: [{name: a, operations: []}]", "keys[0].operations", "must not be empty"),
        ("keys: [{name: a, operations: [leads:delete]}]", "keys[0].operations[0]", "must be '*', 'leads:cre"),
        (
            "keys: [{name: a, operations: ['*', leads:read]}]",
            "keys[0].operations",
            "already grants everything",
        ),
        ("keys: [{name: a, origins: ['https://a.example']}]", "keys[0]", "a key with origins is public"),
        ("encryption: none", "encryption", "must be 'platform' (is 'none')"),
        ("encryption: {kmsKeyArn: alias/mine}", "encryption.kmsKeyArn", "must be the ARN of a KMS key"),
        ("encryption: {}", "encryption.kmsKeyArn", "is required"),
        ("dashboard: both", "dashboard", "must be 'dedicated' or 'shared'"),
        ("synthetic: 'yes'", "synthetic", "must be true or false (is 'yes')"),
        ("synthetic: 1", "synthetic", "must be true or false (is 1)"),
        (
            "operations: {leads: {windowSeconds: 9}}",
            "operations.leads.windowSeconds",
            "greater than or equal to 10",
        ),
        (
            "operations: {leads: {windowSeconds: 2592001}}",
            "operations.leads.windowSeconds",
            "equal to 2592000",
        ),
        (
            "operations: {leads: {windowSeconds: '60'}}",
            "operations.leads.windowSeconds",
            "must be a whole number",
        ),
        (
            "operations: {leads: {windowSeconds: 60.5}}",
            "operations.leads.windowSeconds",
            "must be a whole number",
        ),
        (
            "operations: {leads: {window_seconds: 60}}",
            "operations.leads.window_seconds",
            "is not a known field",
        ),
        (
            "operations: {leads: {keySource: body}}",
            "operations.leads.keySource",
            "must be 'header-or-body' or",
        ),
        ("operations: {leads: {bodyLimitBytes: 1023}}", "operations.leads.bodyLimitBytes", "equal to 1024"),
        (
            "operations: {leads: {bodyLimitBytes: 131073}}",
            "operations.leads.bodyLimitBytes",
            "equal to 131072",
        ),
        (
            "operations: {leads: {bodyLimitBytes: 2049}}",
            "operations.leads.bodyLimitBytes",
            "at most the tier's 2048",
        ),
        ("operations: {refunds: {}}", "operations.refunds", "is not a known field"),
        (
            "alarms: {failedRequests: {threshold: 0, minutes: 5}}",
            "alarms.failedRequests.threshold",
            "equal to 1",
        ),
        ("alarms: {failedRequests: {threshold: 1}}", "alarms.failedRequests.minutes", "is required"),
        (
            "alarms: {failedDeliveries: {threshold: 1, minutes: 1441}}",
            "alarms.failedDeliveries.minutes",
            "to 1440",
        ),
        ("alarms: []", "alarms", "must be a mapping"),
    ],
)
def test_a_wrong_field_is_named_with_its_line_and_rule(
    tmp_path: Path, line: str, field: str, rule: str
) -> None:
    text = replaced(line)
    (fault,) = faults_of(directory(tmp_path, acme=text))
    assert fault.field == field
    assert rule in fault.rule
    assert text.splitlines()[fault.line - 1] == line


@pytest.mark.parametrize("field", ["id", "name", "tier", "stages", "keys"])
def test_a_missing_field_is_required(tmp_path: Path, field: str) -> None:
    text = "".join(f"{line}\n" for line in TENANT.splitlines() if not line.startswith(f"{field}:"))
    assert spelt(directory(tmp_path, acme=text)) == [f"acme.yaml:1: {field}: is required"]


@pytest.mark.parametrize(
    "origin",
    [
        *("https://a.example/", "https://a.example/form", "https://A.example", "a.example", "*", "null", ""),
        *("http://a.example", "http://10.0.0.1", "https://a.example:443", "http://localhost:80"),
        *("https://a.example:70000", "https://user@a.example", "https://*.example", "ftp://a.example"),
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(tmp_path: Path, origin: str) -> None:
    line = f"keys: [{{name: web, operations: [leads:create], origins: ['{origin}']}}]"
    (fault,) = faults_of(directory(tmp_path, acme=replaced(line)))
    assert fault.field == "keys[0].origins[0]"


@pytest.mark.parametrize(
    "origin", ["https://a.example", "https://a-b.example:8443", "http://localhost:8080", "http://127.0.0.1"]
)
def test_an_origin_as_browsers_send_it_is_taken(tmp_path: Path, origin: str) -> None:
    line = f"keys: [{{name: web, operations: [leads:create], origins: ['{origin}']}}]"
    loaded = load_all(directory(tmp_path, acme=replaced(line)))
    assert loaded.tenants[0].keys[0].origins == (origin,)


def test_names_in_snake_case_are_not_known_even_where_they_are_in_python(tmp_path: Path) -> None:
    (fault, *more) = faults_of(directory(tmp_path, tiers=TIERS.replace("ratePerSecond", "rate_per_second")))
    assert (fault.line, fault.field, fault.rule) == (1, "small.ratePerSecond", "is required")
    assert [(other.line, other.field) for other in more] == [(2, "small.rate_per_second")]


@pytest.mark.parametrize(
    ("tiers", "fault"),
    [
        (TIERS.replace("small", "Small"), "tiers.yaml:1: Small: must be 1 to 32 of a-z"),
        (TIERS.replace(": 10\n", ": .inf\n"), "tiers.yaml:2: small.ratePerSecond: must be a finite number"),
        (TIERS.replace(": 20\n", ": 0\n"), "tiers.yaml:3: small.burst: must be greater than or equal to 1"),
        (TIERS.replace(": 20\n", ": 2.5\n"), "tiers.yaml:3: small.burst: must be a whole number"),
        (
            TIERS.replace(": 1000\n", ": 3000000000\n"),
            "tiers.yaml:4: small.quotaPerMonth: must be less than or equal",
        ),
        (
            TIERS.replace("2048", "131073"),
            "tiers.yaml:5: small.bodyLimitBytes: must be less than or equal to 131072",
        ),
        ("- small\n", "tiers.yaml:1: file: must be a mapping"),
    ],
)
def test_a_wrong_tier_is_named_with_its_line_and_rule(tmp_path: Path, tiers: str, fault: str) -> None:
    (found,) = spelt(directory(tmp_path, tiers=tiers))
    assert found.startswith(fault)
