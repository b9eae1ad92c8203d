"""The JSON Schemas of the files, for editors; made from the models, so they cannot disagree.

They are a help while typing. `onceward tenants validate` decides: it also checks what a schema cannot
say (that a tier exists, that the id is the file's name).
"""

import json
from pathlib import Path
from typing import Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from tenants.models import Tenant, TiersFile

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MODELS: Final[dict[str, type[BaseModel]]] = {"tenant.schema.json": Tenant, "tiers.schema.json": TiersFile}


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes of field names: editors show the name already."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 (pydantic's signature)
        return False


def schemas() -> dict[str, str]:
    """File name to content (JSON text with a newline at its end) of each schema."""
    texts = {}
    for name, model in _MODELS.items():
        schema = {"$schema": _DIALECT, **model.model_json_schema(schema_generator=_Untitled)}
        texts[name] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return texts


def outdated(directory: Path) -> list[Path]:
    """The schema files in `directory` that are missing or differ from the models."""
    return [
        directory / name
        for name, text in schemas().items()
        if not (directory / name).is_file() or (directory / name).read_text(encoding="utf-8") != text
    ]


def export(directory: Path) -> list[Path]:
    """Write both schema files into `directory`; answers with those that changed."""
    changed = outdated(directory)
    for path in changed:
        path.write_text(schemas()[path.name], encoding="utf-8")
    return changed
