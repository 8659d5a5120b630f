"""From a dataclass of options to a verb and a command.

`expand_options` makes the verb of the work that is done with the options: their fields are its arguments. A field that
is `Annotated[kind, OptionSpec("help")]` is an option of the command too, made by `verbs/command_builder.py`; the others
are for Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, get_origin

from ragauge.core.errors import ConfigError, DataError, UsageError

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.metrics.base import Metric

Given = TypeVar("Given")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class OptionSpec:
    """One option, or argument, of a command."""

    help: str  #: what `--help` says, in a line.
    names: str = ""  #: as it is typed, separated by blanks; `--field-name` by default.
    #: of what is typed; the field's own where that is text, a number, a path or yes and no, else text.
    kind: Any = None
    argument: bool = False  #: it is typed by its place, without a name.
    metavar: str | None = None  #: how `--help` calls the value.
    least: float | None = None  #: the smallest number.
    most: float | None = None  #: the greatest.
    panel: str | None = None  #: of the help, where it stands apart from the others.
    variable: str | None = None  #: of the environment, that it is taken from where it is not typed.


STORE = OptionSpec("Where to store results; defaults to sqlite:///.ragauge/ragauge.db.", variable="RAGAUGE_STORE")
METRICS = OptionSpec("Comma-separated metrics or presets; ragauge metrics lists them.", "-m --metrics")

Metrics = Annotated[str | Sequence[object], METRICS]
LastJudge = Annotated[
    str | None, OptionSpec("Which judge's verdicts to use, as given to `evaluate --judge`; defaults to the last judge.")
]
Store = Annotated[str | None, STORE]
Segments = Annotated[str | Sequence[str], OptionSpec("Comma-separated columns to report by.")]
Scores = Annotated[
    str | Sequence[str],
    OptionSpec(
        "Numeric columns to use as metrics: rating,minutes:lower; repeatable.", kind=list[str] | None, metavar="COLUMN"
    ),
]
Columns = Annotated[
    Mapping[str, str] | None,
    OptionSpec("Map a field to a column: --map query=question; repeatable.", "--map", list[str] | None),
]
Filter = Annotated[Mapping[str, str] | None, OptionSpec("Only these: type=multi_hop or tag=golden; comma means and.")]
Index = Annotated[Any, OptionSpec("Documents in the index: a file of document ids, a corpus.jsonl, or a table.")]
Controls = Annotated[
    int | str | None,
    OptionSpec(
        "Number of control pairs that check what the judge can read, or none; defaults to 200 for local.",
        kind=str | None,
        metavar="N|none",
    ),
]
Baseline = Annotated[Any, OptionSpec("Compare with this run: a baseline name, or a run id or name.")]
StoredRun = Annotated[Any, OptionSpec("A stored run: id, name or latest.", argument=True)]


def parse_controls(controls: int | str | None) -> int | None:
    """How many control pairs of the run; 0 = none of its own, None = as many as the judge takes by default.

    Where nothing is said, it is as many as ragauge.yaml says, in the folder where this was started.

    Raises:
        UsageError: it is neither a number nor none.
        ConfigError: what ragauge.yaml says is neither.
    """
    controls = _configured_controls() if controls is None else controls
    if controls is None or controls == "none":
        return None if controls is None else 0
    if not str(controls).isdecimal():
        raise UsageError(f"controls must be a number of pairs or none, got {controls!r}.")
    return int(controls)


def _configured_controls() -> int | str | None:
    """What ragauge.yaml says of controls; None where it says nothing. Its other mistakes are for ragauge doctor."""
    file = _read_default_config()
    if file is None:
        return None
    if mistakes := [problem for problem in file.problems if problem.problem.startswith("controls:")]:
        raise ConfigError(mistakes)
    return file.config.controls


def _read_default_config() -> ConfigFile | None:
    """The ragauge.yaml of the folder where this was started; None where there is none that can be read."""
    from ragauge.core.config.config_loader import DEFAULT_FILE, read_config

    try:
        return read_config() if Path(DEFAULT_FILE).is_file() else None
    except DataError:
        return None


def parse_criteria(criteria: object) -> tuple[Metric, ...]:
    """The criteria of a run as metrics, found by their names from now on.

    Args:
        criteria: a list of mappings, or a mapping of names to texts or mappings; None = what ragauge.yaml says.

    Raises:
        ConfigError: mistakes, all of them.
    """
    from ragauge.core.config.config_loader import read_config
    from ragauge.metrics.configured import register_criteria

    file = _read_default_config() if criteria is None else read_config({"criteria": criteria}, "criteria=")
    if file is None:
        return ()
    metrics, problems = register_criteria(file)
    criteria_problems = [problem for problem in file.problems if problem.problem.startswith("criteria")]
    if criteria_problems or problems:
        raise ConfigError([*criteria_problems, *problems])
    return metrics


def expand_options(options: Callable[P, Given]) -> Callable[[Callable[[Given], T]], Callable[P, T]]:
    """Makes a verb of what works with options: its arguments are the fields, for a type checker as for `help`.

    Args:
        options: a dataclass; what its bases declare comes last in the signature.

    >>> @dataclass
    ... class AskOptions:
    ...     timeout: float = 1.0
    >>> @expand_options(AskOptions)
    ... def ask(wanted: AskOptions) -> float:
    ...     return wanted.timeout
    >>> ask(timout=3)
    Traceback (most recent call last):
    TypeError: ask() got an unexpected keyword argument 'timout'
    """
    order = [option.name for option in sort_own_first(options)]
    parameters = inspect.signature(options).parameters.values()
    taken = [
        parameter.replace(annotation=parameter.annotation.__origin__)
        if get_origin(parameter.annotation) is Annotated
        else parameter
        for parameter in sorted(parameters, key=lambda parameter: (parameter.kind, order.index(parameter.name)))
    ]

    def decorate(work: Callable[[Given], T]) -> Callable[P, T]:
        name = work.__name__.removesuffix("_async")
        signature = inspect.signature(work).replace(parameters=taken)

        @wraps(work)
        def call_verb(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
            return work(options(*args, **kwargs))

        vars(call_verb).update({"__signature__": signature, "options": options})
        return call_verb

    return decorate


def with_options(**typed: Any) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Says which parameters of a plain function its command takes: name -> `Annotated[kind, OptionSpec("help")]`."""

    def decorate(verb: Callable[P, T]) -> Callable[P, T]:
        vars(verb)["typed"] = typed
        return verb

    return decorate


def sort_own_first(options: Any) -> list[Any]:
    """The fields of a dataclass, those of its bases last but for what is given by its place."""
    bases = [base for base in options.__bases__ if hasattr(base, "__dataclass_fields__")]
    inherited = {field.name for base in bases for field in fields(base)}
    return sorted(fields(options), key=lambda option: bool(option.kw_only) and option.name in inherited)
