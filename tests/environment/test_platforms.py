"""Whether ragauge installs elsewhere, as tools/platforms.py tells it; here of an index of a few empty wheels."""

from __future__ import annotations

import importlib.util
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools/platforms.py"


@pytest.fixture(scope="module")
def platforms() -> Any:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("tools_platforms", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for themselves
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of: anyone, which needs only_there on Windows; only_there for Windows; old for 3.11 on Linux ARM."""
    _wheel(tmp_path, "anyone-1-py3-none-any", "Requires-Dist: only_there; sys_platform == 'win32'\n")
    _wheel(tmp_path, "only_there-1-py3-none-win_amd64")
    _wheel(tmp_path, "old-1-cp311-cp311-manylinux_2_27_aarch64")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, value in {"CONFIG_FILE": os.devnull, "NO_INDEX": "1", "FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)


def _wheel(folder: Path, tag: str, metadata: str = "") -> None:
    name, version = tag.split("-")[:2]
    with zipfile.ZipFile(folder / f"{tag}.whl", "w") as wheel:
        info = f"{name}-{version}.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")


def test_markers_are_those_of_the_other_platform(platforms: Any, links: None) -> None:
    """A requirement for Windows alone is counted on Windows alone, whatever machine this is."""
    linux, *_, windows = platforms.PLATFORMS
    assert platforms.resolve(linux, "3.12", ["anyone"], newest=True) == 1
    assert platforms.resolve(windows, "3.12", ["anyone"], newest=True) == 2


def test_wheel_for_another_python_or_machine_does_not_count(
    platforms: Any, links: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part whose wheel is for one Python and machine resolves there only; which part fails is told in pip's words."""
    monkeypatch.setattr(platforms, "requirements", lambda: {"core": ["anyone"], "older": ["old"]})
    _, arm, mac, *_ = platforms.PLATFORMS
    assert platforms.look(arm, "3.11", True) == platforms.Found(2, {})
    found = platforms.look(arm, "3.12", True)
    assert found == platforms.Found(1, {"older": "No matching distribution found for old"})
    monkeypatch.setattr(platforms, "requirements", lambda: {"core": ["old"], "more": ["anyone"]})
    assert platforms.look(mac, "3.11", True).failed == {"core": "No matching distribution found for old"}


def test_release_without_a_wheel_is_replaced(
    platforms: Any, links: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the release of constraints.txt has no wheel but another has, it resolves, and the table says so."""
    _wheel(tmp_path, "moved-1-py3-none-any")
    _wheel(tmp_path, "moved-2-py3-none-win_amd64")
    (tmp_path / "constraints.txt").write_text("moved==2\n")
    monkeypatch.setattr(platforms, "ROOT", tmp_path)
    monkeypatch.setattr(platforms, "requirements", lambda: {"core": ["moved"]})
    linux, *_, windows = platforms.PLATFORMS
    assert platforms.look(linux, "3.12", False) == platforms.Found(1, {}, other=True)
    assert platforms.look(windows, "3.12", False) == platforms.Found(1, {}, other=False)


def test_table(platforms: Any) -> None:
    """Every platform has a line with a cell a Python; what fails is below, and the last line counts."""
    found = {(p.name, v): platforms.Found(120, {}) for p in platforms.PLATFORMS for v in platforms.VERSIONS}
    found["Mac Intel", "3.14"] = platforms.Found(56, {"postgres": "No matching distribution found for psycopg"})
    found["Mac Intel", "3.13"] = platforms.Found(119, {}, other=True)
    found["Windows", "3.11"] = platforms.Found(0, {"core": "No matching distribution found for numpy"})
    assert list(platforms.shown(found)) == [
        "               Python 3.11   Python 3.12   Python 3.13   Python 3.14",
        "Linux x86              120           120           120           120",
        "Linux ARM              120           120           120           120",
        "Mac ARM                120           120           120           120",
        "Mac Intel              120           120          119*     56 (core)",
        "Windows                 no           120           120           120",
        "Mac Intel, Python 3.14, postgres: No matching distribution found for psycopg",
        "Windows, Python 3.11, core: No matching distribution found for numpy",
        "* of other releases than those of constraints.txt, which do not all have a wheel there",
        "core resolves on 19 of 20, core and every extra on 18",
    ]


def test_core_is_what_pyproject_says(platforms: Any) -> None:
    """The core and every extra are asked for, and each platform and Python of the promise once."""
    parts = platforms.requirements()
    assert any(line.startswith("tokenizers") for line in parts["core"])
    assert {"pandas", "postgres", "langchain"} <= set(parts)
    assert len({p.name for p in platforms.PLATFORMS}) * len(platforms.VERSIONS) == 20
