"""What is changed in a function's code: its clock, and a fault where one is planted."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from chaos.calls import clock_of
from chaos.functions import SKEW_SECONDS, Code, with_clock, with_plant
from chaos.plants import PLANTS, Plant

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
