"""Outlines and chunks: what they hold, and where it stands."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.core.document import Document, chunk_document
from ragauge.core.errors import UsageError
from ragauge.evaluation.demo.demo_systems import read_documents
from ragauge.text.sentences import build_outline
from ragauge.text.tokens import count_tokens

PAGE = """# Lamps

Lamps give light. They need power.

## Kinds

- Desk lamps are small.
- Floor lamps are tall.

## Care

Dust them monthly. Never use water! Switch them off first."""


def page(text: str = PAGE, title: str = "Lamps") -> Document:
    return Document("lamps", title, text)


def test_outline_of_a_page() -> None:
    """Headings, list items and sentences come apart, each under its headings."""
    units = [(unit.text, unit.level, unit.headings) for unit in build_outline(PAGE)]
    assert units[:6] == [
        ("Lamps", 1, ()),
        ("Lamps give light.", 0, ("Lamps",)),
        ("They need power.", 0, ("Lamps",)),
        ("Kinds", 2, ("Lamps",)),
        ("Desk lamps are small.", 0, ("Lamps", "Kinds")),
        ("Floor lamps are tall.", 0, ("Lamps", "Kinds")),
    ]
    assert units[6] == ("Care", 2, ("Lamps",))


def test_outline_knows_code_and_tables() -> None:
    """A comment in a code fence is no heading, and a table row is a block of its own."""
    text = "# Use\n\n```\n# not a heading\n```\n\n| a | b |\n| c | d |\n"
    assert [(unit.text, unit.level) for unit in build_outline(text)] == [
        ("Use", 1),
        ("# not a heading", 0),
        ("| a | b |", 0),
        ("| c | d |", 0),
    ]


@given(st.text(alphabet="ab .!\n#-|`1)", max_size=120))
def test_outline_offsets(text: str) -> None:
    """Every unit is the text between its offsets, units do not overlap, and only a code fence's own line is lost."""
    units = build_outline(text)
    assert all(unit.text == text[unit.start : unit.end] and unit.left <= unit.start for unit in units)
    assert all(one.end <= other.left for one, other in pairwise(units))
    kept = "".join(unit.text for unit in units)
    told = "".join(line for line in text.split("\n") if not line.strip().startswith("```"))
    assert all(kept.count(letter) == told.count(letter) for letter in "ab")


@pytest.mark.parametrize("tokens", [16, 48, 128, 512])
@pytest.mark.parametrize("overlap", [0, 2])
def test_spans_are_exact(tokens: int, overlap: int) -> None:
    """On every demo page the text at a chunk's span is the chunk's body, and bodies keep to the budget."""
    for document in read_documents():
        for piece in chunk_document(document, tokens, overlap):
            assert piece.body == document.text[piece.start : piece.end]
            sentences = [unit for unit in build_outline(piece.body) if not unit.level]
            assert count_tokens(piece.body) <= tokens or len(sentences) == 1


def test_no_sentence_is_lost_or_split() -> None:
    """Without overlap the chunks hold every sentence of a page once, in order."""
    for document in read_documents():
        pieces = chunk_document(document, 64)
        whole = [unit.text for unit in build_outline(document.text) if not unit.level]
        assert [unit.text for piece in pieces for unit in build_outline(piece.body) if not unit.level] == whole


def test_ids_and_context() -> None:
    """Chunks are numbered from 1, and each opens with the headings that its body lacks."""
    pieces = chunk_document(page(), 20)
    assert [piece.passage_id for piece in pieces] == ["lamps#1", "lamps#2", "lamps#3"]
    assert pieces[0].text == "# Lamps\n\nLamps give light. They need power."
    assert pieces[1].text == "# Lamps\n\n## Kinds\n\n- Desk lamps are small.\n- Floor lamps are tall."
    assert pieces[2].body == "## Care\n\nDust them monthly. Never use water! Switch them off first."


def test_split_section_keeps_its_heading() -> None:
    """A chunk from the middle of a section carries the title and the section's heading."""
    pieces = chunk_document(page(title="All about lamps"), 10)
    last = pieces[-1]
    assert last.body.startswith("Never use water!")
    assert last.context == "# All about lamps\n## Lamps\n### Care"


def test_overlap_repeats_the_sentence_before() -> None:
    """With an overlap of one, a section's next chunk opens with the last sentence of the one before."""
    text = " ".join(f"Sentence number {word} stands here." for word in ("one", "two", "three", "four", "five"))
    pieces = chunk_document(page(text), 2 * count_tokens("Sentence number three stands here.") + 2, overlap=1)
    assert [piece.body.count("Sentence") for piece in pieces] == [2, 2, 2, 2]
    for one, other in pairwise(pieces):
        assert one.body.split(". ")[-1] == other.body.split(". ")[0] + "."
    assert {word for piece in pieces for word in piece.body.split()} == set(text.split())


def test_overlap_stays_within_a_section() -> None:
    """A chunk that opens with a heading repeats nothing."""
    assert [piece.body for piece in chunk_document(page(), 20, overlap=1)] == [
        piece.body for piece in chunk_document(page(), 20)
    ]


def test_long_sentence_stays_whole() -> None:
    """A sentence beyond the budget is a chunk of its own."""
    text = "Short. " + "very " * 50 + "long. Short again."
    assert [piece.body for piece in chunk_document(page(text), 5)] == ["Short.", "very " * 50 + "long.", "Short again."]


def test_blank_document_has_no_chunk() -> None:
    """A text without words gives no chunk."""
    assert chunk_document(page(" \n\n "), 10) == ()


def test_wrong_numbers() -> None:
    """A budget below one token or a negative overlap is refused."""
    with pytest.raises(UsageError, match="tokens must be at least 1, got 0"):
        chunk_document(page(), 0)
    with pytest.raises(UsageError, match="overlap must be at least 0 sentences, got -1"):
        chunk_document(page(), 10, -1)


def test_headings_above_the_title() -> None:
    """A first heading that differs from the title stays in the body, under the title."""
    (first, *_) = chunk_document(page(title="Lamps, edition 2"), 50)
    assert first.text.startswith("# Lamps, edition 2\n\n# Lamps\n\nLamps give light.")
