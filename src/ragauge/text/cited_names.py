"""How the passages of one answer may be named in it: by number, id or file, or as they are labeled in their own text.

A label stands at the head of a passage's text ([34] …, a.pdf#page=7: …) or within it, as a key or id of JSON and at the
start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from ragauge.core.response import Passage
from ragauge.text.sentences import SOURCE

# "Source: ", "doc #", "passage no. "
SOURCE_WORD = re.compile(rf"{SOURCE}\s*(?:no\.?\s|nr\.?\s|ids?\b)?(?:\s*[:#=]\s*|\s+|(?=\d))", re.IGNORECASE)
OPENING, CLOSING = " \t\r\n[({【（<#*", ("]", ")", "}", "】", "）", ">", ":", "：", "|", "\n")
HEAD_CHARS = 300  # within which the label at the head of a text stands
HEAD_NUMBER = re.compile(r"(\d{1,3})\s*(?:[\])】）>|](?!\w)|[:：]\s)")
RECORD = re.compile(r"\S*\d\S*")
NUMBER, LETTER, TEXT_ID = re.compile(r"\d+"), re.compile(r"[^\W\d_]"), "text:"
ANCHOR = re.compile(r"[#?]")  # parts a file from a page or place in it


class PassageNames:
    """Finds the passage that a name or number means.

    Args:
        passages: of one answer, in their order.
        first: number of the first passage where they are counted: 1 or 0.
        by_label: whether labels in the texts count; not where the passages were numbered when they were handed on.
    """

    def __init__(self, passages: Sequence[Passage], first: int = 1, *, by_label: bool = True) -> None:
        self._passages, self._first, self._by_label = passages, first, by_label
        self._defined: Mapping[int, str] = {}

    def set_source_list(self, numbers: Mapping[int, str]) -> None:
        """Takes what numbers mean by the answer's own list of sources; number -> id."""
        self._defined = numbers

    def find_by_name(self, name: str, *, by_id: bool = False) -> str | None:
        """The id that a name means, by id or file alone or by label too; None where it names nothing."""
        folded = name.strip().casefold()
        for form in dict.fromkeys((folded, ANCHOR.split(folded, maxsplit=1)[0].strip())):
            passage_id = self._ids_by_name.get(form) or (None if by_id else self._find_by_label(form))
            if passage_id is not None:
                return passage_id
        return self._find_by_record_key(name.strip()) if not by_id and RECORD.fullmatch(name.strip()) else None

    def is_like_id(self, name: str) -> bool:
        """Whether a name differs from an id in its digits alone, such as doc-9 where there is a doc-3."""
        return NUMBER.sub("0", name.casefold()) in self._id_shapes

    def number(self, n: int) -> str:
        """The id that a number means: by the list of sources or label, else by place, id or key; else as written."""
        labeled = self._defined.get(n) or self._head_numbers.get(n)
        if labeled is not None:
            return labeled
        index = n - self._first
        if 0 <= index < len(self._passages):
            return self._passages[index].passage_id
        return self._ids_by_name.get(str(n)) or self._find_by_record_key(str(n)) or f"[{n}]"

    @cached_property
    def _ids_by_name(self) -> Mapping[str, str]:
        """Id in lower case -> the id; a document's file name too, where one document has it."""
        by_name: dict[str, str] = {}
        for passage in reversed(self._passages):
            by_name |= {name.casefold(): name for name in (passage.doc_id, passage.passage_id)}
        files: dict[str, set[str]] = {}
        for doc_id in {passage.doc_id for passage in self._passages}:
            files.setdefault(re.split(r"[/\\]", doc_id)[-1].casefold(), set()).add(doc_id)
        return {
            **{name: next(iter(doc_ids)) for name, doc_ids in files.items() if name and len(doc_ids) == 1},
            **by_name,
        }

    @cached_property
    def _id_shapes(self) -> frozenset[str]:
        """Ids of letters and digits, each number in them as 0."""
        shapes = {NUMBER.sub("0", name) for name in self._ids_by_name if not name.startswith(TEXT_ID)}
        return frozenset(shape for shape in shapes if "0" in shape and LETTER.search(shape))

    @cached_property
    def _text_heads(self) -> list[tuple[str, str]]:
        """(head of the text in lower case, passage_id) of every passage that has a text."""
        if not self._by_label:
            return []
        return [
            (passage.text[:HEAD_CHARS].lstrip(OPENING).casefold(), passage.passage_id)
            for passage in self._passages
            if passage.text
        ]

    @cached_property
    def _head_numbers(self) -> Mapping[int, str]:
        """Number -> passage_id where all passages are headed by one, each by another; else nothing."""
        numbers: dict[int, str] = {}
        for head, passage_id in self._text_heads:
            match = HEAD_NUMBER.match(head, _find_name_start(head))
            if match is None:
                return {}
            numbers[int(match[1])] = passage_id
        return numbers if len(numbers) == len(self._passages) else {}

    def _find_by_label(self, name: str) -> str | None:
        """The passage whose text is headed by a name."""
        for head, passage_id in self._text_heads:
            for start in (0, _find_name_start(head)):
                if name and head.startswith(name, start) and head[start + len(name) :].lstrip(" ").startswith(CLOSING):
                    return passage_id
        return None

    def _find_by_record_key(self, name: str) -> str | None:
        """The passage whose text holds a name as the key of a record, as an id, or at the start of a line."""
        if not self._by_label:
            return None
        matching = [passage for passage in self._passages if passage.text and name in passage.text]
        if not matching:
            return None
        escaped = re.escape(name)
        value = "" if name.isdigit() else r"\s*[\[{]"
        pattern = re.compile(
            rf"""["']{escaped}["']\s*:{value}                      # "34": …
            |(?:\b|_)ids?["']?\s*[:=]\s*["']?{escaped}(?![\w.])    # id: 34
            |^\s*[\[({{【（<\#]*(?:{SOURCE}\s*[:\#]?\s*)?{escaped}[\])}}】）>:：]    # [34] …
            """,
            re.VERBOSE | re.IGNORECASE | re.MULTILINE,
        )
        return next((passage.passage_id for passage in matching if pattern.search(passage.text or "")), None)


def _find_name_start(head: str) -> int:
    """Where the name or number at the head of a text begins, behind a word for a source."""
    match = SOURCE_WORD.match(head)
    return 0 if match is None else match.end()
