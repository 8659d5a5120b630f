"""What is evaluated: a stored run, or questions and responses that become one and name their documents alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args, runtime_checkable

from ragauge.core.document import match_document_names
from ragauge.core.errors import DataError, StoreError, UnknownName, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.messages import format_count
from ragauge.core.response import Response, Run, Variant
from ragauge.verbs.arguments import validate_text

if TYPE_CHECKING:
    from ragauge.core.response import Record
    from ragauge.metrics.base import Metric
    from ragauge.store.store_access import Store
    from ragauge.verbs.imports import SourceFiles


LATEST = "latest"
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Pair = tuple[Example, Response | None]


@runtime_checkable
class HasRun(Protocol):
    """What stands for a stored run, such as `evaluation.runs.verb.OpenRun` or a scorecard."""

    @property
    def run(self) -> Run:
        """The run."""


@dataclass(frozen=True)
class AnsweredExamples:
    """Examples with responses that are already values, such as those of a system that runs in this process."""

    name: str  #: of the eval set.
    pairs: tuple[Pair, ...]  #: example and response.


@dataclass(frozen=True)
class InputSource:
    """Where the questions and responses are."""

    #: one (a run's id or name, a path, a table, Answered), or two: the eval set and the responses.
    items: tuple[Any, ...]
    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the source's column.
    segments: tuple[str, ...] = ()  #: columns of the source to report by.
    name: str = ""  #: of the run; "" = from the file.
    system: str = ""  #: whose answers, where a file holds those of several.
    config: Mapping[str, Any] = field(default_factory=dict)  #: what is known about the system.
    warn: Callable[[str], None] | None = None  #: receives warnings about the data.
    variant: str = "own"  #: which passages the answers rest on: own, oracle, closed_book or replayed.
    traffic: bool = False  #: the responses are a stretch of production traffic.
    context_marker: str = ""  #: how questions are built that are whole prompts; "" = they are questions.
    scores: Mapping[str, str] = field(default_factory=dict)  #: metric -> the column that holds its values.
    without_retrieval: bool = False  #: of traces, answers before which nothing was searched are read too.


def resolve_source(source: InputSource, store: Store) -> tuple[Run, bool]:
    """The run of a source, found by name or imported in one transaction; and whether it was not there before.

    Raises:
        UsageError: not one or two sources, or a path that does not exist and is no run.
        DataError: a file that cannot be read as it is, or that holds no response at all.
    """
    if len(source.items) == 1:
        (item,) = source.items
        if isinstance(item, Run):
            return item, False
        if isinstance(item, HasRun):
            return item.run, False
        if isinstance(item, str) and not is_existing_path(item):
            return find_run_or_explain(item, store), False
    if not 1 <= len(source.items) <= 2:
        got = len(source.items)
        raise UsageError(f"evaluate takes a run, a file, or an eval set and responses; got {got} sources.")
    return _import_source(source, store)


def is_existing_path(item: str) -> bool:
    """Whether a file or folder has this name; "" and what no file can be called is none."""
    try:
        return bool(item) and Path(item).exists()
    except (OSError, ValueError):  # too long a name, or NUL in it
        return False


def find_run(which: str, store: Store) -> Run:
    """A stored run by id, name or "latest"."""
    if which == LATEST and not store.runs.list(1):
        raise UsageError("there are no runs yet. Start with: ragauge evaluate FILE, or ragauge demo.")
    return store.runs.find(which)


def find_run_or_explain(item: str, store: Store) -> Run:
    """The run of this name; where there is none, an error about a run or a file, whichever the name looks like."""
    try:
        return find_run(item, store)
    except UnknownName as error:
        if Path(item).suffix or "/" in item:
            raise UsageError(f"{item}: no such file, and no run of that name. Check the path.") from None
        raise error from None


def _import_source(source: InputSource, store: Store) -> tuple[Run, bool]:
    import secrets

    from ragauge.readers.options import warn_user
    from ragauge.verbs import git

    if validate_text(source.name, "the name of the run", "main") == LATEST:
        raise UsageError("a run cannot be named latest: that word means the most recent run. Choose another name.")
    if source.variant not in VARIANTS:
        raise UnknownName("variant", source.variant, VARIANTS)
    responses = source.items[-1]
    timestamp = datetime.now(UTC).isoformat(timespec="seconds")
    run = Run(
        run_id=secrets.token_hex(6),
        name=source.name or _derive_name(responses),
        kind="traffic" if source.traffic else "set",
        variant=VARIANTS[VARIANTS.index(source.variant)],
        set_name=_derive_name(source.items[0]),
        system=source.system or "recorded",
        config=dict(source.config) or {"files": [_derive_name(item) for item in source.items]},
        git=git.find_commit(),
        created_at=timestamp,
        heartbeat=timestamp,
    )
    files = _collect_files(source, run)
    if files is not None:
        existing = files.before(store, run.name)
        if existing is not None:
            _report_name(source, existing)
            return existing, False
        source = replace(source, warn=files.add_warning)
    imported = store.runs.import_run(run, _require_responses(_iter_pairs(source), _describe_source(responses)))
    if files is not None:
        files.save_run(store, imported)
    _report_name(source, imported)
    if imported.run_id == run.run_id:
        match_run_documents(store, run.run_id, source.warn or warn_user)
    return imported, imported.run_id == run.run_id  # content that is there already keeps its own id


def _report_name(source: InputSource, run: Run) -> None:
    """Says that a name that was given leads to a run that is there under another: they are not two runs."""
    from ragauge.readers.options import warn_user

    if source.name and source.name != run.name:
        (source.warn or warn_user)(
            f"{_describe_source(source.items[-1])}: the same responses are stored as run {run.name} ({run.run_id}). "
            f"{source.name} is now another name for that run; no second run was stored."
        )


def _collect_files(source: InputSource, run: Run) -> SourceFiles | None:
    """The source's files, with all that decides which run they are; None where it is no file."""
    from ragauge.readers.options import warn_user
    from ragauge.verbs.imports import SourceFiles

    how = [dict(source.columns), source.segments, source.system, run.kind, run.variant, run.system, dict(run.config)]
    how += [source.context_marker] if source.context_marker or source.scores else []
    how += [dict(source.scores)] if source.scores else []
    how += ["without_retrieval"] if source.without_retrieval else []
    return SourceFiles.of(source.items, how, source.warn or warn_user)


