"""A later version of the store, as a release adds one: version 3, whose notes have one more column."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ragauge.store import older
from ragauge.store.migrations import upgrade

REVISION = """
from alembic import op
from sqlalchemy import Column, Text
revision = "3"
down_revision = "2"
def upgrade():
    op.add_column("run_notes", Column("added", Text))
"""


def add_next_version(folder: Path, set_attribute: Callable[[object, str, object], None] = setattr) -> None:
    """Lets the program know a second version, whose migrations are copied into a folder.

    Args:
        folder: is made.
        set_attribute: changes an attribute of a module; a test's `monkeypatch.setattr` takes the change back.
    """
    shutil.copytree(upgrade.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions/v3_next.py").write_text(REVISION)
    set_attribute(upgrade, "FOLDER", folder)
    for module in (upgrade, older):
        set_attribute(module, "VERSIONS", ("2", "3"))
        set_attribute(module, "HEAD", "3")
