"""CONTRIBUTING.md draws the house as it is and names files that there are."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, taken

(HOUSE,) = taken("CONTRIBUTING.md", "text")
PACKAGE = ROOT / "src/ragauge"


def test_picture_shows_every_folder() -> None:
    """The picture of the house has each folder of the package once, and no other."""
    drawn = re.findall(r"^ ([a-z]+)/ ", HOUSE.text, re.MULTILINE)
    folders = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert sorted(drawn) == sorted(folders)


def test_files_to_touch_exist() -> None:
    """Every file that is named in full exists, and holds the name that stands before "of" it."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Which files to touch")[1].split("\n## ")[0]
    named = re.findall(r"(?:`(\w+)` of )?`([\w/]+(?:\.py|\.md|/)|tests/\w+)`", table)
    assert len(named) >= 20
    for name, path in named:
        there = [
            found for found in (ROOT / path, PACKAGE / path, PACKAGE / "diagnosis/causes" / path) if found.exists()
        ]
        assert there, path
        if name:
            assert re.search(rf"^{name}\b", there[0].read_text(encoding="utf-8"), re.MULTILINE), f"{name} of {path}"
