"""What is done for a batch of responses: ask what is not stored, rank, score, attribute.

`judging` is a generator that yields what has to be asked; a plain loop (`judge_batch`) or the event loop (`models.py`)
drives it, so that resume, reuse and failure mean the same whoever judges.

An exception of one question, metric or cause becomes its status failed here, in the exception's own words.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ragauge.core.ask import Ask, Reply
from ragauge.core.codec import FACTS
from ragauge.core.criterion import Criterion
from ragauge.core.document import IndexListing
from ragauge.core.errors import MissingFile
from ragauge.core.facts import AnswerFacts, Evidence, FactsOf
from ragauge.core.identity import digest
from ragauge.core.label_facts import NO_LABELS, LabelFacts
from ragauge.core.ranking import Ranking
from ragauge.core.readability import Controls
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.metric_values import decide_response, measure_facts, told
from ragauge.engine.own_calls import OwnBatch, OwnCall, OwnCalls, prepare
from ragauge.judges.inputs import Inputs, evidence_key, inputs_for
from ragauge.judges.judge import Asking, Judge, drive
from ragauge.metrics.base import Measured, Metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.retrieval.ranks import of_responses
from ragauge.models.errors import LONGEST
from ragauge.scores.results.scorecard import Cause
from ragauge.store.evidence import Evidences, PackedEvidence
from ragauge.store.responses import Loaded
from ragauge.store.store_access import Store

T = TypeVar("T")
NOT_JUDGED = ExampleVerdict("not_judged", reason="it could not be judged")


@dataclass(frozen=True, slots=True)
class Work:
    """What is done to every response of a run.

    Attributes:
        metrics: what is computed.
        questions: what is asked, in order.
        judge: who is asked; None where nothing is.
        answer: answers the judge's asks.
        judge_repeat: which asking of the judge.
        listing: what is in the system's index; None = not known.
        controls: what shows whether the judge can read a response; None = nothing was asked, and all counts as read.
        labels: the labels of some responses, by which verdicts and causes are decided; None = there are none.
        own_calls: calls metrics of the user's own.
        criteria: of the run.
    """

    metrics: tuple[Metric, ...]
    questions: tuple[str, ...] = ()
    judge: Judge | None = None
    answer: Callable[[Sequence[Ask]], list[Reply]] = field(default_factory=EmbedAnswers)
    judge_repeat: int = 0
    listing: IndexListing | None = None
    controls: Controls | None = None
    labels: Callable[[Sequence[Loaded]], Mapping[int, LabelFacts]] | None = None
    own_calls: OwnCalls = field(default_factory=OwnCalls)
    criteria: tuple[Criterion, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """Everything found about one response, ready to be stored.

    Attributes:
        response_no: its number in the store.
        evidence: what was found, or found stored.
        measured: one result a metric.
        cause: why it failed; None when nothing shows that it did.
        unjudged: the same by the record and the labels alone, as one who asks nobody finds it.
        mark: of the response as it was loaded, as in `Loaded`.
        verdict: whether it failed.
        unjudged_verdict: the same by the record and the labels alone.
    """

    response_no: int
    evidence: tuple[PackedEvidence, ...]
    measured: tuple[Measured, ...]
    cause: Cause | None
    unjudged: Cause | None = None
    mark: int | None = None
    verdict: ExampleVerdict = NOT_JUDGED
    unjudged_verdict: ExampleVerdict = NOT_JUDGED


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of a batch.

    Attributes:
        judged: one a response.
        asked: how many questions were asked.
        reused: how many were answered by what was stored, or asked once for several of the batch.
        failed: how many failed.
    """

    judged: tuple[JudgedResponse, ...]
    asked: int = 0
    reused: int = 0
    failed: int = 0