def _iter_pairs(source: InputSource) -> Iterator[Pair]:
    (*_, last) = source.items
    if isinstance(last, AnsweredExamples):
        yield from last.pairs
        return
    for record in _read_source_records(source):
        yield record.example, record.response


def _read_source_records(source: InputSource) -> Iterator[Record]:
    from ragauge.readers import source as readers
    from ragauge.readers.options import Options, warn_user

    how = Options(
        source.columns,
        source.segments,
        source.system or None,
        source.warn or warn_user,
        context_marker=source.context_marker,
        scores=source.scores,
        without_retrieval=source.without_retrieval,
    )
    if len(source.items) == 2:
        return readers.join_records(*source.items, how)
    return readers.read_records(source.items[0], how)


def _require_responses(pairs: Iterator[Pair], where: str) -> Iterator[Pair]:
    """The pairs as they come; at the end, an error when none of them held a response."""
    some = False
    for example, response in pairs:
        some = some or (response is not None and not response.is_empty)
        yield example, response
    if not some:
        raise DataError(
            "no line holds a response (an answer or passages).",
            source=where,
            hint="Name the answer column with --map answer=COLUMN, or give the responses as a second file: "
            "ragauge evaluate SET RESPONSES.",
        )


def _describe_source(item: Any) -> str:
    """What to call a source in an error: its path where it has one."""
    return str(item) if isinstance(item, str | Path) else _derive_name(item)


def _derive_name(item: Any) -> str:
    if isinstance(item, str | Path):
        name = Path(item).name
        while Path(name).suffix in (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".xlsx"):
            name = Path(name).stem
        return name
    return item.name if isinstance(item, EvalSet | AnsweredExamples) else "table"


def parse_names(raw: str | Sequence[object]) -> tuple[str, ...]:
    """Names, of metrics or columns, from a text with commas or from objects that print as their names.

    A function, or another object that is a metric of the user's own, is found by its name from then on.
    """
    return tuple(map(str, parse_names_or_metrics(raw)))


