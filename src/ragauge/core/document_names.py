"""Ids of documents that differ by a folder or the ending of a file alone, such as docs/a.md, a.md and a."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$")


class FileName(NamedTuple):
    """An id read as the path of a file."""

    folders: tuple[str, ...]
    stem: str
    ending: str

    @classmethod
    def from_id(cls, doc_id: str) -> FileName:
        """The parts of an id; an ending begins with a letter and has five letters and digits at most."""
        *folders, name = doc_id.replace("\\", "/").removeprefix("./").split("/")
        ending = ENDING.search(name)
        return cls(tuple(folders), name[: ending.start()] if ending else name, ending[0] if ending else "")

    def is_same_file(self, other: FileName) -> bool:
        """Whether one says less than the other of the same file, and nothing else."""
        shorter, longer = sorted((self.folders, other.folders), key=len)
        same_folder = longer[len(longer) - len(shorter) :] == shorter
        return self.stem == other.stem and same_folder and (not self.ending or not other.ending or self[2] == other[2])


def match_document_names(labels: Collection[str], retrieved: Collection[str]) -> dict[str, str]:
    """Id of a retrieved document -> the label that means the same file by another name.

    Only where nothing else can be meant: one retrieved id and one label that are no other's.

    >>> match_document_names({"docs/a.md", "b", "c.md"}, {"a", "b.txt", "c.md", "x/d"})
    {'a': 'docs/a.md', 'b.txt': 'b'}
    >>> match_document_names({"en/a.md", "de/a.md"}, {"a"}), match_document_names({"a.md"}, {"a.pdf"})
    ({}, {})
    """
    by_stem: dict[str, list[tuple[str, FileName]]] = {}
    for label in set(labels):
        name = FileName.from_id(label)
        by_stem.setdefault(name.stem, []).append((label, name))
    ids_by_label: dict[str, list[str]] = {}
    labels_by_id: dict[str, list[str]] = {}
    for doc_id in set(retrieved):
        name = FileName.from_id(doc_id)
        for label, other in by_stem.get(name.stem, ()):
            if name.is_same_file(other):
                ids_by_label.setdefault(label, []).append(doc_id)
                labels_by_id.setdefault(doc_id, []).append(label)
    unique_matches = {
        doc_id: candidates[0] for doc_id, candidates in sorted(labels_by_id.items()) if len(candidates) == 1
    }
    return {
        doc_id: label for doc_id, label in unique_matches.items() if label != doc_id and len(ids_by_label[label]) == 1
    }
