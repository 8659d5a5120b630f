"""Faults planted in a system on purpose, so that what an evaluation finds can be checked against what was broken.

Faults of a generator. Retrieval stays as it was: passages and candidates are those of the honest response.

Faults of a retriever. The generator stays honest: it answers from what is left.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

from ragauge.core.errors import UsageError
from ragauge.core.example import Example
from ragauge.core.response import Citation, Passage, Response
from ragauge.systems.reference.extractive import REFUSAL
from ragauge.text.tokens import ENGLISH, count_tokens


class FaultTarget(Protocol):
    """A system that a fault can be planted in; `ReferenceRag` is one."""

    def respond(self, example: Example) -> Response:
        """The honest answer, with candidates."""

    def respond_from(
        self, example: Example, candidates: Sequence[Passage], *, retrieval_ms: float = 0.0, may_refuse: bool = True
    ) -> Response:
        """The answer from a ranking that is handed in."""


def draw_share(seed: int, *labels: str) -> float:
    """A number in [0, 1) that depends on the seed and the words alone: the same on every machine and in any order."""
    mixed = hashlib.sha256("\x1f".join((str(seed), *labels)).encode()).digest()
    return int.from_bytes(mixed[:8], "big") / 2**64


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break an answer, and the questions that it strikes.

    Attributes:
        share: of the questions in `segments`, how many are struck; each is drawn by itself from seed and query_id.
        seed: of that draw.
        segments: column -> values; a question is struck only if it has one of the values in every column named.

    Class facts:
        name: what is recorded as planted.
        causes: the causes of a failure that a diagnosis may rightly name, the likeliest first.
    """

    share: float = 1.0
    seed: int = 0
    segments: Mapping[str, Collection[str]] = field(default_factory=dict)

    name: ClassVar[str]
    causes: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise UsageError(f"{type(self).__name__}: share must lie between 0 and 1, got {self.share}.")

    def is_struck(self, example: Example) -> bool:
        """Whether this question is to be spoilt."""
        inside = all(example.segments.get(column) in values for column, values in self.segments.items())
        return inside and draw_share(self.seed, self.name, example.query_id) < self.share

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The spoilt response; None where there is nothing to spoil, such as a number to change."""
        raise NotImplementedError


class FaultySystem:
    """A system whose answers are spoilt for some questions.

    Of several faults that strike a question, the first that can spoil its answer wins, alone.

    Args:
        system: what is honest.
        faults: tried in this order.
    """

    def __init__(self, system: FaultTarget, faults: Sequence[Fault] = ()) -> None:
        self._system = system
        self._faults = tuple(faults)
        self._planted: dict[str, str] = {}

    @property
    def planted_faults(self) -> Mapping[str, str]:
        """query_id -> name of the fault, of the questions answered so far; one that was not spoilt is absent."""
        return MappingProxyType(self._planted)

    def respond(self, example: Example) -> Response:
        """The system's answer, spoilt or not."""
        honest = self._system.respond(example)
        for fault in self._faults:
            faulty = fault.inject_fault(example, honest, self._system) if fault.is_struck(example) else None
            if faulty is not None:
                self._planted[example.query_id] = fault.name
                return faulty
        self._planted.pop(example.query_id, None)
        return honest


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
DIGIT_RUN = re.compile(r"\d+")
# digits that are no part of a code, a decimal number, a version or a time of day
QUANTITY = re.compile(r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w]|[.,:/-]\d)")
YEAR = re.compile(r"(?:19|20)\d\d")
MONTH = re.compile(r" (?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
WORD_BEFORE = re.compile(r"(\w+) $")
NUMBERED_THINGS = frozenset({"version", "firmware", "client", "release", "severity"})  # what is named by a number


@dataclass(frozen=True, slots=True)
class InventNumber(Fault):
    """The honest answer goes on with a sentence whose number stands in no passage and not in the question.

    Nothing to spoil in a refusal.
    """

    name: ClassVar[str] = "invent_number"
    causes: ClassVar[tuple[str, ...]] = ("hallucinated",)

    def inject_fault(self, example: Example, honest: Response, _system: FaultTarget, /) -> Response | None:
        """The honest response with one sentence more, which cites nothing."""
        if not has_answer(honest):
            return None
        sentence = INVENTIONS[int(draw_share(self.seed, "sentence", example.query_id) * len(INVENTIONS))]
        existing = _collect_numbers(example, honest)
        start = 120 + int(draw_share(self.seed, "number", example.query_id) * 800)
        number = next(n for n in range(start, start + len(existing) + 1) if n not in existing)
        return replace_answer(honest, f"{honest.answer} {sentence.format(n=number)}", honest.citations)


@dataclass(frozen=True, slots=True)
class ChangeNumber(Fault):
    """One quantity of the honest answer is another one, which stands in no passage and not in the question.

    Nothing to spoil in a refusal or an answer without a quantity.
    """

    name: ClassVar[str] = "change_number"
    causes: ClassVar[tuple[str, ...]] = ("contradicted", "hallucinated")

    def inject_fault(self, example: Example, honest: Response, _system: FaultTarget, /) -> Response | None:
        """The honest response with one number changed; citations stay on their words."""
        answer = honest.answer or ""
        quantities = [] if not has_answer(honest) else _find_quantities(answer)
        if not quantities:
            return None
        match = quantities[int(draw_share(self.seed, "which", example.query_id) * len(quantities))]
        true = int(match.group().replace(",", ""))
        existing = _collect_numbers(example, honest)
        step = max(1, true // 3)
        false = next(n for n in range(true + step, true + step + len(existing) + 1) if n not in existing)
        number_text = f"{false:,}" if "," in match.group() else str(false)
        shift = len(number_text) - len(match.group())
        moved = (
            None
            if honest.citations is None
            else tuple(_shift_citation(c, match.end(), shift) for c in honest.citations)
        )
        return replace_answer(honest, answer[: match.start()] + number_text + answer[match.end() :], moved)


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

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The honest response with another answer."""
        if not has_answer(honest):
            return None
        borrowed = None
        if draw_share(self.seed, "kind", example.query_id) < 0.5:
            borrowed = self._find_donor_answer(example, honest, system)
        first = int(draw_share(self.seed, "boilerplate", example.query_id) * len(BOILERPLATE))
        boilerplate = f"{BOILERPLATE[first]} {BOILERPLATE[(first + 1) % len(BOILERPLATE)]}"
        return replace_answer(honest, borrowed or boilerplate, ())

    def _find_donor_answer(self, example: Example, honest: Response, system: FaultTarget) -> str | None:
        """A donor's answer; each in turn from a drawn one on."""
        here = {passage.doc_id for passage in honest.passages or ()}
        start = int(draw_share(self.seed, "donor", example.query_id) * len(self.donors))
        for donor in (*self.donors[start:], *self.donors[:start]):
            theirs = system.respond(Example(example.query_id, donor))
            if has_answer(theirs) and here.isdisjoint(passage.doc_id for passage in theirs.passages or ()):
                return theirs.answer
        return None


def has_answer(response: Response) -> bool:
    """Whether there is an answer, and no refusal."""
    return bool(response.answer) and response.answer != REFUSAL


def _collect_numbers(example: Example, honest: Response) -> set[int]:
    """Every run of figures in the question and the passages, and every number written with separators."""
    texts = [example.query, honest.answer or "", *(passage.text or "" for passage in honest.passages or ())]
    variants = [*texts, *(text.replace(",", "") for text in texts)]
    return {int(figures) for text in variants for figures in DIGIT_RUN.findall(text)}


def _find_quantities(answer: str) -> list[re.Match[str]]:
    """Numbers that say how many: no year, no day of a month, no part of a name such as Hub 3."""
    return [match for match in QUANTITY.finditer(answer) if not _is_part_of_name(answer, match)]


def _is_part_of_name(answer: str, match: re.Match[str]) -> bool:
    if YEAR.fullmatch(match.group()) or MONTH.match(answer, match.end()):
        return True
    preceding = WORD_BEFORE.search(answer, 0, match.start())
    if preceding is None:
        return False
    word = preceding.group(1)
    return word in NUMBERED_THINGS or (word[0].isupper() and word.lower() not in ENGLISH)


def _shift_citation(citation: Citation, position: int, shift: int) -> Citation:
    start = citation.start + (shift if citation.start >= position else 0)
    return replace(citation, start=start, end=citation.end + (shift if citation.end >= position else 0))


def replace_answer(honest: Response, answer: str, citations: tuple[Citation, ...] | None) -> Response:
    """The honest response with another answer."""
    tokens = {**honest.tokens, "output": count_tokens(answer)} if honest.tokens else honest.tokens
    return replace(honest, answer=answer, citations=citations, tokens=tokens)


@dataclass(frozen=True, slots=True)
class DropGold(Fault):
    """The labelled documents are gone, as if they had never been indexed: what came after them moves up.

    No passage of a labelled document is left in passages or candidates. Nothing to spoil where there are no labels,
    or where none of the documents was found anyway.
    """

    name: ClassVar[str] = "drop_gold"
    causes: ClassVar[tuple[str, ...]] = ("retrieval_miss",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer from the ranking without the labelled documents."""
        gold = list_gold_documents(example)
        ranking = honest.candidates or ()
        remaining = [passage for passage in ranking if passage.doc_id not in gold]
        if len(remaining) == len(ranking):
            return None
        return answer_from_ranking(example, honest, remaining, system)


@dataclass(frozen=True, slots=True)
class PushGoldLow(Fault):
    """The labelled documents are found and ranked just below what the generator sees.

    Scores keep their places, so the ranking still descends. Nothing to spoil where there are no labels, where the
    generator saw none of the documents, or where too few others were found to fill their places.
    """

    name: ClassVar[str] = "push_gold_low"
    causes: ClassVar[tuple[str, ...]] = ("ranked_low",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer from the ranking with the labelled documents behind the first k others."""
        gold = list_gold_documents(example)
        ranking, k = honest.candidates or (), len(honest.passages or ())
        others = [passage for passage in ranking if passage.doc_id not in gold]
        pushed = [passage for passage in ranking if passage.doc_id in gold]
        if len(others) < k or not any(passage.doc_id in gold for passage in ranking[:k]):
            return None
        moved = [*others[:k], *pushed, *others[k:]]
        scored = [replace(passage, score=original.score) for passage, original in zip(moved, ranking, strict=True)]
        return answer_from_ranking(example, honest, scored, system)


@dataclass(frozen=True, slots=True)
class FindNothing(Fault):
    """The retriever returns nothing at all. Nothing to spoil where it found nothing anyway."""

    name: ClassVar[str] = "find_nothing"
    causes: ClassVar[tuple[str, ...]] = ("empty_retrieval",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer without passages."""
        return answer_from_ranking(example, honest, (), system) if honest.passages else None


def list_gold_documents(example: Example) -> set[str]:
    """Documents that are labelled as holding the answer."""
    return {doc_id for item in example.relevant or () if item.grade > 0 for doc_id in item.doc_ids}


def answer_from_ranking(
    example: Example, honest: Response, ranking: Sequence[Passage], system: FaultTarget
) -> Response:
    """The answer from another ranking, found in the same time."""
    return system.respond_from(example, ranking, retrieval_ms=honest.latency_ms.get("retrieval", 0.0))
