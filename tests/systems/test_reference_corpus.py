"""Folders of Markdown read as documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragauge.errors import DataError
from ragauge.systems.reference.corpus import Document, load_folder


def write(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.md").write_bytes(text.encode())
    return folder


def test_front_matter_is_read(tmp_path: Path) -> None:
    """Title, date, kind and successor come from the front matter, and the body is what follows it, stripped."""
    front = "---\ntitle: Opening hours\nkind: policy\nupdated_at: 2025-03-31\nsuperseded_by: b\nowner: x\n---\n"
    (document,) = load_folder(write(tmp_path, a=f"{front}\n# Hours\n\nNine.\n\n"))
    assert document == Document("a", "Opening hours", "# Hours\n\nNine.", "2025-03-31", "b", "policy")


def test_title_without_front_matter(tmp_path: Path) -> None:
    """Without front matter the first heading is the title, and without a heading the file's name is."""
    first, second = load_folder(write(tmp_path, a="Text.\n\n## Opening hours ##\n", b="Text only.\n"))
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
    assert [document.doc_id for document in load_folder(str(tmp_path))] == ["a", "b", "c", "folder.md/d", "notes"]


def test_two_files_of_one_name(tmp_path: Path) -> None:
    """Two files that differ in their ending only would be one document, which is said."""
    write(tmp_path, a="A.")
    (tmp_path / "a.txt").write_text("Other.")
    with pytest.raises(DataError, match=r"a\.txt: has the doc_id of a\.md"):
        load_folder(tmp_path)


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    """A page written on Windows is read as the same page."""
    (document,) = load_folder(write(tmp_path, a="\ufeff---\r\ntitle: T\r\n---\r\nOne.\r\n\r\nTwo.\r\n"))
    assert (document.title, document.text) == ("T", "One.\n\nTwo.")


def test_rule_later_in_the_page_is_no_front_matter(tmp_path: Path) -> None:
    """Only a first line of three dashes opens front matter."""
    (document,) = load_folder(write(tmp_path, a="One.\n\n---\n\nTwo."))
    assert document.text == "One.\n\n---\n\nTwo."


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("---\ntitle: T\n\nText.", r"a\.md line 1: the front matter is opened with --- and never closed\. Close it"),
        ("---\ntitle: a: b\n---\nText.", r"a\.md line 2: the front matter is not valid YAML: .*\. Put the value"),
        ("---\njust words\n---\nText.", r"a\.md line 2: the front matter must be a mapping, got str\. Write key"),
        ("---\ntitle: [a]\n---\nText.", r"a\.md: title must be text, got list\."),
        ("---\nupdated_at: spring\n---\nText.", r"a\.md: updated_at must be an ISO date, got 'spring'\. Write it as"),
        ("---\ntitle: T\n---\n\n", r"a\.md: the page has no text\."),
    ],
)
def test_bad_page(tmp_path: Path, page: str, message: str) -> None:
    """A page that cannot be read is named with its line, what was found and what to do."""
    with pytest.raises(DataError, match=message):
        load_folder(write(tmp_path, a=page))


def test_not_utf8(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are reported with their place."""
    (tmp_path / "a.md").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"a\.md: expected UTF-8, got byte 0xe9 at offset 3\."):
        load_folder(tmp_path)


def test_bad_folder(tmp_path: Path) -> None:
    """A path that is no folder and a folder without pages are told apart."""
    with pytest.raises(DataError, match="not a folder"):
        load_folder(tmp_path / "none")
    with pytest.raises(DataError, match="no text file"):
        load_folder(tmp_path)
