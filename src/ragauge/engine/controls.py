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
from ragauge.core.identity import digest
from ragauge.core.readability import (
    BESIDE_PASSAGES,
    CONTROLLED_FACTS,
    ControlledFact,
    Controls,
    ControlScale,
    ScaleKey,
    TextKind,
)
from ragauge.engine.control_pairs import ControlPair, PairKind, draw_pairs, missing_kinds, shipped_pairs
from ragauge.engine.judge_batch import JobOutcome, Questioning, QuestionJob, ResponseWork, Work
from ragauge.engine.plan import Plan
from ragauge.engine.tasks import find_tasks
from ragauge.judges.inputs import Inputs, inputs_for
from ragauge.judges.judge import asks_models
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import questions
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.store.evidence import Evidences, PackedEvidence
from ragauge.store.responses import Loaded
from ragauge.store.store_access import Store
from ragauge.text.table_rows import Layout

DRAW_VERSION = 3  # raised when other pairs are drawn from the same run
MAX_SOURCES = 400  # responses that pairs are drawn from
AT_A_TIME = 50  # pairs whose evidence is stored in one transaction; responses in memory
PARTLY = 0.5  # what an answer that addresses the question in part counts
_SHIPPED: dict[str, PackedEvidence] = {}  # by key; a few thousand at most
FACT_OF: Mapping[PairKind, ControlledFact] = {"passages": "support", "address": "address"}  # whose key it is
RATED = ("rate_passages", "rate_sentences", "rate_answer")


@dataclass(slots=True)
class ControlCounts:
    """What was asked for controls; it counts nowhere else."""

    asked: int = 0
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
    asking, n = _Asking(store, plan.run_id, work, counts), plan.n_controls or 0
    sources = _sources(store, plan.run_id) if n else []
    own = draw_pairs(((item.example, item.response) for item in sources), n)
    found = yield from asking.ask(own)
    drawn = sorted((pair.example.query_id, pair.is_yes, pair.kind) for pair in own)
    tasks = find_tasks(store, plan.run_id) if n else frozenset[str]()
    fingerprint = f"{n}:{digest([DRAW_VERSION, drawn, *sorted(tasks)])[:16]}"
    scales = _Scales()
    scales.add(found)
    places = {TextKind.from_texts(item.example, item.response) for item in _responses(store, plan, sources)}
    borrowed = _Borrowed(plan, own)
    for fact, language, layout in sorted({place.key(fact) for place in places for fact in asking.facts}):
        kinds = missing_kinds(*scales.sizes((fact, language, layout)))
        if kinds:
            kind: PairKind = "passages" if fact in BESIDE_PASSAGES else "address"
            shipped = yield from asking.ask(borrowed.pairs(kind, language, layout, kinds))
            scales.add(shipped, only=(fact, language, layout))
            found += shipped
    controls = Controls(scales.scales(), fingerprint, _known_no(plan.metrics, found), tasks)
    if plan.controls is not None and plan.fingerprint == fingerprint:  # of other metrics and texts
        return replace(
            controls,
            scales={**plan.controls.scales, **controls.scales},
            known_no={**plan.controls.known_no, **controls.known_no},
        )
    return controls


def expected_inputs(plan: Plan, store: Store) -> Iterator[Inputs]:
    """What `ask_controls` would ask, shipped pairs where the run has too few."""
    asking = _Asking(store, plan.run_id, Work(plan.metrics, plan.questions, plan.judge), ControlCounts())
    sources = _sources(store, plan.run_id) if plan.n_controls else []
    pairs = draw_pairs(((item.example, item.response) for item in sources), plan.n_controls or 0)
    sizes = Counter((pair.kind, pair.place.key(FACT_OF[pair.kind])[1:], pair.is_yes) for pair in pairs)
    places = {TextKind.from_texts(item.example, item.response) for item in _responses(store, plan, sources)}
    borrowed = _Borrowed(plan, pairs)
    for kind, fact in FACT_OF.items():
        for language, layout in sorted({place.key(fact)[1:] for place in places}):
            key = language, layout
            kinds = missing_kinds(sizes[kind, key, True], sizes[kind, key, False])
            pairs += borrowed.pairs(kind, language, layout, kinds)
    for pair in pairs:
        for question in asking.questions_of(pair.kind):
            inputs = inputs_for(question, pair.example, pair.response, {})
            if inputs is not None:
                yield inputs


