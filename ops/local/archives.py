"""The bytes of a Lambda bundle: from the archive that the program names to the zip that is uploaded.

In inputs and in the state an archive is `{"archive": {"sha256": ..., "path" | "text" | "assets": ...}}`:
two are the same if their hashes are, wherever the files lie.
"""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ARCHIVE = "archive"
"""The only key of the dict that stands for an archive or asset."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time a zip can hold: one for all entries, so that equal contents give equal bytes."""


def archive(content: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The plain form of a Pulumi archive; a relative path is taken from `directory`, the program's own.

    Raises FileNotFoundError for a path that is not there and ValueError for an archive behind a URL.
    """
    if "path" in content:
        path = directory / str(content["path"])
        return {ARCHIVE: {"sha256": _hash_path(path), "path": str(path)}}
    if "assets" in content:
        members = dict(sorted(content["assets"].items()))
        joined = "\n".join(f"{name}\0{member[ARCHIVE]['sha256']}" for name, member in members.items())
        return {ARCHIVE: {"sha256": hashlib.sha256(joined.encode()).hexdigest(), "assets": members}}
    raise ValueError("an archive must be a file, a directory or a set of assets: nothing is downloaded here")


def asset(content: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The plain form of a Pulumi asset, as `archive`."""
    if "text" in content:
        text = str(content["text"])
        return {ARCHIVE: {"sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text}}
    if "path" in content:
        return archive(content, directory)
    raise ValueError("an asset must be a file or a text: nothing is downloaded here")


def is_archive(value: Any) -> bool:  # noqa: ANN401 (any JSON value)
    """Whether the plain value stands for an archive or asset."""
    return isinstance(value, dict) and value.keys() == {ARCHIVE}


def zip_bytes(value: Mapping[str, Any]) -> bytes:
    """The zip to upload; a zip file is taken as it is, anything else is packed."""
    content = value[ARCHIVE]
    path = Path(content["path"]) if "path" in content else None
    if path is not None and path.is_file():
        return path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        _pack(target, "", value)
    return packed.getvalue()


def _pack(target: zipfile.ZipFile, name: str, value: Mapping[str, Any]) -> None:
    content = value[ARCHIVE]
    if "assets" in content:
        for member, item in content["assets"].items():
            _pack(target, f"{name}/{member}".lstrip("/"), item)
    elif "text" in content:
        _write(target, name, str(content["text"]).encode())
    else:
        path = Path(content["path"])
        for file in _files(path):
            inner = f"{name}/{file.relative_to(path)}" if path.is_dir() else name
            _write(target, inner.lstrip("/"), file.read_bytes())


def _write(target: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.external_attr = 0o644 << 16  # readable by the function's user, as Lambda asks
    entry.compress_type = zipfile.ZIP_DEFLATED
    target.writestr(entry, data)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(f for f in path.rglob("*") if f.is_file() and "__pycache__" not in f.parts)


def _hash_path(path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or directory")
    digest = hashlib.sha256()
    for file in _files(path):
        digest.update(f"{file.relative_to(path)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
