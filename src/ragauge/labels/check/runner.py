"""Asks judges about a labeled file, or reads verdicts that were asked elsewhere."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import NamedTuple, Self

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.core.human_labels import LabeledAnswer, RecordedVerdict
from ragauge.engine.caller import CallCounts
from ragauge.engine.estimate import CostEstimate, estimate_asks, list_members
from ragauge.engine.judge_facts import NOT_ASKED, FactsOutcome, ask_facts
from ragauge.engine.judges import CALIBRATED_PREFIX, build_judge
from ragauge.engine.models import CallOptions
from ragauge.engine.session import ProgressCallback, Session
from ragauge.judges.inputs import VerifyAnswer, build_row_inputs
from ragauge.judges.judge import Judge, can_ask_models
from ragauge.scores.judge_check import RECORDED_PREFIX, JudgeAnswers, PartVerdict, VerdictCost, list_part_verdicts
from ragauge.scores.label_scores import QUESTION, find_labeled_metrics, hash_example, hash_row_text, score_row
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.store_access import Store

JUDGE_MODES = ("fused", "per_claim")
BATCH_SIZE_TEXTS, MAX_WRITE_INTERVAL_S = 64, 0.25  # texts in one transaction, and seconds between two, at the most


@dataclass(frozen=True, slots=True)
class JudgeMode:
    """One judge in one way of asking."""

    name: str
    mode: str
    judge: Judge


class CheckOutcome(NamedTuple):
    """What was said, why it ended early ("" when it did not), and the calls made now."""

    answers: tuple[JudgeAnswers, ...]
    stopped: str
    calling: CallCounts | None


def list_judge_modes(specs: Sequence[str], modes: Sequence[str] = JUDGE_MODES) -> tuple[JudgeMode, ...]:
    """The judges of some specs; a language model in each mode, unless its spec names one.

    Raises:
        UnknownName: no such judge, provider or setting.
        UsageError: a spec that cannot be read.
    """
    modes_by_judge: dict[str, JudgeMode] = {}
    for spec in specs:
        judge = build_judge(spec)
        # a jury's members are asked as their specs say, a calibrated judge as its file does
        if not can_ask_models(judge) or list_members(judge) != (judge,) or spec.startswith(CALIBRATED_PREFIX):
            modes_by_judge.setdefault(judge.judge_id, JudgeMode(spec, "", judge))
            continue
        mode_name = next((option.partition("=")[2] for option in spec.split(",")[1:] if option.startswith("mode=")), "")
        for mode in (mode_name,) if mode_name else modes:
            mode_judge = judge if mode_name or mode == "fused" else build_judge(f"{spec},mode={mode}")
            modes_by_judge.setdefault(mode_judge.judge_id, JudgeMode(spec, mode, mode_judge))
    return tuple(modes_by_judge.values())


def estimate_by_mode(
    rows: Sequence[LabeledAnswer], judge_modes: Sequence[JudgeMode], store: Store
) -> dict[str, CostEstimate]:
    """What checking would ask of models, by judge and mode: first calls that no stored reply answers."""
    return {f"{way.name} {way.mode}".strip(): _estimate_judge(rows, way.judge, store) for way in judge_modes}


def _estimate_judge(rows: Sequence[LabeledAnswer], judge: Judge, store: Store) -> CostEstimate:
    """Of one judge: the calls of all members of a jury."""
    total = CostEstimate()
    for member in list_members(judge):
        if can_ask_models(member):
            total.add_estimate(estimate_asks(member, (member.ask(_build_inputs(row)) for row in rows), store))
    return total


class LabeledRows(NamedTuple):
    """Rows of a labelled file to ask about, each text once, and the file: its name, and a hash of all it says.

    repeated: how many rows are left out, since a later one labels the same text. guideline: hash of the instructions
    that the labels of a run follow, all of them; "" = not known. run_id: of that run; "" = it is a file.
    """

    rows: Sequence[LabeledAnswer]
    name: str
    digest: bytes
    repeated: int = 0
    guideline: str = ""
    run_id: str = ""


def count_cross_fitted(judge: Judge, rows: Sequence[LabeledAnswer]) -> int:
    """How many of the rows a judge was calibrated by; on each of them it answers as it is without its labels."""
    is_trained_on: Callable[[VerifyAnswer], bool] | None = getattr(judge, "trained_on", None)
    return 0 if is_trained_on is None else sum(is_trained_on(_build_inputs(row)) for row in rows)


async def check_labels(
    source: LabeledRows,
    judge_modes: Sequence[JudgeMode],
    store: Store,
    calling: CallOptions | None,
    progress: ProgressCallback | None = None,
) -> CheckOutcome:
    """What every judge says of every row, one judge after another; replies and scores are durable as they arrive.

    Rows are asked about in a random order, always the same, so that those of a check that was stopped are a sample of
    the file, and what is kept of them tells of the whole.

    Args:
        source: the labelled file.
        judge_modes: the judges.
        store: where replies are kept: the same again pays nothing.
        calling: how models are called; None where no judge asks one.
        progress: called as rows are done, and every second.

    Raises:
        JudgeError: a model cannot be asked at all.
    """
    order = random.Random(0).sample(range(len(source.rows)), len(source.rows))  # noqa: S311 - an order
    answers = []
    async with Session(store, calling, progress) as session:
        for way in judge_modes:
            with _ScoreWriter(store, way.judge, source) as writer:
                todo = [partial(_ask_and_save, way.judge, source.rows[n], writer) for n in order]
                facts_by_place = await session.drive_all(way.judge, todo)
            answers.append(
                _build_answers(source.rows, way, {order[index]: row for index, row in facts_by_place.items()})
            )
    return CheckOutcome(tuple(answers), session.stopped, session.counts)


class _ScoreWriter:
    """Keeps what a judge says of labelled texts, soon after it says it; used as a context manager, all of it."""

    def __init__(self, store: Store, judge: Judge, source: LabeledRows) -> None:
        self._store, self._metrics = store, find_labeled_metrics(source.rows)
        version = judge.version(QUESTION)
        self._file = LabelFile(judge.judge_id, QUESTION, version, source.digest, source.name)
        self._waiting: list[TextScore] = []
        self._written = time.monotonic()

    def add(self, row: LabeledAnswer, facts: JudgeFacts | None) -> None:
        """Takes in what the judge found of a row."""
        if not isinstance(facts, AnswerFacts):
            return
        item, example = hash_row_text(row), hash_example(row)
        self._waiting += [
            TextScore(score.metric, item, example, score.people, score.judge, score.labels)
            for score in score_row(row, facts, self._metrics)
        ]
        if len(self._waiting) >= BATCH_SIZE_TEXTS or time.monotonic() - self._written >= MAX_WRITE_INTERVAL_S:
            self._write_scores()

    def _write_scores(self) -> None:
        if self._waiting:
            self._store.checks.save_scores(self._file, self._waiting)
        self._waiting, self._written = [], time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write_scores()


def _ask_and_save(
    judge: Judge, row: LabeledAnswer, writer: _ScoreWriter
) -> Generator[list[Ask], list[Reply], FactsOutcome]:
    """A judge's question about a row, kept when it is answered."""
    asked_result = yield from ask_facts(judge, _build_inputs(row))
    writer.add(row, asked_result.facts)
    return asked_result


