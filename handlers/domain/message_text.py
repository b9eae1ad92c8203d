"""JSON text as SNS and SQS take it: which characters, and how much of it."""

from __future__ import annotations

# The contract's limit for an event (DESIGN section 4), below the 256 KiB that SNS takes with its attributes.
MAX_EVENT_BYTES = 240 * 1024


def for_a_message(json_text: str) -> str:
    r"""`json_text` with the two characters escaped that SQS takes in no message (U+FFFE and U+FFFF).

    The rest of what it does not take (API reference, SendMessage) cannot be there unescaped: JSON escapes
    control characters, and lone surrogates were refused with the body. In JSON text these two can only be
    inside a string, where `\ufffe` means the same.
    """
    return json_text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
