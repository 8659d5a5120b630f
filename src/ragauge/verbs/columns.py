"""What is stored of a run, read a piece at a time, so that nothing grows with the number of examples.

Two runs whose ids have nothing in common, such as two captures: the same questions make them the same examples.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from ragauge.core.identity import folded
from ragauge.core.verdict import RULE_VERSION
from ragauge.scores.arrays import Columns, ResponseIndex
from ragauge.scores.gather import Visit

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from ragauge.engine.people import PeopleScores
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.failures import FailedResponses
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store

AT_A_TIME = 100  # responses with their texts and evidence in memory
SCORES_AHEAD = 100_000  # scores read together
FEW = 200  # responses whose causes are asked for one by one, not over the whole run
KEY = ["query_id", "repeat"]
NOTHING: Mapping[str, str] = MappingProxyType({})


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
        found = self.entries(metric)
        return self._with_people(metric, found) if found.place.size else None

    def entries(self, metric: str) -> Columns:
        """A metric's scores, without people's; empty where none of these responses has one."""
        if metric not in self._read:
            self._fill(metric)
        return self._read.pop(metric)

    def _fill(self, metric: str) -> None:
        """Reads a metric, and those that will be asked for after it."""
        names = [metric]
        if metric in self._ahead:
            start = self._ahead.index(metric)
            names = self._ahead[start : start + max(1, SCORES_AHEAD // max(1, len(self.index)))]
            del self._ahead[: start + len(names)]
        self._read |= self._store.scores.of_metrics(
            *self._of, names, self.index, self._judge_repeat, values_only=self._values_only
        )

    def _with_people(self, metric: str, found: Columns) -> Columns:
        """With people's scores of what was drawn from the run, by which a judge's mean is rectified."""
        from ragauge.engine.people import is_people, people_scores

        if self._people is None:
            self._people = () if is_people(self._of[1]) else people_scores(self._store, self._of[0])
        telling = [one for one in self._people if metric in one.values]
        if not telling:
            return found
        return with_people(self.index, metric, found, max(telling, key=lambda one: len(one.labelled)))


def with_people(index: ResponseIndex, metric: str, found: Columns, known: PeopleScores) -> Columns:
    """A metric's scores with people's beside them: NaN where they were not asked, infinite where labels give none."""
    import numpy as np

    values = known.values[metric]
    numbers = index.number[found.place].tolist()
    people = [values.get(n, np.inf if n in known.labelled else np.nan) for n in numbers]
    chances = np.array([known.inclusion.get(n, np.nan) for n in numbers]) if known.inclusion else None
    return replace(found, people=np.array(people), inclusion=chances)


def visits(store: Store, judge_id: str | None, index: ResponseIndex) -> Iterator[Visit]:
    """The responses with their examples and evidence, in example order, read as a stream."""
    for start in range(0, len(index), AT_A_TIME):
        numbers = index.number[start : start + AT_A_TIME].tolist()
        found = store.evidence.linked(numbers, judge_id) if judge_id is not None else {}
        place = dict(zip(numbers, range(start, start + len(numbers)), strict=True))
        for item in store.runs.load(numbers):
            at = place[item.response_no]
            evidence = {one.question: one.evidence() for one in found.pop(item.response_no, ())}
            yield Visit(at, int(index.query[at]), item.example, item.response, evidence)


def causes_of(
    store: Store, run_id: str, judge_id: str | None, index: ResponseIndex, renamed: Mapping[str, str] = NOTHING
) -> pl.DataFrame:
    """The cause frame of the responses of an index; `renamed` = stored id -> the index's, where they differ."""
    import polars as pl

    found = store.causes.frame(run_id, judge_id)
    if renamed:
        found = found.with_columns(pl.col("query_id").replace(dict(renamed)))
    kept = found.select(*KEY).with_row_index("row").join(keys(index), on=KEY, how="semi", maintain_order="left")["row"]
    return found if len(kept) == found.height else found[kept]  # the join would copy every text


