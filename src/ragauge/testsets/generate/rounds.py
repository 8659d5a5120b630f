"""Writes a set: draws passages, has questions written, filters them, until there are enough or nothing new comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import ceil

from ragauge.core.curation import Anchor
from ragauge.core.example import Example, Span
from ragauge.store.store_access import Store
from ragauge.testsets.corpus_view import HUGE, CorpusView, difficulty
from ragauge.testsets.generate.draft import USUAL, Brief, Draft, QuestionType, SourcePassage
from ragauge.testsets.generate.free_filters import Known, fault_of
from ragauge.testsets.generate.judge_filters import BEST, Judging, all_checks, judged, unanswered
from ragauge.testsets.generate.plan import Shares, manners, pool, pools_of
from ragauge.testsets.generate.question_writer import (
    CostEstimate,
    Judge,
    ModelJudge,
    Session,
    asks_models,
    estimate_askings,
)
from ragauge.testsets.generate.source_samples import WINDOW, Drawing
from ragauge.testsets.generate.write_questions import write_questions
from ragauge.testsets.set_file import SetLine
from ragauge.testsets.stratified_sample import largest_remainders

A_CALL = 3  # questions
VAIN = 3  # calls in a row without a question kept that end a type
DECLINED = 30  # the same of calls in which the model finds the passages allow no such question
PASSED_BY = 1_000  # drawn passages in a row that allowed no such question before: then there are no others
WIDEN = 3  # times as many calls at once after a round that gave something
FIT = "These questions were written by a model. They are fit to compare retrievers, not generators (arXiv:2508.11758)."
ANSWER = "so long an answer as questions about one fact usually have"  # stands for answers not written yet


@dataclass(frozen=True)
class Wanted:
    """What is to be written.

    Attributes:
        n: how many questions.
        types: shares; empty = the usual ones that the corpus allows.
        seed: of the drawing.
        existing: of a set that is there; its questions are not written again.
        plan: persona, style, length, language -> wording -> share.
        documents: recent, niche -> how many of the questions.
    """

    n: int
    types: Mapping[QuestionType, float] = field(default_factory=dict)
    seed: int = 7
    existing: Sequence[Example] = ()
    plan: Shares = field(default_factory=dict)
    documents: str | Mapping[str, int] = ""


@dataclass(frozen=True)
class Writers:
    """Who writes and who judges.

    Attributes:
        writer: the model that writes.
        judge: who says whether the gold states the answer.
    """

    writer: ModelJudge
    judge: Judge

    @property
    def asked(self) -> ModelJudge:
        """Who says whether anything answers a question: the judge where it is a model alone, else the writer."""
        return self.judge if isinstance(self.judge, ModelJudge) else self.writer


@dataclass
class Stratum:
    """The questions of one type on their way.

    Attributes:
        type: of its questions.
        wanted: how many.
        drawn: passages for its calls.
        put: how each of its questions is to be put.
        pool: of documents that it is about; "" = any.
        kept: drafts that passed everything.
        asked: passages -> questions written from them so far.
        width: calls of the next round, at most.
        vain: calls in a row of which nothing was kept, though a question was written or no reply could be read.
        barren: passages of which the model found that they allow no such question.
        declined: calls in a row that said so.
        ended: why it ended with fewer than wanted; "" = it did not.
        calls: that were made.
        rejected: filter -> how many.
        unwritten: why no question came -> how many were asked for.
    """

    type: QuestionType
    wanted: int
    drawn: Iterator[tuple[SourcePassage, ...]]
    put: Iterator[Mapping[str, str]]
    pool: str = ""
    kept: list[Draft] = field(default_factory=list)
    asked: dict[tuple[SourcePassage, ...], list[str]] = field(default_factory=dict)
    width: int = VAIN
    vain: int = 0
    barren: set[tuple[SourcePassage, ...]] = field(default_factory=set)
    declined: int = 0
    ended: str = ""
    calls: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    unwritten: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Its type, and the pool where there is one."""
        return f"{self.type} {self.pool}".strip()

    def briefs(self) -> list[Brief]:
        """The calls of the next round: no more questions than are missing."""
        missing = 0 if self.ended else self.wanted - len(self.kept)
        sizes = [min(A_CALL, missing - begin) for begin in range(0, missing, A_CALL)][: self.width]
        passages = list(dict.fromkeys(islice(self._fertile(), len(sizes))))  # the same twice would write the same
        if missing and not passages:
            left = "no document is left" + (" whose passages allow such a question" if self.barren else "")
            self.ended = left if self.calls else "no document of the corpus will do"
        return [
            Brief(self.type, drawn, tuple(islice(self.put, size)), tuple(self.asked.get(drawn, ())))
            for drawn, size in zip(passages, sizes, strict=False)
        ]

    def _fertile(self) -> Iterator[tuple[SourcePassage, ...]]:
        """What is drawn, without the passages that allowed no such question."""
        passed_by = 0
        while passed_by < PASSED_BY and (drawn := next(self.drawn, None)) is not None:
            passed_by = passed_by + 1 if drawn in self.barren else 0
            if not passed_by:
                yield drawn

    def took(self, drafts: Sequence[Draft], kept: Sequence[Draft]) -> None:
        """Takes in what one call wrote and what of it was kept."""
        self.calls += 1
        self.kept += kept
        if drafts:
            self.asked.setdefault(drafts[0].passages, []).extend(one.question for one in drafts if one.question)
        declined = bool(drafts) and all(one.unwritten == "declined" for one in drafts)
        if declined:
            self.barren.add(drafts[0].passages)
        if kept:
            self.vain = self.declined = 0
        else:
            self.declined += declined
            self.vain += not declined
        if len(self.kept) < self.wanted and not self.ended:
            if self.vain >= VAIN:
                often = ", ".join(f"{name} {n}" for name, n in (self.rejected + self.unwritten).most_common(3))
                self.ended = f"{VAIN} calls in a row gave nothing new (not kept so far: {often or 'nothing'})"
            elif self.declined >= DECLINED:
                self.ended = f"the model found in {DECLINED} calls in a row that the passages allow no such question"


