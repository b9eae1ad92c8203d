"""Property values as they travel between a Pulumi program and its engine, and as plain Python.

Plain values are JSON: None, bool, int, float, str, list, dict. Two kinds of values are marked:
- a part that a preview cannot know yet is the string UNKNOWN;
- an archive or asset (a Lambda bundle) is a dict with the single key ARCHIVE, see `ops.local.archives`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf import struct_pb2

from ops.local.archives import archive, asset

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""An output not known in a preview; fixed by Pulumi's wire protocol (pulumi.runtime.rpc.UNKNOWN)."""

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 (a marker of the wire protocol, not a secret)
_ASSET = "c44067f5952c0a294b673a41bacd8c17"
_ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7"
# The four are fixed by Pulumi's wire protocol, see pulumi/runtime/rpc.py.

_LARGEST_EXACT = 2**53
"""A protobuf number is a double; whole ones up to here came from integers and are given back as such."""


class Plain:
    """The properties of one message: their plain values, and the names of those that hold a secret."""

    def __init__(self, properties: struct_pb2.Struct, directory: Path) -> None:
        self._directory = directory
        self._secret = False
        self.values: dict[str, Any] = {}
        self.secret_names: set[str] = set()
        for name, value in properties.fields.items():
            self._secret = False
            plain = self._value(value)
            if plain is not None:  # an absent property and a null one are the same to Pulumi
                self.values[name] = plain
            if self._secret:
                self.secret_names.add(name)

    def _value(self, value: struct_pb2.Value) -> Any:  # noqa: ANN401 (any JSON value)
        kind = value.WhichOneof("kind")
        if kind == "number_value":
            return _number(value.number_value)
        if kind == "list_value":
            return [self._value(item) for item in value.list_value.values]
        if kind == "struct_value":
            return self._struct(value.struct_value)
        return None if kind == "null_value" else getattr(value, str(kind))

    def _struct(self, struct: struct_pb2.Struct) -> Any:  # noqa: ANN401 (any JSON value)
        signature = struct.fields[_SIGNATURE].string_value if _SIGNATURE in struct.fields else None
        if signature is None:
            members = {name: self._value(value) for name, value in struct.fields.items()}
            return {name: value for name, value in members.items() if value is not None}
        if signature == _SECRET:
            self._secret = True
            return self._value(struct.fields["value"])
        content = {n: self._value(v) for n, v in struct.fields.items() if n != _SIGNATURE}
        if signature == _ARCHIVE:
            return archive(content, self._directory)
        if signature == _ASSET:
            return asset(content, self._directory)
        raise ValueError(f"a value of an unknown kind (signature {signature})")


def _number(number: float) -> int | float:
    return int(number) if number.is_integer() and abs(number) <= _LARGEST_EXACT else number


def to_struct(values: Mapping[str, Any], secret_names: Iterable[str] = ()) -> struct_pb2.Struct:
    """Plain values as a message; the named properties are marked as secrets."""
    secrets = set(secret_names)
    struct = struct_pb2.Struct()
    struct.update(
        {
            n: {_SIGNATURE: _SECRET, "value": v} if n in secrets else v
            for n, v in values.items()
            if v is not None
        }
    )
    return struct


def has_unknown(value: Any) -> bool:  # noqa: ANN401 (any JSON value)
    """Whether any part of the value is not known yet."""
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return bool(value == UNKNOWN)
