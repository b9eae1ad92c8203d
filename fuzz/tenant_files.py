"""Tenant files: any text is a tenant, or a list of faults that say where."""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz.choices import split
from fuzz.target import Broken, Target, require
from tenants.document import parse
from tenants.errors import TenantFileError
from tenants.loader import check_text

_FOLDER = Path(__file__).resolve().parent.parent / "tenants"
_SAMPLES = ("storm-a", "cobalt", "bluebird", "acme")
# What code in a file would have to do to do harm (Python's table of audit events).
_HARM = ("os.system", "subprocess.Popen", "os.exec", "os.spawn", "os.posix_spawn", "socket.connect", "ctypes")
# A line of a document from the samples, said otherwise.
_TWISTS = (
    *(
        "&a ",
        "*a",
        "!!bool ",
        "!!int ",
        "!!python/object/apply:os.system ",
        "<<: ",
        "? ",
        "- ",
        ": ",
        "|\n  ",
        ">-\n ",
    ),
    *(
        '"\\uD800"',
        '"\\U00110000"',
        "0x" + "f" * 5000,
        "1" * 5000,
        ".nan",
        "1_000",
        "{",
        "[" * 300,
        "%YAML 1.1\n---\n",
    ),
    *(
        "\t",
        "\ufeff",
        "\x00",
        "null",
        "~",
        "true",
        "a" * 600,
        "\r",
        "\u2028",
        "---\n",
        "...\n",
        "#",
        "'",
        "2026-12-01",
    ),
)
_harmed: list[str] = []
_watching = False


def _watch(event: str, _arguments: object) -> None:
    if _watching and event.startswith(_HARM):
        _harmed.append(event)


sys.addaudithook(_watch)


def check_file(text: str, stem: str = "acme") -> None:
    """A tenant, or faults that each name file, line, field and rule; nothing of the text is run."""
    global _watching  # noqa: PLW0603 - audit hooks cannot be taken away, only told to look aside
    path = _FOLDER / f"{stem}.yaml"
    _harmed.clear()
    _watching = True
    try:
        tenant = check_text(path, text)
    except TenantFileError as error:
        # Unicode has more line breaks than YAML counts, never fewer.
        _check_faults(error, str(path), len(text.splitlines()) + 1)
    except Exception as error:
        raise Broken("neither a tenant nor faults") from error
    else:
        require(tenant.id == stem, "a tenant of another name")
    finally:
        _watching = False
    require(not _harmed, f"a file was run: {_harmed}")
    # An alias is a fault, so nothing is in the document more often than in the file.
    require(len(parse("f", text).lines) <= len(text) + 1, "more in a document than in its file")


def _check_faults(error: TenantFileError, file: str, last_line: int) -> None:
    require(error.faults, "refused without a fault")
    str(error).encode()
    for fault in error.faults:
        require(fault.file == file or fault.file.endswith("tiers.yaml"), "a fault of another file")
        require(1 <= fault.line <= last_line, f"line {fault.line} of {last_line}")
        require(fault.field and fault.rule and "\n" not in fault.rule, "a fault that does not say what")


def _check(data: bytes) -> None:
    choices, payload = split(data)
    stem = choices.pick(_SAMPLES)
    # Most inputs bring their own text; the others twist a sample.
    text = payload.decode("utf-8", "replace") or (_FOLDER / f"{stem}.yaml").read_text(encoding="utf-8")
    for _ in range(choices.number(4)):
        at = choices.number(max(len(text), 1))
        text = text[:at] + choices.pick(_TWISTS) + text[at + choices.number(20) :]
    check_file(text, stem)


TARGET = Target(
    "tenants",
    _check,
    lambda: [
        bytes([number]) + b"\n" + ending
        for number, stem in enumerate(_SAMPLES)
        for ending in (b"", (_FOLDER / f"{stem}.yaml").read_bytes())
    ],
)
