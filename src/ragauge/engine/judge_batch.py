"""What is done for a batch of responses: ask what is not stored, rank, score, attribute.

`run_judging` is a generator that yields what has to be asked; a plain loop (`judge_batch`) or the event loop
(`models.py`)
drives it, so that resume, reuse and failure mean the same whoever judges.

An exception of one question, metric or cause becomes its status failed here, in the exception's own words.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ragauge.core.ask import Ask, Reply
from ragauge.core.codec import FACTS
from ragauge.core.document import IndexListing
from ragauge.core.errors import MissingFile
from ragauge.core.facts import NO_LABELS, AnswerFacts, Criterion, Evidence, JudgeFacts, LabelFacts
from ragauge.core.identity import hash_json
from ragauge.core.ranking import Ranking
from ragauge.core.response import Controls
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.metric_values import decide_response, format_error, measure_facts
from ragauge.engine.own_calls import OwnBatch, OwnCall, OwnCalls, prepare_calls
from ragauge.judges.inputs import Inputs, build_evidence_key, build_inputs
from ragauge.judges.judge import AskGenerator, Judge, answer_asks
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.facts import Facts
from ragauge.metrics.reasons import CLAIMS_LACKING
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.models.model import MAX_MESSAGE_CHARS
from ragauge.scores.results.scorecard import Cause
from ragauge.store.evidence import Evidences, PackedEvidence
from ragauge.store.responses import StoredResponse
from ragauge.store.store_access import Store

T = TypeVar("T")
NOT_JUDGED = ExampleVerdict("not_judged", reason="it could not be judged")


@dataclass(frozen=True, slots=True)
class Work:
    """What is done to every response of a run."""

    metrics: tuple[Metric, ...]  #: what is computed.
    questions: tuple[str, ...] = ()  #: what is asked, in order.
    judge: Judge | None = None  #: who is asked; None where nothing is.
    answer: Callable[[Sequence[Ask]], list[Reply]] = field(default_factory=EmbedAnswers)  #: answers the judge's asks.
    judge_repeat: int = 0  #: which asking of the judge.
    listing: IndexListing | None = None  #: what is in the system's index; None = not known.
    #: what shows whether the judge can read a response; None = nothing was asked, and all counts as read.
    controls: Controls | None = None
    #: the labels of some responses, by which verdicts and causes are decided; None = there are none.
    labels: Callable[[Sequence[StoredResponse]], Mapping[int, LabelFacts]] | None = None
    own_calls: OwnCalls = field(default_factory=OwnCalls)  #: calls metrics of the user's own.
    criteria: tuple[Criterion, ...] = ()  #: of the run.


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """Everything found about one response, ready to be stored."""

    response_no: int  #: its number in the store.
    evidence: tuple[PackedEvidence, ...]  #: what was found, or found stored.
    measured: tuple[MetricResult, ...]  #: one result a metric.
    cause: Cause | None  #: why it failed; None when nothing shows that it did.
    unjudged: Cause | None = None  #: the same by the record and the labels alone, as one who asks nobody finds it.
    mark: int | None = None  #: of the response as it was loaded, as in `StoredResponse`.
    verdict: ExampleVerdict = NOT_JUDGED  #: whether it failed.
    unjudged_verdict: ExampleVerdict = NOT_JUDGED  #: the same by the record and the labels alone.


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of a batch."""

    judged: tuple[JudgedResponse, ...]  #: one a response.
    n_asked: int = 0  #: how many questions were asked.
    reused: int = 0  #: how many were answered by what was stored, or asked once for several of the batch.
    failed: int = 0  #: how many failed.


@dataclass(slots=True)
class ResponseWork:
    """What is known about one response while its batch is worked on."""

    item: StoredResponse
    evidence: dict[str, Evidence] = field(default_factory=dict)
    packed: list[PackedEvidence] = field(default_factory=list)

    def add(self, evidence: Evidence, packed: PackedEvidence) -> None:
        """Takes in one question's evidence."""
        self.evidence[evidence.question] = evidence
        self.packed.append(packed)

    def facts(self) -> dict[str, JudgeFacts]:
        """Facts of the questions asked so far."""
        return {question: evidence.facts for question, evidence in self.evidence.items() if evidence.facts is not None}