def _build_answers(
    rows: Sequence[LabeledAnswer], way: JudgeMode, facts_by_row: Mapping[int, FactsOutcome]
) -> JudgeAnswers:
    all_facts = [facts_by_row.get(n, NOT_ASKED) for n in range(len(rows))]
    verdicts = tuple(
        list_part_verdicts(row, row_facts.facts if isinstance(row_facts.facts, AnswerFacts) else None, row_facts.reason)
        for row, row_facts in zip(rows, all_facts, strict=True)
    )
    return JudgeAnswers(way.name, way.mode, way.judge.judge_id, verdicts, _sum_usage(all_facts))


def _build_inputs(row: LabeledAnswer) -> VerifyAnswer:
    return build_row_inputs(row)


def _sum_usage(results: Sequence[FactsOutcome]) -> VerdictCost:
    replies = [reply for asked_result in results for reply in asked_result.replies]
    used = [reply.usage for reply in replies if reply.usage is not None]
    costs = [reply.cost for reply in replies]
    return VerdictCost(
        len(replies),
        sum(asked_result.input_tokens for asked_result in used),
        sum(asked_result.output_tokens for asked_result in used),
        None if None in costs else sum(cost for cost in costs if cost is not None),
    )


NO_VERDICT_REASON = "the file has no verdict"


def read_recorded_answers(rows: Sequence[LabeledAnswer], columns: Sequence[str]) -> tuple[JudgeAnswers, ...]:
    """What each column of verdicts says of the rows, as if its judge had been asked.

    A column whose numbers are all 0 or 1 holds labels; of one with any other number all are probabilities.

    Args:
        rows: read with these columns.
        columns: in their order.
    """
    return tuple(_read_column(rows, index, column) for index, column in enumerate(columns))


def _read_column(rows: Sequence[LabeledAnswer], index: int, column: str) -> JudgeAnswers:
    probabilities = [part.recorded[index].p for row in rows for part in row.parts]
    sure = any(p is not None and 0 < p < 1 for p in probabilities)
    verdicts = tuple(tuple(_build_verdict(part.recorded[index], sure) for part in row.parts) for row in rows)
    return JudgeAnswers(column, "", f"{RECORDED_PREFIX}{column}", verdicts)


def _build_verdict(recorded: RecordedVerdict, sure: bool) -> PartVerdict:
    if recorded.label is None:
        return PartVerdict(None, NO_VERDICT_REASON)
    return PartVerdict(recorded.label, p=recorded.p if sure else None)
