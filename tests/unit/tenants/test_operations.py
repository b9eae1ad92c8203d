"""Each rule of the operations' settings: the wrong field is named, with the rule that it breaks."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import pytest

from handlers.domain import addresses as functions_addresses
from infra.timeouts import TIMEOUTS
from tenants import addresses
from tenants.loader import load_all
from tenants.operations import LONGEST_LEASE_SECONDS, SKEW_SECONDS, START_SECONDS
from tests.unit.tenants.files import TENANT, check, directory, operations

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

DAY = 86_400


def test_without_the_section_a_tenant_takes_no_payments(tmp_path: Path) -> None:
    (tenant,) = load_all(directory(tmp_path, acme=TENANT)).tenants
    assert tenant.operations.payments is None
    assert tenant.operations.orders.key_source == "header"
    assert tenant.operations.appointments.key_fields == ("doctorId", "patientId", "startsAt")
    assert tenant.operations.appointments.window_seconds == 10
    assert tenant.operations.webhooks.sources == {}


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        ("payments: {}", "payments.providerUrl", "is required"),
        (
            "payments: {providerUrl: 'http://p.example'}",
            "payments.providerUrl",
            "must be an https:// address",
        ),
        ("payments: {providerUrl: 'https://10.1.2.3'}", "payments.providerUrl", "must not be a private"),
        ("payments: {providerUrl: 'https://p.example/'}", "payments.providerUrl", "no '/' at its end"),
        ("payments: {providerUrl: 'https://p.example?a=b'}", "payments.providerUrl", "must have no query"),
        ("payments: {providerUrl: 'https://p.example/{id}'}", "payments.providerUrl", "no placeholder"),
        (
            "payments: {providerUrl: 'https://p.example', keySource: body}",
            "payments.keySource",
            "not a known",
        ),
        (
            "payments: {providerUrl: 'https://p.example', honoursSeconds: 59}",
            "payments.honoursSeconds",
            "greater than or equal to 60",
        ),
        ("appointments: {keyFields: []}", "appointments.keyFields", "must not be empty"),
        ("appointments: {keyFields: [a, a]}", "appointments.keyFields", "must not repeat itself: a is there"),
        ("appointments: {keyFields: ['a[']}", "appointments.keyFields[0]", "must be JMESPath: "),
        (
            "appointments: {keyFields: [a, b, c, d, e, f]}",
            "appointments.keyFields",
            "must have at most 5 entries",
        ),
        ("appointments: {windowSeconds: 9}", "appointments.windowSeconds", "greater than or equal to 10"),
        (
            "payments: {providerUrl: 'https://p.example', windowSeconds: 59}",
            "payments.windowSeconds",
            "must be at least 60: a duplicate that waits as long as it is told to (Retry-After)",
        ),
        ("appointments: {keyFields: ['to_string(a)']}", "appointments.keyFields[0]", "must be a path"),
        ("orders: {keySource: fields}", "orders.keySource", "must be 'header' or 'header-or-body'"),
        ("orders: {destination: {method: PUT}}", "orders.destination.url", "is required"),
        ("webhooks: {sources: {a: {preset: stripe}}}", "webhooks.sources.a", "must be 2 to 32 of a-z, 0-9"),
        ("webhooks: {sources: {Git: {preset: github}}}", "webhooks.sources.Git", "must be 2 to 32 of a-z"),
        ("webhooks: {sources: {a#b: {preset: github}}}", "webhooks.sources.a#b", "must be 2 to 32 of a-z"),
        *(
            (f"{section}: {{{needed}bodyLimitBytes: 2049}}", f"{section}.bodyLimitBytes", "the tier's 2048")
            for section, needed in [
                *(("orders", ""), ("appointments", "")),
                ("payments", "providerUrl: 'https://p.example', "),
            ]
        ),
        (
            "webhooks: {sources: {forms: {preset: stripe, bodyLimitBytes: 2049}}}",
            "webhooks.sources.forms.bodyLimitBytes",
            "must be at most the tier's 2048",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_its_rule(tmp_path: Path, text: str, field: str, rule: str) -> None:
    check(tmp_path, text, field, rule)


def test_a_window_that_the_provider_forgets_is_refused_with_the_arithmetic(tmp_path: Path) -> None:
    longest = DAY - START_SECONDS - LONGEST_LEASE_SECONDS - SKEW_SECONDS
    fits = f"payments: {{providerUrl: 'https://p.example', lookup: false, windowSeconds: {longest}}}"
    assert operations(tmp_path, fits).payments
    check(
        tmp_path,
        fits.replace(str(longest), str(longest + 1)),
        "payments",
        "must be at most 86332 without lookup: honoursSeconds 86400 - start 30 - lease 33 - skew 5 "
        f"(is {longest + 1})",
    )
    # The default window is as long as most providers remember, so it does not fit without a look-up.
    check(tmp_path, "payments: {providerUrl: 'https://p.example', lookup: false}", "payments", "(is 86400)")


def test_a_provider_that_remembers_too_little_is_told_what_would_do(tmp_path: Path) -> None:
    text = (
        "payments: {providerUrl: 'https://p.example', lookup: false, honoursSeconds: 127, windowSeconds: 60}"
    )
    rule = "honoursSeconds must be at least 128 without lookup: the shortest windowSeconds 60 + start 30"
    check(tmp_path, text, "payments", f"{rule} + lease 33 + skew 5 (is 127)")
    assert operations(tmp_path, text.replace("127", "128")).payments


def test_a_payment_s_window_outlasts_its_lease_and_what_a_retry_takes(tmp_path: Path) -> None:
    text = "payments: {providerUrl: 'https://p.example', windowSeconds: 60}"
    settings = operations(tmp_path, text).payments
    assert settings is not None
    assert settings.window_seconds == 60 > LONGEST_LEASE_SECONDS


def test_with_a_look_up_any_window_fits(tmp_path: Path) -> None:
    text = "payments: {providerUrl: 'https://p.example', honoursSeconds: 60, windowSeconds: 2592000}"
    assert operations(tmp_path, text).payments


def test_the_longest_lease_is_what_the_function_can_hold() -> None:
    assert TIMEOUTS["execute"] + SKEW_SECONDS == LONGEST_LEASE_SECONDS


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        *(("http://a.example/{id}", "must be an https:// address"), ("a.example/{id}", "https:// address")),
        ("https://[2606:4700::1]84443/{id}", "must be an https:// address"),
        *(
            ("https://a.example/things", "must contain {id}"),
            ("https://{id}.example/", "only after the host"),
        ),
        *(
            ("https://a.example/{id}/{name}", "no placeholder but {id}"),
            ("https://a.example/{id}#x", "fragment"),
        ),
        *(
            ("https://user:word@a.example/{id}", "must not hold a user"),
            ("https://a.example:99999/{id}", "https"),
        ),
        *(
            (f"https://{host}/{{id}}", "public host name")
            for host in [
                *(
                    "localhost",
                    "crm",
                    "a.localhost",
                    "printer.local",
                    "metadata.google.internal",
                    "A.INTERNAL",
                ),
                *("router.home.arpa", "nas.lan", "db.corp", "x.localdomain", "hidden.onion", "a.invalid"),
            ]
        ),
        *(
            (f"https://{host}/{{id}}", "its host must be a public DNS name in ASCII")
            for host in [
                *(
                    "a..example",
                    ".a.example",
                    "a.example.",
                    "-a.example",
                    "a-.example",
                    f"{'a' * 64}.example",
                ),
                *("a_b.example", "a%2eexample", ".".join(["a" * 60] * 5), "127.1", "1.2.3.4.5"),
            ]
        ),
        *(("https://a.example:0/{id}", "port of 1 to 65535"), ("https://a.example:/{id}", "port of 1 to")),
        *(
            (f"https://a.example{path}", "'.' or '..' in its path")
            for path in [
                *("/../{id}", "/a/../../{id}", "/./{id}", "/{id}/..", "/{id}/.", "/%2e%2e/{id}"),
                *("/.%2E/{id}", "/%252e%252e/{id}", "/a%2f..%2f{id}", "/..%5c{id}", "/..;x=1/{id}"),
            ]
        ),
        *(
            (f"https://{host}/{{id}}", "its host must be a public DNS name in ASCII")
            for host in ["2130706433", "0x7f.1", "bücher.example"]
        ),
        *(
            (f"https://{host}/{{id}}", "must not be a private, loopback or link-local address")
            for host in [
                *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
                *("[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "224.0.0.1", "100.64.0.1"),
                *(
                    "[64:ff9b::a00:1]",
                    "[64:ff9b:1::a00:1]",
                    "[2002:a00:1::]",
                    "[2001:0:4136:e378::1]",
                    "[::]",
                ),
                *("[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[::10.0.0.1]", "240.0.0.1", "192.0.2.1"),
                *("[fe80::1%25eth0]", "[v1.example]"),
            ]
        ),
    ],
)
def test_a_destination_is_https_to_the_public_internet(tmp_path: Path, url: str, rule: str) -> None:
    check(tmp_path, f'orders: {{destination: {{url: "{url}"}}}}', "orders.destination.url", rule)


@pytest.mark.parametrize(
    "host",
    ["10.0.0.1", "[64:ff9b::a00:1]", "pay.internal", "pay..example", "pay.example:0", "pay.example/a/.."],
)
def test_a_provider_is_under_the_same_rules(tmp_path: Path, host: str) -> None:
    check(tmp_path, f'payments: {{providerUrl: "https://{host}"}}', "payments.providerUrl", "must")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://a.example/v1.2/{id}",
            "https://a.example/.well-known/{id}",
            "https://a.example/{id}?a=/../",
        ),
        *("https://a.example/..a/{id}", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/{id}"),
        *(
            "https://xn--bcher-kva.example/{id}",
            "https://local.example/{id}",
            "https://a-b.c1.example:65535/{id}",
        ),
    ],
)
def test_what_only_looks_private_or_dotted_is_taken(tmp_path: Path, url: str) -> None:
    read = operations(tmp_path, f'orders: {{destination: {{url: "{url}"}}}}').orders.destination
    assert read is not None
    assert read.url == url


def test_files_and_functions_have_one_rule_of_what_is_public() -> None:
    def rule(module: ModuleType) -> str:
        return inspect.getsource(module).replace(inspect.getsource(module).split('"""')[1], "", 1)

    assert rule(addresses) == rule(functions_addresses)


def test_a_post_needs_no_placeholder_and_a_public_address_is_taken(tmp_path: Path) -> None:
    text = 'orders: {destination: {url: "https://8.8.8.8:8443/orders?a=b", method: POST}}'
    read = operations(tmp_path, text).orders.destination
    assert read
    assert re.fullmatch("POST", read.method)
