"""Further faults of a generator. Passages and candidates stay as they were in the honest response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tests.faults.reference_faults import Fault, FaultTarget, has_answer, replace_answer

from ragauge.core.example import Example
from ragauge.core.response import Response
from ragauge.systems.reference.extractive import REFUSAL


@dataclass(frozen=True, slots=True)
class IgnoreFirst(Fault):
    """The generator does not read the first passage; the response records it all the same.

    Nothing to spoil in a refusal, or where the answer is the same without the first passage.
    """

    name: ClassVar[str] = "ignore_first"
    causes: ClassVar[tuple[str, ...]] = ("off_topic", "wrong_refusal", "incomplete", "ignored")

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The answer from the passages without the first."""
        if not has_answer(honest):
            return None
        spoilt = system.respond_from(example, (honest.passages or ())[1:])
        if spoilt.answer is None or spoilt.answer == honest.answer:
            return None
        return replace_answer(honest, spoilt.answer, spoilt.citations)


@dataclass(frozen=True, slots=True)
class AnswerAnyway(Fault):
    """A question that the documents cannot answer is answered from what was found, however little it fits.

    Nothing to spoil where the question is not known to be unanswerable, was answered anyway, or nothing was found.
    """

    name: ClassVar[str] = "answer_anyway"
    causes: ClassVar[tuple[str, ...]] = ("missed_refusal",)

    def inject_fault(self, example: Example, honest: Response, system: FaultTarget, /) -> Response | None:
        """The best sentences there are, without a threshold."""
        if example.answerable is not False or has_answer(honest) or not honest.passages:
            return None
        retrieval_ms = honest.latency_ms.get("retrieval", 0.0)
        spoilt = system.respond_from(example, honest.candidates or (), retrieval_ms=retrieval_ms, may_refuse=False)
        return spoilt if has_answer(spoilt) else None


@dataclass(frozen=True, slots=True)
class RefuseAnyway(Fault):
    """A refusal where there is an answer. Nothing to spoil where the question is unanswerable or was refused anyway."""

    name: ClassVar[str] = "refuse_anyway"
    causes: ClassVar[tuple[str, ...]] = ("wrong_refusal",)

    def inject_fault(self, example: Example, honest: Response, _system: FaultTarget, /) -> Response | None:
        """The honest response with a refusal for an answer."""
        if example.answerable is False or not has_answer(honest):
            return None
        return replace_answer(honest, REFUSAL, ())
