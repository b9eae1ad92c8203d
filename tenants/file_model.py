"""What all parts of the files share."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class FileModel(BaseModel):
    """A part of a file: frozen, strict (the text "10" is no number), refuses unknown fields.

    Fields are snake_case here and camelCase in the files.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=True
    )
