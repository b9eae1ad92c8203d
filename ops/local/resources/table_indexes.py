"""The global secondary indexes of DynamoDB tables."""

from typing import Any

from ops.local.resources.base import Inputs, without_missing


def attributes(inputs: Inputs) -> list[Any]:
    """The attributes that the table and its indexes are keyed by."""
    return [{"AttributeName": a["name"], "AttributeType": a["type"]} for a in inputs["attributes"]]


def indexes(inputs: Inputs) -> list[Any]:
    """Every index as CreateTable takes it. Raises ValueError for a property that is not known here."""
    return [_index(asked) for asked in inputs.get("globalSecondaryIndexes", [])]


def changes(old: Inputs, new: Inputs) -> list[Any]:
    """What UpdateTable has to be asked for, one a call; an index that changed goes and is made anew."""
    before = {index["IndexName"]: index for index in indexes(old)}
    after = {index["IndexName"]: index for index in indexes(new)}
    gone = [name for name, index in before.items() if after.get(name) != index]
    made = [index for name, index in after.items() if before.get(name) != index]
    return [*({"Delete": {"IndexName": name}} for name in gone), *({"Create": index} for index in made)]


def _index(asked: Inputs) -> dict[str, Any]:
    strange = sorted(asked.keys() - {"name", "keySchemas", "projectionType", "nonKeyAttributes"})
    if strange:
        raise ValueError(f"globalSecondaryIndexes: not applied by the local platform: {', '.join(strange)}")
    return {
        "IndexName": asked["name"],
        "KeySchema": [
            {"AttributeName": key["attributeName"], "KeyType": key["keyType"]} for key in asked["keySchemas"]
        ],
        "Projection": without_missing(
            ProjectionType=asked["projectionType"], NonKeyAttributes=asked.get("nonKeyAttributes")
        ),
    }
