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
from ragauge.core.json_keys import json_keys
from ragauge.store.store_access import Store
from ragauge.testsets.add.compute import allocate_by_remainder
from ragauge.testsets.corpus_view import MAX_DOCUMENT_CHARS, CorpusView, classify_difficulty
from ragauge.testsets.generate.draft import (
    DEFAULT_SHARES,
    WINDOW_CHARS,
    Brief,
    Draft,
    PassageSampler,
    QuestionType,
    SourcePassage,
)
from ragauge.testsets.generate.filters import (
    MAX_PASSAGES,
    DraftContext,
    FaultGenerator,
    find_answerable_fault,
    find_fault,
    find_gold_fault,
    list_checks,
)
from ragauge.testsets.generate.plan import Shares, parse_pools, sample_manners, select_pool
from ragauge.testsets.generate.question_writer import (
    CostEstimate,
    Judge,
    ModelJudge,
    Session,
    can_ask_models,
    estimate_asks,
    write_questions,
)
from ragauge.testsets.set_file import SetLine

QUESTIONS_PER_CALL = 3  # questions
MAX_VAIN_CALLS = 3  # calls in a row without a question kept that end a type
MAX_DECLINED_CALLS = 30  # the same of calls in which the model finds the passages allow no such question
MAX_PASSED_BY = 1_000  # drawn passages in a row that allowed no such question before: then there are no others
WIDENING_FACTOR = 3  # times as many calls at once after a round that gave something
FIT = "These questions were written by a model. Use them to compare retrievers, not generators (arXiv:2508.11758)."
TYPICAL_ANSWER = "so long an answer as questions about one fact usually have"  # stands for answers not written yet


@dataclass(frozen=True)
class WritingOptions:
    """What is to be written."""

    n: int  #: how many questions.
    #: shares; empty = the usual ones that the corpus allows.
    types: Mapping[QuestionType, float] = field(default_factory=dict)
    seed: int = 7  #: of the drawing.
    existing: Sequence[Example] = ()  #: of a set that is there; its questions are not written again.
    plan: Shares = field(default_factory=dict)  #: persona, style, length, language -> wording -> share.
    documents: str | Mapping[str, int] = ""  #: recent, niche -> how many of the questions.


@dataclass(frozen=True)
class Writers:
    """Who writes and who judges."""

    writer: ModelJudge  #: the model that writes.
    judge: Judge  #: who says whether the gold states the answer.

    @property
    def asked(self) -> ModelJudge:
        """Who says whether anything answers a question: the judge where it is a model alone, else the writer."""
        return self.judge if isinstance(self.judge, ModelJudge) else self.writer


@json_keys("wanted kept ended rejected unwritten", wanted="n_wanted", kept="n_kept")
@dataclass
class Stratum:
    """The questions of one type on their way."""

    type: QuestionType  #: of its questions.
    n_wanted: int  #: how many.
    drawn: Iterator[tuple[SourcePassage, ...]]  #: passages for its calls.
    put: Iterator[Mapping[str, str]]  #: how each of its questions is to be put.
    pool: str = ""  #: of documents that it is about; "" = any.
    kept: list[Draft] = field(default_factory=list)  #: drafts that passed everything.
    #: passages -> questions written from them so far.
    questions_by_passages: dict[tuple[SourcePassage, ...], list[str]] = field(default_factory=dict)
    width: int = MAX_VAIN_CALLS  #: calls of the next round, at most.
    vain: int = 0  #: calls in a row of which nothing was kept, though a question was written or no reply could be read.
    #: passages of which the model found that they allow no such question.
    barren: set[tuple[SourcePassage, ...]] = field(default_factory=set)
    declined: int = 0  #: calls in a row that said so.
    ended: str = ""  #: why it ended with fewer than wanted; "" = it did not.
    calls: int = 0  #: that were made.
    rejected: Counter[str] = field(default_factory=Counter)  #: filter -> how many.
    unwritten: Counter[str] = field(default_factory=Counter)  #: why no question came -> how many were asked for.

    @property
    def n_kept(self) -> int:
        """Drafts that passed everything."""
        return len(self.kept)

    @property
    def name(self) -> str:
        """Its type, and the pool where there is one."""
        return f"{self.type} {self.pool}".strip()

    def build_briefs(self) -> list[Brief]:
        """The calls of the next round: no more questions than are missing."""
        missing = 0 if self.ended else self.n_wanted - len(self.kept)
        sizes = [min(QUESTIONS_PER_CALL, missing - begin) for begin in range(0, missing, QUESTIONS_PER_CALL)][
            : self.width
        ]
        passages = list(dict.fromkeys(islice(self._draw_fertile(), len(sizes))))  # the same twice would write the same
        if missing and not passages:
            reason = "there are no more documents" + (" that allow such a question" if self.barren else "")
            self.ended = reason if self.calls else "no document of the corpus is suitable"
        return [
            Brief(self.type, source, tuple(islice(self.put, size)), tuple(self.questions_by_passages.get(source, ())))
            for source, size in zip(passages, sizes, strict=False)
        ]

    def _draw_fertile(self) -> Iterator[tuple[SourcePassage, ...]]:
        """What is drawn, without the passages that allowed no such question."""
        passed_by = 0
        while passed_by < MAX_PASSED_BY and (source := next(self.drawn, None)) is not None:
            passed_by = passed_by + 1 if source in self.barren else 0
            if not passed_by:
                yield source

    def took(self, drafts: Sequence[Draft], accepted: Sequence[Draft]) -> None:
        """Takes in what one call wrote and what of it was kept."""
        self.calls += 1
        self.kept += accepted
        if drafts:
            self.questions_by_passages.setdefault(drafts[0].passages, []).extend(
                draft.question for draft in drafts if draft.question
            )
        declined = bool(drafts) and all(draft.unwritten == "declined" for draft in drafts)
        if declined:
            self.barren.add(drafts[0].passages)
        if accepted:
            self.vain = self.declined = 0
        else:
            self.declined += declined
            self.vain += not declined
        if len(self.kept) < self.n_wanted and not self.ended:
            if self.vain >= MAX_VAIN_CALLS:
                often = ", ".join(f"{name} {n}" for name, n in (self.rejected + self.unwritten).most_common(3))
                self.ended = f"{MAX_VAIN_CALLS} calls in a row gave nothing new (rejected so far: {often or 'nothing'})"
            elif self.declined >= MAX_DECLINED_CALLS:
                self.ended = (
                    f"the model replied in {MAX_DECLINED_CALLS} calls in a row that the passages allow no such question"
                )


