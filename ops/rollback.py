"""Pointing a function's `live` alias at a version that was published before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.naming import ALIAS

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


class RollbackError(Exception):
    """There is no version to go to; the message says which there are."""


@dataclass(frozen=True, slots=True)
class Move:
    """One alias, moved: published version numbers as text."""

    function: str
    before: str
    after: str


def roll_back(client: LambdaClient, function: str, to: int | None) -> Move:
    """Point `live` at version `to`, or at the newest one before the version that it points at now.

    Args:
        function: the function's physical name.
        to: a published version's number.

    Raises:
        RollbackError: there is no such function, alias or version, or `live` is there already.
    """
    try:
        alias = client.get_alias(FunctionName=function, Name=ALIAS)
    except client.exceptions.ResourceNotFoundException:
        raise RollbackError(f"{function} has no alias {ALIAS}: is the stage deployed?") from None
    before = alias["FunctionVersion"]
    after = _choose(versions(client, function), before, to)
    changes: dict[str, Any] = {"FunctionName": function, "Name": ALIAS, "FunctionVersion": str(after)}
    if alias.get("RoutingConfig"):
        # A weighted version beside it would go on taking its share.
        changes["RoutingConfig"] = {"AdditionalVersionWeights": {}}
    if alias.get("RevisionId"):
        # Refused if a deployment has moved the alias since it was read.
        changes["RevisionId"] = alias["RevisionId"]
    client.update_alias(**changes)
    return Move(function, before, str(after))


def _choose(versions: list[int], before: str, to: int | None) -> int:
    known = ", ".join(map(str, versions)) or "none"
    if to is not None and to not in versions:
        raise RollbackError(f"version {to} is not published; there are: {known}")
    if to is not None and str(to) == before:
        raise RollbackError(f"{ALIAS} points at version {to} already")
    if to is not None:
        return to
    if not before.isdecimal():
        raise RollbackError(f"{ALIAS} points at {before}, which has no version before it; name one: {known}")
    earlier = [version for version in versions if version < int(before)]
    if not earlier:
        raise RollbackError(f"no version before {before} is published; there are: {known}")
    return max(earlier)


def versions(client: LambdaClient, function: str) -> list[int]:
    """The published versions of a function, oldest first."""
    pages = client.get_paginator("list_versions_by_function").paginate(FunctionName=function)
    numbers = [version["Version"] for page in pages for version in page["Versions"]]
    # `$LATEST` is the unpublished code: it can change under an alias, so it is nothing to go back to.
    return sorted(int(number) for number in numbers if number.isdecimal())