def parse_names_or_metrics(raw: str | Sequence[object]) -> tuple[str | Metric, ...]:
    """As `parse_names`, where what is a metric is one."""
    if isinstance(raw, Mapping) or not isinstance(raw, Iterable):
        raise UsageError(
            f"names must be a comma-separated string or a list, got {type(raw).__name__}. Write recall@5,faithfulness."
        )
    names = raw.split(",") if isinstance(raw, str) else raw
    return tuple(name for name in map(_parse_name, names) if name)


def _parse_name(raw: object) -> str | Metric:
    if isinstance(raw, str) or (not callable(raw) and not hasattr(raw, "needs")):
        return str(raw).strip()
    from ragauge.metrics.catalogue import register_object

    return register_object(raw)


def register_score_columns(raw: str | Sequence[object]) -> dict[str, str]:
    """Metric -> the column whose numbers it is; :lower, :higher or :neither behind the column says what is better.

    Raises:
        UsageError: a column that cannot name a metric, or has the name of a built-in one.
    """
    from ragauge.metrics.base import Direction
    from ragauge.metrics.catalogue import register_metric
    from ragauge.metrics.own_class import build_column_class

    columns = {}
    for text in parse_names(raw):
        column, _, suffix = text.rpartition(":")
        direction = next(
            (direction_name for direction_name in get_args(Direction) if column and direction_name == suffix), None
        )
        cls = build_column_class(column if direction else text, direction or "higher")
        register_metric(cls)
        columns[cls.name()] = column if direction else text
    return columns


def format_source(source: object, otherwise: str) -> str:
    """A source as a command names it: its path, or a word in capitals where it has none."""
    return str(source) if isinstance(source, str | Path) else otherwise


def find_store_url(source: InputSource, store: str | None) -> str:
    """The store's URL: as given, else that of a run which knows its own, else as `resolve_store_url` says."""
    urls = (getattr(item, "url", None) for item in source.items if isinstance(item, HasRun))
    return resolve_store_url(store or next((url for url in urls if isinstance(url, str)), None))


def load_store_metrics(store: str | None) -> str:
    """The store's URL, its metrics of the user's own being known from now on; no store is made for it."""
    from ragauge.store.store_access import open_store

    url = resolve_store_url(store)
    if Path(url.removeprefix("sqlite:///")).is_file():
        with suppress(StoreError):  # whoever needs it says so
            open_store(url).close()
    return url


def resolve_store_url(store: str | None) -> str:
    """The store's URL: as given, from RAGAUGE_STORE, or the default file."""
    import os

    from ragauge.store.store_access import DEFAULT_URL

    if store is not None:
        validate_text(store, "the store", DEFAULT_URL)
    return store or os.environ.get("RAGAUGE_STORE") or DEFAULT_URL


def resolve_served_url(store: str | None, *, read_only: bool) -> str:
    """The store's URL as `resolve_store_url` says, absolute, so that it means the same for as long as a server runs.

    Args:
        store: as given.
        read_only: opened for reading alone, whatever its file allows.

    Raises:
        StoreError: it cannot be made, or is to be read and not there.
    """
    from ragauge.store.sqlite import build_read_url, resolve_url

    url = resolve_store_url(store)
    return build_read_url(url) if read_only else resolve_url(url)


LARGE_RUN_RESPONSES, PROBED_RESPONSES = 1_000, 200  # responses


def match_run_documents(store: Store, run_id: str, warn: Callable[[str], None]) -> None:
    """Gives retrieved documents the ids that the run's labels have for them, where nothing else can be meant.

    Args:
        store: with the run, all of whose responses are there.
        run_id: the run.
        warn: told what was matched, once.
    """
    labels = store.listings.list_labeled_documents(run_id)
    if (
        labels
        and store.runs.count_responses(run_id) > LARGE_RUN_RESPONSES
        and not labels.isdisjoint(store.listings.list_retrieved_documents(run_id, PROBED_RESPONSES))
    ):
        return  # the ids are alike: to read all of a large run takes long
    names = match_document_names(labels, store.listings.list_retrieved_documents(run_id)) if labels else {}
    if not names:
        return
    n = store.listings.rename_documents(run_id, names)
    old, new = next(iter(names.items()))
    warn(
        f"{format_count(len(names), 'document')} of the passages matched labels that differ only in folder or file "
        f"extension, such as {old} and {new}, in {format_count(n, 'response')}. If this is wrong, use the same ids."
    )
