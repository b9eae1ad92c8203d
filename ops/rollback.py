"""Pointing a function's `live` alias at a version that was published before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from infra.naming import ALIAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mypy_boto3_codedeploy import CodeDeployClient
    from mypy_boto3_codedeploy.literals import DeploymentStatusType
    from mypy_boto3_lambda import LambdaClient

# CodeDeploy API reference, DeploymentInfo: the statuses that something follows.
_UNDER_WAY: Final[Sequence[DeploymentStatusType]] = ("Created", "Queued", "InProgress", "Baking", "Ready")


class RollbackError(Exception):
    """There is no version to go to, or it is not the time; the message says what there is, or what to do."""


@dataclass(frozen=True, slots=True)
class Move:
    """One alias, moved: published version numbers as text.

    `weights`: the shares (0 to 1) that versions beside `before` had until then, none without a canary.
    """

    function: str
    before: str
    after: str
    weights: Mapping[str, float]


def roll_back(client: LambdaClient, function: str, to: int | None) -> Move:
    """Point `live` at version `to`, or at the one before, and end any weighted split.

    Without `to`: in a canary back is the version that the alias points at (the newer one only has a weight
    beside it: Lambda Developer Guide, "Using weighted aliases"), else the newest below that version.

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
    shares = alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {})
    weights = {version: share for version, share in shares.items() if share}
    after = _choose(versions(client, function), before, weights, to)
    changes: dict[str, Any] = {"FunctionName": function, "Name": ALIAS, "FunctionVersion": str(after)}
    if alias.get("RoutingConfig"):
        # A weighted version beside it would go on taking its share.
        changes["RoutingConfig"] = {"AdditionalVersionWeights": {}}
    if alias.get("RevisionId"):
        # Refused if a deployment has moved the alias since it was read.
        changes["RevisionId"] = alias["RevisionId"]
    client.update_alias(**changes)
    return Move(function, before, str(after), weights)


def refuse_during_deployment(client: CodeDeployClient, application: str, function: str) -> None:
    """Raise RollbackError while CodeDeploy is at the function: it would move the alias on all the same."""
    try:
        found = client.list_deployments(
            applicationName=application, deploymentGroupName=function, includeOnlyStatuses=list(_UNDER_WAY)
        )["deployments"]
    except (
        client.exceptions.ApplicationDoesNotExistException,
        client.exceptions.DeploymentGroupDoesNotExistException,
    ):
        return  # without `deployment: canary` updates move the aliases themselves
    if found:
        raise RollbackError(
            f"CodeDeploy is moving {ALIAS} of {function}, and would go on. Stop it, and {ALIAS} goes back: "
            f"aws deploy stop-deployment --auto-rollback-enabled --deployment-id {found[0]}"
        )


def _choose(versions: list[int], before: str, weights: Mapping[str, float], to: int | None) -> int:
    known = ", ".join(map(str, versions)) or "none"
    if to is not None and to not in versions:
        raise RollbackError(f"version {to} is not published; there are: {known}")
    if to is not None and str(to) == before and not weights:
        raise RollbackError(f"{ALIAS} points at version {to} already")
    if to is not None:
        return to
    if not before.isdecimal():
        raise RollbackError(f"{ALIAS} points at {before}, which has no version before it; name one: {known}")
    if any(version.isdecimal() and int(version) < int(before) for version in weights):
        # No release makes this: somebody has, and which of the two is the good one only they know.
        raise RollbackError(f"{ALIAS} has {before} and, beside it, an older version; name one: {known}")
    if weights:
        return int(before)
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
