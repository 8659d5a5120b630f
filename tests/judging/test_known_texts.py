from __future__ import annotations

import json
import re

import pytest

from ragauge.judges.known_texts import FOLDER, Layout, list_languages, read_known_texts
from ragauge.text.language import guess_language

LAYOUTS: tuple[Layout, ...] = ("prose", "table", "cells")


@pytest.mark.parametrize("language", list_languages())
def test_prose_is_read_as_its_language(language: str) -> None:
    """Every document in prose, and all sentences together, are guessed to be in the language whose file holds them."""
    assert {guess_language(document.text) for document in read_known_texts(language, "prose")} == {language}


@pytest.mark.parametrize("language", list_languages())
def test_no_text_appears_twice(language: str) -> None:
    """The 24 documents of every layout differ, and so do their titles and all of their parts."""
    for layout in LAYOUTS:
        documents = read_known_texts(language, layout)
        parts = [part for document in documents for part in document.parts]
        assert len({document.text for document in documents}) == len(documents) == 24
        assert len(set(parts)) == len(parts) >= 72
        assert all(part in document.text for document in documents for part in document.parts)


@pytest.mark.parametrize("language", list_languages())
def test_near_documents_are_mutual(language: str) -> None:
    """The near document of a near document is the document itself, in every layout."""
    for layout in LAYOUTS:
        documents = {document.doc_id: document for document in read_known_texts(language, layout)}
        assert all(
            doc_id != document.near_doc_id and documents[document.near_doc_id].near_doc_id == doc_id
            for doc_id, document in documents.items()
        )


def test_layouts_hold_the_same_cells() -> None:
    """A table with bars and one with a cell a line hold the same words in the same order."""
    for language in list_languages():
        for table, cells in zip(read_known_texts(language, "table"), read_known_texts(language, "cells"), strict=True):
            assert re.sub(r"[\s|]+", " ", table.text).split() == cells.text.split()


def test_languages_say_the_same() -> None:
    """A document has the same amounts in the rows of every language, apart from the decimal sign."""
    amounts = {}
    for language in list_languages():
        documents = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
        amounts[language] = [[[cell.replace(",", ".") for cell in row[1:]] for row in one["rows"]] for one in documents]
    assert all(found == amounts["en"] for found in amounts.values())


def test_unknown_language_has_no_documents() -> None:
    """A language without a file has no known texts."""
    assert read_known_texts("xx", "prose") == ()
