"""The Lambda zips: handlers/ and what one function imports, from hashed wheels, the same bytes every time.

Runs on the user's machine when the Pulumi program is evaluated, so it needs no compiler, no Docker and
no interpreter of the target: uv picks the target's wheels (docs/adr/0022). boto3 is left out: the Lambda
runtime has it (docs/adr/0023).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from infra.bytecode import compile_below

Platform = Literal["aarch64", "native"]

ROOT: Final = Path(__file__).resolve().parents[1]
# Lambda's python3.13 runs on Amazon Linux 2023 (glibc 2.34); wheels for 2.28 are the newest that all
# our dependencies publish, and run there.
_AARCH64: Final = ("--python-platform", "aarch64-manylinux_2_28", "--python-version", "3.13")
# A download that takes longer than this hangs; the largest wheel has 2 MB.
_INSTALL_SECONDS: Final = 300
# The earliest time that a zip can hold: a real one would change the bytes with every build.
_ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)
# Lambda runs as another user: everybody must be able to read. The upper half is Unix' "regular file".
_ZIP_MODE: Final = (0o100644) << 16
_UNIX: Final = 3
# Console scripts, and uv's own notes about the installation (paths and times of this machine).
_CACHE: Final = "__pycache__"
_LEFT_OUT_DIRECTORIES: Final = frozenset({"bin"})
_LEFT_OUT_FILES: Final = frozenset(
    {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", ".lock"}
)
# Of Powertools: the HTTP routers (half of its bytes, a Swagger page among them) and the utilities that no
# handler uses, half of its files: the local AWS unpacks a bundle for each of 64 workers, file by file. A
# handler that used one would fail the test that imports it from its zip.
_LEFT_OUT_PACKAGES: Final = (
    "aws_lambda_powertools/event_handler/",
    *(
        f"aws_lambda_powertools/utilities/{name}/"
        for name in (
            *("auth_alpha", "circuit_breaker", "data_masking", "feature_flags", "idempotency"),
            *("kafka", "metadata", "parameters", "parser", "streaming", "validation"),
        )
    ),
)
# zlib's levels. What goes to AWS is packed once and unpacked at every cold start there; what stays here is
# packed after every edit, ten bundles of it: 0.3 s instead of 1.6 s for the largest, and a tenth larger.
_COMPRESSION: Final[dict[Platform, int]] = {"aarch64": 9, "native": 1}


class BundleError(Exception):
    """A bundle cannot be built; the message says what to do."""


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What decides the bytes of one zip."""

    root: Path
    function: str
    platform: Platform

    @property
    def lock(self) -> Path:
        return self.root / "bundle" / f"{self.function}.lock"

    def target(self) -> tuple[str, ...]:
        """uv's options that choose the wheels."""
        return _AARCH64 if self.platform == "aarch64" else ()

    def host(self) -> str:
        """What a native bundle depends on beside its sources."""
        return "" if self.platform == "aarch64" else f"{sys.implementation.cache_tag} {os.uname().machine}"

    def dependencies_hash(self) -> str:
        # Our own text too: it decides which wheels are chosen, what is left out and what is compiled.
        deciding = (Path(__file__), Path(__file__).with_name("bytecode.py"), self.lock)
        return _digest(self.host().encode(), *(path.read_bytes() for path in deciding))

    def sources(self) -> list[tuple[str, Path]]:
        found = _files(self.root / "handlers", "handlers/")
        return [(name, path) for name, path in found if _CACHE not in path.parts]


def build(function: str, platform: Platform, *, root: Path = ROOT) -> Path:
    """The zip of `function` (a module of handlers/) for `platform`, built unless it is there already.

    `aarch64` is the Lambda runtime python3.13 on arm64; `native` is this machine and interpreter, for
    the local AWS. The file's name carries the hash of its content's sources. Raises BundleError when
    the function or its lock is missing, or when uv cannot install the wheels.
    """
    recipe = _Recipe(root, function, platform)
    for needed in (root / "handlers" / f"{function}.py", recipe.lock):
        if not needed.is_file():
            raise BundleError(f"no bundle for {function!r}: {needed.relative_to(root)} is missing")
    sources = recipe.sources()
    digest = _digest(recipe.dependencies_hash().encode(), *_content(sources))
    store = root / ".onceward" / "bundles"
    result = store / f"{function}-{platform}-{digest[:16]}.zip"
    if not result.is_file():
        installed = _dependencies(recipe, store)
        ours = sources if platform == "aarch64" else _compiled(recipe, sources, store)
        _write_zip(result, sorted([*ours, *_files(installed, "")]), _COMPRESSION[platform])
    return result