@dataclass(frozen=True, slots=True)
class QuestionJob:
    """One question about one response (or several that are alike), to be driven to its end."""

    question: str  #: its name.
    asking: AskGenerator  #: the judge's generator.
    response_no: int  #: the response that it is asked for first.


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What came of a job."""

    facts: JudgeFacts | None  #: what was found; None where it raised.
    reason: str = ""  #: in the exception's own words; else why a call brought nothing to read, where one did.
    reply_keys: tuple[str, ...] = ()  #: the stored replies that it rests on.
    partial: bool = False  #: a call brought no reply, so that verdicts are missing which the next start may get.


# what yields jobs, or calls, and receives a list with what came of each
Steps = Generator[list[QuestionJob] | OwnBatch, list[Any], T]


def judge_batch(items: Sequence[StoredResponse], work: Work, stored: Evidences) -> BatchResult:
    """Evidence, scores and cause of every response of a batch, one question after another."""
    return drive_jobs(run_judging(items, work, stored), work)


def drive_jobs(steps: Steps[T], work: Work) -> T:
    """Drives a generator of jobs to its end, one job after another; what it returns."""
    try:
        jobs = next(steps)
        while True:
            if isinstance(jobs, OwnBatch):
                jobs = steps.send(work.own_calls.start(jobs.calls).result())
            else:
                jobs = steps.send([_drive_job(job, work) for job in jobs])
    except StopIteration as done:
        result: T = done.value
        return result


def _drive_job(job: QuestionJob, work: Work) -> JobOutcome:
    try:
        return JobOutcome(answer_asks(job.asking, work.answer))
    except MissingFile:  # of every response: it ends the evaluation, and no failure is kept
        raise
    except Exception as error:
        return JobOutcome(None, format_error(error))


def run_judging(items: Sequence[StoredResponse], work: Work, stored: Evidences) -> Steps[BatchResult]:
    """Evidence, scores and cause of every response of a batch; one that raises fails alone.

    It yields jobs that may run at the same time, and receives their outcomes in that order; last, the calls of metrics
    of the user's own, and receives their results.

    Args:
        items: the responses with their examples.
        work: what is asked and computed.
        stored: read, to ask nothing twice; nothing is written.
    """
    works = [ResponseWork(item) for item in items]
    questioning = QuestionBatch(work, stored)
    for turn in _split_turns(work.questions):
        jobs = questioning.start_jobs(turn, works)
        questioning.end((yield jobs) if jobs else [])
    rankings = _build_rankings(items)
    earlier_evidence = questioning.load_earlier_evidence(works)
    labels = work.labels(items) if work.labels is not None else {}
    facts = [
        _build_facts(
            work_item,
            ranking,
            earlier_evidence.get(work_item.item.response_no, {}),
            labels.get(work_item.item.response_no, NO_LABELS),
            work,
        )
        for work_item, ranking in zip(works, rankings, strict=True)
    ]
    own_results = [prepare_calls(work.metrics, work_item) for work_item in facts]
    calls = [call for work_item in own_results for call in work_item.values() if isinstance(call, OwnCall)]
    own_outcomes = iter((yield OwnBatch(calls)) if calls else ())
    results = [
        {name: next(own_outcomes) if isinstance(call, OwnCall) else call for name, call in work_item.items()}
        for work_item in own_results
    ]
    judged_responses = tuple(_score_response(*work_item, work) for work_item in zip(works, facts, results, strict=True))
    return BatchResult(judged_responses, questioning.asked, questioning.reused, questioning.failed)


def _split_turns(questions: Sequence[str]) -> list[tuple[str, ...]]:
    """Questions that may be asked at the same time: all, and then `agree`, which works on what verify_answer finds."""
    first = tuple(question for question in questions if question != "agree")
    last = tuple(question for question in questions if question == "agree")
    return [turn for turn in (first, last) if turn]


class QuestionBatch:
    """Asks questions about all responses of a batch; equal inputs are asked once."""

    def __init__(self, work: Work, stored: Evidences) -> None:
        self._work = work
        self._stored = stored
        self._waiting: list[tuple[str, Inputs, list[ResponseWork]]] = []
        self.asked = self.reused = self.failed = 0

    def start_jobs(self, questions: Sequence[str], works: Sequence[ResponseWork]) -> list[QuestionJob]:
        """Adds the evidence that is stored; returns the jobs for what is not."""
        requests: dict[str, tuple[Inputs, list[ResponseWork]]] = {}
        for response_work in works:  # all questions about a response side by side: its passages are split once for them
            for question in questions:
                self._add_request(question, response_work, requests)
        stored_evidence = self._stored.load_known(requests) if requests else {}
        jobs = []
        self._waiting = []
        for key, (inputs, group) in requests.items():
            self.reused += len(group) - (key not in stored_evidence)
            if key in stored_evidence:
                self._add_to_group(group, self._unpack_evidence(stored_evidence[key]))
                continue
            self.asked += 1
            try:
                asking = self._require_judge.ask(inputs, self._work.judge_repeat)
            except Exception as error:
                self._add_to_group(group, self._build_failure(inputs.question, key, format_error(error)))
                continue
            self._waiting.append((key, inputs, group))
            jobs.append(QuestionJob(inputs.question, asking, group[0].item.response_no))
        return jobs

    def end(self, outcomes: Sequence[JobOutcome]) -> None:
        """Adds what the jobs brought, in their order."""
        for (key, inputs, group), outcome in zip(self._waiting, outcomes, strict=True):
            self._add_to_group(group, self._build_evidence(key, inputs.question, outcome))
        self._waiting = []

    def _add_request(
        self, question: str, response_work: ResponseWork, requests: dict[str, tuple[Inputs, list[ResponseWork]]]
    ) -> None:
        block_reason = _find_block_reason(question, response_work)
        if block_reason is not None:
            self._fail_question(question, response_work, block_reason)
            return
        try:
            example, response = response_work.item.example, response_work.item.response
            inputs = build_inputs(question, example, response, response_work.facts(), self._work.criteria)
            if inputs is not None:
                requests.setdefault(self._build_key(question, inputs), (inputs, []))[1].append(response_work)
        except Exception as error:
            self._fail_question(question, response_work, format_error(error))

    def _add_to_group(self, group: Sequence[ResponseWork], evidence_pair: tuple[Evidence, PackedEvidence]) -> None:
        for response_work in group:
            response_work.add(*evidence_pair)

    def load_earlier_evidence(self, works: Sequence[ResponseWork]) -> Mapping[int, dict[str, Evidence]]:
        """What this judge found earlier about these responses, for other metrics: a cause may rest on it."""
        judge = self._work.judge
        if judge is None:
            return {}
        linked = self._stored.load_linked(
            [packed.item.response_no for packed in works], judge.judge_id, self._work.judge_repeat
        )
        return {
            number: {
                packed.question: packed.evidence()
                for packed in several
                if packed.question not in self._work.questions
                and packed.question_version == judge.version(packed.question)
            }
            for number, several in linked.items()
        }

    def _build_key(self, question: str, inputs: Inputs) -> str:
        return build_evidence_key(
            self._require_judge.judge_id, self._require_judge.version(question), inputs, self._work.judge_repeat
        )

    @property
    def _require_judge(self) -> Judge:
        if self._work.judge is None:
            raise ValueError("the metrics need a judge, but there is none")
        return self._work.judge

    def _unpack_evidence(self, packed: PackedEvidence) -> tuple[Evidence, PackedEvidence]:
        try:
            return packed.evidence(), packed
        except Exception as error:
            return self._build_failure(packed.question, hash_json(["unreadable", packed.key]), format_error(error))

    def _build_evidence(self, key: str, question: str, outcome: JobOutcome) -> tuple[Evidence, PackedEvidence]:
        facts, judge = outcome.facts, self._require_judge
        if facts is None:
            return self._build_failure(question, key, outcome.reason)
        if not isinstance(facts, FACTS[question]):
            type_error = f"TypeError: {question} must return {FACTS[question].__name__}, got {type(facts).__name__}"
            return self._build_failure(question, key, type_error)
        evidence = Evidence(
            key,
            question,
            judge.version(question),
            judge.judge_id,
            "partial" if outcome.partial else "ok",
            facts,
            self._work.judge_repeat,
            outcome.reply_keys,
            outcome.reason[:MAX_MESSAGE_CHARS],
        )
        try:
            return evidence, PackedEvidence.of(evidence)
        except Exception as error:
            return self._build_failure(question, key, format_error(error))

    def _fail_question(self, question: str, response_work: ResponseWork, reason: str) -> None:
        """Fails a question that could not even be put, under a key of this response alone."""
        key = [
            "not asked",
            self._require_judge.judge_id,
            question,
            response_work.item.response_no,
            self._work.judge_repeat,
        ]
        response_work.add(*self._build_failure(question, hash_json(key), reason))

    def _build_failure(self, question: str, key: str, reason: str) -> tuple[Evidence, PackedEvidence]:
        self.failed += 1
        judge, repeat, version = self._require_judge, self._work.judge_repeat, self._require_judge.version(question)
        evidence = Evidence(
            key, question, version, judge.judge_id, "failed", None, repeat, reason=reason[:MAX_MESSAGE_CHARS]
        )
        return evidence, PackedEvidence.of(evidence)


def _find_block_reason(question: str, response_work: ResponseWork) -> str | None:
    """Why a question cannot be put: `agree` works on the claims that verify_answer finds, and needs one of them."""
    verified = response_work.evidence.get("verify_answer") if question == "agree" else None
    if verified is None or verified.status == "failed":
        return None if verified is None else verified.reason
    claims = verified.facts.claims if isinstance(verified.facts, AnswerFacts) else ()
    has_known_claim = not claims or any(claim.text is not None for claim in claims)
    return None if has_known_claim else claims[0].reason or verified.reason or CLAIMS_LACKING.build_reason("the answer")


def _build_rankings(items: Sequence[StoredResponse]) -> list[Ranking | None]:
    """Ranks of the judged documents; where the batch raises, one at a time, so that one bad list fails alone."""
    if not any(item.example.relevant or item.example.relevant_chunks for item in items):
        return [None] * len(items)
    try:
        return rank_responses([(item.example, item.response) for item in items])
    except Exception:
        if len(items) == 1:
            return [None]
        return [ranking for item in items for ranking in _build_rankings([item])]


def _build_facts(
    response_work: ResponseWork,
    ranking: Ranking | None,
    earlier_evidence: Mapping[str, Evidence],
    labels: LabelFacts,
    work: Work,
) -> Facts:
    """Args: more: what this judge found for other metrics."""
    example, response = response_work.item.example, response_work.item.response
    readability = None if work.controls is None else work.controls.build_readability(example, response)
    return Facts(example, response, {**earlier_evidence, **response_work.evidence}, ranking, readability, labels)


def _score_response(
    response_work: ResponseWork, facts: Facts, own_results: Mapping[str, MetricResult], work: Work
) -> JudgedResponse:
    """Args: own: what metrics of the user's own gave."""
    measured = measure_facts(work.metrics, facts, work.judge, response_work.item, own_results)
    results = {str(metric): result for metric, result in zip(work.metrics, measured, strict=True)}
    verdict, cause = decide_response(facts, results, work.listing)
    unjudged_verdict, unjudged = verdict, cause
    if work.judge is not None:
        unasked = Facts(facts.example, facts.response, {}, facts.ranking, labels=facts.labels)
        unjudged_verdict, unjudged = decide_response(unasked, {}, work.listing)
    return JudgedResponse(
        response_work.item.response_no,
        tuple(response_work.packed),
        tuple(measured),
        cause,
        unjudged,
        response_work.item.mark,
        verdict,
        unjudged_verdict,
    )


def find_overtaken(store: Store, responses: Sequence[JudgedResponse]) -> set[int]:
    """Numbers of the responses in whose place another stands since they were loaded: of their trace more came."""
    marks = {response.response_no: response.mark for response in responses if response.mark is not None}
    return marks.keys() - store.runs.list_unchanged(marks)
