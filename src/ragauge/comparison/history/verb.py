"""The log of evaluations: what the store knows of every evaluated run, in rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.verbs.columns import renew_means
from ragauge.verbs.judge_lookup import build_unknown_judge_error, match_judges
from ragauge.verbs.option_specs import OptionSpec, StoredRun, expand_options, with_options
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.options import LogOptions
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import HasRun, find_run, load_store_metrics, parse_names, resolve_store_url

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

DEFAULT_LIMIT_ROWS = 20
MAX_NOTE_CHARS = 2_000  # characters
MAX_REPORT_ROWS = 10
BATCH_SIZE_RUNS = 60  # runs read together


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
        from ragauge.comparison.history.tables import format_csv

        return format_csv(self.history)

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.comparison.history.tables import build_sections

        return build_sections(self.history)

    def __len__(self) -> int:
        return len(self.history.rows)


@expand_options(LogOptions)
def log(options: LogOptions) -> EvaluationLog:
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
    from ragauge.comparison.history.evaluation_log import USUAL_METRICS
    from ragauge.metrics.catalogue import select_metrics
    from ragauge.store.store_access import open_store

    load_store_metrics(options.store)
    columns = select_metrics([*USUAL_METRICS, *parse_names(options.metrics)])
    with open_store(resolve_store_url(options.store)) as opened_store:
        renew_means(opened_store)
        runs = [run for run in opened_store.runs.list() if not run.confirms]  # experiments are no change
        sets_by_run = map_sets_by_run(opened_store, runs)
        if options.set:
            runs = _select_runs_of_set(options.set, runs, sets_by_run)
        history = build_history(opened_store, runs, sets_by_run, columns, options.judge, options.limit)
        judges = sorted({row.judge_id for row in history.rows if row.judge_id})
        if options.judge and not match_judges(opened_store, options.judge, judges):
            raise build_unknown_judge_error(opened_store, options.judge, judges, "these runs")
    return EvaluationLog(history)


def describe_note(saved: Mapping[str, Any], _: object) -> str:
    """What `ragauge runs note` prints."""
    name = f"{saved['name']} ({saved['run_id']})"
    return f"note on {name}: {saved['note']}" if saved["note"] else f"removed the note on {name}"


@with_options(
    run=StoredRun,
    text=Annotated[str, OptionSpec("The note; an empty note removes it.", argument=True)],
    store=StoreOption,
)
def note(run: Any, text: str, *, store: str | None = None) -> dict[str, Any]:
    """Writes a note about a run into the log, in place of an earlier one; an empty text removes it.

    Raises:
        UnknownName: no such run.
        UsageError: a text of more than `MAX_NOTE_CHARS` characters.
    """
    from ragauge.store.run_log import Note
    from ragauge.store.store_access import open_store
    from ragauge.verbs import git

    text = text.strip().replace("\r\n", "\n")  # as forms send a line break
    if len(text) > MAX_NOTE_CHARS:
        raise UsageError(
            f"a note has at most {MAX_NOTE_CHARS:,} characters, got {len(text):,}. Shorten it, or say where the "
            "full text is."
        )
    with open_store(resolve_store_url(store)) as opened_store:
        noted = (
            run if isinstance(run, Run) else run.run if isinstance(run, HasRun) else find_run(str(run), opened_store)
        )
        saved = opened_store.run_log.note(noted.run_id, Note(text, who=git.find_user()))
    return {"run_id": noted.run_id, "name": noted.name, "note": saved.text, "at": saved.at, "who": saved.who}


def map_sets_by_run(store: Store, runs: Sequence[Run]) -> dict[str, str]:
    """The set that each run is listed under, by run id; the runs are given the newest first."""
    from ragauge.comparison.history.evaluation_log import assign_sets

    return assign_sets(reversed(runs), _SetSimilarity(store).is_similar)


def _select_runs_of_set(name: str, runs: Sequence[Run], sets_by_run: Mapping[str, str]) -> list[Run]:
    """The runs over the set that had this name once."""
    called = {(sets_by_run[run.run_id], run.set_name if run.kind == "set" else sets_by_run[run.run_id]) for run in runs}
    matching_labels = {label for label, once in called if name in (label, once)}
    if not matching_labels:
        raise UnknownName("set of a stored run", name, {label for names in called for label in names})
    return [run for run in runs if sets_by_run[run.run_id] in matching_labels]


def build_history(
    store: Store,
    runs: Iterable[Run],
    sets_by_run: Mapping[str, str],
    columns: Sequence[Metric],
    judge: str | None = None,
    limit: int | None = None,
) -> History:
    """The log of some runs, given the newest first; those that were not evaluated are left out.

    Args:
        store: where they are.
        runs: of the log.
        sets_by_run: the set that each is listed under, by run id.
        columns: metrics.
        judge: whose scores, by id or its beginning; None = the last one's.
        limit: rows at most; None = all.
    """
    from ragauge.comparison.history.evaluation_log import build_log

    reader = _LogReader(store, judge, sets_by_run)
    older = reader.read_ahead(runs)
    entries: list[LogEntry] = []
    previous_entries: list[LogEntry] = []  # the run before the last row of each set, which says what changed there
    for run in older:
        entries += reader.build_entry(run)
        if len(entries) == limit:
            break
    waiting = {entry.listed for entry in entries}
    for run in older:
        if previous_entries and not waiting:
            break
        if not previous_entries or sets_by_run[run.run_id] in waiting:
            earlier = reader.build_entry(run)
            previous_entries += earlier
            waiting -= {entry.listed for entry in earlier}
    return build_log([*entries, *previous_entries], columns, len(entries))


class SetFamily(NamedTuple):
    """The set that a run is listed under: its name, and its versions as far as runs up to this one tell."""

    label: str
    versions: tuple[str, ...]


def find_set_family(store: Store, run: Run) -> SetFamily:
    """The set that a run is listed under; of traffic there are no versions."""
    if run.kind == "traffic":
        return SetFamily("", ())
    earlier_runs = store.runs.list_version_runs(run.run_id)
    sets_by_run = map_sets_by_run(store, earlier_runs[::-1])
    labels = {earlier_run.set_version: sets_by_run[earlier_run.run_id] for earlier_run in earlier_runs}
    own_label = labels.get(run.set_version, "")
    return SetFamily(own_label, tuple(version for version, label in labels.items() if label == own_label))


def build_report_history(store: Store, run: Run, judge_id: str | None, family: SetFamily) -> History | None:
    """The last evaluations of a run's set up to this run, for its report; None where there is nothing before it."""
    from ragauge.comparison.history.evaluation_log import USUAL_METRICS
    from ragauge.metrics.catalogue import select_metrics

    sets_by_run: dict[str, str] = {}

    def iter_runs() -> Iterator[Run]:
        after = ""
        while page := store.runs.list_evaluated(family.versions, run.run_id, limit=2 * MAX_REPORT_ROWS, after=after):
            sets_by_run.update(dict.fromkeys((earlier_run.run_id for earlier_run in page), family.label))
            yield from page
            after = page[-1].run_id

    history = build_history(store, iter_runs(), sets_by_run, select_metrics(USUAL_METRICS), judge_id, MAX_REPORT_ROWS)
    return history if len(history.rows) > 1 and history.rows[0].run.run_id == run.run_id else None


