"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from ragauge.core.errors import UsageError
from ragauge.core.messages import set_named_store
from ragauge.verbs.option_specs import STORE, OptionSpec, sort_own_first

PLAIN_KINDS = (str, int, float, bool, Path, int | None, float | None)  # kinds of fields that are typed as they are


@dataclass(frozen=True)
class PlacedBefore:
    """A parameter of the command itself, with its place in the help: before this option of a group."""

    field: str


def _remember_store(url: str | None) -> str | None:
    """Commands that are offered name the store that was named here; the environment's need not be."""
    set_named_store(url if url and url != os.environ.get("RAGAUGE_STORE", "") else "")
    return url


def build_option(field: str, typed: OptionSpec) -> Any:
    """What typer makes an option, or an argument, of."""
    if typed.argument:
        return typer.Argument(metavar=typed.metavar, help=typed.help)
    return typer.Option(
        *(typed.names.split() or [f"--{field.replace('_', '-')}"]),
        metavar=typed.metavar,
        min=typed.least,
        max=typed.most,
        rich_help_panel=typed.panel,
        envvar=typed.variable,
        help=typed.help,
        callback=_remember_store if typed.variable == STORE.variable else None,
    )


Store = Annotated[str, build_option("store", STORE)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done without doing it.")]
Outputs = Annotated[
    list[Path] | None, typer.Option("-o", "--output", help="Write a report: .html, .md, .json; scores: .jsonl, .csv.")
]
StudyOutputs = Annotated[list[Path] | None, typer.Option("-o", "--output", help="Output: .md, .html, .json, .csv.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Hide the progress line.")]


def build_typed_fields(source: Any) -> dict[str, Any]:
    """What is typed of a verb's options -> what typer takes for it, in the order of the help.

    Args:
        source: a dataclass of options, or a function under `with_options`.
    """
    annotations = {}
    for name, annotation in _list_annotations(source):
        hint, *more = get_args(annotation) if hasattr(annotation, "__metadata__") else (annotation,)
        for typed in more:
            if isinstance(typed, OptionSpec):
                annotations[name] = Annotated[
                    typed.kind or (hint if hint in PLAIN_KINDS else str), build_option(name, typed)
                ]
    return annotations


def _list_annotations(source: Any) -> Iterable[tuple[str, Any]]:
    if is_dataclass(source):
        return ((option.name, option.type) for option in sort_own_first(source))
    typed: Mapping[str, Any] = getattr(source, "typed", {})
    return typed.items()


def spread_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with its groups of options spread out: a parameter that is a dataclass becomes an option a field.

    Defaults are the fields'. What is left out, or empty where the field says None or nothing, stays at its default.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: build_typed_fields(kind) for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            kind = hints[name]
            parameters += [
                parameter.replace(name=field, annotation=typed, default=find_default(kind, field))
                for field, typed in groups[name].items()
            ]
            continue
        placed_before = next((mark.field for mark in get_args(hints[name])[1:] if isinstance(mark, PlacedBefore)), None)
        position = next((n for n, existing in enumerate(parameters) if existing.name == placed_before), len(parameters))
        parameters.insert(position, parameter.replace(annotation=hints[name]))

    @wraps(command)
    def call_command(**kwargs: Any) -> None:
        for name, group in groups.items():
            kind = hints[name]
            kwargs[name] = kind(**parse_fields(kind, {field: kwargs.pop(field) for field in group}))
        command(**kwargs)

    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]  # in any order
    vars(call_command)["__signature__"] = inspect.Signature(keyword_only)
    call_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call_command


def find_default(source: Any, name: str) -> Any:
    """What a command takes where nothing is typed: None stands for a default that cannot be typed."""
    value = inspect.signature(source).parameters[name].default
    return value if value is inspect.Parameter.empty or isinstance(value, str | int | float | Path) else None


def parse_fields(source: Any, typed: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, or parameters, that were given, as Python takes them."""
    provided = {name: value for name, value in typed.items() if value or find_default(source, name) is not None}
    return {
        name: FIELD_PARSERS[name](value) if name in FIELD_PARSERS else _freeze_list(value)
        for name, value in provided.items()
    }


def _freeze_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def parse_names(text: str) -> tuple[str, ...]:
    """Comma-separated names.

    >>> parse_names("recall@5, mrr")
    ('recall@5', 'mrr')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_mapping(pairs: Sequence[str] | None) -> Mapping[str, str]:
    """field=column pairs; a field that is there twice has several columns, one without a column is not read.

    Raises:
        UsageError: a pair without an equals sign.
    """
    from ragauge.readers.aliases import ColumnGroup

    mapped: dict[str, list[str]] = {}
    for pair in pairs or ():
        field, equals, column = pair.partition("=")
        if not (equals and field.strip()):
            raise UsageError(f"--map: expected field=column, got {pair!r}. Write --map query=question.")
        mapped.setdefault(field.strip(), []).append(column.strip())
    several = {field: tuple(dict.fromkeys(columns)) for field, columns in mapped.items()}
    return {field: names[0] if len(names) == 1 else ColumnGroup(names) for field, names in several.items()}


def parse_conditions(text: str) -> Mapping[str, str]:
    """Conditions on segments and tags.

    >>> parse_conditions("type=multi_hop,tag=golden")
    {'type': 'multi_hop', 'tag': 'golden'}

    Raises:
        UsageError: no column=value, or two values of one column, which nothing has.
    """
    value_by_column: dict[str, str] = {}
    for part in parse_names(text):
        column, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"--filter: expected column=value, got {part!r}. Write --filter type=multi_hop.")
        if value_by_column.setdefault(column.strip(), value.strip()) != value.strip():
            both = f"{value_by_column[column.strip()]} and {value.strip()}"
            raise UsageError(f"--filter: {column.strip()} takes one value, got {both}. Run the command once for each.")
    return value_by_column


def parse_values(texts: Sequence[str]) -> Mapping[str, list[Any]]:
    """Parameters with the values to try, read as YAML reads them.

    >>> parse_values(["k=1,5", "retriever=bm25"])
    {'k': [1, 5], 'retriever': ['bm25']}

    Raises:
        UsageError: a text without an equals sign, or that YAML cannot read.
    """
    import yaml

    parsed = {}
    for text in texts:
        name, sign, values_text = text.partition("=")
        try:
            read = yaml.safe_load(f"[{values_text}]") if sign and name.strip() and values_text else None
        except (yaml.YAMLError, ValueError, RecursionError):
            read = None
        if not read:
            raise UsageError(f"-p: expected name=value,value such as k=1,5,10, got {text!r}.")
        parsed[name.strip()] = read
    return parsed


FIELD_PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "columns": parse_mapping,
    "filter": parse_conditions,
    "parameters": parse_values,
    "scores": lambda typed: parse_names(",".join(typed)),
}
