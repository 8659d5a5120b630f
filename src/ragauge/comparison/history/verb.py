"""The log of evaluations: what the store knows of every evaluated run, in rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.verbs.judge_lookup import judges_meant, unknown_judge
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.options import LogOptions
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import HasRun, know_own_metrics, named, run_of, store_url
from ragauge.verbs.summary_refresh import renew_means

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.history.evaluation_log import LogEntry
    from ragauge.metrics.base import Metric
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.results.history_rows import History
    from ragauge.scores.results.scorecard import Summary
    from ragauge.store.store_access import Store

    Keys = npt.NDArray[np.int64]

LIMIT = 20
MOST_NOTE = 2_000  # characters
IN_REPORT = 10
AT_ONCE = 60  # runs read together


class EvaluationLog(ShownResult):
    """The log, ready to be shown or written.

    Attributes:
        history: every row as plain frozen values, the newest first.
    """

    FORMS: ClassVar = {".csv": "to_csv", **ShownResult.FORMS}
    _width: ClassVar = 140
    _file: ClassVar = "log.csv"

    def __init__(self, history: History) -> None:
        self.history = history

    @property
    def _value(self) -> History:
        return self.history

    def to_csv(self) -> str:
        """A row a run; numbers in full."""
        from ragauge.comparison.history.tables import history_csv

        return history_csv(self.history)

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.comparison.history.tables import sections

        return sections(self.history)

    def __len__(self) -> int:
        return len(self.history.rows)


@keywords(LogOptions)
def log(wanted: LogOptions) -> EvaluationLog:
    """A row for every evaluated run, the newest first: when, what changed, how good, at what cost, and its note.

    What `confirm` asked again is no run of its own here.

    Options:
        set: only runs over this set, by any name that it had; "traffic" for runs of production traffic.
        limit: rows at most; None = all.
        metrics: columns beside recall@5, mrr, faithfulness, answer_relevance, answer_correctness and cost.
        judge: whose scores, by id or its beginning, of runs that several judges have judged; None = the last one's.
        store: URL of the store.

    Raises:
        UnknownName: no run of this set or by this judge, no such metric.
    """
    from ragauge.comparison.history.evaluation_log import USUAL
    from ragauge.metrics.catalogue import select
    from ragauge.store.store_access import open_store

    know_own_metrics(wanted.store)
    columns = select([*USUAL, *named(wanted.metrics)])
    with open_store(store_url(wanted.store)) as opened:
        renew_means(opened)
        runs = [run for run in opened.runs.list() if not run.confirms]  # experiments are no change
        listed = sets_of(opened, runs)
        if wanted.set:
            runs = _over(wanted.set, runs, listed)
        history = history_of(opened, runs, listed, columns, wanted.judge, wanted.limit)
        judges = sorted({row.judge_id for row in history.rows if row.judge_id})
        if wanted.judge and not judges_meant(opened, wanted.judge, judges):
            raise unknown_judge(opened, wanted.judge, judges, "these runs")
    return EvaluationLog(history)


def note(run: Any, text: str, *, store: str | None = None) -> dict[str, Any]:
    """Writes a note about a run into the log, in place of an earlier one; an empty text removes it.

    Raises:
        UnknownName: no such run.
        UsageError: a text of more than `MOST_NOTE` characters.
    """
    from ragauge.store.run_log import Note
    from ragauge.store.store_access import open_store
    from ragauge.verbs import git

    text = text.strip().replace("\r\n", "\n")  # as forms send a line break
    if len(text) > MOST_NOTE:
        raise UsageError(
            f"a note has at most {MOST_NOTE:,} characters, got {len(text):,}: nothing was changed. Shorten it, or note "
            "where the whole text is."
        )
    with open_store(store_url(store)) as opened:
        noted = run if isinstance(run, Run) else run.run if isinstance(run, HasRun) else run_of(str(run), opened)
        kept = opened.run_log.note(noted.run_id, Note(text, who=git.user()))
    return {"run_id": noted.run_id, "name": noted.name, "note": kept.text, "at": kept.at, "who": kept.who}


def sets_of(store: Store, runs: Sequence[Run]) -> dict[str, str]:
    """The set that each run is listed under, by run id; the runs are given the newest first."""
    from ragauge.comparison.history.evaluation_log import listed_under

    return listed_under(reversed(runs), _Examples(store).alike)


def _over(name: str, runs: Sequence[Run], listed: Mapping[str, str]) -> list[Run]:
    """The runs over the set that had this name once."""
    called = {(listed[run.run_id], run.set_name if run.kind == "set" else listed[run.run_id]) for run in runs}
    meant = {label for label, once in called if name in (label, once)}
    if not meant:
        raise UnknownName("set of a stored run", name, {label for names in called for label in names})
    return [run for run in runs if listed[run.run_id] in meant]


def history_of(
    store: Store,
    runs: Iterable[Run],
    listed: Mapping[str, str],
    columns: Sequence[Metric],
    judge: str | None = None,
    limit: int | None = None,
) -> History:
    """The log of some runs, given the newest first; those that were not evaluated are left out.

    Args:
        store: where they are.
        runs: of the log.
        listed: the set that each is listed under, by run id.
        columns: metrics.
        judge: whose scores, by id or its beginning; None = the last one's.
        limit: rows at most; None = all.
    """
    from ragauge.comparison.history.evaluation_log import history

    read = _LogReading(store, judge, listed)
    older = read.ahead(runs)
    shown: list[LogEntry] = []
    rest: list[LogEntry] = []  # the run before the last row of each set, which says what changed there
    for run in older:
        shown += read.entry(run)
        if len(shown) == limit:
            break
    waiting = {entry.listed for entry in shown}
    for run in older:
        if rest and not waiting:
            break
        if not rest or listed[run.run_id] in waiting:
            earlier = read.entry(run)
            rest += earlier
            waiting -= {entry.listed for entry in earlier}
    return history([*shown, *rest], columns, len(shown))


class SetFamily(NamedTuple):
    """The set that a run is listed under: its name, and its versions as far as runs up to this one tell."""

    label: str
    versions: tuple[str, ...]


def family_of(store: Store, run: Run) -> SetFamily:
    """The set that a run is listed under; of traffic there are no versions."""
    if run.kind == "traffic":
        return SetFamily("", ())
    known = store.runs.versions_until(run.run_id)
    listed = sets_of(store, known[::-1])
    labels = {one.set_version: listed[one.run_id] for one in known}
    mine = labels.get(run.set_version, "")
    return SetFamily(mine, tuple(version for version, label in labels.items() if label == mine))


def history_until(store: Store, run: Run, judge_id: str | None, family: SetFamily) -> History | None:
    """The last evaluations of a run's set up to this run, for its report; None where there is nothing before it."""
    from ragauge.comparison.history.evaluation_log import USUAL
    from ragauge.metrics.catalogue import select

    listed: dict[str, str] = {}

    def evaluated() -> Iterator[Run]:
        after = ""
        while page := store.runs.evaluated_over(family.versions, run.run_id, limit=2 * IN_REPORT, after=after):
            listed.update(dict.fromkeys((one.run_id for one in page), family.label))
            yield from page
            after = page[-1].run_id

    history = history_of(store, evaluated(), listed, select(USUAL), judge_id, IN_REPORT)
    return history if len(history.rows) > 1 and history.rows[0].run.run_id == run.run_id else None


