"""Asks a run's judge about control pairs, ordinary evidence under ordinary keys, and reads from it what it can read.

Controls enter no mean, count, segment, list or gate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean

from ragauge.core.facts import AnswerFacts, Evidence, ReferenceFacts, RelevanceFacts
from ragauge.core.identity import hash_json
from ragauge.core.response import (
    CONTROLLED_FACTS,
    PASSAGE_FACTS,
    ControlledFact,
    Controls,
    ControlScale,
    ScaleKey,
    TextKind,
)
from ragauge.engine.control_pairs import ControlPair, PairKind, list_missing_kinds, sample_pairs, select_shipped_pairs
from ragauge.engine.judge_batch import JobOutcome, QuestionBatch, QuestionJob, ResponseWork, Work
from ragauge.engine.plan import Plan
from ragauge.engine.tasks import find_tasks
from ragauge.judges.inputs import Inputs, build_inputs
from ragauge.judges.judge import can_ask_models
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_questions
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.store.evidence import Evidences, PackedEvidence
from ragauge.store.responses import StoredResponse
from ragauge.store.store_access import Store
from ragauge.text.table_rows import Layout

DRAW_VERSION = 3  # raised when other pairs are drawn from the same run
MAX_SOURCES = 400  # responses that pairs are drawn from
BATCH_SIZE_PAIRS = 50  # pairs whose evidence is stored in one transaction; responses in memory
PARTIAL_CREDIT = 0.5  # what an answer that addresses the question in part counts
_SHIPPED_EVIDENCE: dict[str, PackedEvidence] = {}  # by key; a few thousand at most
FACT_BY_KIND: Mapping[PairKind, ControlledFact] = {"passages": "support", "address": "address"}  # whose key it is
RATING_QUESTIONS = ("rate_passages", "rate_sentences", "rate_answer")


@dataclass(slots=True)
class ControlCounts:
    """What was asked for controls; it counts nowhere else."""

    n_asked: int = 0
    reused: int = 0


Steps = Generator[list[QuestionJob], list[JobOutcome], Controls]


def needs_controls(plan: Plan) -> bool:
    """Whether pairs have to be drawn before a plan is carried out."""
    if plan.n_controls is None or plan.judge is None:
        return False
    return plan.pending > 0 or not plan.fingerprint.startswith(f"{plan.n_controls}:")


def ask_controls(plan: Plan, store: Store, work: Work, counts: ControlCounts) -> Steps:
    """Asks about a run's own pairs, and about shipped ones where there are too few; stores what it finds.

    It yields jobs that may run at the same time and receives their outcomes in that order. What is stored is not asked.

    Args:
        plan: of the run; the languages and layouts of what it has left to do are those that are looked at.
        store: with the run.
        work: who is asked.
        counts: counts what is asked.
    """
    asking, n = _ControlAsker(store, plan.run_id, work, counts), plan.n_controls or 0
    sources = _load_sources(store, plan.run_id) if n else []
    own_pairs = sample_pairs(((item.example, item.response) for item in sources), n)
    judged_pairs = yield from asking.ask_pairs(own_pairs)
    pair_keys = sorted((pair.example.query_id, pair.is_yes, pair.kind) for pair in own_pairs)
    tasks = find_tasks(store, plan.run_id) if n else frozenset[str]()
    fingerprint = f"{n}:{hash_json([DRAW_VERSION, pair_keys, *sorted(tasks)])[:16]}"
    scales = _Scales()
    scales.add(judged_pairs)
    text_kinds = {
        TextKind.from_texts(item.example, item.response) for item in _iter_pending_responses(store, plan, sources)
    }
    borrowed = _ShippedPairs(plan, own_pairs)
    for fact, language, layout in sorted({text_kind.key(fact) for text_kind in text_kinds for fact in asking.facts}):
        kinds = list_missing_kinds(*scales.count_scores((fact, language, layout)))
        if kinds:
            kind: PairKind = "passages" if fact in PASSAGE_FACTS else "address"
            shipped = yield from asking.ask_pairs(borrowed.pairs(kind, language, layout, kinds))
            scales.add(shipped, only=(fact, language, layout))
            judged_pairs += shipped
    controls = Controls(scales.scales(), fingerprint, _average_known_no(plan.metrics, judged_pairs), tasks)
    if plan.controls is not None and plan.fingerprint == fingerprint:  # of other metrics and texts
        return replace(
            controls,
            scales={**plan.controls.scales, **controls.scales},
            known_no={**plan.controls.known_no, **controls.known_no},
        )
    return controls


def iter_expected_inputs(plan: Plan, store: Store) -> Iterator[Inputs]:
    """What `ask_controls` would ask, shipped pairs where the run has too few."""
    asking = _ControlAsker(store, plan.run_id, Work(plan.metrics, plan.questions, plan.judge), ControlCounts())
    sources = _load_sources(store, plan.run_id) if plan.n_controls else []
    pairs = sample_pairs(((item.example, item.response) for item in sources), plan.n_controls or 0)
    sizes = Counter((pair.kind, pair.place.key(FACT_BY_KIND[pair.kind])[1:], pair.is_yes) for pair in pairs)
    text_kinds = {
        TextKind.from_texts(item.example, item.response) for item in _iter_pending_responses(store, plan, sources)
    }
    borrowed = _ShippedPairs(plan, pairs)
    for kind, fact in FACT_BY_KIND.items():
        for language, layout in sorted({text_kind.key(fact)[1:] for text_kind in text_kinds}):
            key = language, layout
            kinds = list_missing_kinds(sizes[kind, key, True], sizes[kind, key, False])
            pairs += borrowed.pairs(kind, language, layout, kinds)
    for pair in pairs:
        for question in asking.list_questions(pair.kind):
            inputs = build_inputs(question, pair.example, pair.response, {})
            if inputs is not None:
                yield inputs


def _load_sources(store: Store, run_id: str) -> list[StoredResponse]:
    """Responses that pairs may be drawn from, one an example, by the hash of the question."""
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for number, key in store.runs.load_order(run_id):
        numbers[key].append(number)
    numbers_to_load: list[int] = []
    for key in sorted(numbers, key=lambda key: hash_json([key])):
        if len(numbers_to_load) >= MAX_SOURCES:
            break
        numbers_to_load += numbers[key]
    items_by_query: dict[str, StoredResponse] = {}
    for item in sorted(
        store.runs.load(numbers_to_load), key=lambda item: (item.example.query_id, item.response.repeat)
    ):
        items_by_query.setdefault(item.example.query, item)
    return list(items_by_query.values())


def _iter_pending_responses(store: Store, plan: Plan, loaded: Sequence[StoredResponse]) -> Iterator[StoredResponse]:
    """The responses that are left to do."""
    by_number = {item.response_no: item for item in loaded}
    numbers = iter(plan.numbers)
    while batch := list(islice(numbers, 10 * BATCH_SIZE_PAIRS)):
        yield from (by_number[number] for number in batch if number in by_number)
        yield from store.runs.load([number for number in batch if number not in by_number])


class _ShippedPairs:
    """Shipped pairs, where a run gives too few: of a judge that asks models no more than make up the number requested.

    Args:
        plan: of the run.
        own: the run's own pairs.
    """

    def __init__(self, plan: Plan, own_pairs: Sequence[ControlPair]) -> None:
        self._is_paid, n, n_own = (
            can_ask_models(plan.judge),
            plan.n_controls or 0,
            Counter(pair.kind for pair in own_pairs),
        )
        self._room = {kind: max(0, n - n_own[kind]) for kind in FACT_BY_KIND}
        self._chosen: dict[tuple[PairKind, str, Layout], list[ControlPair]] = {}

    def pairs(self, kind: PairKind, language: str, layout: Layout, kinds: Collection[bool]) -> list[ControlPair]:
        """Those of a language and layout whose truth is among `kinds`."""
        pairs = self._chosen.get((kind, language, layout))
        if pairs is None:
            pairs = select_shipped_pairs(kind, language, layout)
        pairs = [pair for pair in pairs if pair.is_yes in kinds]
        if self._is_paid and (kind, language, layout) not in self._chosen:
            pairs = pairs[: self._room[kind]]
            self._room[kind] -= len(pairs)
            self._chosen[kind, language, layout] = pairs
        return pairs


@dataclass(frozen=True, slots=True)
class _JudgedPair:
    """A pair and what was found about it, by question."""

    pair: ControlPair
    evidence: Mapping[str, Evidence]


class _CachedEvidence(Evidences):
    """Evidence of a store, and what this process found about shipped pairs, which are the same for every store."""

    def __init__(self, stored: Evidences) -> None:
        self._stored = stored

    def load_known(self, keys: Collection[str]) -> dict[str, PackedEvidence]:
        remembered = {key: _SHIPPED_EVIDENCE[key] for key in keys if key in _SHIPPED_EVIDENCE}
        missing = [key for key in keys if key not in remembered]
        return remembered | (self._stored.load_known(missing) if missing else {})


class _ControlAsker:
    """Puts the questions that the metrics need to pairs.

    Attributes:
        facts: whose scales are needed.
    """

    def __init__(self, store: Store, run_id: str, work: Work, counts: ControlCounts) -> None:
        self._store, self._run_id, self._work, self._counts = store, run_id, work, counts
        needed = {name for name in work.questions if name in ("verify_answer", "verify_reference")}
        if set(RATING_QUESTIONS) & set(work.questions):
            needed.add("rate_passages")
        judge = work.judge
        self._questions = tuple(name for name in sorted(needed) if judge is not None and judge.answers(name))
        asked_by = {"reference": "verify_reference", "relevance": "rate_passages"}
        self.facts = tuple(
            fact
            for fact in CONTROLLED_FACTS
            if asked_by.get(fact, "verify_answer") in self._questions
            and (fact != "agreement" or "agree" in work.questions)
        )

    def list_questions(self, kind: PairKind) -> list[str]:
        """What is asked about a pair."""
        return [name for name in self._questions if kind == "passages" or name == "verify_answer"]

    def ask_pairs(
        self, pairs: Sequence[ControlPair]
    ) -> Generator[list[QuestionJob], list[JobOutcome], list[_JudgedPair]]:
        """What is found about pairs; what is not stored is asked, and stored some pairs at a time."""
        judged_pairs: list[_JudgedPair] = []
        for start in range(0, len(pairs), BATCH_SIZE_PAIRS):
            works = [
                (pair, ResponseWork(StoredResponse(0, pair.example, pair.response)))
                for pair in pairs[start:][:BATCH_SIZE_PAIRS]
            ]
            shipped = not can_ask_models(self._work.judge) and pairs[start].is_shipped
            stored = _CachedEvidence(self._store.evidence) if shipped else self._store.evidence
            questioning = QuestionBatch(self._work, stored)
            jobs: list[QuestionJob] = []
            for kind in FACT_BY_KIND:
                works_to_ask = [work for pair, work in works if pair.kind == kind]
                jobs = questioning.start_jobs(self.list_questions(kind), works_to_ask)
                questioning.end((yield jobs) if jobs else [])
            new = {packed.key: packed for _, work in works for packed in work.packed}
            self._store.evidence.add_controls(self._run_id, new)
            if shipped:
                _SHIPPED_EVIDENCE.update(new)
            self._counts.n_asked += questioning.asked
            self._counts.reused += questioning.reused
            judged_pairs += [_JudgedPair(pair, work.evidence) for pair, work in works]
        return judged_pairs


class _Scales:
    """Scores of pairs by fact, language and layout."""

    def __init__(self) -> None:
        self._scores: defaultdict[ScaleKey, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        self._shipped: defaultdict[ScaleKey, int] = defaultdict(int)

    def add(self, judged_pairs: Iterable[_JudgedPair], only: ScaleKey | None = None) -> None:
        """Takes in the scores of pairs; with `only`, those of one scale."""
        for judged_pair in judged_pairs:
            for key, scores in _iter_scores(judged_pair):
                if only is None or key == only:
                    self._scores[key][not judged_pair.pair.is_yes].extend(scores)
                    self._shipped[key] += judged_pair.pair.is_shipped

    def count_scores(self, key: ScaleKey) -> tuple[int, int]:
        """How many scores of known-yes and of known-no pairs there are."""
        yes, no = self._scores[key]
        return len(yes), len(no)

    def scales(self) -> dict[ScaleKey, ControlScale]:
        """The scales that have scores of both kinds."""
        return {
            key: ControlScale(tuple(sorted(yes)), tuple(sorted(no)), self._shipped[key])
            for key, (yes, no) in self._scores.items()
            if yes and no
        }


def _iter_scores(judged_pair: _JudgedPair) -> Iterator[tuple[ScaleKey, list[float]]]:
    """The scores of a pair, by the scale that they belong to."""
    text_kind = judged_pair.pair.place
    for evidence in judged_pair.evidence.values():
        match evidence.facts:
            case AnswerFacts() as answer if judged_pair.pair.kind == "address":
                if answer.address_p is not None:
                    yield text_kind.key("address"), [answer.address_p[0] + PARTIAL_CREDIT * answer.address_p[1]]
                elif answer.address is not None:
                    yield (
                        text_kind.key("address"),
                        [{"fully": 1.0, "partly": PARTIAL_CREDIT, "no": 0.0}[answer.address]],
                    )
            case AnswerFacts() as answer:
                claims = [claim for claim in answer.claims if claim.status == "ok" and claim.text is not None]
                yield text_kind.key("support"), [claim.chance for claim in claims]
            case ReferenceFacts() as reference:
                verified = [claim for claim in reference.claims if claim.supporting is not None]
                yield text_kind.key("reference"), [claim.chance for claim in verified]
            case RelevanceFacts() as rated:
                chances = [rating.chance for rating in rated.ratings]
                yield text_kind.key("relevance"), [chance for chance in chances if chance is not None]


def _average_known_no(metrics: Sequence[Metric], judged_pairs: Iterable[_JudgedPair]) -> dict[str, float]:
    """Printed name of a metric -> its mean over the known-no pairs, of those that have the evidence that it needs."""
    by_kind: dict[PairKind, list[Metric]] = {"passages": [], "address": []}
    for metric in metrics:
        if list_questions([metric]):
            is_alone = any(fact.startswith("verify_answer.address") for fact in metric.needs.values())
            by_kind["address" if is_alone else "passages"].append(metric)
    values: defaultdict[str, list[float]] = defaultdict(list)
    for judged_pair in judged_pairs:
        if judged_pair.pair.is_yes:
            continue
        answerable = [
            metric
            for metric in by_kind[judged_pair.pair.kind]
            if set(list_questions([metric])) <= judged_pair.evidence.keys()
        ]
        facts = Facts(judged_pair.pair.example, judged_pair.pair.response, judged_pair.evidence)
        for metric, result in zip(answerable, measure_all(answerable, facts), strict=True):
            if result.status == "scored" and result.value is not None:
                values[str(metric)].append(result.value)
    return {name: fmean(several) for name, several in values.items()}
