"""A function of the running platform that dies in the middle of its work, as a killed process does."""

from __future__ import annotations

import io
import urllib.request
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from typer.testing import CliRunner

from ops.commands import rollback as rollback_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.platform_fixture import RunningPlatform


@contextmanager
def killed(platform: RunningPlatform, name: str, where: tuple[str, bytes]) -> Iterator[None]:
    """A function dies at a line of a file; afterwards `onceward rollback` brings the good version back."""
    rollback = typer.Typer()
    rollback_command.register(rollback)
    client, function = platform.client("lambda"), f"onceward-local_{name}"
    good = client.get_alias(FunctionName=function, Name="live")["FunctionVersion"]
    code = _code_of(platform, function)
    client.update_function_code(FunctionName=function, ZipFile=_dying(code, where))
    bad = client.publish_version(FunctionName=function)["Version"]
    client.update_alias(FunctionName=function, Name="live", FunctionVersion=bad)
    try:
        yield
    finally:
        arguments = [name, "--stage", "local", "--home", str(platform.home), "--to", good]
        told = CliRunner().invoke(rollback, arguments)
        client.update_function_code(FunctionName=function, ZipFile=code)
    assert (told.exit_code, told.stdout) == (0, f"{function}: live {bad} -> {good}\n"), told.output


def _code_of(platform: RunningPlatform, function: str) -> bytes:
    """The zip that a function runs."""
    location = platform.client("lambda").get_function(FunctionName=function)["Code"]["Location"]
    with urllib.request.urlopen(location, timeout=30) as answer:
        content: bytes = answer.read()
        return content


def _dying(code: bytes, where: tuple[str, bytes]) -> bytes:
    """`code`, changed so that its process ends before it comes to a line of a file."""
    bundle, broken = zipfile.ZipFile(io.BytesIO(code)), io.BytesIO()
    file, line = where
    indent = line[: len(line) - len(line.lstrip())]
    with zipfile.ZipFile(broken, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        # Without the bundle's compiled modules: Python takes those without a look at the source.
        for name in (name for name in bundle.namelist() if not name.endswith(".pyc")):
            content = bundle.read(name)
            if name == file:
                assert content.count(line) == 1, f"{file} has changed: let it die elsewhere"
                content = content.replace(line, indent + b'__import__("os")._exit(1)\n' + line)
            archive.writestr(name, content)
    return broken.getvalue()