def failed_of(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> FailedResponses:
    """The failed responses of an index; while the store is open, what decided their causes can be asked for."""
    from ragauge.scores.failures import FailedResponses

    known = array("q", index.number.tobytes())

    def place_of(number: int) -> int | None:
        place = bisect_left(known, number)
        return place if place < len(known) and known[place] == number else None

    def decided_by(places: Sequence[int]) -> dict[int, str]:
        place = {int(index.number[at]): at for at in places}
        found = store.causes.read(run_id, judge_id, numbers=list(place))
        return {place[number]: cause.decided_by for number, cause in found}

    few = known.tolist() if len(known) <= FEW else None
    every = ((place_of(number), cause) for number, cause in store.causes.read(run_id, judge_id, numbers=few))
    return FailedResponses.gathered(index, ((place, cause) for place, cause in every if place is not None), decided_by)


OLDER_RULE = "counted before verdicts were stored"


def stored_verdicts(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> ResponseVerdicts:
    """The stored verdicts on the responses of an index; one without any was looked at by an older version."""
    import numpy as np

    from ragauge.scores.verdicts import NOT_JUDGED, ResponseVerdicts

    numbers = index.number.tolist() if len(index) <= FEW else None
    found = store.verdicts.columns(run_id, judge_id, numbers=numbers)
    rows = np.flatnonzero(np.isin(found.number, index.number))
    place = np.searchsorted(index.number, found.number[rows])

    def placed(column: npt.NDArray[Any], absent: int) -> npt.NDArray[Any]:
        whole = np.full(len(index), absent, dtype=column.dtype)
        whole[place] = column[rows]
        return whole

    return ResponseVerdicts(
        index,
        placed(found.verdict, NOT_JUDGED),
        placed(found.right, NOT_JUDGED),
        placed(found.grounded, NOT_JUDGED),
        placed(found.reason, len(found.reasons)),
        (*(reason for reason, _ in found.reasons), OLDER_RULE),
        tuple(settled for _, settled in found.reasons),
        int(placed(found.rule, 0).min(initial=RULE_VERSION)),
    )


def rule_version(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> int:
    """Version of the rule that decided which responses of an index failed, the oldest; 0 = no verdict is stored."""
    return stored_verdicts(store, run_id, judge_id, index).rule_version


def passages_cut(store: Store, run_id: str) -> str:
    """What to say where the passages of the first responses look cut off; "" where they look whole."""
    return store.of_run(run_id, "passages cut", lambda: _cut(store, run_id))


def _cut(store: Store, run_id: str) -> str:
    from ragauge.core.previews import Previews

    seen, first = Previews(), store.runs.first(run_id, AT_A_TIME)
    for item in store.runs.load(first):
        seen.see(passage.text for passage in item.response.passages or ())
    return seen.told(f" of the first {AT_A_TIME} responses" if len(first) == AT_A_TIME else "")


def handed_on(store: Store, index: ResponseIndex) -> float | None:
    """How many passages a question was answered from, on average; None where no response says."""
    found = [len(one.response.passages) for one in visits(store, None, index) if one.response.passages is not None]
    return sum(found) / len(found) if found else None


def keys(index: ResponseIndex) -> pl.DataFrame:
    """query_id and repeat of every response, in example order."""
    import polars as pl

    ids = pl.Series("query_id", index.query_ids, dtype=pl.String).gather(index.query)
    return pl.DataFrame([ids, pl.Series("repeat", index.repeat, dtype=pl.Int64)])


def questions_at(store: Store, index: ResponseIndex, places: Sequence[int]) -> dict[int, str]:
    """Place -> question of some responses."""
    place = {int(index.number[at]): at for at in places}
    parts = _chunks(list(place), AT_A_TIME)
    return {place[item.response_no]: item.example.query for part in parts for item in store.runs.load(part)}


def _chunks(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


BATCH = 500


def by_question(store: Store, here: ResponseIndex, there: ResponseIndex) -> ResponseIndex:
    """The index of a baseline, its examples under the ids that the same questions have in a run.

    Only where no id is in both and both ask the same questions equally often; of equal questions the first is the
    first's, the second the second's. Else the index as it is.

    Args:
        store: which holds both.
        here: the responses of the run.
        there: of the baseline.
    """
    if len(here.query_ids) != len(there.query_ids) or not set(here.query_ids).isdisjoint(there.query_ids):
        return there
    mine, theirs = _questions(store, here), _questions(store, there)
    if Counter(mine) != Counter(theirs):
        return there
    waiting: defaultdict[str, deque[str]] = defaultdict(deque)
    for query_id, question in zip(here.query_ids, mine, strict=True):
        waiting[question].append(query_id)
    return replace(there, query_ids=tuple(waiting[question].popleft() for question in theirs))


def same_questions(store: Store, run_id: str, base_id: str) -> bool:
    """Whether two runs without a common id are matched by their questions."""
    here, there = (store.runs.index(either, store.runs.order(either).numbers) for either in (run_id, base_id))
    return by_question(store, here, there) is not there


def _questions(store: Store, index: ResponseIndex) -> list[str]:
    """The question of each example, by its number."""
    import numpy as np

    _, first = np.unique(index.query, return_index=True)
    numbers = index.number[first].tolist()
    return [
        folded(item.example.query)
        for start in range(0, len(numbers), BATCH)
        for item in store.runs.load(numbers[start : start + BATCH])
    ]
