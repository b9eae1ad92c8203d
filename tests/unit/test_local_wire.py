"""Values between a program and the engine: secrets, numbers, archives, URNs."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime import rpc

from ops.local import wire
from ops.local.archives import zip_bytes
from ops.local.urn import make_urn, name_of, type_of

if TYPE_CHECKING:
    from pathlib import Path

SECRET = {rpc._special_sig_key: rpc._special_secret_sig}
ARCHIVE = {rpc._special_sig_key: rpc._special_archive_sig}
ASSET = {rpc._special_sig_key: rpc._special_asset_sig}


def plain(values: dict[str, Any], directory: Path) -> wire.Plain:
    struct = struct_pb2.Struct()
    struct.update(values)
    return wire.Plain(struct, directory)


@pytest.mark.parametrize(
    "value",
    [
        {**SECRET, "value": "s"},
        [{"deep": [{**SECRET, "value": "s"}]}],
        {**SECRET, "value": {"twice": {**SECRET, "value": "s"}}},
    ],
)
def test_a_secret_is_unwrapped_however_deep_and_its_property_remembered(
    value: object, tmp_path: Path
) -> None:
    found = plain({"open": "o", "hidden": value}, tmp_path)
    assert found.secret_names == {"hidden"}
    assert rpc._special_sig_key not in str(found.values)
    assert "'s'" in str(found.values)


def test_secrets_go_out_marked_as_pulumi_marks_them() -> None:
    answer = rpc.deserialize_properties(wire.to_struct({"a": 1, "b": {"c": "s"}, "n": None}, {"b"}))
    assert answer == {"a": 1, "b": rpc.wrap_rpc_secret({"c": "s"})}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [(3, "3"), (3.0, "3"), (0.5, "0.5"), (2.0**60, "1.152921504606847e+18"), (True, "True")],
)
def test_whole_numbers_come_back_as_integers(sent: float, expected: str, tmp_path: Path) -> None:
    assert repr(plain({"n": sent}, tmp_path).values["n"]) == expected


def test_null_is_the_same_as_absent(tmp_path: Path) -> None:
    assert plain({"a": None, "b": {"c": None, "d": 1}, "e": [None]}, tmp_path).values == {
        "b": {"d": 1},
        "e": [None],
    }


def test_an_unknown_kind_of_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        plain({"a": {rpc._special_sig_key: "ffff"}}, tmp_path)


def test_pulumi_still_uses_the_markers_that_are_written_down_here() -> None:
    assert rpc._special_sig_key == wire._SIGNATURE
    assert (
        rpc._special_secret_sig,
        rpc._special_asset_sig,
        rpc._special_archive_sig,
    ) == (wire._SECRET, wire._ASSET, wire._ARCHIVE)
    assert wire.UNKNOWN == rpc.UNKNOWN


def names_in(archive: dict[str, Any]) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(zip_bytes(archive))).namelist()


def test_a_zip_is_taken_as_it_is_from_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "infra").mkdir()
    (tmp_path / "build" / "a.zip").write_bytes(b"zip")
    value = plain({"code": {**ARCHIVE, "path": "../build/a.zip"}}, tmp_path / "infra").values["code"]
    assert zip_bytes(value) == b"zip"


def test_a_directory_is_packed_without_caches_and_always_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("b.py", "a/c.py", "__pycache__/b.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    value = plain({"code": {**ARCHIVE, "path": "."}}, tmp_path).values["code"]
    assert names_in(value) == ["a/c.py", "b.py"]
    assert zip_bytes(value) == zip_bytes(value)


def test_an_archive_of_assets_is_packed_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("x")
    assets = {"app.py": {**ASSET, "text": "print()"}, "lib/x.py": {**ASSET, "path": "x.py"}}
    assert names_in(plain({"code": {**ARCHIVE, "assets": assets}}, tmp_path).values["code"]) == [
        "app.py",
        "lib/x.py",
    ]


def test_a_changed_file_changes_the_archives_hash_and_a_moved_one_does_not(tmp_path: Path) -> None:
    def hash_of(directory: Path) -> str:
        found = plain({"c": {**ARCHIVE, "path": "code"}}, directory).values["c"]["archive"]["sha256"]
        return str(found)

    for place in ("one", "two", "three"):
        (tmp_path / place / "code").mkdir(parents=True)
        (tmp_path / place / "code" / "a.py").write_text("3" if place == "three" else "1")
    assert hash_of(tmp_path / "one") == hash_of(tmp_path / "two") != hash_of(tmp_path / "three")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({**ARCHIVE, "path": "nowhere"}, FileNotFoundError),
        ({**ARCHIVE, "uri": "https://example.com/a.zip"}, ValueError),
        ({**ASSET, "uri": "https://example.com/a"}, ValueError),
    ],
)
def test_what_cannot_be_read_here_is_refused(value: object, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        plain({"code": value}, tmp_path)


def test_a_urn_has_the_whole_chain_of_its_parents_types() -> None:
    stack = make_urn("local", "p", "", "pulumi:pulumi:Stack", "p-local")
    outer = make_urn("local", "p", stack, "x:index:Outer", "o")
    inner = make_urn("local", "p", outer, "x:index:Inner", "i")
    leaf = make_urn("local", "p", inner, "aws:sns/topic:Topic", "acme.topic::x")
    assert outer == "urn:pulumi:local::p::x:index:Outer::o"
    assert leaf == "urn:pulumi:local::p::x:index:Outer$x:index:Inner$aws:sns/topic:Topic::acme.topic::x"
    assert (type_of(leaf), name_of(leaf)) == ("aws:sns/topic:Topic", "acme.topic::x")
