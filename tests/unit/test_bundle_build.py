"""Building bundles: the same bytes every time, a new file when anything changes, and readable failures."""

from __future__ import annotations

import shutil
import stat
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import uv

from infra import bundle
from infra.bundle import BundleError, build

if TYPE_CHECKING:
    from pathlib import Path

# A small one: no binary wheel, installed in well under a second from uv's cache.
FUNCTION = "authorizer"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone with nothing but what a bundle is made of."""
    for name in ("handlers", "bundle"):
        shutil.copytree(bundle.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def fail_on_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_uv() -> str:
        raise AssertionError("uv was called")

    monkeypatch.setattr(uv, "find_uv_bin", no_uv)


def test_two_builds_in_two_places_are_the_same_bytes(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "clone"
    shutil.copytree(root, other, copy_function=shutil.copyfile)  # other times, other modes
    first, second = (build(FUNCTION, "aarch64", root=place) for place in (root, other))
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_a_rebuild_after_everything_was_removed_is_the_same_bytes(root: Path) -> None:
    before = build(FUNCTION, "native", root=root)
    content = before.read_bytes()
    shutil.rmtree(root / ".onceward")
    after = build(FUNCTION, "native", root=root)
    assert (after, after.read_bytes()) == (before, content)


def test_entries_are_sorted_dated_1980_and_readable_by_everybody(root: Path) -> None:
    with zipfile.ZipFile(build(FUNCTION, "aarch64", root=root)) as archive:
        entries = archive.infolist()
    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {stat.S_IMODE(entry.external_attr >> 16) for entry in entries} == {0o644}


def test_what_is_built_already_is_not_built_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(FUNCTION, "native", root=root)
    changed = first.stat().st_mtime_ns
    fail_on_install(monkeypatch)
    assert build(FUNCTION, "native", root=root).stat().st_mtime_ns == changed


def test_a_changed_handler_makes_another_zip_without_installing_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(FUNCTION, "native", root=root)
    fail_on_install(monkeypatch)
    (root / "handlers" / "domain" / "added.py").write_text("WORD = 1\n", encoding="utf-8")
    second = build(FUNCTION, "native", root=root)
    assert second != first
    with zipfile.ZipFile(second) as archive:
        assert archive.read("handlers/domain/added.py") == b"WORD = 1\n"


def test_a_renamed_handler_module_makes_another_zip(root: Path) -> None:
    first = build(FUNCTION, "native", root=root)
    (root / "handlers" / "read.py").rename(root / "handlers" / "reader.py")
    assert build(FUNCTION, "native", root=root) != first


def test_a_changed_lock_makes_another_zip(root: Path) -> None:
    first = build(FUNCTION, "native", root=root)
    with (root / "bundle" / f"{FUNCTION}.lock").open("a", encoding="utf-8") as stream:
        stream.write("# the same wheels, another lock\n")
    assert build(FUNCTION, "native", root=root) != first


def test_builds_at_the_same_time_do_not_disturb_each_other(root: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda _: build(FUNCTION, "native", root=root), range(4)))
    assert len(set(built)) == 1
    with zipfile.ZipFile(built[0]) as archive:
        assert archive.testzip() is None
    assert list(root.glob(".onceward/bundles/**/partial-*")) == []


def test_a_function_without_handler_or_lock_is_named(root: Path) -> None:
    with pytest.raises(BundleError, match=r"no bundle for 'refunds': handlers/refunds\.py is missing"):
        build("refunds", "native", root=root)
    (root / "bundle" / f"{FUNCTION}.lock").unlink()
    with pytest.raises(BundleError, match=rf"bundle/{FUNCTION}\.lock is missing"):
        build(FUNCTION, "native", root=root)


def test_a_wheel_with_another_hash_is_refused_and_leaves_nothing_behind(root: Path) -> None:
    (root / "bundle" / f"{FUNCTION}.lock").write_text(
        f"jmespath==1.1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8"
    )
    with pytest.raises(
        BundleError, match=rf"uv could not install bundle/{FUNCTION}\.lock for native \(exit 1\)"
    ):
        build(FUNCTION, "native", root=root)
    assert [path for path in (root / ".onceward").rglob("*") if path.is_file()] == []
    assert list(root.glob(".onceward/bundles/wheels/*")) == []


def test_a_requirement_without_a_hash_is_refused(root: Path) -> None:
    (root / "bundle" / f"{FUNCTION}.lock").write_text("jmespath==1.1.0\n", encoding="utf-8")
    with pytest.raises(BundleError, match="--require-hashes"):
        build(FUNCTION, "aarch64", root=root)


@pytest.mark.parametrize(
    "failure", [OSError("no such file"), subprocess.TimeoutExpired("uv", 300)], ids=["missing", "hangs"]
)
def test_a_uv_that_cannot_run_is_a_readable_error(
    root: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def run(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(BundleError, match=rf"uv could not install bundle/{FUNCTION}\.lock for native: "):
        build(FUNCTION, "native", root=root)


def test_an_environment_without_uv_says_what_to_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise FileNotFoundError("uv")

    monkeypatch.setattr(uv, "find_uv_bin", missing)
    with pytest.raises(BundleError, match="run `make setup`"):
        build(FUNCTION, "native", root=root)