@dataclass(frozen=True)
class WrittenSet:
    """What was written."""

    lines: tuple[SetLine, ...]  #: an example each, by type.
    rejected: tuple[SetLine, ...]  #: lines of what was not kept, with the filter and the reason in their note.
    strata: tuple[Stratum, ...]  #: each type with what became of it.
    stopped: str = ""  #: why everything ended early; "" = it did not.
    heard: str = ""  #: the first reply that could not be read; "" = all could.


class SetWriter:
    """Writes questions of a corpus by rounds: all types ask, what comes back is filtered free first, then judged.

    Rounds depend on seed and replies alone, so the same replies make the same set.
    """

    def __init__(self, corpus: CorpusView, options: WritingOptions, by: Writers) -> None:
        self._corpus, self._wanted, self._by = corpus, options, by
        self._known = DraftContext(corpus)
        self._rejected: list[tuple[Draft, str]] = []
        for example in options.existing:
            self._known.add(example.query, _list_gold_spans(example))
        self.strata = self._build_strata()

    def _build_strata(self) -> tuple[Stratum, ...]:
        shares = dict(self._wanted.types)
        strata = []
        for name, size in parse_pools(self._wanted.documents, self._wanted.n).items():
            seed = self._wanted.seed
            drawing = PassageSampler(self._corpus, seed, select_pool(name, self._corpus))
            usual = {
                kind: DEFAULT_SHARES[kind]
                for kind in DEFAULT_SHARES
                if not shares and next(drawing.passages(kind), None)
            }
            for kind, n in allocate_by_remainder(shares or usual, size).items():
                put = sample_manners(self._wanted.plan, f"{seed}:{kind}:{name}")
                if n:
                    strata.append(Stratum(kind, n, drawing.passages(kind, name), put, name))
        return tuple(strata)

    def estimate_cost(self, store: Store) -> CostEstimate:
        """What would be asked if every question were kept: written as far as no stored reply answers, all judged."""
        for stratum in self.strata:
            stratum.width = ceil(stratum.n_wanted / QUESTIONS_PER_CALL)
        briefs = [brief for stratum in self.strata for brief in stratum.build_briefs()]
        estimate = estimate_asks(self._by.writer, (write_questions(item, self._by.writer) for item in briefs), store)
        drafts = [_build_placeholder(brief, n) for brief in briefs for n in range(len(brief.manners))]
        unanswerable = [item for item in drafts if item.type == "unanswerable"]
        judging = [item for draft in drafts if draft.gold for item in list_checks(draft, self._by.judge)]
        judge = self._by.asked
        best = (find_answerable_fault(item, [item.passages[0].text] * MAX_PASSAGES, judge) for item in unanswerable)
        estimate.add_estimate(estimate_asks(judge, best, store))
        if can_ask_models(self._by.judge):
            estimate.add_estimate(estimate_asks(self._by.judge, judging, store))
        return estimate

    async def write(self, session: Session, before_round: Callable[[], None] = lambda: None) -> WrittenSet:
        """All rounds, each type until it has what is wanted or ends."""
        while not session.stopped:
            before_round()
            turns = [(stratum, brief) for stratum in self.strata for brief in stratum.build_briefs()]
            if not turns:
                break
            writer = self._by.writer
            replies = await session.drive_all(writer, [partial(write_questions, brief, writer) for _, brief in turns])
            written = [(stratum, replies.get(n, ())) for n, (stratum, _) in enumerate(turns)]
            passed = self._screen_drafts([(stratum, draft) for stratum, drafts in written for draft in drafts])
            accepted_ids = await self._judge_drafts(session, passed)
            for n, (stratum, drafts) in enumerate(written):
                if n in replies:
                    stratum.took(drafts, [draft for draft in drafts if id(draft) in accepted_ids])
            for stratum in self.strata:
                if stratum.vain:
                    stratum.width = max(1, MAX_VAIN_CALLS - stratum.vain)
                elif not stratum.declined:
                    stratum.width *= WIDENING_FACTOR
        for stratum in self.strata:
            if session.stopped and len(stratum.kept) < stratum.n_wanted:
                stratum.ended = stratum.ended or session.stopped
        return self._build_result(session.stopped)

    def _screen_drafts(self, drafts: Sequence[tuple[Stratum, Draft]]) -> list[tuple[Stratum, Draft]]:
        """Those that pass the tests at no call; each is known to those after it."""
        ranked = [draft for _, draft in drafts if draft.question and draft.gold]
        self._known.ranks = self._rank_gold(ranked)
        passed = []
        for stratum, draft in drafts:
            if draft.unwritten:
                stratum.unwritten[draft.unwritten] += 1
                self._rejected.append((draft, f"{draft.unwritten}: {draft.fault_message}"))
                continue
            fault = find_fault(draft, self._known)
            if fault is not None:
                self._reject_draft(stratum, draft, *fault)
                continue
            self._known.add(draft.question, draft.stretches)
            passed.append((stratum, draft))
        return passed

    async def _judge_drafts(self, session: Session, drafts: Sequence[tuple[Stratum, Draft]]) -> set[int]:
        """Identities of the drafts that the judge passes."""
        accepted_ids: set[int] = set()
        answerable = [pair for pair in drafts if pair[1].type != "unanswerable"]
        without = [pair for pair in drafts if pair[1].type == "unanswerable"]
        for judge, group in ((self._by.judge, answerable), (self._by.asked, without)):
            if group:
                verdicts = await session.drive_all(judge, [partial(self._build_judging, draft) for _, draft in group])
                for n, (stratum, draft) in enumerate(group):
                    fault = verdicts.get(n, ("not_judged", "the budget was spent"))
                    if fault is None:
                        accepted_ids.add(id(draft))
                    else:
                        self._reject_draft(stratum, draft, *fault)
        return accepted_ids

    def _build_judging(self, draft: Draft) -> FaultGenerator:
        if draft.type != "unanswerable":
            return find_gold_fault(draft, self._by.judge)
        best = [
            self._corpus.documents[doc_id].text[:WINDOW_CHARS]
            for doc_id in self._corpus.best(draft.question, MAX_PASSAGES)
        ]
        return find_answerable_fault(draft, best, self._by.asked)

    def _reject_draft(self, stratum: Stratum, draft: Draft, name: str, problem: str) -> None:
        stratum.rejected[name] += 1
        self._rejected.append((draft, f"{name}: {problem}"))

    def _rank_gold(self, drafts: Sequence[Draft]) -> dict[str, tuple[int | None, int | None]]:
        """Question -> best rank of its gold by both retrievers."""
        questions = [draft.question for draft in drafts]
        ranks = self._corpus.ranks(questions, [draft.gold for draft in drafts]) if drafts else []
        return dict(zip(questions, ranks, strict=True))

    def _build_result(self, stopped: str) -> WrittenSet:
        model, seed = str(self._by.writer.spec.default), self._wanted.seed
        drafts = [draft for stratum in self.strata for draft in stratum.kept]
        ranks = self._rank_gold([draft for draft in drafts if draft.gold])
        hard = {question: {"difficulty": classify_difficulty(*rank_pair)} for question, rank_pair in ranks.items()}
        lines = [draft.line(model, seed, hard.get(draft.question)) for draft in drafts]
        rejected = [draft.line(model, seed, rejected=note) for draft, note in self._rejected]
        heard = next((draft.heard for draft, _ in self._rejected if draft.heard), "")
        return WrittenSet(tuple(lines), tuple(rejected), self.strata, stopped, heard)


def _list_gold_spans(example: Example) -> list[Span]:
    """Where an example's evidence stands: its spans, else whole documents."""
    if example.gold_spans:
        return list(example.gold_spans)
    return [
        Span(doc_id, 0, MAX_DOCUMENT_CHARS)
        for label in example.relevant or ()
        if label.grade > 0
        for doc_id in label.doc_ids
    ]


def _build_placeholder(brief: Brief, n: int) -> Draft:
    """A draft that stands for one not written yet, its gold all passages."""
    anchors = tuple(Anchor(passage.doc_id, passage.start, passage.end, "") for passage in brief.passages)
    question = f"{brief.type} {n} of {brief.passages[0].doc_id}"
    return Draft(brief.type, question, TYPICAL_ANSWER, brief.passages, anchors=anchors)
