"""DynamoDB's capacity units, request by request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

# A write unit is 1 KB, rounded up ("Read and write capacity", developer guide).
_WRITE_UNIT_BYTES = 1024
_READS: Final = frozenset({"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"})


class Consumed(NamedTuple):
    """Capacity units, of reads and of writes: they have different prices."""

    read: float
    write: float

    def __str__(self) -> str:
        parts = ((self.read, "read"), (self.write, "write"))
        return ", ".join(f"{units:g} {kind}" for units, kind in parts if units)


class Units:
    """Notes the units of every call of a client, as DynamoDB reports them.

    A refused conditional write consumes what a write of the stored item would, and does not report it: it is
    worked out from the item that the refusal brings back.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._noted: list[Consumed] = []
        client.meta.events.register("before-parameter-build.dynamodb", self._ask)
        client.meta.events.register("after-call.dynamodb", self._note)

    def take(self) -> Consumed:
        """The units since the last call."""
        noted, self._noted = self._noted, []
        return Consumed(sum(each.read for each in noted), sum(each.write for each in noted))

    def _ask(self, params: dict[str, Any], model: Any, **_: object) -> None:  # noqa: ANN401 - botocore's own
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _note(self, parsed: dict[str, Any], model: Any, **_: object) -> None:  # noqa: ANN401 - botocore's own
        if "ConsumedCapacity" in parsed:
            units = parsed["ConsumedCapacity"]["CapacityUnits"]
            self._noted.append(Consumed(units, 0) if model.name in _READS else Consumed(0, units))
        elif "Item" in parsed:
            self._noted.append(Consumed(0, -(-item_bytes(parsed["Item"]) // _WRITE_UNIT_BYTES)))


def item_bytes(item: Mapping[str, Any]) -> int:
    """The size of a DynamoDB item, in bytes, by AWS's rules ("Item sizes and formats", developer guide)."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    if kind == "S":
        return len(content.encode())
    if kind == "N":
        # "Approximately (number of significant digits / 2) + 1 byte": at most this.
        return len(content.strip("-0")) // 2 + 2
    if kind in ("BOOL", "NULL"):
        return 1
    # Three bytes for a list or map, and one for each member.
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _value_bytes(part) for name, part in content.items())
    if kind == "L":
        return 3 + sum(1 + _value_bytes(part) for part in content)
    raise ValueError(f"no rule for attribute type {kind}")
