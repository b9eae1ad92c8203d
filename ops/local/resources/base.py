"""What every resource type of the local platform is: how to make, change and delete one through boto3."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.state import Entry

Inputs = Mapping[str, Any]
"""Properties as pulumi-aws names them (camelCase), as plain JSON values."""

NOT_APPLIED_ANYWHERE: Mapping[str, str] = {
    "tags": "nothing local reads tags",
    "tagsAll": "nothing local reads tags",
    "region": "one region only, the stage's",
}
"""Properties that no type applies, with the reason."""


@dataclass(frozen=True)
class Made:
    """A resource that is there now: its id, and the properties that are not simply its inputs."""

    id: str
    outputs: Mapping[str, Any]


class Provider:
    """One resource type. Each property it can be given is in `applied` or, with the reason, in `not_applied`:
    any other is refused, so that nothing of the program is dropped in silence.

    The three methods raise botocore's ClientError as it comes; the monitor adds which resource it was.
    """

    kind: ClassVar[str]
    """Pulumi's name of the type."""
    identity: ClassVar[Identity]
    applied: ClassVar[frozenset[str]]
    not_applied: ClassVar[Mapping[str, str]] = {}
    volatile: ClassVar[frozenset[str]] = frozenset()
    """Outputs that a change in place may change: a preview of one does not know them."""

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """Make the resource; `name` is its logical name."""
        raise NotImplementedError

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """What a `create` that broke off may have made, if that would be in the way of the next one.

        It is deleted first. None where a second one does no harm, or replaces the first.
        """
        return None

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """Change the resource that exists. Not called for changes of `identity`."""
        raise NotImplementedError

    def delete(self, aws: Clients, old: Entry) -> None:
        """Delete the resource; one that is gone already is no error."""
        raise NotImplementedError


def physical_name(inputs: Inputs, name: str, key: str = "name", suffix: str = "") -> str:
    """The name on AWS: the one asked for, else the logical name (or the prefix) and 7 random hex digits."""
    if key in inputs:
        return str(inputs[key])
    stem = inputs.get("namePrefix") or f"{name}-"
    return f"{stem}{secrets.token_hex(4)[:7]}{suffix}"


def by_name(inputs: Inputs, key: str = "name") -> Made | None:
    """The leftover of a type whose id is its name; one that was to get a random name is in nobody's way."""
    return Made(inputs[key], {key: inputs[key]}) if key in inputs else None


def without_missing(**members: Any) -> dict[str, Any]:  # noqa: ANN401 (boto3's arguments)
    """The members that are not None: boto3 takes an absent argument, but no None."""
    return {name: value for name, value in members.items() if value is not None}


def json_text(value: Any) -> str:  # noqa: ANN401 (pulumi-aws takes a policy as JSON text or as an object)
    """The value as AWS's attributes hold it: text as it is, anything else as JSON (so True as `true`)."""
    return value if isinstance(value, str) else json.dumps(value)