def _sources(store: Store, run_id: str) -> list[Loaded]:
    """Responses that pairs may be drawn from, one an example, by the hash of the question."""
    numbers: defaultdict[int, list[int]] = defaultdict(list)
    for number, key in store.runs.order(run_id):
        numbers[key].append(number)
    drawn: list[int] = []
    for key in sorted(numbers, key=lambda key: digest([key])):
        if len(drawn) >= MAX_SOURCES:
            break
        drawn += numbers[key]
    found: dict[str, Loaded] = {}
    for item in sorted(store.runs.load(drawn), key=lambda item: (item.example.query_id, item.response.repeat)):
        found.setdefault(item.example.query, item)
    return list(found.values())


def _responses(store: Store, plan: Plan, loaded: Sequence[Loaded]) -> Iterator[Loaded]:
    """The responses that are left to do."""
    by_number = {item.response_no: item for item in loaded}
    numbers = iter(plan.numbers)
    while part := list(islice(numbers, 10 * AT_A_TIME)):
        yield from (by_number[number] for number in part if number in by_number)
        yield from store.runs.load([number for number in part if number not in by_number])


class _Borrowed:
    """Shipped pairs, where a run gives too few: of a judge that asks models no more than make up the number requested.

    Args:
        plan: of the run.
        own: the run's own pairs.
    """

    def __init__(self, plan: Plan, own: Sequence[ControlPair]) -> None:
        self._is_paid, n, n_own = asks_models(plan.judge), plan.n_controls or 0, Counter(pair.kind for pair in own)
        self._room = {kind: max(0, n - n_own[kind]) for kind in FACT_OF}
        self._chosen: dict[tuple[PairKind, str, Layout], list[ControlPair]] = {}

    def pairs(self, kind: PairKind, language: str, layout: Layout, kinds: Collection[bool]) -> list[ControlPair]:
        """Those of a language and layout whose truth is among `kinds`."""
        found = self._chosen.get((kind, language, layout))
        if found is None:
            found = shipped_pairs(kind, language, layout)
        found = [pair for pair in found if pair.is_yes in kinds]
        if self._is_paid and (kind, language, layout) not in self._chosen:
            found = found[: self._room[kind]]
            self._room[kind] -= len(found)
            self._chosen[kind, language, layout] = found
        return found


@dataclass(frozen=True, slots=True)
class _Judged:
    """A pair and what was found about it, by question."""

    pair: ControlPair
    evidence: Mapping[str, Evidence]


class _Remembered(Evidences):
    """Evidence of a store, and what this process found about shipped pairs, which are the same for every store."""

    def __init__(self, stored: Evidences) -> None:
        self._stored = stored

    def known(self, keys: Collection[str]) -> dict[str, PackedEvidence]:
        remembered = {key: _SHIPPED[key] for key in keys if key in _SHIPPED}
        missing = [key for key in keys if key not in remembered]
        return remembered | (self._stored.known(missing) if missing else {})


