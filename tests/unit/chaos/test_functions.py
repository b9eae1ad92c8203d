"""What is changed in a function's code: its clock, and a fault where one is planted."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from chaos.calls import clock_of
from chaos.functions import _MOST_LIFE_SECONDS, SKEW_SECONDS, Code, under_chaos, with_clock, with_plant
from chaos.plants import PLANTS, Plant
from handlers.adapters.work_batch import ITEM_MS

if TYPE_CHECKING:
    from ops.local.clients import Clients

ROOT = Path(__file__).resolve().parents[3]
# Prints how far `time` is off the system's clock, which no one has touched, and what botocore is told of it.
_TELL = """
import json, os, time
before = time.time_ns()
import handlers
print(json.dumps([round((time.time_ns() - before) / 1e9), round(time.time() - before / 1e9),
                  os.environ["AWS_SDK_UA_APP_ID"]]))
"""


def _bundle() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("handlers/__init__.py", '"""First."""\n')
        archive.writestr("handlers/__pycache__/__init__.cpython-311.pyc", b"compiled")
        archive.writestr("handlers/__pycache__/ingest.cpython-311.pyc", b"compiled")
    return target.getvalue()


def test_each_worker_has_a_clock_of_its_own_and_says_how_far_it_is_off(tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(with_clock(_bundle(), Code(7)))).extractall(tmp_path)
    offsets = set()
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", _TELL], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        nanoseconds, seconds, said = json.loads(done.stdout)
        clock = clock_of({"User-Agent": f"Boto3/1 app/{said} x"})
        assert clock is not None
        assert nanoseconds == pytest.approx(clock[1], abs=3)
        assert seconds == pytest.approx(clock[1], abs=3)
        assert abs(clock[1]) <= SKEW_SECONDS
        offsets.add(clock[1])
    assert len(offsets) > 1


def test_what_was_compiled_of_a_changed_module_is_left_out_since_python_would_take_it_unseen() -> None:
    kept = zipfile.ZipFile(io.BytesIO(with_clock(_bundle(), Code(7)))).namelist()
    assert sorted(kept) == ["handlers/__init__.py", "handlers/__pycache__/ingest.cpython-311.pyc"]


@pytest.mark.parametrize("name", sorted(PLANTS))
def test_each_plant_has_its_place_in_the_code_as_it_is(name: str) -> None:
    plant = PLANTS[name]
    content = (ROOT / plant.file).read_bytes()
    planted = plant.put(plant.file, content)
    assert planted != content
    compile(planted, plant.file, "exec")
    assert plant.put("another.py", content) == content


def test_a_plant_whose_place_has_changed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"handlers/x\.py has changed"):
        Plant(("ingest",), "handlers/x.py", "good", "bad").put("handlers/x.py", b"good good")


def test_a_plant_is_put_into_the_code_and_what_was_compiled_of_it_left_out() -> None:
    plant = Plant(("ingest",), "handlers/__init__.py", "First", "Second")
    planted = zipfile.ZipFile(io.BytesIO(with_plant(_bundle(), plant)))
    assert planted.read("handlers/__init__.py") == b'"""Second."""\n'
    assert "handlers/__pycache__/__init__.cpython-311.pyc" not in planted.namelist()


def test_a_plant_whose_file_is_not_in_the_code_is_refused() -> None:
    with pytest.raises(ValueError, match=r"handlers/gone\.py: not in the function's code"):
        with_plant(_bundle(), Plant(("ingest",), "handlers/gone.py", "good", "bad"))


class Functions:
    """Lambda, as far as chaos changes it: what each function was configured to last, and where `live` is."""

    def __init__(self, code: Path, timeouts: dict[str, int]) -> None:
        self._code = code
        self._timeouts = timeouts
        self.configured: dict[str, dict[str, Any]] = {}
        self.live = dict.fromkeys(timeouts, "1")

    def get_function(self, **_: Any) -> dict[str, Any]:
        return {"Code": {"Location": self._code.as_uri()}}

    def get_function_configuration(self, **asked: Any) -> dict[str, Any]:
        variables = {"STAGE": "local"}
        return {"Timeout": self._timeouts[asked["FunctionName"]], "Environment": {"Variables": variables}}

    def update_function_configuration(self, **asked: Any) -> None:
        self.configured[asked["FunctionName"]] = asked

    def update_function_code(self, **_: Any) -> None: ...

    def publish_version(self, **_: Any) -> dict[str, str]:
        return {"Version": "2"}

    def get_alias(self, **asked: Any) -> dict[str, str]:
        return {"FunctionVersion": self.live[asked["FunctionName"]]}

    def update_alias(self, **asked: Any) -> None:
        self.live[asked["FunctionName"]] = asked["FunctionVersion"]


def test_functions_call_the_proxy_and_live_for_a_minute_at_most_until_it_is_over(tmp_path: Path) -> None:
    (tmp_path / "code.zip").write_bytes(_bundle())
    functions = Functions(tmp_path / "code.zip", {"p_ingest": 10, "p_deliver": 120})
    names, urls = (
        {"ingest": "p_ingest", "deliver": "p_deliver"},
        {"ingest": "http://i", "deliver": "http://d"},
    )
    aws = cast("Clients", SimpleNamespace(functions=functions))
    with under_chaos(aws, names, urls, Code(7)):
        assert functions.live == {"p_ingest": "2", "p_deliver": "2"}
        timeouts = {name: changes["Timeout"] for name, changes in functions.configured.items()}
        assert timeouts == {"p_ingest": 10, "p_deliver": 60}
        variables = functions.configured["p_deliver"]["Environment"]["Variables"]
        assert (variables["STAGE"], variables["AWS_ENDPOINT_URL_DYNAMODB"]) == ("local", "http://d")
    assert functions.live == {"p_ingest": "1", "p_deliver": "1"}


def test_a_function_that_takes_work_has_time_to_begin_it() -> None:
    assert _MOST_LIFE_SECONDS * 1000 > ITEM_MS
