"""The OpenAPI document as the gateway serves it: a file of the repository, as a mock's template."""

import json
from pathlib import Path
from typing import Final

PATH: Final = "/v1/openapi.json"
FILE: Final = Path("docs") / "openapi.json"
"""Where the document is, from the repository's root; `tests` keep it equal to what the operations say."""

# API Gateway's most for a mapping template (its quotas: 300 KB, not adjustable).
MAX_TEMPLATE_BYTES: Final = 300 * 1024


def read(repository: Path) -> str:
    """The document's text. Raises FileNotFoundError, or ValueError if a template cannot hold it."""
    text = (repository / FILE).read_text(encoding="utf-8")
    if len(template(text).encode()) > MAX_TEMPLATE_BYTES:
        raise ValueError(f"{FILE}: API Gateway takes a template of at most {MAX_TEMPLATE_BYTES} bytes")
    return text


def template(document: str) -> str:
    """JSON text as a Velocity template that means itself.

    `$` and `#` are what Velocity acts on; in JSON both can only be inside a string, where an escape says
    the same (RFC 8259, section 7).
    """
    compact = json.dumps(json.loads(document), separators=(",", ":"))
    return compact.replace("$", "\\u0024").replace("#", "\\u0023")