class _SetSimilarity:
    """Compares versions of sets by their examples: what has the same id and asks the same is the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Keys] = {}

    def is_similar(self, run: Run, other: Run) -> bool:
        """Whether at least half of the larger one's examples are in both."""
        import numpy as np

        from ragauge.comparison.comparability import MIN_SHARED

        first, two = self._load_keys(run), self._load_keys(other)
        both = np.intersect1d(first, two, assume_unique=True).size
        return bool(both and both >= MIN_SHARED * max(first.size, two.size))

    def _load_keys(self, run: Run) -> Keys:
        if run.set_version not in self._known:
            import numpy as np

            order = self._store.runs.load_order(run.run_id)
            index = self._store.runs.index(run.run_id, order.numbers)
            keys = (hash((index.query_ids[n], key)) for n, key in zip(index.query, order.keys, strict=True))
            self._known[run.set_version] = np.unique(np.fromiter(keys, dtype=np.int64))
        return self._known[run.set_version]


class _LogReader:
    """Reads what the log says of a run."""

    def __init__(self, store: Store, judge: str | None, sets_by_run: Mapping[str, str]) -> None:
        self._store, self._judge, self._listed = store, judge, sets_by_run
        self._notes = store.run_log.notes()
        self._names: dict[str, list[str]] = {}
        for line in store.baselines.list():
            self._names.setdefault(line.run_id, []).append(line.name)
        self._specs: dict[str, str] = {}
        self._summaries: dict[tuple[str, str], tuple[Summary, ...]] = {}
        self._counts: dict[tuple[str, str], VerdictCounts] = {}

    def read_ahead(self, runs: Iterable[Run]) -> Iterator[Run]:
        """The same runs, of which several are read at once before the first of them is looked at."""
        from ragauge.store.database import split_batches

        for batch in split_batches(runs, BATCH_SIZE_RUNS):
            ids, store = [run.run_id for run in batch], self._store.summaries
            self._store.run_list.load_numbers(ids)
            self._summaries, self._counts = store.load_for_runs(ids), store.load_counts(ids)
            yield from batch

    def build_entry(self, run: Run) -> list[LogEntry]:
        """The run as the log shows it; nothing where it was not evaluated."""
        from ragauge.comparison.history.evaluation_log import LogEntry
        from ragauge.comparison.score_pairs import build_measurement_spec
        from ragauge.engine.request_stream import summarize_origins
        from ragauge.scores.results.judge_usage import add_calls

        store, run_id = self._store, run.run_id
        judges = store.scores.judges(run_id)
        meant = judges if self._judge is None else match_judges(store, self._judge, judges)
        judge_id = next(iter([*meant, *judges]), None)
        summaries = self._summaries.get((run_id, judge_id or "")) or self._summaries.get((run_id, ""))
        if not summaries:
            return []
        spent = add_calls([call.paid for call in store.calls.spent(run_id, judge_id or "")])
        note = self._notes.get(run_id)
        return [
            LogEntry(
                run,
                self._listed[run_id],
                build_measurement_spec(store, run, judge_id, self._specs),
                {summary.metric: summary for summary in summaries},
                store.runs.count_responses(run_id),
                store.run_log.find_judged_at(run_id, judge_id),
                spent.known_cost,
                note.text if note else "",
                tuple(self._names.get(run_id, ())),
                summarize_origins(store, run_id),
                self._counts.get((run_id, judge_id or ""), NOT_COUNTED),
            )
        ]
