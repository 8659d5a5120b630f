"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ragauge.api.inputs.calls import ModelCallOptions
from ragauge.api.options import EvaluateOptions
from ragauge.errors import UsageError
from ragauge.text.messages import speak_of

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN|FILE...",
        help="A stored run (id, name or latest), a file with questions and responses, or two files: "
        "the eval set, then the responses, joined on query_id.",
    ),
]
Metrics = Annotated[
    str, typer.Option("-m", "--metrics", help="Metrics or presets, comma-separated; ragauge metrics lists them.")
]
Judge = Annotated[
    str, typer.Option("--judge", help="Who answers what labels do not: local, none, openai:MODEL, hybrid:openai:MODEL.")
]


def _named(url: str) -> str:
    """Commands that are offered name the store that was named here; the environment's need not be."""
    speak_of(url if url != os.environ.get("RAGAUGE_STORE", "") else "")
    return url


Store = Annotated[
    str,
    typer.Option(
        "--store", envvar="RAGAUGE_STORE", callback=_named, help="Where results are kept; sqlite:///.ragauge/ragauge.db."
    ),
]
JudgeRepeats = Annotated[
    int, typer.Option("--judge-repeats", min=1, help="Ask the judge so many times and print how far the means vary.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Do again what failed before.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Evaluate this many examples, drawn at random.")]
Filter = Annotated[str, typer.Option("--filter", help="Only these: type=multi_hop or tag=golden, comma = and.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")]
CALLS = "Calls to a model"
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency", min=1, rich_help_panel=CALLS,
        help="Calls to a model in flight to begin with; follows what the provider bears. 1 stays 1.",
    ),
]
MaxConcurrency = Annotated[
    int | None,
    typer.Option(
        "--max-concurrency", min=1, rich_help_panel=CALLS, help="How far it may rise; 4 times the start by default."
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", rich_help_panel=CALLS, help="US dollars that may be spent now; a hard stop."),
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, rich_help_panel=CALLS, help="Seconds for one call to a model.")
]
Name = Annotated[str, typer.Option("--name", help="What to call the run; the file's name by default.")]
Segments = Annotated[str, typer.Option("--segments", help="Columns of the file to report by, comma-separated.")]
Columns = Annotated[
    list[str] | None, typer.Option("--map", help="A column under another name: --map query=question; repeatable.")
]
Outputs = Annotated[
    list[Path] | None, typer.Option("-o", "--output", help="Write a report: .html, .md, .json; scores: .jsonl, .csv.")
]
Index = Annotated[
    str, typer.Option("--index", help="What is in the index: a file of document ids, a corpus.jsonl, a table.")
]
Baseline = Annotated[
    str, typer.Option("--baseline", help="Hold the run against this one: a baseline's name, or a run's id or name.")
]
Variant = Annotated[
    str, typer.Option("--variant", help="Passages that the answers rest on: own, oracle, closed_book or replayed.")
]
Traffic = Annotated[bool, typer.Option("--traffic", help="The responses are production traffic, not an eval set's.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")]


_CALLS: Mapping[str, Any] = {
    "concurrency": Concurrency, "max_concurrency": MaxConcurrency, "max_cost": MaxCost, "timeout": Timeout,
}     # fmt: skip
# the options of a verb -> its fields that are typed, in the order of the help; the others are for Python
GROUPS: dict[type[Any], Mapping[str, Any]] = {
    ModelCallOptions: _CALLS,
    EvaluateOptions: {
        "source": Sources, "metrics": Metrics, "judge": Judge, "judge_repeats": JudgeRepeats, "store": Store,
        "name": Name, "columns": Columns, "segments": Segments, "limit": Limit, "filter": Filter, "workers": Workers,
        "index": Index, "baseline": Baseline, "variant": Variant, "traffic": Traffic, **_CALLS,
        "retry_failed": RetryFailed,
    },
}     # fmt: skip


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with its groups of options spread out: a parameter of a type in GROUPS becomes an option a field.

    Defaults are the fields'. What is left out, or empty where the field says None or nothing, stays at its default.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for name, one in inspect.signature(command).parameters.items():
        kind = hints[name]
        if kind not in GROUPS:
            parameters.append(one.replace(annotation=kind))
            continue
        groups[name] = kind
        parameters += [
            one.replace(name=field, annotation=typed, default=_default(kind, field))
            for field, typed in GROUPS[kind].items()
        ]

    @wraps(command)
    def spread(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**_read(kind, {field: given.pop(field) for field in GROUPS[kind]}))
        command(**given)

    vars(spread)["__signature__"] = inspect.Signature(parameters)
    spread.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread


def _default(kind: type[Any], name: str) -> Any:
    """What a command takes where nothing is typed: None stands for a default that cannot be typed."""
    value = inspect.signature(kind).parameters[name].default
    return value if value is inspect.Parameter.empty or isinstance(value, str | int | float) else None


def _read(kind: type[Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were given, as Python takes them."""
    given = {name: value for name, value in typed.items() if value or _default(kind, name) is not None}
    return {name: READ[name](value) if name in READ else value for name, value in given.items()}


def names(text: str) -> tuple[str, ...]:
    """Comma-separated names.

    >>> names("recall@5, mrr")
    ('recall@5', 'mrr')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def mapping(pairs: Sequence[str] | None) -> Mapping[str, str]:
    """field=column pairs.

    Raises:
        UsageError: a pair without an equals sign.
    """
    found = {}
    for pair in pairs or ():
        field, equals, column = pair.partition("=")
        if not (equals and field.strip() and column.strip()):
            raise UsageError(f"--map: expected field=column, got {pair!r}. Write --map query=question.")
        found[field.strip()] = column.strip()
    return found


def conditions(text: str) -> Mapping[str, str]:
    """Conditions on segments and tags.

    >>> conditions("type=multi_hop,tag=golden")
    {'type': 'multi_hop', 'tag': 'golden'}
    """
    found = {}
    for part in names(text):
        column, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"--filter: expected column=value, got {part!r}. Write --filter type=multi_hop.")
        found[column.strip()] = value.strip()
    return found


READ: Mapping[str, Callable[[Any], Any]] = {"source": tuple, "columns": mapping, "filter": conditions}