@dataclass(frozen=True)
class WrittenSet:
    """What was written.

    Attributes:
        lines: an example each, by type.
        rejected: lines of what was not kept, with the filter and the reason in their note.
        strata: each type with what became of it.
        stopped: why everything ended early; "" = it did not.
        heard: the first reply that could not be read; "" = all could.
    """

    lines: tuple[SetLine, ...]
    rejected: tuple[SetLine, ...]
    strata: tuple[Stratum, ...]
    stopped: str = ""
    heard: str = ""


class SetWriting:
    """Writes questions of a corpus by rounds: all types ask, what comes back is filtered free first, then judged.

    Rounds depend on seed and replies alone, so the same replies make the same set.
    """

    def __init__(self, corpus: CorpusView, wanted: Wanted, by: Writers) -> None:
        self._corpus, self._wanted, self._by = corpus, wanted, by
        self._known = Known(corpus)
        self._rejected: list[tuple[Draft, str]] = []
        for example in wanted.existing:
            self._known.add(example.query, _gold(example))
        self.strata = self._strata()

    def _strata(self) -> tuple[Stratum, ...]:
        shares = dict(self._wanted.types)
        found = []
        for name, size in pools_of(self._wanted.documents, self._wanted.n).items():
            seed = self._wanted.seed
            drawing = Drawing(self._corpus, seed, pool(name, self._corpus))
            usual = {kind: USUAL[kind] for kind in USUAL if not shares and next(drawing.passages(kind), None)}
            for kind, n in largest_remainders(shares or usual, size).items():
                put = manners(self._wanted.plan, f"{seed}:{kind}:{name}")
                if n:
                    found.append(Stratum(kind, n, drawing.passages(kind, name), put, name))
        return tuple(found)

    def expected(self, store: Store) -> CostEstimate:
        """What would be asked if every question were kept: written as far as no stored reply answers, all judged."""
        for stratum in self.strata:
            stratum.width = ceil(stratum.wanted / A_CALL)
        briefs = [brief for stratum in self.strata for brief in stratum.briefs()]
        found = estimate_askings(self._by.writer, (write_questions(one, self._by.writer) for one in briefs), store)
        drafts = [_placeholder(brief, n) for brief in briefs for n in range(len(brief.manners))]
        unanswerable = [one for one in drafts if one.type == "unanswerable"]
        judging = [one for draft in drafts if draft.gold for one in all_checks(draft, self._by.judge)]
        asked = self._by.asked
        best = (unanswered(one, [one.passages[0].text] * BEST, asked) for one in unanswerable)
        found.join(estimate_askings(asked, best, store))
        if asks_models(self._by.judge):
            found.join(estimate_askings(self._by.judge, judging, store))
        return found

    async def write(self, session: Session, before_round: Callable[[], None] = lambda: None) -> WrittenSet:
        """All rounds, each type until it has what is wanted or ends."""
        while not session.stopped:
            before_round()
            turns = [(stratum, brief) for stratum in self.strata for brief in stratum.briefs()]
            if not turns:
                break
            writer = self._by.writer
            said = await session.drive(writer, [partial(write_questions, brief, writer) for _, brief in turns])
            written = [(stratum, said.get(n, ())) for n, (stratum, _) in enumerate(turns)]
            passed = self._screened([(stratum, draft) for stratum, drafts in written for draft in drafts])
            kept = await self._judged(session, passed)
            for n, (stratum, drafts) in enumerate(written):
                if n in said:
                    stratum.took(drafts, [draft for draft in drafts if id(draft) in kept])
            for stratum in self.strata:
                if stratum.vain:
                    stratum.width = max(1, VAIN - stratum.vain)
                elif not stratum.declined:
                    stratum.width *= WIDEN
        for stratum in self.strata:
            if session.stopped and len(stratum.kept) < stratum.wanted:
                stratum.ended = stratum.ended or session.stopped
        return self._finished(session.stopped)

    def _screened(self, drafts: Sequence[tuple[Stratum, Draft]]) -> list[tuple[Stratum, Draft]]:
        """Those that pass the tests at no call; each is known to those after it."""
        ranked = [draft for _, draft in drafts if draft.question and draft.gold]
        self._known.ranks = self._ranks(ranked)
        passed = []
        for stratum, draft in drafts:
            if draft.unwritten:
                stratum.unwritten[draft.unwritten] += 1
                self._rejected.append((draft, f"{draft.unwritten}: {draft.told}"))
                continue
            fault = fault_of(draft, self._known)
            if fault is not None:
                self._reject(stratum, draft, *fault)
                continue
            self._known.add(draft.question, draft.stretches)
            passed.append((stratum, draft))
        return passed

    async def _judged(self, session: Session, drafts: Sequence[tuple[Stratum, Draft]]) -> set[int]:
        """Identities of the drafts that the judge passes."""
        kept: set[int] = set()
        answerable = [one for one in drafts if one[1].type != "unanswerable"]
        without = [one for one in drafts if one[1].type == "unanswerable"]
        for judge, part in ((self._by.judge, answerable), (self._by.asked, without)):
            if part:
                verdicts = await session.drive(judge, [partial(self._judging, draft) for _, draft in part])
                for n, (stratum, draft) in enumerate(part):
                    fault = verdicts.get(n, ("not_judged", "what may be spent was spent"))
                    if fault is None:
                        kept.add(id(draft))
                    else:
                        self._reject(stratum, draft, *fault)
        return kept

    def _judging(self, draft: Draft) -> Judging:
        if draft.type != "unanswerable":
            return judged(draft, self._by.judge)
        best = [self._corpus.documents[doc_id].text[:WINDOW] for doc_id in self._corpus.best(draft.question, BEST)]
        return unanswered(draft, best, self._by.asked)

    def _reject(self, stratum: Stratum, draft: Draft, name: str, told: str) -> None:
        stratum.rejected[name] += 1
        self._rejected.append((draft, f"{name}: {told}"))

    def _ranks(self, drafts: Sequence[Draft]) -> dict[str, tuple[int | None, int | None]]:
        """Question -> best rank of its gold by both retrievers."""
        questions = [draft.question for draft in drafts]
        ranks = self._corpus.ranks(questions, [draft.gold for draft in drafts]) if drafts else []
        return dict(zip(questions, ranks, strict=True))

    def _finished(self, stopped: str) -> WrittenSet:
        model, seed = str(self._by.writer.spec.default), self._wanted.seed
        kept = [draft for stratum in self.strata for draft in stratum.kept]
        ranks = self._ranks([draft for draft in kept if draft.gold])
        hard = {question: {"difficulty": difficulty(*found)} for question, found in ranks.items()}
        lines = [draft.line(model, seed, hard.get(draft.question)) for draft in kept]
        rejected = [draft.line(model, seed, rejected=note) for draft, note in self._rejected]
        heard = next((draft.heard for draft, _ in self._rejected if draft.heard), "")
        return WrittenSet(tuple(lines), tuple(rejected), self.strata, stopped, heard)


def _gold(example: Example) -> list[Span]:
    """Where an example's evidence stands: its spans, else whole documents."""
    if example.gold_spans:
        return list(example.gold_spans)
    return [Span(doc_id, 0, HUGE) for one in example.relevant or () if one.grade > 0 for doc_id in one.doc_ids]


def _placeholder(brief: Brief, n: int) -> Draft:
    """A draft that stands for one not written yet, its gold all passages."""
    anchors = tuple(Anchor(one.doc_id, one.start, one.end, "") for one in brief.passages)
    question = f"{brief.type} {n} of {brief.passages[0].doc_id}"
    return Draft(brief.type, question, ANSWER, brief.passages, anchors=anchors)
