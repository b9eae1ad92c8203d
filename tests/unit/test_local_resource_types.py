"""The tables of the resource types say what is true of pulumi-aws, and leave nothing out."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ops.local.resources.base import NOT_APPLIED_ANYWHERE, Provider, json_text, physical_name
from ops.local.resources.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

AWS = [provider for kind, provider in sorted(PROVIDERS.items()) if kind.startswith("aws:")]


def class_of(kind: str) -> type:
    """pulumi-aws's class of the type."""
    _, module, name = kind.split(":")
    package = {"lambda": "lambda_"}.get(module.split("/")[0], module.split("/")[0])
    found: type = getattr(importlib.import_module(f"pulumi_aws.{package}"), name)
    return found


def properties_of(kind: str) -> set[str]:
    """The inputs that pulumi-aws's class of the type takes, as they are called on the wire."""
    return {
        re.sub(r"_(\w)", lambda letter: letter[1].upper(), parameter)
        for parameter in inspect.signature(vars(class_of(kind))["_internal_init"]).parameters
    }


@pytest.mark.parametrize("provider", AWS, ids=lambda provider: provider.kind)
def test_every_type_and_property_that_is_named_here_is_one_of_pulumi_aws(provider: Provider) -> None:
    assert provider.applied | provider.not_applied.keys() <= properties_of(provider.kind)


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda provider: provider.kind)
def test_a_property_is_applied_or_listed_with_its_reason_and_never_both(provider: Provider) -> None:
    assert not provider.applied & provider.not_applied.keys()
    assert {*provider.identity.names, *provider.identity.fixed} <= provider.applied
    assert all(len(reason) > 10 for reason in provider.not_applied.values())


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda provider: provider.kind)
def test_a_type_that_cannot_be_changed_in_place_is_always_replaced(provider: Provider) -> None:
    fixed = {*provider.identity.names, *provider.identity.fixed}
    if type(provider).update is Provider.update:
        assert provider.applied <= fixed | {"statementIdPrefix"}
    else:
        assert provider.applied - fixed


def test_every_type_is_made_changed_and_deleted_on_the_local_aws_by_a_test() -> None:
    tests = Path(__file__).parents[1] / "integration"
    text = "".join(path.read_text() for path in tests.glob("*local*.py"))
    classes = [class_of(provider.kind) for provider in AWS]
    declared = {f"aws.{made.__module__.split('.')[1]}.{made.__name__}(" for made in classes}
    assert {name for name in declared if name not in text} == set()


def test_the_page_of_what_is_not_proved_lists_every_property_that_is_not_applied() -> None:
    page = (Path(__file__).parents[2] / "docs" / "not-proved-locally.md").read_text()
    section = page.partition("## The local platform")[2]
    rows = [
        ("every type", NOT_APPLIED_ANYWHERE),
        *((f"`{p.kind}`", p.not_applied) for p in PROVIDERS.values()),
    ]
    expected = {f"| {kind} | `{name}` | {why} |" for kind, table in rows for name, why in table.items()}
    table = section.partition("| type | property | why |")[2]
    assert {line for line in table.splitlines() if line.startswith("| ") and "`" in line} == expected


def test_the_check_above_can_fail() -> None:
    assert "colour" not in properties_of("aws:sns/topic:Topic")
    assert {"name", "kmsMasterKeyId"} <= properties_of("aws:sns/topic:Topic")


@pytest.mark.parametrize(
    ("inputs", "pattern"),
    [
        ({"name": "given"}, r"given"),
        ({"namePrefix": "pre-"}, r"pre-[0-9a-f]{7}"),
        ({}, r"logical-[0-9a-f]{7}"),
    ],
)
def test_a_name_is_the_one_asked_for_or_as_pulumi_makes_it(inputs: Mapping[str, str], pattern: str) -> None:
    assert re.fullmatch(pattern, physical_name(inputs, "logical"))


@pytest.mark.parametrize(
    ("value", "text"), [("as is", "as is"), (True, "true"), (30, "30"), ({"a": [1]}, '{"a": [1]}')]
)
def test_attributes_are_text(value: object, text: str) -> None:
    assert json_text(value) == text
