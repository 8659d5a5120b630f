"""The command of a verb, made from its declaration and its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.verbs import command_options
from ragauge.verbs.command_output import (
    build_resume_command,
    redirect_prints,
    report_interrupt,
    show,
    show_json,
    show_progress,
    validate_outputs,
    warn,
)
from ragauge.verbs.registry import Verb, load

LINES = {"warn": warn, "say": lambda line: typer.echo(line, err=True)}  # parameters that receive lines of text


def build_command(verb: Verb) -> Callable[..., None]:
    """A function that typer makes a command of: it calls the verb with what is typed and shows its result.

    The exit code is the result's `exit_code`; a result that has `stopped` ends with the command that resumes.
    """
    function = load(verb.function)
    source = getattr(function, "options", function)
    typed = command_options.build_typed_fields(source)
    shown = _list_output_options(verb)
    parameters = [(name, kind, command_options.find_default(source, name)) for name, kind in typed.items()]

    def run_command(**values: Any) -> None:
        output = {name: values.pop(name, None) for name in shown}
        given = command_options.parse_fields(source, values)
        if output.get("outputs"):
            validate_outputs(output["outputs"], load(verb.result))
        if output.get("only_plan"):
            _show_preview(verb, source(**given), as_json=bool(output["as_json"]))
            return
        _show_result(verb, _call_verb(verb, function, given, quiet=bool(output.get("quiet"))), given, output)

    parameters += [(name, kind, None if name == "outputs" else False) for name, kind in shown.items()]
    vars(run_command)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, kind, default in parameters
        ]
    )
    run_command.__annotations__ = {name: kind for name, kind, _ in parameters}
    return run_command


def _list_output_options(verb: Verb) -> dict[str, Any]:
    """The options that say how a command shows its result."""
    outputs = Annotated[list[Path] | None, typer.Option("-o", "--output", help=verb.outputs)]
    return {
        **({"only_plan": command_options.DryRun} if verb.preview else {}),
        **({"outputs": outputs} if verb.outputs else {}),
        "as_json": command_options.Json,
        **({"quiet": command_options.Quiet} if verb.progress else {}),
    }


def _call_verb(verb: Verb, function: Callable[..., Any], given: Mapping[str, Any], *, quiet: bool) -> Any:
    """The result, with a progress line and with what is kept where it is interrupted."""
    parameters = inspect.signature(function).parameters
    keywords, places = dict(given), list[Any]()
    several = next((name for name, parameter in parameters.items() if parameter.kind is parameter.VAR_POSITIONAL), None)
    if several is not None:  # those before it are given by their places too
        before = list(parameters)[: list(parameters).index(several)]
        places = [*(keywords.pop(name) for name in before), *keywords.pop(several)]
    keywords |= {name: write for name, write in LINES.items() if name in parameters}
    with ExitStack() as stack:
        if verb.progress:
            stack.enter_context(report_interrupt(verb.kept))
            stack.enter_context(redirect_prints())
            keywords["progress"] = stack.enter_context(show_progress(quiet, verb.progress))
        return function(*places, **keywords)


def _show_preview(verb: Verb, options: Any, *, as_json: bool) -> None:
    estimate, format_estimate = map(load, verb.preview)
    planned = estimate(options)
    show_json(planned) if as_json else show(format_estimate(planned))


def _show_result(verb: Verb, result: Any, given: Mapping[str, Any], output: Mapping[str, Any]) -> None:
    """Prints the result, writes it to files, and ends with its exit code."""
    from ragauge.rendering.writers.terminal import render_terminal

    if output["as_json"]:
        show_json(result.to_dict() if hasattr(result, "to_dict") else result)
    elif verb.sections:
        show(render_terminal(load(verb.sections)(result)))
    else:
        show(load(verb.text)(result, given) if verb.text else result.to_terminal())
    for path in getattr(result, "written_files", ()):  # the verb wrote these itself
        typer.echo(f"wrote {path}", err=True)
    for path in output.get("outputs") or ():
        typer.echo(f"wrote {result.save(path)}", err=True)
    if stopped := getattr(result, "stopped", ""):
        raise Interrupted(stopped, resume=build_resume_command())
    if exit_code := getattr(result, "exit_code", 0):
        raise typer.Exit(exit_code)
