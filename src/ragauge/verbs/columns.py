"""What is stored of a run, read piece by piece, and the refresh of its means."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from ragauge.core.identity import normalize_text
from ragauge.core.verdict import RULE_VERSION
from ragauge.scores.arrays import Columns, ResponseIndex
from ragauge.scores.gather import Visit

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from ragauge.engine.people import PeopleScores
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store


BATCH_SIZE_RESPONSES = 100  # responses with their texts and evidence in memory
SCORES_PER_READ = 100_000  # scores read together
MAX_SINGLE_READS = 200  # responses whose causes are asked for one by one, not over the whole run
KEY_COLUMNS = ["query_id", "repeat"]
NO_NAMES: Mapping[str, str] = MappingProxyType({})


class StoredColumns:
    """The scores of a run, one metric at a time from the store.

    Args:
        store: where the run is.
        run_id: the run.
        judge_id: who judged; None = nobody.
        index: the responses looked at.
        judge_repeat: which asking of the judge.
        ahead: metrics in the order in which they will be asked for, each once. Several are then read together, as many
            as a few hundred thousand scores make: the store keeps scores by response.
        values_only: leave out numerators, denominators and reasons.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        judge_id: str | None,
        index: ResponseIndex,
        judge_repeat: int = 0,
        ahead: Sequence[str] = (),
        *,
        values_only: bool = False,
    ) -> None:
        self.index = index
        self._store, self._of = store, (run_id, judge_id)
        self._judge_repeat, self._values_only = judge_repeat, values_only
        self._ahead = list(ahead)
        self._read: dict[str, Columns] = {}
        self._people: tuple[PeopleScores, ...] | None = ()

    def labelled(self) -> Self:
        """The same, with people's scores of what was drawn from the run beside a judge's."""
        self._people = None  # read when they are first needed
        return self

    def column(self, metric: str) -> Columns | None:
        """A metric's scores; None where none of these responses has one."""
        scores = self.entries(metric)
        return self._add_people(metric, scores) if scores.place.size else None

    def entries(self, metric: str) -> Columns:
        """A metric's scores, without people's; empty where none of these responses has one."""
        if metric not in self._read:
            self._fill_cache(metric)
        return self._read.pop(metric)

    def _fill_cache(self, metric: str) -> None:
        """Reads a metric, and those that will be asked for after it."""
        names = [metric]
        if metric in self._ahead:
            start = self._ahead.index(metric)
            names = self._ahead[start : start + max(1, SCORES_PER_READ // max(1, len(self.index)))]
            del self._ahead[: start + len(names)]
        self._read |= self._store.scores.load_metrics(
            *self._of, names, self.index, self._judge_repeat, values_only=self._values_only
        )

    def _add_people(self, metric: str, scores: Columns) -> Columns:
        """With people's scores of what was drawn from the run, by which a judge's mean is rectified."""
        from ragauge.engine.people import is_people_judge, load_people_scores

        if self._people is None:
            self._people = () if is_people_judge(self._of[1]) else load_people_scores(self._store, self._of[0])
        telling = [labeled for labeled in self._people if metric in labeled.values]
        if not telling:
            return scores
        return add_people_scores(self.index, metric, scores, max(telling, key=lambda labeled: len(labeled.labelled)))


def add_people_scores(index: ResponseIndex, metric: str, scores: Columns, labeled: PeopleScores) -> Columns:
    """A metric's scores with people's beside them: NaN where they were not asked, infinite where labels give none."""
    import numpy as np

    values = labeled.values[metric]
    numbers = index.number[scores.place].tolist()
    people = [values.get(n, np.inf if n in labeled.labelled else np.nan) for n in numbers]
    chances = np.array([labeled.inclusion.get(n, np.nan) for n in numbers]) if labeled.inclusion else None
    return replace(scores, people=np.array(people), inclusion=chances)


def iter_visits(store: Store, judge_id: str | None, index: ResponseIndex) -> Iterator[Visit]:
    """The responses with their examples and evidence, in example order, read as a stream."""
    for start in range(0, len(index), BATCH_SIZE_RESPONSES):
        numbers = index.number[start : start + BATCH_SIZE_RESPONSES].tolist()
        evidence_by_number = store.evidence.load_linked(numbers, judge_id) if judge_id is not None else {}
        position_by_number = dict(zip(numbers, range(start, start + len(numbers)), strict=True))
        for item in store.runs.load(numbers):
            position = position_by_number[item.response_no]
            evidence = {
                evidence_row.question: evidence_row.evidence()
                for evidence_row in evidence_by_number.pop(item.response_no, ())
            }
            yield Visit(position, int(index.query[position]), item.example, item.response, evidence)


def load_causes(
    store: Store, run_id: str, judge_id: str | None, index: ResponseIndex, renamed: Mapping[str, str] = NO_NAMES
) -> pl.DataFrame:
    """The cause frame of the responses of an index; `renamed` = stored id -> the index's, where they differ."""
    import polars as pl

    frame = store.causes.load_frame(run_id, judge_id)
    if renamed:
        frame = frame.with_columns(pl.col("query_id").replace(dict(renamed)))
    matching = (
        frame.select(*KEY_COLUMNS)
        .with_row_index("row")
        .join(list_keys(index), on=KEY_COLUMNS, how="semi", maintain_order="left")["row"]
    )
    return frame if len(matching) == frame.height else frame[matching]  # the join would copy every text


def load_failures(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> FailedResponses:
    """The failed responses of an index; while the store is open, what decided their causes can be asked for."""
    from ragauge.scores.failures import FailedResponses

    numbers = array("q", index.number.tobytes())

    def find_position(number: int) -> int | None:
        position = bisect_left(numbers, number)
        return position if position < len(numbers) and numbers[position] == number else None

    def load_deciders(positions: Sequence[int]) -> dict[int, str]:
        position_by_number = {int(index.number[position]): position for position in positions}
        causes = store.causes.read(run_id, judge_id, numbers=list(position_by_number))
        return {position_by_number[number]: cause.decided_by for number, cause in causes}

    few = numbers.tolist() if len(numbers) <= MAX_SINGLE_READS else None
    every = ((find_position(number), cause) for number, cause in store.causes.read(run_id, judge_id, numbers=few))
    return FailedResponses.from_causes(
        index, ((position, cause) for position, cause in every if position is not None), load_deciders
    )


OLDER_RULE = "scored before verdicts were stored"


def load_verdicts(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> ResponseVerdicts:
    """The stored verdicts on the responses of an index; one without any was looked at by an older version."""
    import numpy as np

    from ragauge.scores.verdicts import NOT_JUDGED, ResponseVerdicts

    numbers = index.number.tolist() if len(index) <= MAX_SINGLE_READS else None
    verdict_columns = store.verdicts.columns(run_id, judge_id, numbers=numbers)
    rows = np.flatnonzero(np.isin(verdict_columns.number, index.number))
    positions = np.searchsorted(index.number, verdict_columns.number[rows])

    def fill_column(column: npt.NDArray[Any], absent: int) -> npt.NDArray[Any]:
        filled = np.full(len(index), absent, dtype=column.dtype)
        filled[positions] = column[rows]
        return filled

    return ResponseVerdicts(
        index,
        fill_column(verdict_columns.verdict, NOT_JUDGED),
        fill_column(verdict_columns.right, NOT_JUDGED),
        fill_column(verdict_columns.grounded, NOT_JUDGED),
        fill_column(verdict_columns.reason, len(verdict_columns.reasons)),
        (*(reason for reason, _ in verdict_columns.reasons), OLDER_RULE),
        tuple(settled for _, settled in verdict_columns.reasons),
        int(fill_column(verdict_columns.rule, 0).min(initial=RULE_VERSION)),
    )


def find_rule_version(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> int:
    """Version of the rule that decided which responses of an index failed, the oldest; 0 = no verdict is stored."""
    return load_verdicts(store, run_id, judge_id, index).rule_version


def describe_cut_passages(store: Store, run_id: str) -> str:
    """What to say where the passages of the first responses look cut off; "" where they look whole."""
    return store.cache_for_run(run_id, "passages cut", lambda: _check_cut(store, run_id))


def _check_cut(store: Store, run_id: str) -> str:
    from ragauge.core.values import Previews

    previews, first = Previews(), store.runs.first(run_id, BATCH_SIZE_RESPONSES)
    for item in store.runs.load(first):
        previews.count_texts(passage.text for passage in item.response.passages or ())
    return previews.describe_cut(
        f" of the first {BATCH_SIZE_RESPONSES} responses" if len(first) == BATCH_SIZE_RESPONSES else ""
    )


def compute_mean_passages(store: Store, index: ResponseIndex) -> float | None:
    """How many passages a question was answered from, on average; None where no response says."""
    counts = [
        len(visit.response.passages) for visit in iter_visits(store, None, index) if visit.response.passages is not None
    ]
    return sum(counts) / len(counts) if counts else None


def list_keys(index: ResponseIndex) -> pl.DataFrame:
    """query_id and repeat of every response, in example order."""
    import polars as pl

    ids = pl.Series("query_id", index.query_ids, dtype=pl.String).gather(index.query)
    return pl.DataFrame([ids, pl.Series("repeat", index.repeat, dtype=pl.Int64)])


def load_questions(store: Store, index: ResponseIndex, positions: Sequence[int]) -> dict[int, str]:
    """Place -> question of some responses."""
    position_by_number = {int(index.number[position]): position for position in positions}
    batches = _iter_batches(list(position_by_number), BATCH_SIZE_RESPONSES)
    return {
        position_by_number[item.response_no]: item.example.query for batch in batches for item in store.runs.load(batch)
    }


def _iter_batches(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


BATCH_SIZE_QUESTIONS = 500


def match_by_question(store: Store, run_index: ResponseIndex, base_index: ResponseIndex) -> ResponseIndex:
    """The index of a baseline, its examples under the ids that the same questions have in a run.

    Only where no id is in both and both ask the same questions equally often; of equal questions the first is the
    first's, the second the second's. Else the index as it is.

    Args:
        store: which holds both.
        run_index: the responses of the run.
        base_index: of the baseline.
    """
    if len(run_index.query_ids) != len(base_index.query_ids) or not set(run_index.query_ids).isdisjoint(
        base_index.query_ids
    ):
        return base_index
    run_questions, base_questions = _list_folded_questions(store, run_index), _list_folded_questions(store, base_index)
    if Counter(run_questions) != Counter(base_questions):
        return base_index
    waiting: defaultdict[str, deque[str]] = defaultdict(deque)
    for query_id, question in zip(run_index.query_ids, run_questions, strict=True):
        waiting[question].append(query_id)
    return replace(base_index, query_ids=tuple(waiting[question].popleft() for question in base_questions))


def has_same_questions(store: Store, run_id: str, base_id: str) -> bool:
    """Whether two runs without a common id are matched by their questions."""
    run_index, base_index = (
        store.runs.index(either, store.runs.load_order(either).numbers) for either in (run_id, base_id)
    )
    return match_by_question(store, run_index, base_index) is not base_index


def _list_folded_questions(store: Store, index: ResponseIndex) -> list[str]:
    """The question of each example, by its number."""
    import numpy as np

    _, first = np.unique(index.query, return_index=True)
    numbers = index.number[first].tolist()
    return [
        normalize_text(item.example.query)
        for start in range(0, len(numbers), BATCH_SIZE_QUESTIONS)
        for item in store.runs.load(numbers[start : start + BATCH_SIZE_QUESTIONS])
    ]


def renew_means(store: Store) -> None:
    """Keeps anew what lists show, sort and filter by, of every run in flight or stopped that has scores since.

    An evaluation that ends keeps its means itself. A store that can only be read stays as it is.
    """
    for run_id, judge_id in store.run_list.list_outdated():
        _renew_summary(store, run_id, judge_id, counted=True)


def renew_judge_means(store: Store, judge_ids: Iterable[str]) -> None:
    """Keeps anew the means of every run that some judges scored, once a check of them changed what is known of them."""
    for judge_id in judge_ids:
        for run_id in store.summaries.list_run_ids(judge_id):
            _renew_summary(store, run_id, judge_id)


def list_card_metrics(store: Store, run_id: str, judge_id: str | None) -> list[str]:
    """Printed names of the metrics of a run's scorecard by one judge, in its order: that of the last evaluation of all.

    Metrics that are on no scorecard yet stand behind, as their scores do.
    """
    names = store.scores.metrics(run_id, judge_id)
    positions = {summary.metric: position for position, summary in enumerate(store.summaries.read(run_id, judge_id))}
    return sorted(names, key=lambda name: positions.get(name, len(positions)))


def _renew_summary(store: Store, run_id: str, judge_id: str | None, *, counted: bool = False) -> None:
    """Keeps the means anew, and with `counted` the counts of verdicts."""
    from ragauge.engine.judge_error import find_judge_errors
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.summarize import summarize_scores

    names = list_card_metrics(store, run_id, judge_id)
    index = store.runs.index(run_id, store.scores.evaluated(run_id, judge_id, names))
    columns = StoredColumns(store, run_id, judge_id, index, ahead=names).labelled()
    errors = find_judge_errors(judge_id, store, (run_id,))
    means = summarize_scores(columns, [parse_metric(name) for name in names], errors=errors)
    counts = load_verdicts(store, run_id, judge_id, index).count() if counted else None
    store.summaries.write(run_id, judge_id, means, counts=counts)
