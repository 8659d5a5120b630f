"""A verb's options are declared once: the command, the plain verb and the coroutine take the same ones."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

import ragauge as rg
from ragauge import aio
from ragauge.cli.command_group import RENAMED_COMMANDS, load_command, load_verb_command
from ragauge.cli.main import app, main
from ragauge.core.config.file import SweepSection
from ragauge.core.messages import format_command, set_named_store
from ragauge.labels.label import options as label_options
from ragauge.monitoring import options as monitor_options
from ragauge.studies import options as study_options
from ragauge.studies.options import SweepOptions
from ragauge.verbs import evaluate_options as options
from ragauge.verbs import options as queries
from ragauge.verbs.command_options import build_typed_fields
from ragauge.verbs.registry import PANELS, Verb, list_commands, list_public_verbs, list_verbs, load

VERBS = ("ann", "chunking", "compare", "confirm", "embeddings", "evaluate", "gate", "run", "sweep")
STORED = ("log", "runs", "ui")  # plain verbs alone: they read, and wait for nothing
PATHS = {  # verb -> its command, where that is called otherwise
    "ann": "component ann",
    "chunking": "component chunking",
    "embeddings": "component embeddings",
    "log": "runs log",
    "runs": "runs list",
}
MOST_OPTIONS = 553  # of all commands, --store and --json of each counted
MOST_DISTINCT_OPTIONS = 296  # an option that several commands share counted once
OPTIONS = [
    kind
    for module in (label_options, monitor_options, options, queries, study_options)
    for name, kind in vars(module).items()
    if name.endswith("Options")
]
SHOWN = {"as_json", "outputs", "quiet", "only_plan", "explain", "github", "help"}  # how a command tells its result
PASSED = {"progress", "warn", "say"}  # what receives lines where no terminal is

# verb -> (typed, in Python): options of the same meaning that are called otherwise on each side
OTHERWISE: dict[str, tuple[set[str], set[str]]] = {
    "compare": ({"runs"}, {"base", "new", "more", "segments"}),  # segments: in the report anyway
    # objects; two files are typed as sources; criteria stand in ragauge.yaml
    "evaluate": (set(), {"set", "judge_name", "prompts", "config", "criteria"}),
    "run": ({"oracle", "closed_book", "evaluate", "metrics", "judge", "max_cost"}, {"variant"}),
    "sweep": ({"file", "dry_run"}, {"base", "index", "keep_open", "leave_out"}),  # the file has them
    "ui": ({"export", "run", "limit"}, set()),  # which write files instead
}  # run: two flags for the variant; and what `--evaluate` hands on


def typed(verb: str) -> dict[str, Any]:
    """Name -> default of what the command takes."""
    taken = load_verb_command(PATHS.get(verb, verb))
    return {one.name: one.default for one in taken.params}


NOT_IN_THE_FILE = PASSED | {  # how one call is made, which no file fixes
    "preset",
    "max_cost",
    "concurrency",
    "timeout",
    "seed",
    "name",
    "fresh",
    "store",
}


def test_keys_of_the_file_are_the_options_of_sweep() -> None:
    """The section sweep has a key for every option but those of one call, under its name and with its default."""
    found, keys = {one.name: one.default for one in fields(SweepOptions)}, SweepSection.model_fields
    assert set(found) - NOT_IN_THE_FILE == set(keys)
    assert not NOT_IN_THE_FILE & set(keys)
    for name, key in keys.items():
        default = None if key.is_required() else key.get_default(call_default_factory=True)
        assert found[name] == default or (not found[name] and not default), name


@pytest.mark.parametrize("verb", [*VERBS, *STORED])
def test_command_and_keywords_agree(verb: str) -> None:
    """What a command takes its verb takes, under one name and with one default; the few others are listed here."""
    command, python = typed(verb), inspect.signature(getattr(rg, verb)).parameters
    typed_alone, python_alone = OTHERWISE.get(verb, (set(), set()))
    assert set(command) - SHOWN - set(python) == typed_alone
    assert set(python) - set(command) - PASSED == python_alone
    empty: tuple[Any, ...] = (None, "", (), [], inspect.Parameter.empty)
    for name in set(command) & set(python):
        default = python[name].default
        assert command[name] == default or (command[name] in empty and default in empty), name


@pytest.mark.parametrize("verb", VERBS)
def test_plain_and_coroutine_agree(verb: str) -> None:
    """The coroutine takes what the plain verb takes, has its documentation, and is one."""
    plain, awaited = getattr(rg, verb), getattr(aio, verb)
    assert inspect.signature(plain) == inspect.signature(awaited)
    assert inspect.getdoc(plain) == inspect.getdoc(awaited)
    assert not [one for one in inspect.signature(plain).parameters.values() if one.kind is one.VAR_KEYWORD]


@pytest.mark.parametrize("kind", OPTIONS, ids=lambda kind: kind.__name__)
def test_typed_options_say_what_they_are_for(kind: type[Any]) -> None:
    """Every typed option has a line of help, and its default is what leaving it out gives."""
    for name, typed_as in build_typed_fields(kind).items():
        (info,) = (one for one in get_args(typed_as) if isinstance(one, typer.models.ParameterInfo))
        assert info.help, name


def test_every_class_of_options_is_a_commands() -> None:
    """No class of options is left without a command that takes it, but for those of two verbs of Python alone."""
    source = "".join(path.read_text() for path in Path(options.__file__).parents[1].rglob("*command.py"))
    derived = {getattr(load(verb.function), "options", None) for verb in list_verbs() if verb.command and verb.function}
    left = {
        kind.__name__
        for kind in OPTIONS
        if kind not in derived and kind.__name__ not in source and not kind.__subclasses__()
    }
    assert left == {"ThresholdsOptions", "ValidateOptions"}


def test_compare_takes_its_options() -> None:
    """compare, which takes any number of runs, has the keywords and defaults of its options, as they are declared."""
    keywords = {n: p.default for n, p in inspect.signature(rg.compare).parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keywords == {one.name: one.default for one in fields(queries.CompareOptions)}


@pytest.mark.parametrize("verb", [*VERBS, *STORED, "check_judge", "probe_judge", "thresholds", "validate"])
def test_every_keyword_is_explained(verb: str) -> None:
    """The documentation of a verb explains every option that it takes."""
    told = inspect.getdoc(getattr(rg, verb)) or ""
    assert not [name for name in inspect.signature(getattr(rg, verb)).parameters if not re.search(rf"\b{name}\b", told)]


def leaves(name: str) -> list[tuple[tuple[str, ...], Any]]:
    """(words, command) of a command, or of each below it."""
    return [
        (tuple(path.split()), load_verb_command(path))
        for path, declared in list_commands().items()
        if isinstance(declared, Verb) and f"{path} ".startswith(f"{name} ")
    ]


TOP = [name for name in list_commands() if " " not in name]


def test_options_grow_no_more() -> None:
    """All commands together have at most so many options: one that is added takes the place of another."""
    options = [
        (one.name, one.help)
        for name in TOP
        for _, command in leaves(name)
        for one in command.params
        if one.param_type_name == "option"
    ]
    assert len(options) <= MOST_OPTIONS
    assert len(set(options)) <= MOST_DISTINCT_OPTIONS


def test_commands_stand_in_groups(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The help lists 24 commands under five headings, and names the one that it does not list."""
    monkeypatch.setattr(sys, "argv", ["ragauge", "--help"])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr().out
    assert sum(map(len, PANELS.values())) == 24
    assert set(TOP) == {name for names in PANELS.values() for name in names} | {"docs"}
    places = [
        shown.index(word)
        for panel, names in PANELS.items()
        for word in (f"─ {panel} ─", *(f"\u2502 {n} " for n in names))
    ]
    assert places == sorted(places)
    assert "ragauge docs" in shown


