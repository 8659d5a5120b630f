"""Corpora read as documents: folders of Markdown, corpus files, BEIR folders, mappings."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.core.example import Relevant
from ragauge.readers.chroma import read_texts
from ragauge.readers.corpus import match_label_names, read_corpus, read_document_texts


def write(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.md").write_bytes(text.encode())
    return folder


def test_front_matter_is_read(tmp_path: Path) -> None:
    """Title, date, kind and successor come from the front matter, and the body is what follows it, stripped."""
    front = "---\ntitle: Opening hours\nkind: policy\nupdated_at: 2025-03-31\nsuperseded_by: b\nowner: x\n---\n"
    (document,) = read_corpus(write(tmp_path, a=f"{front}\n# Hours\n\nNine.\n\n"))
    assert document == Document("a", "Opening hours", "# Hours\n\nNine.", "2025-03-31", "b", "policy")


def test_title_without_front_matter(tmp_path: Path) -> None:
    """Without front matter the first heading is the title, and without a heading the file's name is."""
    first, second = read_corpus(write(tmp_path, a="Text.\n\n## Opening hours ##\n", b="Text only.\n"))
    assert (first.title, second.title) == ("Opening hours", "b")
    assert (first.updated_at, first.superseded_by, first.kind) == (None, None, None)


def test_order_is_that_of_the_names(tmp_path: Path) -> None:
    """Documents come in the order of their paths, those of folders below named with the folder; others are left."""
    write(tmp_path, c="C.", a="A.", b="B.")
    (tmp_path / "notes.txt").write_text("A note.")
    (tmp_path / "photo.png").write_bytes(b"no text")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "folder.md" / "d.rst").write_text("D.")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "e.md").write_text("E.")
    assert [document.doc_id for document in read_corpus(str(tmp_path))] == ["a", "b", "c", "folder.md/d", "notes"]


def test_two_files_of_one_name(tmp_path: Path) -> None:
    """Two files that differ in their ending only would be one document, which is said."""
    write(tmp_path, a="A.")
    (tmp_path / "a.txt").write_text("Other.")
    with pytest.raises(DataError, match=r"a\.txt: has the same doc_id as a\.md.*The id of a text file is its path"):
        read_corpus(tmp_path)


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    """A page written on Windows is read as the same page."""
    (document,) = read_corpus(write(tmp_path, a="\ufeff---\r\ntitle: T\r\n---\r\nOne.\r\n\r\nTwo.\r\n"))
    assert (document.title, document.text) == ("T", "One.\n\nTwo.")


def test_rule_later_in_the_page_is_no_front_matter(tmp_path: Path) -> None:
    """Only a first line of three dashes opens front matter."""
    (document,) = read_corpus(write(tmp_path, a="One.\n\n---\n\nTwo."))
    assert document.text == "One.\n\n---\n\nTwo."


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("---\ntitle: T\n\nText.", r"a\.md line 1: the front matter starts with --- but is never closed\. Close it"),
        ("---\ntitle: a: b\n---\nText.", r"a\.md line 2: the front matter is not valid YAML: .*\. Put the value"),
        ("---\njust words\n---\nText.", r"a\.md line 2: the front matter must be a mapping, got str\. Write key"),
        ("---\ntitle: [a]\n---\nText.", r"a\.md: title must be text, got list\."),
        ("---\nupdated_at: spring\n---\nText.", r"a\.md: updated_at must be an ISO date, got 'spring'\. Write it as"),
    ],
)
def test_bad_page(tmp_path: Path, page: str, message: str) -> None:
    """A page that cannot be read is named with its line, what was found and what to do."""
    with pytest.raises(DataError, match=message):
        read_corpus(write(tmp_path, a=page))