def _compiled(recipe: _Recipe, sources: list[tuple[str, Path]], store: Path) -> list[tuple[str, Path]]:
    """Our files with their compiled modules, which all functions share."""
    result = store / "sources" / _digest(recipe.host().encode(), *_content(sources))[:16]

    def compile_into(partial: Path) -> None:
        for name, path in sources:
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, partial / name)
        compile_below(partial)

    return list(_files(_once(result, compile_into), ""))


def _dependencies(recipe: _Recipe, store: Path) -> Path:
    """The directory with the installed wheels of the recipe's lock, installed unless it is there."""

    def install_into(partial: Path) -> None:
        _install(recipe, partial)
        for cache in list(partial.rglob(_CACHE)):
            shutil.rmtree(cache)
        if recipe.platform == "native":
            compile_below(partial)

    return _once(store / "wheels" / recipe.dependencies_hash()[:16], install_into)


def _once(result: Path, fill: Callable[[Path], None]) -> Path:
    """The directory, filled unless it is there; nobody ever sees it half full."""
    if result.is_dir():
        return result
    result.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=result.parent))
    try:
        fill(partial)
        _publish(partial, result)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return result


def _publish(partial: Path, result: Path) -> None:
    """Give the finished directory its name; another build may have been faster, with the same content."""
    try:
        partial.rename(result)
    except OSError:
        if not result.is_dir():
            raise


def _install(recipe: _Recipe, target: Path) -> None:
    command = [
        *(_uv(), "pip", "install", "--quiet", "--target", str(target)),
        *("--python", sys.executable, "--no-python-downloads", *recipe.target()),
        *("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(recipe.lock)),
    ]
    lock = recipe.lock.relative_to(recipe.root)
    try:
        done = subprocess.run(  # noqa: S603 (our own uv, with our own arguments)
            command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BundleError(f"uv could not install {lock} for {recipe.platform}: {error}") from error
    if done.returncode != 0:
        raise BundleError(
            f"uv could not install {lock} for {recipe.platform} (exit {done.returncode}):\n"
            f"{done.stderr.strip()}\n"
            "The first build needs the package index; `make lock` writes the lock files again."
        )


def _uv() -> str:
    """The uv of this environment."""
    try:
        from uv import find_uv_bin  # lazily: only a build that installs needs it

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise BundleError("uv is not installed in this environment: run `make setup`") from error


def _files(directory: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    """Name in the zip and path of each file worth shipping below `directory`, sorted by name."""
    found = []
    for path in directory.rglob("*"):
        name = prefix + path.relative_to(directory).as_posix()
        if path.is_file() and not _left_out(name):
            found.append((name, path))
    yield from sorted(found)


def _left_out(name: str) -> bool:
    *directories, file = name.split("/")
    return (
        file in _LEFT_OUT_FILES
        or not _LEFT_OUT_DIRECTORIES.isdisjoint(directories)
        or name.startswith(_LEFT_OUT_PACKAGES)
    )


def _write_zip(result: Path, files: list[tuple[str, Path]], level: int) -> None:
    result.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix="partial-", dir=result.parent)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            for name, path in files:
                entry = zipfile.ZipInfo(name, _ZIP_TIME)
                entry.create_system = _UNIX
                entry.external_attr = _ZIP_MODE
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, level)
        Path(partial).replace(result)
    finally:
        Path(partial).unlink(missing_ok=True)


def _content(files: list[tuple[str, Path]]) -> list[bytes]:
    """Names and contents in turn."""
    return [part for name, path in files for part in (name.encode(), path.read_bytes())]


def _digest(*parts: bytes) -> str:
    """SHA-256 over the parts, each with its length before it, so that no two lists of parts collide."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()
