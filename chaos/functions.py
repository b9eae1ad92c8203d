"""The functions under chaos: their AWS behind the proxy, clocks off, a fault planted where one is wanted."""

from __future__ import annotations

import io
import urllib.request
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from chaos.calls import CLOCK_MARK
from chaos.refusing import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
_FIRST_MODULE: Final = "handlers/__init__.py"
# What the functions are called by: moving it is one write, and back again.
_ALIAS: Final = "live"
_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Code:
    """What is changed in the code of the functions.

    Attributes:
        seed: of the clocks. skew_seconds: how far a worker's clock is off at most, to either side.
        plants: faults of the product (the negative controls).
    """

    seed: int
    skew_seconds: int = SKEW_SECONDS
    plants: Sequence[Plant] = ()

    def of(self, name: str) -> Code:
        """What is changed in one function."""
        return replace(self, plants=[one for one in self.plants if name in one.functions])


@contextmanager
def under_chaos(
    aws: Clients, names: Mapping[str, str], urls: Mapping[str, str], code: Code
) -> Iterator[None]:
    """The functions run behind the proxy with skewed clocks; afterwards each alias is where it was.

    Args:
        names: the functions' physical names. urls: where the proxy listens; both by short name.
        code: what of theirs is changed.
    """
    good = {name: _version(aws, function) for name, function in names.items()}
    try:
        for name, function in names.items():
            _change(aws, function, urls[name], code.of(name))
        yield
    finally:
        for name, function in names.items():
            aws.functions.update_alias(FunctionName=function, Name=_ALIAS, FunctionVersion=good[name])


def _version(aws: Clients, function: str) -> str:
    return str(aws.functions.get_alias(FunctionName=function, Name=_ALIAS)["FunctionVersion"])


def _change(aws: Clients, function: str, url: str, change: Code) -> None:
    known: dict[str, Any] = dict(aws.functions.get_function(FunctionName=function))
    with urllib.request.urlopen(known["Code"]["Location"], timeout=_SECONDS) as answer:  # noqa: S310 - loopback
        code = answer.read()
    variables = known["Configuration"].get("Environment", {}).get("Variables", {})
    rerouted = {f"AWS_ENDPOINT_URL_{_VARIABLE.get(one, one).upper()}": url for one in SERVICES}
    aws.functions.update_function_configuration(
        FunctionName=function, Environment={"Variables": {**variables, **rerouted}}
    )
    aws.functions.update_function_code(FunctionName=function, ZipFile=changed(code, change))
    version = aws.functions.publish_version(FunctionName=function)["Version"]
    aws.functions.update_alias(FunctionName=function, Name=_ALIAS, FunctionVersion=version)


# botocore's name of a service in such a variable is its service id; EventBridge's is not its signing name.
_VARIABLE: Final = {"events": "eventbridge"}


def changed(code: bytes, change: Code) -> bytes:
    """A function's zip with the skewed clock and the plants in it.

    Raises:
        ValueError: the place of a plant is not in the code, or more than once (it has to be planted anew).
    """
    bundle, target = zipfile.ZipFile(io.BytesIO(code)), io.BytesIO()
    touched = {_FIRST_MODULE, *(plant.file for plant in change.plants)}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        # Without what was compiled of them: Python takes that without a look at the source.
        for name in (name for name in bundle.namelist() if _source_of(name) not in touched):
            archive.writestr(name, bundle.read(name))
        for name in touched & set(bundle.namelist()):
            content = bundle.read(name)
            if name == _FIRST_MODULE:
                skew = _SKEW.format(seed=change.seed, most=change.skew_seconds, mark=CLOCK_MARK)
                content += skew.encode()
            for plant in change.plants:
                content = plant.put(name, content)
            archive.writestr(name, content)
    return target.getvalue()


def _source_of(name: str) -> str:
    """The source file that a file of a bundle is, or was compiled from."""
    if not name.endswith(".pyc"):
        return name
    path = PurePosixPath(name)
    folder = path.parent.parent if path.parent.name == "__pycache__" else path.parent
    return str(folder / f"{path.name.partition('.')[0]}.py")