def test_not_utf8(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are reported with their place."""
    (tmp_path / "a.md").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"a\.md: expected UTF-8, got byte 0xe9 at offset 3\."):
        read_corpus(tmp_path)


def test_bad_folder(tmp_path: Path) -> None:
    """A path that leads nowhere and a folder without pages are told apart."""
    with pytest.raises(DataError, match="no such file or folder"):
        read_corpus(tmp_path / "none")
    with pytest.raises(DataError, match="no text file"):
        read_corpus(tmp_path)


ROWS: list[dict[str, object]] = [
    {"_id": "d1", "title": "Hours", "text": "Nine.", "updated_at": "2025-03-31", "kind": "policy"},
    {"_id": 2, "text": "Ten."},
]
READ = (Document("d1", "Hours", "Nine.", "2025-03-31", None, "policy"), Document("2", "", "Ten."))


def sources(folder: Path) -> dict[str, object]:
    """One corpus in every form."""
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (folder / "corpus.jsonl").write_text(lines)
    (folder / "README.md").write_text("Not a document of a BEIR folder.")
    (folder / "packed").mkdir()
    (folder / "packed" / "corpus.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    table = ("doc_id,title,text,updated_at,kind", "d1,Hours,Nine.,2025-03-31,policy", "2,,Ten.,,")
    (folder / "pages.csv").write_text("\n".join(table))
    pl.DataFrame([{**row, "_id": str(row["_id"])} for row in ROWS]).write_parquet(folder / "pages.parquet")
    return {
        "file": folder / "corpus.jsonl",
        "BEIR folder": str(folder),
        "packed": folder / "packed",
        "csv": folder / "pages.csv",
        "parquet": folder / "pages.parquet",
        "rows": ROWS,
    }


@pytest.mark.parametrize("form", ["file", "BEIR folder", "packed", "csv", "parquet", "rows"])
def test_a_corpus_in_any_form_is_the_same(tmp_path: Path, form: str) -> None:
    """File, BEIR folder (its other pages aside), table and rows give equal documents; ids may be numbers."""
    assert read_corpus(sources(tmp_path)[form]) == READ


def test_empty_documents_stay(tmp_path: Path) -> None:
    """A document without title and text is a document with an empty text, in a file as in a folder."""
    assert read_corpus({"a": "A.", "b": ""}) == (Document("a", "", "A."), Document("b", "", ""))
    (tmp_path / "c.jsonl").write_text('{"_id": "a", "text": "A"}\n{"_id": "b", "title": "", "text": ""}\n')
    assert [one.text for one in read_corpus(tmp_path / "c.jsonl")] == ["A", ""]
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "empty.md").write_text("---\ntitle: T\n---\n\n")
    (tmp_path / "pages" / "full.md").write_text("Text.")
    assert [one.text for one in read_corpus(tmp_path / "pages")] == ["", "Text."]
    assert read_texts(tmp_path / "pages")["full"] == "Text."


def test_one_page_is_a_corpus(tmp_path: Path) -> None:
    """A single text file is a corpus of one document; every character of it counts where offsets do."""
    (tmp_path / "hub.md").write_text("# The hub\n\nIt is grey.\n")
    assert read_corpus(tmp_path / "hub.md") == (Document("hub", "The hub", "# The hub\n\nIt is grey."),)
    assert read_texts(str(tmp_path / "hub.md")) == {"hub": "# The hub\n\nIt is grey.\n"}
    (tmp_path / "blank.md").write_text("\n")
    for read in (read_texts, read_corpus):
        with pytest.raises(DataError, match=r"blank\.md: none of its documents has text"):
            read(tmp_path / "blank.md")


def test_pages_beside_a_corpus_file_are_told(tmp_path: Path) -> None:
    """A folder with corpus.jsonl is read from that alone; what else looks like a document there is named."""
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "A"}\n')
    (tmp_path / "README.md").write_text("About this folder.")
    assert len(read_corpus(tmp_path)) == 1
    (tmp_path / "hub.md").write_text("The hub is grey.")
    with pytest.warns(UserWarning, match=r"only corpus\.jsonl is read; skipped: hub\.md\. If these"):
        assert len(read_corpus(tmp_path)) == 1


def test_a_mapping_is_a_corpus() -> None:
    """Texts by id are documents without titles, in the mapping's order."""
    assert read_corpus({"b": "One.", "a": "Two."}) == (Document("b", "", "One."), Document("a", "", "Two."))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            b'{"_id": "a", "text": "A"}\n\n{"_id": "a", "text": "B"}',
            r"c\.jsonl line 3: has the same doc_id as line 1: 'a'",
        ),
        (b'{"_id": "a", "text": ""}\n{"_id": "b", "text": " "}\n', r"c\.jsonl: none of its documents has text"),
        (b'{"_id": " ", "text": "A"}\n', r"c\.jsonl line 1: no document with an id and text \(found: _id, text\)"),
        (b'{"_id": "a", "text": "caf\xe9"}\n', r"c\.jsonl line 1: byte 0xE9 at position 26 is not UTF-8"),
        (b"doc_id,text\n", r"c\.jsonl"),
    ],
)
def test_bad_corpus_file(tmp_path: Path, lines: bytes, message: str) -> None:
    """A repeated id, blank documents alone, one without id and bytes that are not UTF-8 are named with their line."""
    (tmp_path / "c.jsonl").write_bytes(lines)
    with pytest.raises(DataError, match=message):
        read_corpus(tmp_path / "c.jsonl")


