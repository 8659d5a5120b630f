"""From where an installed ragauge says that it can be installed again."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragauge.core import origin


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (None, "ragauge[ui]"),
        (
            {"url": "https://host/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "ragauge[ui] @ git+https://host/r.git@abc",
        ),
        (
            {"url": "file:///w/ragauge-0.1.0-py3-none-any.whl", "archive_info": {}},
            "ragauge[ui] @ file:///w/ragauge-0.1.0-py3-none-any.whl",
        ),
        ({"url": "file:///r", "dir_info": {}}, "ragauge[ui] @ file:///r"),
    ],
)
def test_an_installation_is_named_as_it_was_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: dict[str, object] | None, wanted: str
) -> None:
    """What pip recorded says whether it was a commit, a wheel, a folder, or a name that an index knew."""
    text = None if record is None else json.dumps(record)
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    monkeypatch.setattr(origin, "__file__", str(tmp_path / "lib" / "ragauge" / "origin.py"))
    origin.find_source.cache_clear()
    assert origin.build_requirement("ui") == wanted
    origin.find_source.cache_clear()


def test_a_checkout_is_its_folder() -> None:
    """In a source tree the folder is what pip takes."""
    assert origin.build_install_command("ui") == f"pip install '{Path(__file__).parents[2]}[ui]'"


def test_nothing_promises_a_package_index() -> None:
    """No page, message or workflow installs ragauge by name: no index has it."""
    root = Path(__file__).parents[2]
    places = [root / "README.md", root / "action.yml", *root.glob("docs/*.md"), *root.glob("src/**/*.py")]
    by_name = re.compile(r"pip install (?:-\S+ )*['\"]?ragauge\b")
    assert not [path.name for path in places if by_name.search(path.read_text(encoding="utf-8"))]