class _Examples:
    """Compares versions of sets by their examples: what has the same id and asks the same is the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Keys] = {}

    def alike(self, run: Run, other: Run) -> bool:
        """Whether at least half of the larger one's examples are in both."""
        import numpy as np

        from ragauge.comparison.comparability import LEAST_SHARED

        first, two = self._of(run), self._of(other)
        both = np.intersect1d(first, two, assume_unique=True).size
        return bool(both and both >= LEAST_SHARED * max(first.size, two.size))

    def _of(self, run: Run) -> Keys:
        if run.set_version not in self._known:
            import numpy as np

            asked = self._store.runs.order(run.run_id)
            index = self._store.runs.index(run.run_id, asked.numbers)
            keys = (hash((index.query_ids[n], key)) for n, key in zip(index.query, asked.keys, strict=True))
            self._known[run.set_version] = np.unique(np.fromiter(keys, dtype=np.int64))
        return self._known[run.set_version]


class _LogReading:
    """Reads what the log says of a run."""

    def __init__(self, store: Store, judge: str | None, listed: Mapping[str, str]) -> None:
        self._store, self._judge, self._listed = store, judge, listed
        self._notes = store.run_log.notes()
        self._names: dict[str, list[str]] = {}
        for line in store.baselines.list():
            self._names.setdefault(line.run_id, []).append(line.name)
        self._specs: dict[str, str] = {}
        self._summaries: dict[tuple[str, str], tuple[Summary, ...]] = {}
        self._counts: dict[tuple[str, str], VerdictCounts] = {}

    def ahead(self, runs: Iterable[Run]) -> Iterator[Run]:
        """The same runs, of which several are read at once before the first of them is looked at."""
        from ragauge.store.database import chunks

        for part in chunks(runs, AT_ONCE):
            ids, store = [run.run_id for run in part], self._store.summaries
            self._store.run_list.prime(ids)
            self._summaries, self._counts = store.of_runs(ids), store.counts_of(ids)
            yield from part

    def entry(self, run: Run) -> list[LogEntry]:
        """The run as the log shows it; nothing where it was not evaluated."""
        from ragauge.comparison.history.evaluation_log import LogEntry
        from ragauge.comparison.score_pairs import measuring
        from ragauge.engine.request_stream import said_of
        from ragauge.scores.results.judge_usage import added

        store, run_id = self._store, run.run_id
        judges = store.scores.judges(run_id)
        meant = judges if self._judge is None else judges_meant(store, self._judge, judges)
        judge_id = next(iter([*meant, *judges]), None)
        summaries = self._summaries.get((run_id, judge_id or "")) or self._summaries.get((run_id, ""))
        if not summaries:
            return []
        spent = added([call.paid for call in store.calls.spent(run_id, judge_id or "")])
        note = self._notes.get(run_id)
        return [
            LogEntry(
                run,
                self._listed[run_id],
                measuring(store, run, judge_id, self._specs),
                {summary.metric: summary for summary in summaries},
                store.runs.size(run_id),
                store.run_log.judged_at(run_id, judge_id),
                spent.known_cost,
                note.text if note else "",
                tuple(self._names.get(run_id, ())),
                said_of(store, run_id),
                self._counts.get((run_id, judge_id or ""), NOT_COUNTED),
            )
        ]