def test_bad_texts_in_memory() -> None:
    """What is handed over in memory is held to the same rules, and its place is counted."""
    for source, message in (
        ({"a": "", "b": ""}, "corpus: none of its documents has text"),
        ({"a": None}, "corpus document 1: no document with an id and text"),
        ({}, "it contains no documents"),
        (7, "cannot read a corpus"),
    ):
        with pytest.raises(DataError, match=message):
            read_corpus(source)


def test_a_document_has_an_id_and_a_text() -> None:
    """A document that labels cannot name, and one whose text is no string, cannot be made."""
    with pytest.raises(DataError, match="doc_id must not be blank"):
        Document(" ", "", "Text.")
    with pytest.raises(DataError, match="text must be a string, got NoneType"):
        Document("a", "", cast(str, None))


def test_texts_of_some_documents(tmp_path: Path) -> None:
    """Every form gives the texts of the documents that are asked for, and leaves out those that it does not have."""
    for form, source in sources(tmp_path).items():
        assert read_document_texts(source, {"2", "d9"}) == {"2": "Ten."}, form
    (tmp_path / "corpus.jsonl").unlink()
    assert read_document_texts(tmp_path, {"README"}) == {"README": "Not a document of a BEIR folder."}


def test_labels_may_call_a_document_by_its_file_name() -> None:
    """guides/a.md names the document guides/a, unless a document or another label has that very name."""
    assert match_label_names(["guides/a", "b"], ["guides/a.md", "b"]) == {"guides/a": "guides/a.md"}
    assert match_label_names(["a", "a.md"], ["a.md"]) == {}
    assert match_label_names(["a"], ["a.md", "a"]) == {}
    assert match_label_names(["a"], ["c.txt", "a.pdf"]) == {}


def test_relevant_takes_ids_not_a_text() -> None:
    """A text in place of the members of a group is refused with what to write."""
    with pytest.raises(DataError, match=r"Write \('doc',\)"):
        Relevant("doc")  # type: ignore[arg-type] # the mistake


def test_crlf_is_one_character_and_told(tmp_path: Path) -> None:
    """Offsets count a CRLF as one character, as read_text does; files that have it are counted in one warning."""
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_bytes(b"One.\r\nTwo.")
    (tmp_path / "c.md").write_bytes(b"One.\nTwo.")
    with pytest.warns(UserWarning, match=r"2 text files with CRLF line ends, such as a\.md") as told:
        assert set(read_texts(tmp_path).values()) == {"One.\nTwo."}
    assert len(told) == 1