@pytest.mark.parametrize("old_name", RENAMED_COMMANDS)
def test_old_names_say_the_new_one(
    old_name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that had another name is refused as misuse, with the command that it is now."""
    monkeypatch.setattr(sys, "argv", ["ragauge", *old_name.split(), "x"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert f"ragauge {old_name} is now: ragauge {RENAMED_COMMANDS[old_name]}\n" in capsys.readouterr().err
    assert re.split(r" [A-Z-]", RENAMED_COMMANDS[old_name])[0] in list_commands()


def parse(words: list[str]) -> tuple[str, ...]:
    """The names of the command that the real parser finds; it raises where the words are none, runs nothing."""
    command: Any = typer.main.get_command(app)
    path: list[str] = []
    with ExitStack() as stack:  # what a context has opened is closed: stores are not left open for reading alone
        context = stack.enter_context(command.make_context("ragauge", words))
        while hasattr(command, "commands"):
            name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            path += [name] if name else []
            context = stack.enter_context(command.make_context(name, rest, parent=context))
    return tuple(path)


@pytest.mark.parametrize("verb", [verb for verb in list_verbs() if verb.command], ids=lambda verb: verb.command)
def test_a_command_is_what_its_manifest_says(verb: Verb) -> None:
    """Each command has its declared help, and two examples that its parser takes and a narrow terminal has room for."""
    command = load_verb_command(verb.command)
    assert command.help == verb.help
    assert len(verb.examples) == 2
    try:
        for example in (f"{verb.command} {words}".strip() for words in verb.examples):
            assert parse(shlex.split(example)) == tuple(verb.command.split())
            assert len(example) <= 70, example
            assert f"ragauge {example}" in command.epilog
    finally:
        set_named_store("")


@pytest.mark.parametrize("verb", list_verbs(), ids=lambda verb: verb.function or verb.command)
def test_a_manifest_names_what_exists(verb: Verb) -> None:
    """Every reference of a declaration leads to code; a public verb is `ragauge.NAME`, and its coroutine `aio.NAME`."""
    for reference in (verb.function, verb.result, verb.text, verb.run_as, *verb.preview):
        assert not reference or callable(load(reference)), reference
    if verb.public and verb.function:
        assert getattr(rg, verb.name) is load(verb.function)
        assert inspect.signature(getattr(aio, verb.name)) == inspect.signature(getattr(rg, verb.name))


def test_names_for_editors_are_those_of_the_registry() -> None:
    """The names that editors and type checkers see in `ragauge` are the public verbs and the listed types."""
    seen = set(
        re.findall(
            r"^    from .* import \w+ as (\w+)$", Path(rg.__file__).read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    )
    assert seen | {"__version__"} == set(rg.__all__)
    assert set(list_public_verbs()) <= seen


def test_the_help_of_a_group_ends_with_examples_of_two_of_its_commands() -> None:
    """The two examples of a group differ, and begin as it does."""
    for name in TOP:
        first, second = load_command(name).epilog.splitlines()[1:]
        assert first != second
        assert first.startswith(f"ragauge {name}")
        assert second.startswith(f"ragauge {name}")


@pytest.mark.parametrize("name", TOP)
def test_commands_that_are_offered_name_a_store_where_they_take_one(name: str) -> None:
    """Beside a named store a command is offered with --store exactly where it has that option."""
    set_named_store("sqlite:///here.db")
    try:
        for words, command in leaves(name):
            takes = any("--store" in one.opts for one in command.params)
            assert format_command(*words).endswith(" --store sqlite:///here.db") is takes
    finally:
        set_named_store("")


def test_pages_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that the help names in its last line finds the pages, wherever its module stands."""
    monkeypatch.setattr(sys, "argv", ["ragauge", "docs", "gates"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert capsys.readouterr().out.startswith("# Gates")


@pytest.mark.parametrize("words", [["ui"], ["monitor", "serve"]])
def test_a_port_has_a_range(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A port that there is none of is refused with the range, before anything listens."""
    monkeypatch.setattr(sys, "argv", ["ragauge", *words, "--port", "65536"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "65535" in capsys.readouterr().err
