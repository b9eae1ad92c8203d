"""The functions under chaos: their AWS behind the proxy, their clocks off, and perhaps a fault planted."""

from __future__ import annotations

import io
import urllib.request
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from chaos.calls import CLOCK_MARK
from chaos.refusing import SERVICES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from chaos.plants import Plant
    from ops.local.clients import Clients

SKEW_SECONDS: Final = 90
"""How far a worker's clock is off at most to either side: three minutes between two workers. Under the five
minutes that a webhook's time stamp may be old, and a lease of a dead worker lapses that much later."""

MOST_SKEW_SECONDS: Final = 180
"""A webhook's time stamp may be five minutes old: further off, right ones would be refused."""

# Runs when a worker starts, before any module of ours: each process has a clock of its own. The name is what
# the emulator's runner and ours read the time by; botocore signs by `datetime`, which is left alone.
_SKEW: Final = """
import hashlib as _hashlib, os as _os, time as _time
_digest = _hashlib.sha256(f"{seed}/{{_os.getpid()}}".encode()).digest()
_OFFSET = int.from_bytes(_digest[:4], "big") % (2 * {most} + 1) - {most}
_TIME, _TIME_NS = _time.time, _time.time_ns
_time.time = lambda: _TIME() + _OFFSET
_time.time_ns = lambda: _TIME_NS() + _OFFSET * 1_000_000_000
# botocore says it in the head of every call, so that the proxy sees whose clock is off, and how far.
_os.environ["AWS_SDK_UA_APP_ID"] = f"{mark}-{{_os.getpid()}}-{{_OFFSET}}"
"""
# zlib's fastest, as of every bundle that stays on this machine (`infra.bundle`).
_COMPRESSION: Final = 1
_FIRST_MODULE: Final = "handlers/__init__.py"
# What the functions are called by: moving it is one write, and back again.
_ALIAS: Final = "live"
_SECONDS: Final = 30.0
# A killed worker's claim on its work ends with the time that its function had: two minutes for those that
# take work off a queue, which no run can wait for twice. With less than 45 s they do not begin (`ITEM_MS`);
# the destinations here answer at once.
_MOST_LIFE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Code:
    """What is changed in the code of the functions.

    Attributes:
        seed: of the clocks. skew_seconds: how far a worker's clock is off at most, to either side.
        plant: a fault of the product (the negative control), there from the start of a run to its verdict.
    """

    seed: int
    skew_seconds: int = SKEW_SECONDS
    plant: Plant | None = None


def plant(aws: Clients, names: Mapping[str, str], fault: Plant) -> None:
    """Give the functions of a fault their faulty code, for good. `names`: physical ones, by short name.

    Raises:
        ValueError: the code is no more what the fault was made for.
    """
    for name in fault.functions:
        _publish(aws, names[name], with_plant(_code(aws, names[name]), fault))


@contextmanager
def under_chaos(
    aws: Clients, names: Mapping[str, str], urls: Mapping[str, str], code: Code
) -> Iterator[None]:
    """The functions run behind the proxy with skewed clocks; afterwards each alias is where it was.

    Args:
        names: the functions' physical names. urls: where the proxy listens; both by short name.
        code: whose clocks they get.
    """
    before = {name: _version(aws, function) for name, function in names.items()}
    try:
        for name, function in names.items():
            _reroute(aws, function, urls[name])
            _publish(aws, function, with_clock(_code(aws, function), code))
        yield
    finally:
        for name, function in names.items():
            aws.functions.update_alias(FunctionName=function, Name=_ALIAS, FunctionVersion=before[name])


def with_clock(code: bytes, change: Code) -> bytes:
    """A function's zip in which each worker has a clock of its own. Raises ValueError: it is no such zip."""
    skew = _SKEW.format(seed=change.seed, most=change.skew_seconds, mark=CLOCK_MARK).encode()
    return _edited(code, {_FIRST_MODULE: lambda _, content: content + skew})


def with_plant(code: bytes, fault: Plant) -> bytes:
    """A function's zip with a fault in it. Raises ValueError: its place is not there, or more than once."""
    return _edited(code, {fault.file: fault.put})


def _version(aws: Clients, function: str) -> str:
    return str(aws.functions.get_alias(FunctionName=function, Name=_ALIAS)["FunctionVersion"])


def _code(aws: Clients, function: str) -> bytes:
    url = aws.functions.get_function(FunctionName=function)["Code"]["Location"]
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 - loopback
        return bytes(answer.read())


def _publish(aws: Clients, function: str, code: bytes) -> None:
    aws.functions.update_function_code(FunctionName=function, ZipFile=code)
    version = aws.functions.publish_version(FunctionName=function)["Version"]
    aws.functions.update_alias(FunctionName=function, Name=_ALIAS, FunctionVersion=version)


def _reroute(aws: Clients, function: str, url: str) -> None:
    known: dict[str, Any] = dict(aws.functions.get_function_configuration(FunctionName=function))
    variables = known.get("Environment", {}).get("Variables", {})
    rerouted = {f"AWS_ENDPOINT_URL_{_VARIABLE.get(one, one).upper()}": url for one in SERVICES}
    aws.functions.update_function_configuration(
        FunctionName=function,
        Environment={"Variables": {**variables, **rerouted}},
        Timeout=min(known["Timeout"], _MOST_LIFE_SECONDS),
    )


# botocore's name of a service in such a variable is its service id; EventBridge's is not its signing name.
_VARIABLE: Final = {"events": "eventbridge"}


def _edited(code: bytes, edits: Mapping[str, Callable[[str, bytes], bytes]]) -> bytes:
    bundle, target = zipfile.ZipFile(io.BytesIO(code)), io.BytesIO()
    if missing := edits.keys() - set(bundle.namelist()):
        raise ValueError(f"{', '.join(sorted(missing))}: not in the function's code")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as archive:
        # Without what was compiled of them: Python takes that without a look at the source.
        for name in (name for name in bundle.namelist() if _source_of(name) not in edits):
            archive.writestr(name, bundle.read(name))
        for name, edit in edits.items():
            archive.writestr(name, edit(name, bundle.read(name)))
    return target.getvalue()


def _source_of(name: str) -> str:
    """The source file that a file of a bundle is, or was compiled from."""
    if not name.endswith(".pyc"):
        return name
    path = PurePosixPath(name)
    folder = path.parent.parent if path.parent.name == "__pycache__" else path.parent
    return str(folder / f"{path.name.partition('.')[0]}.py")
