"""Schemas of what operations take and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema

from handlers.domain import work
from handlers.operations.schema import PydanticSchema

if TYPE_CHECKING:
    from handlers.domain.operation import AcceptOperation, ExecuteOperation

Json = dict[str, Any]

_ID: Final[Json] = {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"}
_TIME: Final[Json] = {"type": "string", "format": "date-time"}
_TEXT: Final[Json] = {"type": "string"}
# Members that the platform adds, where it can be said what they are: by operation and name.
_ADDED: Final[dict[tuple[str, str], Json]] = {
    ("leads", "score"): {
        "type": "object",
        "required": ["score", "tier", "factors"],
        "properties": {
            "score": {"type": "integer", "minimum": 0, "maximum": 100},
            "tier": {"enum": ["hot", "warm", "cold"]},
            "factors": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    },
    ("payments", "status"): {"const": "succeeded"},
    ("payments", "chargeId"): _TEXT,
    ("appointments", "status"): {"const": "booked"},
    ("webhooks", "source"): _TEXT,
    ("webhooks", "eventId"): {"type": "string", "description": "The event's own id at its sender."},
}

RECEIPT: Final[Json] = {
    "type": "object",
    "required": [
        *("key", "operation", "status", "firstSeen", "expires", "record", "recordId", "correlationId"),
    ],
    "properties": {
        "key": _TEXT,
        "operation": _TEXT,
        "status": {"enum": ["IN_PROGRESS", "COMPLETED"]},
        "firstSeen": _TIME,
        "expires": _TIME,
        "record": {"type": ["string", "null"], "description": "Where the record is; null without an answer."},
        "recordId": {"type": ["string", "null"]},
        "correlationId": _TEXT,
    },
}

WEBHOOK_ANSWERS: Final[dict[str, Json]] = {
    name: {
        "type": "object",
        "required": ["accepted", "duplicate"],
        "properties": {"accepted": {"const": True}, "duplicate": {"const": duplicate}},
        "additionalProperties": False,
    }
    for name, duplicate in (("WebhookAccepted", False), ("WebhookDuplicate", True))
}


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes of field names."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 (pydantic's signature)
        return False


def body(operation: AcceptOperation | ExecuteOperation) -> tuple[str, dict[str, Json]]:
    """The name of the schema of an operation's body, and all schemas that it needs, by name."""
    schema = operation.schema
    if not isinstance(schema, PydanticSchema):
        return name_of(operation), {name_of(operation): {"description": "Whatever JSON its sender makes."}}
    made = schema.model.model_json_schema(
        schema_generator=_Untitled, ref_template=f"#/components/schemas/{name_of(operation)}{{model}}"
    )
    parts = {f"{name_of(operation)}{name}": part for name, part in made.pop("$defs", {}).items()}
    return name_of(operation), {name_of(operation): made, **parts}


def name_of(operation: AcceptOperation | ExecuteOperation) -> str:
    """`Lead`: the record's name as the name of a schema."""
    return operation.record_name[:1].upper() + operation.record_name[1:]


def first_answer(operation: AcceptOperation | ExecuteOperation, known: Json) -> Json:
    """What a first answer, and so its replays, holds; `known` is the body's schema."""
    members: Json = known.get("properties", {}) | _added(operation)
    follows = work.BY_OPERATION.get(operation.name)
    if follows is not None:
        members["status"] = {"const": follows.waiting}
    answered = {name: members.get(name, {}) for name in operation.answered}
    return _object({"id": _ID, "createdAt": _TIME, **answered})


def record(operation: AcceptOperation | ExecuteOperation) -> Json:
    """What a GET of the record answers: the request as it was sent, and what the platform adds."""
    sent = {operation.record_name: {"$ref": f"#/components/schemas/{name_of(operation)}"}}
    members = {"id": _ID, "createdAt": _TIME, **sent, **_added(operation)}
    follows = work.BY_OPERATION.get(operation.name)
    if follows is not None:
        statuses = dict.fromkeys((follows.waiting, follows.running, follows.done, follows.failed))
        members["status"] = {"enum": list(statuses)}
    return _object(members)


def _added(operation: AcceptOperation | ExecuteOperation) -> Json:
    return {name: each for (of, name), each in _ADDED.items() if of == operation.name}


def _object(members: Json) -> Json:
    return {"type": "object", "required": list(members), "properties": dict(members)}
