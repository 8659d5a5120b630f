"""A verb's options are declared once: the command, the plain verb and the coroutine take the same ones."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any, get_args

import pytest
import typer
from typer.main import get_command

import ragauge as rg
from ragauge import aio
from ragauge.cli import options
from ragauge.cli.main import app

VERBS = ("compare", "confirm", "evaluate", "gate", "run")
SHOWN = {"as_json", "outputs", "quiet", "only_plan", "explain", "github", "help"}     # how a command tells its result
PASSED = {"progress", "warn"}                                       # what receives lines where no terminal is

# verb -> (typed, in Python): options of the same meaning that are called otherwise on each side
OTHERWISE: dict[str, tuple[set[str], set[str]]] = {
    "compare": ({"runs", "keep"}, {"base", "new", "more", "filter", "segments"}),     # segments: in the report anyway
    "confirm": (set(), set()),
    "evaluate": (set(), {"set", "judge_name", "prompts", "config"}),      # objects; two files are typed as sources
    "gate": ({"config"}, {"rules"}),
    "run": (
        {"eval_set", "keep", "oracle", "closed_book", "evaluate", "metrics", "judge", "max_cost"},
        {"set", "filter", "variant"},
    ),     # three flags for the variant; and what `--evaluate` hands on
}     # fmt: skip


def typed(verb: str) -> dict[str, Any]:
    """Name -> default of what the command takes."""
    command: Any = get_command(app)
    return {one.name: one.default for one in command.commands[verb].params}


@pytest.mark.parametrize("verb", VERBS)
def test_command_and_keywords_agree(verb: str) -> None:
    """What a command takes its verb takes, under one name and with one default; the few others are listed here."""
    command, python = typed(verb), inspect.signature(getattr(rg, verb)).parameters
    typed_alone, python_alone = OTHERWISE[verb]
    assert set(command) - SHOWN - set(python) == typed_alone
    assert set(python) - set(command) - PASSED == python_alone
    empty: tuple[Any, ...] = (None, "", (), [], inspect.Parameter.empty)
    for name in set(command) & set(python):
        default = python[name].default
        assert command[name] == default or (command[name] in empty and default in empty) or name == "run", name


@pytest.mark.parametrize("verb", VERBS)
def test_plain_and_coroutine_agree(verb: str) -> None:
    """The coroutine takes what the plain verb takes, has its documentation, and is one."""
    plain, awaited = getattr(rg, verb), getattr(aio, verb)
    assert inspect.signature(plain) == inspect.signature(awaited)
    assert inspect.getdoc(plain) == inspect.getdoc(awaited)
    assert not [one for one in inspect.signature(plain).parameters.values() if one.kind is one.VAR_KEYWORD]


@pytest.mark.parametrize("kind", options.GROUPS, ids=lambda kind: kind.__name__)
def test_typed_options_are_fields(kind: type[Any]) -> None:
    """Every typed option of a group is a field of its options, and says what it is for."""
    assert set(options.GROUPS[kind]) <= {field.name for field in fields(kind)}
    for typed_as in options.GROUPS[kind].values():
        (info,) = (one for one in get_args(typed_as) if isinstance(one, typer.models.ParameterInfo))
        assert info.help


@pytest.mark.parametrize("verb", [*VERBS, "check_judge"])
def test_every_keyword_is_explained(verb: str) -> None:
    """The documentation of a verb explains every option that it takes."""
    told = inspect.getdoc(getattr(rg, verb)) or ""
    assert not [name for name in inspect.signature(getattr(rg, verb)).parameters if not re.search(rf"\b{name}\b", told)]
