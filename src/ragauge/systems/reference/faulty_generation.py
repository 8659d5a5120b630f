"""Faults of a generator. Retrieval stays as it was: passages and candidates are those of the honest response."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from ragauge.data.example import Example
from ragauge.data.response import Citation, Response
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.systems.reference.faults import Answering, Fault, chance
from ragauge.text.tokens import ENGLISH, count

INVENTIONS = (
    "This concerned {n} customers in the last year.",
    "In a test the value was {n}.",
    "Before that the limit was {n}.",
    "On average {n} teams ask for this every month.",
    "An upgrade raises the figure to {n}.",
)
BOILERPLATE = (
    "Please make sure that you have the latest version and try again.",
    "Most problems of this kind disappear after a restart.",
    "Thank you for your question, our team is always happy to assist.",
    "Good planning is important for every successful project.",
)
FIGURES = re.compile(r"\d+")
# digits that are no part of a code, a decimal number, a version or a time of day
QUANTITY = re.compile(r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w]|[.,:/-]\d)")
YEAR = re.compile(r"(?:19|20)\d\d")
MONTH = re.compile(r" (?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
WORD_BEFORE = re.compile(r"(\w+) $")
NUMBERED = frozenset({"version", "firmware", "client", "release", "severity"})     # what is named by a number


@dataclass(frozen=True, slots=True)
class InventNumber(Fault):
    """The honest answer goes on with a sentence whose number stands in no passage and not in the question.

    Nothing to spoil in a refusal.
    """

    name: ClassVar[str] = "invent_number"
    causes: ClassVar[tuple[str, ...]] = ("hallucinated",)

    def spoil(self, example: Example, honest: Response, _system: Answering, /) -> Response | None:
        """The honest response with one sentence more, which cites nothing."""
        if not answers(honest):
            return None
        sentence = INVENTIONS[int(chance(self.seed, "sentence", example.query_id) * len(INVENTIONS))]
        known = _numbers_known(example, honest)
        start = 120 + int(chance(self.seed, "number", example.query_id) * 800)
        number = next(n for n in range(start, start + len(known) + 1) if n not in known)
        return rewritten(honest, f"{honest.answer} {sentence.format(n=number)}", honest.citations)


@dataclass(frozen=True, slots=True)
class ChangeNumber(Fault):
    """One quantity of the honest answer is another one, which stands in no passage and not in the question.

    Nothing to spoil in a refusal or an answer without a quantity.
    """

    name: ClassVar[str] = "change_number"
    causes: ClassVar[tuple[str, ...]] = ("contradicted", "hallucinated")

    def spoil(self, example: Example, honest: Response, _system: Answering, /) -> Response | None:
        """The honest response with one number changed; citations stay on their words."""
        answer = honest.answer or ""
        found = [] if not answers(honest) else _quantities(answer)
        if not found:
            return None
        match = found[int(chance(self.seed, "which", example.query_id) * len(found))]
        true = int(match.group().replace(",", ""))
        known = _numbers_known(example, honest)
        step = max(1, true // 3)
        false = next(n for n in range(true + step, true + step + len(known) + 1) if n not in known)
        shown = f"{false:,}" if "," in match.group() else str(false)
        shift = len(shown) - len(match.group())
        moved = None if honest.citations is None else tuple(_moved(c, match.end(), shift) for c in honest.citations)
        return rewritten(honest, answer[: match.start()] + shown + answer[match.end() :], moved)


@dataclass(frozen=True, slots=True)
class IgnorePassages(Fault):
    """The answer has nothing to do with the passages: it is another question's, or boilerplate.

    About half of the struck questions get the honest answer to one of the donors, from documents that were not handed
    on here; the others, or all where no donor fits, get two sentences of boilerplate. Nothing is cited.
    Nothing to spoil in a refusal.

    Attributes:
        donors: other questions, whose answers may be used.
    """

    donors: tuple[str, ...] = ()

    name: ClassVar[str] = "ignore_passages"
    causes: ClassVar[tuple[str, ...]] = ("off_topic", "ignored", "hallucinated")

    def spoil(self, example: Example, honest: Response, system: Answering, /) -> Response | None:
        """The honest response with another answer."""
        if not answers(honest):
            return None
        borrowed = None
        if chance(self.seed, "kind", example.query_id) < 0.5:
            borrowed = self._borrowed(example, honest, system)
        first = int(chance(self.seed, "boilerplate", example.query_id) * len(BOILERPLATE))
        boilerplate = f"{BOILERPLATE[first]} {BOILERPLATE[(first + 1) % len(BOILERPLATE)]}"
        return rewritten(honest, borrowed or boilerplate, ())

    def _borrowed(self, example: Example, honest: Response, system: Answering) -> str | None:
        """A donor's answer; each in turn from a drawn one on."""
        here = {passage.doc_id for passage in honest.passages or ()}
        start = int(chance(self.seed, "donor", example.query_id) * len(self.donors))
        for donor in (*self.donors[start:], *self.donors[:start]):
            theirs = system.respond(Example(example.query_id, donor))
            if answers(theirs) and here.isdisjoint(passage.doc_id for passage in theirs.passages or ()):
                return theirs.answer
        return None


def answers(response: Response) -> bool:
    """Whether there is an answer, and no refusal."""
    return bool(response.answer) and response.answer != REFUSAL


def _numbers_known(example: Example, honest: Response) -> set[int]:
    """Every run of figures in the question and the passages, and every number written with separators."""
    texts = [example.query, honest.answer or "", *(passage.text or "" for passage in honest.passages or ())]
    plain = [*texts, *(text.replace(",", "") for text in texts)]
    return {int(figures) for text in plain for figures in FIGURES.findall(text)}


def _quantities(answer: str) -> list[re.Match[str]]:
    """Numbers that say how many: no year, no day of a month, no part of a name such as Hub 3."""
    return [match for match in QUANTITY.finditer(answer) if not _names_something(answer, match)]


def _names_something(answer: str, match: re.Match[str]) -> bool:
    if YEAR.fullmatch(match.group()) or MONTH.match(answer, match.end()):
        return True
    before = WORD_BEFORE.search(answer, 0, match.start())
    if before is None:
        return False
    word = before.group(1)
    return word in NUMBERED or (word[0].isupper() and word.lower() not in ENGLISH)


def _moved(citation: Citation, at: int, shift: int) -> Citation:
    start = citation.start + (shift if citation.start >= at else 0)
    return replace(citation, start=start, end=citation.end + (shift if citation.end >= at else 0))


def rewritten(honest: Response, answer: str, citations: tuple[Citation, ...] | None) -> Response:
    """The honest response with another answer."""
    tokens = {**honest.tokens, "output": count(answer)} if honest.tokens else honest.tokens
    return replace(honest, answer=answer, citations=citations, tokens=tokens)