class _Asking:
    """Puts the questions that the metrics need to pairs.

    Attributes:
        facts: whose scales are needed.
    """

    def __init__(self, store: Store, run_id: str, work: Work, counts: ControlCounts) -> None:
        self._store, self._run_id, self._work, self._counts = store, run_id, work, counts
        needed = {name for name in work.questions if name in ("verify_answer", "verify_reference")}
        if set(RATED) & set(work.questions):
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

    def questions_of(self, kind: PairKind) -> list[str]:
        """What is asked about a pair."""
        return [name for name in self._questions if kind == "passages" or name == "verify_answer"]

    def ask(self, pairs: Sequence[ControlPair]) -> Generator[list[QuestionJob], list[JobOutcome], list[_Judged]]:
        """What is found about pairs; what is not stored is asked, and stored some pairs at a time."""
        found: list[_Judged] = []
        for start in range(0, len(pairs), AT_A_TIME):
            works = [(pair, ResponseWork(Loaded(0, pair.example, pair.response))) for pair in pairs[start:][:AT_A_TIME]]
            shipped = not asks_models(self._work.judge) and pairs[start].is_shipped
            stored = _Remembered(self._store.evidence) if shipped else self._store.evidence
            questioning = Questioning(self._work, stored)
            jobs: list[QuestionJob] = []
            for kind in FACT_OF:
                asked = [work for pair, work in works if pair.kind == kind]
                jobs = questioning.begin(self.questions_of(kind), asked)
                questioning.end((yield jobs) if jobs else [])
            new = {packed.key: packed for _, work in works for packed in work.packed}
            self._store.evidence.add_controls(self._run_id, new)
            if shipped:
                _SHIPPED.update(new)
            self._counts.asked += questioning.asked
            self._counts.reused += questioning.reused
            found += [_Judged(pair, work.evidence) for pair, work in works]
        return found


class _Scales:
    """Scores of pairs by fact, language and layout."""

    def __init__(self) -> None:
        self._scores: defaultdict[ScaleKey, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        self._shipped: defaultdict[ScaleKey, int] = defaultdict(int)

    def add(self, found: Iterable[_Judged], only: ScaleKey | None = None) -> None:
        """Takes in the scores of pairs; with `only`, those of one scale."""
        for judged in found:
            for key, scores in _scores(judged):
                if only is None or key == only:
                    self._scores[key][not judged.pair.is_yes].extend(scores)
                    self._shipped[key] += judged.pair.is_shipped

    def sizes(self, key: ScaleKey) -> tuple[int, int]:
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


def _scores(judged: _Judged) -> Iterator[tuple[ScaleKey, list[float]]]:
    """The scores of a pair, by the scale that they belong to."""
    place = judged.pair.place
    for evidence in judged.evidence.values():
        match evidence.facts:
            case AnswerFacts() as answer if judged.pair.kind == "address":
                if answer.address_p is not None:
                    yield place.key("address"), [answer.address_p[0] + PARTLY * answer.address_p[1]]
                elif answer.address is not None:
                    yield place.key("address"), [{"fully": 1.0, "partly": PARTLY, "no": 0.0}[answer.address]]
            case AnswerFacts() as answer:
                claims = [claim for claim in answer.claims if claim.status == "ok" and claim.text is not None]
                yield place.key("support"), [claim.chance for claim in claims]
            case ReferenceFacts() as reference:
                known = [claim for claim in reference.claims if claim.supporting is not None]
                yield place.key("reference"), [claim.chance for claim in known]
            case RelevanceFacts() as rated:
                chances = [rating.chance for rating in rated.ratings]
                yield place.key("relevance"), [chance for chance in chances if chance is not None]


def _known_no(metrics: Sequence[Metric], found: Iterable[_Judged]) -> dict[str, float]:
    """Printed name of a metric -> its mean over the known-no pairs, of those that have the evidence that it needs."""
    by_kind: dict[PairKind, list[Metric]] = {"passages": [], "address": []}
    for metric in metrics:
        if questions([metric]):
            alone = any(fact.startswith("verify_answer.address") for fact in metric.needs.values())
            by_kind["address" if alone else "passages"].append(metric)
    values: defaultdict[str, list[float]] = defaultdict(list)
    for judged in found:
        if judged.pair.is_yes:
            continue
        asked = [metric for metric in by_kind[judged.pair.kind] if set(questions([metric])) <= judged.evidence.keys()]
        facts = Facts(judged.pair.example, judged.pair.response, judged.evidence)
        for metric, result in zip(asked, measure_all(asked, facts), strict=True):
            if result.status == "scored" and result.value is not None:
                values[str(metric)].append(result.value)
    return {name: fmean(several) for name, several in values.items()}
