"""The reference pipeline as a system that is named on the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.response import Passage, Response
from ragauge.engine.systems import build_system
from ragauge.systems.base import Question


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Three pages, one in a folder below."""
    (tmp_path / "hub.md").write_text("# Hub\n\nA hub can be returned within 30 days of delivery.\n")
    (tmp_path / "phone.txt").write_text("Support answers the phone from nine to five.\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "pairing.md").write_text("# Pairing\n\nPairing takes two minutes.\n")
    return tmp_path


def asked(target: str, question: str, passages: tuple[Passage, ...] | None = None, **settings: object) -> Response:
    """What the system says."""

    async def ask() -> Response:
        system = build_system(target, settings)
        try:
            return await system.respond(Question("q", question), passages)
        finally:
            await system.close()

    return asyncio.run(ask())


def test_answers_from_the_folder(pages: Path) -> None:
    """It answers from the documents of the folder and of those below, by the settings, and cites them."""
    found = asked(f"reference:{pages}", "How long can a hub be returned?", k=1, n_candidates=3)
    assert found.answer is not None
    assert "30 days" in found.answer
    assert [passage.doc_id for passage in found.passages or ()] == ["hub"]
    assert {passage.doc_id for passage in found.candidates or ()} == {"hub", "phone", "more/pairing"}


def test_answers_from_what_is_handed(pages: Path) -> None:
    """Handed passages are all that its generator sees, more than k of them too; of none it says that it cannot tell."""
    handed = tuple(Passage(f"p{n}", f"d{n}", f"The lamp number {n} is {n + 40} cm tall.") for n in range(8))
    found = asked(f"reference:{pages}", "How tall is the lamp number 7?", handed, k=2, n_candidates=2)
    assert found.passages == handed
    assert found.candidates is None
    assert found.answer is not None
    assert "47 cm" in found.answer
    closed = asked(f"reference:{pages}", "How long can a hub be returned?", ())
    assert closed.passages == ()
    assert "30 days" not in (closed.answer or "")


def test_what_cannot_be_made_is_said(pages: Path, tmp_path: Path) -> None:
    """An unknown setting, one out of range and a folder without text are told before anything is asked."""
    with pytest.raises(UnknownName, match="nearest: retriever"):
        build_system(f"reference:{pages}", {"retreiver": "bm25"})
    with pytest.raises(UsageError, match="k must be at least 1"):
        build_system(f"reference:{pages}", {"k": 0})
    with pytest.raises(DataError, match="no such file or folder"):
        build_system(f"reference:{tmp_path}/none")
