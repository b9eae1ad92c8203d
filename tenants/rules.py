"""Pydantic's findings in the words and places of the file."""

from collections.abc import Sequence
from typing import Final

from pydantic_core import ErrorDetails

from tenants.document import Document, Path, Value
from tenants.keys import KEY_NAME
from tenants.models import DISPLAY_NAME, KMS_KEY_ARN, TENANT_ID
from tenants.subscriptions import EMAIL, HTTPS, SQS_ARN
from tenants.text import STAGE
from tenants.webhooks import HEADER_NAME, SOURCE_ID

# What pydantic calls its own types, in the words of YAML.
_RULES: Final = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "union_tag_not_found": "must have a 'protocol': email, https or sqs",
    "union_tag_invalid": "must have a 'protocol' of email, https or sqs",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "too_long": "must have at most {max_length} entries",
    "string_too_long": "must have at most {max_length} characters",
}
# What each pattern means, for people who do not read patterns.
_PATTERNS: Final = {
    TENANT_ID: "must be 3 to 32 of a-z, 0-9 and '-', first a letter, last not '-'",
    STAGE: "must be 2 to 12 of a-z and 0-9, first a letter",
    KEY_NAME: "must be 1 to 32 of a-z, 0-9 and '-', first a letter, last not '-'",
    DISPLAY_NAME: "must be one line of text, without spaces at its ends",
    KMS_KEY_ARN: "must be the ARN of a KMS key (arn:aws:kms:<region>:<account>:key/<id>)",
    EMAIL: "must be an e-mail address",
    HTTPS: "must be an https:// address",
    SOURCE_ID: "must be 2 to 32 of a-z, 0-9 and '-', first a letter, last not '-'",
    HEADER_NAME: "must be the name of a header (1 to 64 of letters, digits and '-')",
    SQS_ARN: "must be the ARN of a standard queue (arn:aws:sqs:<region>:<account>:<name>)",
}
# A value longer than this is cut in messages: the place is named, the file is at hand.
_SHOWN: Final = 60


def locate(detail: ErrorDetails, document: Document) -> Path:
    """The path in the file for pydantic's `loc`, which has union tags and `[key]` marks in between.

    A step that is not in the data is such a mark, unless it is the field that is missing.
    """
    path: Path = ()
    value: Value = document.data
    for step in detail["loc"]:
        below = _below(value, step)
        if below is not None:
            path = (*path, step)
            value = below[0]
    return (*path, detail["loc"][-1]) if detail["type"] == "missing" else path


def follows(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Whether `detail` only says that nothing valid is left of a list whose entries have faults."""
    loc = detail["loc"]
    return detail["type"] == "too_short" and any(
        len(other["loc"]) > len(loc) and other["loc"][: len(loc)] == loc for other in details
    )


def _below(value: Value, step: int | str) -> tuple[Value] | None:
    """The value one step down, in a tuple of one (it may be None), or None where there is no such step."""
    if isinstance(value, dict) and step in value:
        return (value[str(step)],)
    if isinstance(value, tuple) and isinstance(step, int) and step < len(value):
        return (value[step],)
    return None


def rule_of(detail: ErrorDetails) -> str:
    """The broken rule as half a sentence, with the value where it is a short scalar."""
    kind = detail["type"]
    if kind == "string_pattern_mismatch":
        pattern = detail["ctx"]["pattern"]
        rule = _PATTERNS.get(pattern, f"must match {pattern}")
    else:
        words = _RULES.get(kind)
        rule = _reworded(detail["msg"]) if words is None else words.format(**detail.get("ctx", {}))
    value = detail["input"]
    if kind in {"missing", "extra_forbidden"} or isinstance(value, dict | tuple | list):
        return rule
    return f"{rule} (is {_shown(value)})"


def _reworded(message: str) -> str:
    for old, new in (
        ("Input should be ", "must be "),
        ("should have", "must have"),
        ("Value ", ""),
    ):
        message = message.replace(old, new)
    return message[:1].lower() + message[1:]


def _shown(value: object) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