@dataclass(slots=True)
class ResponseWork:
    """What is known about one response while its batch is worked on."""

    item: Loaded
    evidence: dict[str, Evidence] = field(default_factory=dict)
    packed: list[PackedEvidence] = field(default_factory=list)

    def add(self, evidence: Evidence, packed: PackedEvidence) -> None:
        """Takes in one question's evidence."""
        self.evidence[evidence.question] = evidence
        self.packed.append(packed)

    def facts(self) -> dict[str, FactsOf]:
        """Facts of the questions asked so far."""
        return {question: one.facts for question, one in self.evidence.items() if one.facts is not None}


@dataclass(frozen=True, slots=True)
class QuestionJob:
    """One question about one response (or several that are alike), to be driven to its end.

    Attributes:
        question: its name.
        asking: the judge's generator.
        response_no: the response that it is asked for first.
    """

    question: str
    asking: Asking
    response_no: int


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What came of a job.

    Attributes:
        facts: what was found; None where it raised.
        reason: in the exception's own words; else why a call brought nothing to read, where one did.
        reply_keys: the stored replies that it rests on.
        partial: a call brought no reply, so that verdicts are missing which the next start may get.
    """

    facts: FactsOf | None
    reason: str = ""
    reply_keys: tuple[str, ...] = ()
    partial: bool = False


# what yields jobs, or calls, and receives a list with what came of each
Steps = Generator[list[QuestionJob] | OwnBatch, list[Any], T]


def judge_batch(items: Sequence[Loaded], work: Work, stored: Evidences) -> BatchResult:
    """Evidence, scores and cause of every response of a batch, one question after another."""
    return drive_jobs(judging(items, work, stored), work)


def drive_jobs(steps: Steps[T], work: Work) -> T:
    """Drives a generator of jobs to its end, one job after another; what it returns."""
    try:
        jobs = next(steps)
        while True:
            if isinstance(jobs, OwnBatch):
                jobs = steps.send(work.own_calls.start(jobs.calls).result())
            else:
                jobs = steps.send([_driven(job, work) for job in jobs])
    except StopIteration as done:
        result: T = done.value
        return result


def _driven(job: QuestionJob, work: Work) -> JobOutcome:
    try:
        return JobOutcome(drive(job.asking, work.answer))
    except MissingFile:  # of every response: it ends the evaluation, and no failure is kept
        raise
    except Exception as error:
        return JobOutcome(None, told(error))


def judging(items: Sequence[Loaded], work: Work, stored: Evidences) -> Steps[BatchResult]:
    """Evidence, scores and cause of every response of a batch; one that raises fails alone.

    It yields jobs that may run at the same time, and receives their outcomes in that order; last, the calls of metrics
    of the user's own, and receives their results.

    Args:
        items: the responses with their examples.
        work: what is asked and computed.
        stored: read, to ask nothing twice; nothing is written.
    """
    found = [ResponseWork(item) for item in items]
    questioning = Questioning(work, stored)
    for turn in _turns(work.questions):
        jobs = questioning.begin(turn, found)
        questioning.end((yield jobs) if jobs else [])
    rankings = _rankings(items)
    more = questioning.more(found)
    labels = work.labels(items) if work.labels is not None else {}
    facts = [
        _facts(one, ranking, more.get(one.item.response_no, {}), labels.get(one.item.response_no, NO_LABELS), work)
        for one, ranking in zip(found, rankings, strict=True)
    ]
    own = [prepare(work.metrics, one) for one in facts]
    calls = [call for one in own for call in one.values() if isinstance(call, OwnCall)]
    called = iter((yield OwnBatch(calls)) if calls else ())
    results = [{name: next(called) if isinstance(call, OwnCall) else call for name, call in one.items()} for one in own]
    judged = tuple(_scored(*one, work) for one in zip(found, facts, results, strict=True))
    return BatchResult(judged, questioning.asked, questioning.reused, questioning.failed)


def _turns(questions: Sequence[str]) -> list[tuple[str, ...]]:
    """Questions that may be asked at the same time: all, and then `agree`, which works on what verify_answer finds."""
    first = tuple(question for question in questions if question != "agree")
    last = tuple(question for question in questions if question == "agree")
    return [turn for turn in (first, last) if turn]


class Questioning:
    """Asks questions about all responses of a batch; equal inputs are asked once."""

    def __init__(self, work: Work, stored: Evidences) -> None:
        self._work = work
        self._stored = stored
        self._waiting: list[tuple[str, Inputs, list[ResponseWork]]] = []
        self.asked = self.reused = self.failed = 0

    def begin(self, questions: Sequence[str], found: Sequence[ResponseWork]) -> list[QuestionJob]:
        """Adds the evidence that is stored; returns the jobs for what is not."""
        wanted: dict[str, tuple[Inputs, list[ResponseWork]]] = {}
        for one in found:  # all questions about a response side by side: its passages are split once for them
            for question in questions:
                self._want(question, one, wanted)
        known = self._stored.known(wanted) if wanted else {}
        jobs = []
        self._waiting = []
        for key, (inputs, group) in wanted.items():
            self.reused += len(group) - (key not in known)
            if key in known:
                self._give(group, self._known(known[key]))
                continue
            self.asked += 1
            try:
                asking = self._judge.ask(inputs, self._work.judge_repeat)
            except Exception as error:
                self._give(group, self._failed(inputs.question, key, told(error)))
                continue
            self._waiting.append((key, inputs, group))
            jobs.append(QuestionJob(inputs.question, asking, group[0].item.response_no))
        return jobs

    def end(self, outcomes: Sequence[JobOutcome]) -> None:
        """Adds what the jobs brought, in their order."""
        for (key, inputs, group), outcome in zip(self._waiting, outcomes, strict=True):
            self._give(group, self._told(key, inputs.question, outcome))
        self._waiting = []

    def _want(self, question: str, one: ResponseWork, wanted: dict[str, tuple[Inputs, list[ResponseWork]]]) -> None:
        blocked = _blocked(question, one)
        if blocked is not None:
            self._fail(question, one, blocked)
            return
        try:
            example, response = one.item.example, one.item.response
            inputs = inputs_for(question, example, response, one.facts(), self._work.criteria)
            if inputs is not None:
                wanted.setdefault(self._key(question, inputs), (inputs, []))[1].append(one)
        except Exception as error:
            self._fail(question, one, told(error))

    def _give(self, group: Sequence[ResponseWork], found: tuple[Evidence, PackedEvidence]) -> None:
        for one in group:
            one.add(*found)

    def more(self, found: Sequence[ResponseWork]) -> Mapping[int, dict[str, Evidence]]:
        """What this judge found earlier about these responses, for other metrics: a cause may rest on it."""
        judge = self._work.judge
        if judge is None:
            return {}
        linked = self._stored.linked([one.item.response_no for one in found], judge.judge_id, self._work.judge_repeat)
        return {
            number: {
                one.question: one.evidence()
                for one in several
                if one.question not in self._work.questions and one.question_version == judge.version(one.question)
            }
            for number, several in linked.items()
        }

    def _key(self, question: str, inputs: Inputs) -> str:
        return evidence_key(self._judge.judge_id, self._judge.version(question), inputs, self._work.judge_repeat)

    @property
    def _judge(self) -> Judge:
        if self._work.judge is None:
            raise ValueError("questions are asked, but there is no judge")
        return self._work.judge

    def _known(self, packed: PackedEvidence) -> tuple[Evidence, PackedEvidence]:
        try:
            return packed.evidence(), packed
        except Exception as error:
            return self._failed(packed.question, digest(["unreadable", packed.key]), told(error))

    def _told(self, key: str, question: str, outcome: JobOutcome) -> tuple[Evidence, PackedEvidence]:
        facts, judge = outcome.facts, self._judge
        if facts is None:
            return self._failed(question, key, outcome.reason)
        if not isinstance(facts, FACTS[question]):
            wrong = f"TypeError: {question} gives {FACTS[question].__name__}, got {type(facts).__name__}"
            return self._failed(question, key, wrong)
        evidence = Evidence(
            key,
            question,
            judge.version(question),
            judge.judge_id,
            "partial" if outcome.partial else "ok",
            facts,
            self._work.judge_repeat,
            outcome.reply_keys,
            outcome.reason[:LONGEST],
        )
        try:
            return evidence, PackedEvidence.of(evidence)
        except Exception as error:
            return self._failed(question, key, told(error))

    def _fail(self, question: str, one: ResponseWork, reason: str) -> None:
        """Fails a question that could not even be put, under a key of this response alone."""
        key = ["not asked", self._judge.judge_id, question, one.item.response_no, self._work.judge_repeat]
        one.add(*self._failed(question, digest(key), reason))

    def _failed(self, question: str, key: str, reason: str) -> tuple[Evidence, PackedEvidence]:
        self.failed += 1
        judge, repeat, version = self._judge, self._work.judge_repeat, self._judge.version(question)
        evidence = Evidence(key, question, version, judge.judge_id, "failed", None, repeat, reason=reason[:LONGEST])
        return evidence, PackedEvidence.of(evidence)


def _blocked(question: str, one: ResponseWork) -> str | None:
    """Why a question cannot be put: `agree` works on the claims that verify_answer finds, and needs one of them."""
    before = one.evidence.get("verify_answer") if question == "agree" else None
    if before is None or before.status == "failed":
        return None if before is None else before.reason
    claims = before.facts.claims if isinstance(before.facts, AnswerFacts) else ()
    known = not claims or any(claim.text is not None for claim in claims)
    return None if known else claims[0].reason or before.reason or "no claim of the answer is known"


def _rankings(items: Sequence[Loaded]) -> list[Ranking | None]:
    """Ranks of the judged documents; where the batch raises, one at a time, so that one bad list fails alone."""
    if not any(item.example.relevant or item.example.relevant_chunks for item in items):
        return [None] * len(items)
    try:
        return of_responses([(item.example, item.response) for item in items])
    except Exception:
        if len(items) == 1:
            return [None]
        return [ranking for item in items for ranking in _rankings([item])]


def _facts(
    one: ResponseWork, ranking: Ranking | None, more: Mapping[str, Evidence], labels: LabelFacts, work: Work
) -> Facts:
    """Args: more: what this judge found for other metrics."""
    example, response = one.item.example, one.item.response
    readability = None if work.controls is None else work.controls.readability_of(example, response)
    return Facts(example, response, {**more, **one.evidence}, ranking, readability, labels)


def _scored(one: ResponseWork, facts: Facts, own: Mapping[str, Measured], work: Work) -> JudgedResponse:
    """Args: own: what metrics of the user's own gave."""
    measured = measure_facts(work.metrics, facts, work.judge, one.item, own)
    results = {str(metric): result for metric, result in zip(work.metrics, measured, strict=True)}
    verdict, cause = decide_response(facts, results, work.listing)
    unjudged_verdict, unjudged = verdict, cause
    if work.judge is not None:
        unasked = Facts(facts.example, facts.response, {}, facts.ranking, labels=facts.labels)
        unjudged_verdict, unjudged = decide_response(unasked, {}, work.listing)
    return JudgedResponse(
        one.item.response_no,
        tuple(one.packed),
        tuple(measured),
        cause,
        unjudged,
        one.item.mark,
        verdict,
        unjudged_verdict,
    )


def overtaken(store: Store, judged: Sequence[JudgedResponse]) -> set[int]:
    """Numbers of the responses in whose place another stands since they were loaded: of their trace more came."""
    marks = {one.response_no: one.mark for one in judged if one.mark is not None}
    return marks.keys() - store.runs.unchanged(marks)
