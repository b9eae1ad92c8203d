"""`.ci/install`: uv takes packages from where pip would, and leaves to pip what it cannot do alike."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "install"
# uv in uv's place: writes down what it is given, and ends as it is told.
UV = '#!/bin/sh\necho "uv $* index=${UV_DEFAULT_INDEX-} cert=${SSL_CERT_FILE-}" >>"$CALLS"\nexit "$UV_ENDS"\n'
# The real pip says what its settings are, but for those of this machine; it installs nothing.
PYTHON = f"""#!/bin/sh
if [ "$3" = config ]; then exec {sys.executable} -m pip config --user list; fi
echo "pip $*" >>"$CALLS"
"""
PIP = "pip -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock"
NOTHING: Mapping[str, str] = MappingProxyType({})
MIRROR = "http://mirror.invalid/simple"


class Machine:
    """A folder with both programs, and a machine's settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.configuration = folder / ".config" / "pip" / "pip.conf"
        self.configuration.parent.mkdir(parents=True)
        for name, text in (("uv", UV), ("python", PYTHON)):
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)

    def install(
        self, conf: str = "", environment: Mapping[str, str] = NOTHING, *, uv_ends: int = 0
    ) -> list[str]:
        """What was called. `conf`: the user's pip.conf."""
        self.configuration.write_text(conf, encoding="utf-8")
        calls = self.folder / "calls"
        calls.write_text("", encoding="utf-8")
        ours = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CALLS": str(calls),
            "UV_ENDS": str(uv_ends),
        }
        subprocess.run([SCRIPT, self.folder], env=ours | dict(environment), cwd=ROOT, check=True, timeout=60)
        return calls.read_text(encoding="utf-8").splitlines()

    def uv(self, *, options: str = "", index: str = "", cert: str = "") -> str:
        """The call of uv that is expected."""
        return (
            f"uv pip install --quiet --python {self.folder}/python --require-hashes --compile-bytecode"
            f"{options} -r requirements.lock index={index} cert={cert}"
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_settings_uv_asks_whom_it_asks_by_itself(machine: Machine) -> None:
    assert machine.install() == [machine.uv()]


@pytest.mark.parametrize("section", ["global", "install"])
def test_the_index_of_pips_file_is_uvs(section: str, machine: Machine) -> None:
    assert machine.install(f"[{section}]\nindex-url = {MIRROR}\n") == [machine.uv(index=MIRROR)]


def test_pips_environment_goes_before_its_file(machine: Machine) -> None:
    conf = "[global]\nindex-url = http://another.invalid\ncert = /another\n[install]\nindex-url = http://third.invalid\n"
    called = machine.install(conf, {"PIP_INDEX_URL": MIRROR, "PIP_CERT": "/certs.pem"})
    assert called == [machine.uv(index=MIRROR, cert="/certs.pem")]


def test_the_address_of_the_index_is_in_no_argument(machine: Machine) -> None:
    secret = "http://user:pass@mirror.invalid/simple"
    (called,) = machine.install(environment={"PIP_INDEX_URL": secret})
    assert "pass" not in called.partition(" index=")[0]


def test_folders_and_pages_of_files_are_handed_on_and_a_folder_that_is_missing_is_not(
    machine: Machine,
) -> None:
    there = machine.folder / "wheels"
    there.mkdir()
    options = f" --find-links {there} --find-links http://files.invalid/*"
    places = f"{there} {machine.folder}/missing http://files.invalid/*"
    assert machine.install(environment={"PIP_FIND_LINKS": places}) == [machine.uv(options=options)]
    in_file = f"[global]\nfind-links =\n  {there}\n  http://files.invalid/*\n"
    assert machine.install(in_file) == [machine.uv(options=options)]


@pytest.mark.parametrize(
    "setting",
    [
        "no-index = 1",
        "extra-index-url = http://x.invalid",
        "proxy = x:1",
        "client-cert = /x",
        "trusted-host = x",
    ],
)
def test_what_uv_would_not_see_is_left_to_pip(setting: str, machine: Machine) -> None:
    assert machine.install(f"[global]\nindex-url = {MIRROR}\n{setting}\n") == [PIP]
    name, _, value = setting.partition(" = ")
    assert machine.install(environment={f"PIP_{name.upper().replace('-', '_')}": value}) == [PIP]


def test_where_uv_fails_pip_installs(machine: Machine) -> None:
    assert machine.install(uv_ends=2) == [machine.uv(), PIP]


def test_make_setup_uses_it() -> None:
    assert "\t.ci/install $(BIN); \\\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
