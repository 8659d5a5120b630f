"""Citations that stand in the text of an answer: [1], [2, 3], [1-3], 【2】, [doc 2], (source 2), [Source: a.md].

A name is cited in brackets of any form, in parentheses where it looks like an id or a file, and in <cite>a.md</cite>.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragauge.core.response import Citation, Passage, Response
from ragauge.text.names import SOURCE_WORD, PassageNames
from ragauge.text.sentences import SOURCE, split_sentences
from ragauge.text.source_notes import find_footer, find_source_spans

NUMBER_RANGE = r"\^?\d{1,3}(?:\s?[-–]\s?\d{1,3})?"
NUMBER_LIST = rf"{NUMBER_RANGE}(?:\s{{0,3}}[,;]\s{{0,3}}{NUMBER_RANGE})*"
NUMBERS_ONLY, MARKER = re.compile(NUMBER_LIST), re.compile(rf"\[({NUMBER_LIST})\]")
NUMBERS = re.compile(r"(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?")
BRACKETS = re.compile(
    rf"\[(?P<square>[^\[\]\n]{{1,120}})\]|【(?P<wide>[^】\n]{{1,80}})】|\((?P<round>{SOURCE}\b[^()\n]{{1,80}})\)"
    rf"|\((?P<named>[^()\[\]\n]{{1,120}})\)|<(?P<tag>cite|{SOURCE})\b[^<>\n]{{0,80}}>(?P<tagged>[^<>\n]{{1,80}})</(?P=tag)>",
    re.IGNORECASE,
)
LOCATION = re.compile(r"(?:pp?\.|pages?|sections?|sec\.|§|lines?|chapters?|ch\.|s\.)\s*[\w.–-]+", re.IGNORECASE)
TRAILING_LOCATION = re.compile(rf"(?<=\S)[\s,]+{LOCATION.pattern}\Z", re.IGNORECASE)  # "a.pdf p. 7"
LEAD_IN = re.compile(r"(?:see(?: also)?|cf\.?|per|from|via)\s+", re.IGNORECASE)  # "(see a.pdf)"
LETTER_NUMBER = re.compile(r"[SDPCR](\d{1,3})")  # of "Source 3", "Document 3": [D3]
NOT_WORD = re.compile(r"[\d_./-]")  # what an id or file has and a plain word has not
SOURCE_LIST_LINE = re.compile(
    r"^[ \t>*-]*(?:\[\^?(\d{1,3})\]|(\d{1,3})[.)])[ \t]*:?[ \t]*([^\n]{1,200})$", re.MULTILINE
)
DAGGER = re.compile(r"(?:\d+:)?(\d{1,3})†(.*)")  # 【2†source】, 【4:2†a.md】
CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?<!`)(`{1,2})(?!`)[^\n]*?(?<!`)\1(?!`)", re.DOTALL)
WORD_BEFORE, LOOK_BACK_CHARS = re.compile(r"[\w.$]+(?:\[\w*\])*\Z"), 60
IN_CODE = re.compile(
    r"""\w\([^()\n]*\Z              # the argument of a call: f([1, 2])
    |[\w)\]"'](?:\s?=|[ ]+[+*/%<>]=?)\s?\Z     # an operand: x = [1, 2]
    |["']\s?:\s?\Z                  # a value of JSON: "a": [1, 2]
    |\bfor\s\w+\sin\s\Z|\breturn\s\Z|>>>\s\Z
    """,
    re.VERBOSE,
)
ELEMENT = re.compile(r"\s?=[^=]|\.\w|\(")  # after an index of code: an assignment, an attribute, a call
INDICES = re.compile(r"\A(?:\[\w*\])+")
NOTE = re.compile(r"(?:\A|\n)[ \t]{0,3}\Z")  # a footnote stands at the start of a line, with a colon: [^1]: ...
TAG, PLACE = re.compile(r"</?sup>"), re.compile(rf"[#?,]|\s{LOCATION.pattern}", re.IGNORECASE)
FROM_ZERO = re.compile(r"\b(\w+)\[0\]")
# what only code calls a list; English words may carry a citation, as in "tall[1]"
CODE_LIST_NAMES = frozenset(
    {
        "arg",
        "args",
        "argv",
        "arr",
        "cfg",
        "cols",
        "ctx",
        "df",
        "dict",
        "elem",
        "env",
        "idx",
        "kwargs",
        "lst",
        "mat",
        "nums",
        "obj",
        "params",
        "ptr",
        "res",
        "ret",
        "seq",
        "str",
        "tmp",
        "tuple",
        "vals",
        "vec",
    }
)
ZERO, UNKNOWN = re.compile(r"[\[【(]\^?0\s*[\])】,;–-]|<sup>0</sup>"), re.compile(r"\[[^\[\]]+\]")
MAX_RANGE_NUMBERS = 20  # numbers that a range may stand for; [1-200] is no citation of 200 passages


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A stretch of an answer that cites, and the ids that it names; a number of no passage as it is written."""

    start: int
    end: int
    targets: tuple[str, ...]


def add_answer_citations(response: Response, first: int | None = None) -> Response:
    """The response with the citations that stand in its answer.

    Each credits the sentence that it stands in. A number of no passage is kept as it is written, such as [9]: it is an
    invented citation. Citations that the system gave itself stay.

    Args:
        response: with answer and passages.
        first: number of the first passage; None = as `detect_first_number` has it for this answer.
    """
    if response.answer is None or response.passages is None or response.citations is not None:
        return response
    return replace(response, citations=find_citations(response.answer, response.passages, first))


def add_citations_if_cited(response: Response) -> Response:
    """As `add_answer_citations`, where the answer cites; another answer may be one of a system that does not cite."""
    return add_answer_citations(response) if has_citation(response.answer or "", response.passages or ()) else response


def has_citation(answer: str, passages: Sequence[Passage] = ()) -> bool:
    """Whether the answer holds a citation: by number, or by the id of one of these passages.

    >>> has_citation("It is 330 m tall [1]."), has_citation("Write `rows[1]`."), has_citation("See total_rows[1].")
    (True, False, False)
    >>> has_citation("It is tall [a.md]."), has_citation("It is tall [a.md].", [Passage("a.md", "a.md")])
    (False, True)
    """
    return next(_find_marks(answer, PassageNames(passages), passages), None) is not None


def detect_first_number(answers: Sequence[tuple[str, Sequence[Passage]]]) -> int:
    """The number of the first passage in answers that count alike: 0 where fewer numbers then name no passage, else 1.

    >>> [detect_first_number([(answer, [Passage("a", "a")])]) for answer in ("It is tall [0].", "It is tall [2].")]
    [0, 1]
    """
    from_zero = [(answer, passages) for answer, passages in answers if ZERO.search(answer)]
    if not from_zero:
        return 1
    unknown = [sum(count_citations(answer, passages, first)[0] for answer, passages in answers) for first in (0, 1)]
    return 0 if unknown[0] < unknown[1] else 1


def count_citations(answer: str, passages: Sequence[Passage], first: int = 1) -> tuple[int, int]:
    """How many of its citations name no passage, and how many citations an answer has."""
    marks = _find_marks(answer, PassageNames(passages, first), passages)
    targets = [target for mark in marks for target in mark.targets]
    return sum(map(is_unknown, targets)), len(targets)


def is_unknown(target: str) -> bool:
    """Whether a citation that was read from an answer names no passage: its number stays as it is written."""
    return UNKNOWN.fullmatch(target) is not None


def find_citations(
    answer: str, passages: Sequence[Passage], first: int | None = None, *, by_label: bool = True
) -> tuple[Citation, ...]:
    """The citations of an answer, by number, id or label.

    Args:
        answer: its text.
        passages: that it rests on.
        first: number of the first passage; None = as `detect_first_number` has it for this answer.
        by_label: whether labels in the passages' texts count.
    """
    first = detect_first_number([(answer, passages)]) if first is None else first
    marks = list(_find_marks(answer, PassageNames(passages, first, by_label=by_label), passages))
    sentences = [(sentence.start, sentence.end) for sentence in split_sentences(answer)] if marks else []
    starts, foot = [start for start, _ in sentences], find_footer(answer)
    out = []
    for mark in marks:
        index = bisect_right(starts, mark.start) - 1 if mark.start < foot else -1
        start, end = sentences[index] if index >= 0 else (0, len(answer))
        out += [Citation(start, max(end, mark.end), target) for target in mark.targets]
    return tuple(dict.fromkeys(out))


def find_citation_spans(answer: str, passages: Sequence[Passage]) -> tuple[tuple[int, int], ...]:
    """Characters [start, end) of an answer that cite, beyond those that `find_source_spans` finds in any text.

    >>> find_citation_spans("It is tall [a-1].", [Passage("a-1", "a-1")]), find_citation_spans("It is tall [1].", [])
    (((11, 16),), ())
    """
    marks = list(_find_marks(answer, PassageNames(passages), passages)) if passages else []
    note_spans = find_source_spans(answer) if marks else ()
    spans = ((mark.start, mark.end) for mark in marks)
    return tuple(span for span in spans if not any(first <= span[0] and span[1] <= last for first, last in note_spans))


def can_cite(answer: str) -> bool:
    """Whether the answer holds a bracket or tag of any kind: without one it cites nothing, whatever its passages."""
    return any(sign in answer for sign in "[【(（<")


def _find_marks(answer: str, names: PassageNames, passages: Sequence[Passage]) -> Iterator[CitationMark]:
    """What cites: not what stands in code, and not the text of a footnote."""
    if not can_cite(answer):
        return
    code = [match.span() for match in CODE.finditer(answer)]
    foot = find_footer(answer)
    if foot < len(answer):
        names.set_source_list(_parse_source_list(answer[foot:], names))
    marks = list(_find_bracket_marks(answer, code, names, passages))
    if passages:
        mark_ends = {mark.end for mark in marks}
        marks += [mark for mark in _find_other_marks(answer, code, names) if mark.end not in mark_ends]
    above = [mark for mark in marks if mark.start < foot]
    # a list of sources repeats what is cited above it; where nothing is, it is of the whole answer
    yield from sorted(above or marks, key=lambda mark: mark.start)


def _parse_source_list(source_list: str, names: PassageNames) -> dict[int, str]:
    """What numbers name by the list of sources below an answer: "[2] a.md"."""
    ids_by_number = {int(n or m): _resolve_name(name, names) for n, m, name in SOURCE_LIST_LINE.findall(source_list)}
    return {number: name for number, name in ids_by_number.items() if name is not None}


def _resolve_name(name: str, names: PassageNames, *, by_id: bool = False) -> str | None:
    """The passage that a name means, with a page or a word for a source beside it."""
    bare_name = SOURCE_WORD.sub("", LEAD_IN.sub("", name.strip(" ()[]（）."), count=1), count=1)
    file = PLACE.split(bare_name, maxsplit=1)[0]
    forms = (name.strip(), bare_name, TRAILING_LOCATION.sub("", bare_name), file, re.split(r"[/\\]", file)[-1])
    passage_ids = (names.find_by_name(form, by_id=by_id) for form in dict.fromkeys(filter(None, forms)))
    return next(filter(None, passage_ids), None)


def _find_other_marks(answer: str, code: Sequence[tuple[int, int]], names: PassageNames) -> Iterator[CitationMark]:
    """Marks of other forms, where they name a passage: (1), <sup>1</sup>, [a.pdf#page=7], (a.pdf, p. 3)."""
    foot = find_footer(answer)
    for start, end in find_source_spans(answer):
        if start >= foot or any(first <= start < last for first, last in code):
            continue
        inside = TAG.sub("", answer[start:end]).strip(" ()[]（）")
        name = SOURCE_WORD.sub("", inside, count=1)
        if NUMBERS_ONLY.fullmatch(name):
            if answer[start:end].lstrip()[:1] == "[":
                continue  # of `_find_bracket_marks`
            targets = tuple(_resolve_numbers(name, names))
        else:
            targets = tuple(filter(None, [_resolve_name(inside, names)]))
        if targets and not any(target.startswith("[") for target in targets):
            yield CitationMark(start, end, targets)


def _find_bracket_marks(
    answer: str, code: Sequence[tuple[int, int]], names: PassageNames, passages: Sequence[Passage]
) -> Iterator[CitationMark]:
    if "[" not in answer and "【" not in answer and not (passages and ("(" in answer or "</" in answer)):
        return
    starts = [start for start, _ in code]
    lists: set[str] | None = None
    for mark in BRACKETS.finditer(answer):
        index = bisect_right(starts, mark.start()) - 1
        if index >= 0 and mark.start() < code[index][1]:
            continue
        targets = _parse_targets(mark, names)
        if not targets:
            continue
        if lists is None:
            lists = {*FROM_ZERO.findall(answer), *(word for a, b in code for word in re.findall(r"\w+", answer[a:b]))}
        if mark["square"] is None or _is_citation(answer, mark, lists):
            yield CitationMark(mark.start(), mark.end(), targets)


def _parse_targets(match: re.Match[str], names: PassageNames) -> tuple[str, ...]:
    """What brackets name; nothing where they are no citation."""
    square, wide, parenthesized = match["square"], match["wide"], match["named"]
    inside = (square or wide or match["round"] or parenthesized or match["tagged"]).strip()
    if square is not None and NUMBERS_ONLY.fullmatch(inside):
        return tuple(_resolve_numbers(inside, names))
    dagger = DAGGER.fullmatch(inside) if wide is not None else None
    if dagger is not None:
        target = names.find_by_name(dagger[2])
        return (target,) if target else () if ":" in inside else tuple(_resolve_numbers(dagger[1], names))
    passage_id = names.find_by_name(inside) if match["round"] is None and parenthesized is None else None
    if passage_id is not None:
        return (passage_id,)
    has_source_word = SOURCE_WORD.match(inside) is not None or wide is not None or match["tag"] is not None
    out: list[str] = []
    for item in re.split(r"[,;]|\s(?:and|&)\s", inside):
        name = SOURCE_WORD.sub("", item.strip(), count=1)
        if out and LOCATION.fullmatch(name):
            continue
        targets = _resolve_item(item, name, names, has_source_word, match)
        if not targets:
            return ()
        out += targets
    return tuple(out)


def _resolve_item(item: str, name: str, names: PassageNames, has_source_word: bool, match: re.Match[str]) -> list[str]:
    """What one part of brackets names, `name` without the word for a source; nothing where it names nothing."""
    rounded = match["round"] is not None
    if match["named"] is not None:
        passage_id = (
            _resolve_name(item, names, by_id=True)
            if NOT_WORD.search(name) and not NUMBERS_ONLY.fullmatch(name)
            else None
        )
        return [passage_id] if passage_id else []
    if NUMBERS_ONLY.fullmatch(name):
        passage_id = None if has_source_word and NUMBERS_ONLY.fullmatch(item.strip()) else names.find_by_name(item)
        numbers = list(_resolve_numbers(name, names)) if has_source_word else []
        return [passage_id] if passage_id else [] if rounded and any(map(is_unknown, numbers)) else numbers
    passage_id = _resolve_name(item, names)
    if passage_id is not None or rounded:
        return [passage_id] if passage_id else []
    lettered = LETTER_NUMBER.fullmatch(name)
    target = names.number(int(lettered[1])) if lettered is not None else ""
    if target and not is_unknown(target):
        return [target]
    return [f"[{name}]"] if names.is_like_id(name) else []


def _resolve_numbers(inside: str, names: PassageNames) -> Iterator[str]:
    for first, last in NUMBERS.findall(inside):
        low, high = int(first), int(last or first)
        for n in range(low, high + 1) if low <= high < low + MAX_RANGE_NUMBERS else (low, high):
            yield names.number(n)


def _is_citation(answer: str, match: re.Match[str], lists: set[str]) -> bool:
    before, after = (
        answer[max(0, match.start() - LOOK_BACK_CHARS) : match.start()],
        answer[match.end() :][:LOOK_BACK_CHARS],
    )
    if (after[:1] == ":" and NOTE.search(before)) or IN_CODE.search(before):
        return False
    if (before[-1:] == "[") != (after[:1] == "]"):  # a row of a nested list: [[1, 2], [3, 4]]
        return False
    run = WORD_BEFORE.search(before)
    if run is None:
        return True
    # as in "tall[1]", which cites, and "rows_by_day[1]", "self.rows[1]", "x[1]" or "rows[1] = 3", which do not
    word = run[0].partition("[")[0]
    is_code_name = "_" in word or "$" in word or "." in word.strip(".0123456789") or re.search(r"[a-z][A-Z]", word)
    return not (
        is_code_name
        or word in CODE_LIST_NAMES
        or word in lists
        or len(word) == 1
        or ELEMENT.match(INDICES.sub("", after))
    )
