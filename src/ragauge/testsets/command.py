"""`ragauge testset prepare`, `freeze`, `mark` and `export`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import format_command, format_count
from ragauge.testsets.options import ExportSetOptions, FreezeSetOptions, MarkSetOptions
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    build_resume_command,
    describe_expected_calls,
    report_interrupt,
    show,
    show_json,
    show_progress,
)
from ragauge.verbs.evaluate_options import PrepareOptions

if TYPE_CHECKING:
    from ragauge.testsets.preparation import PreparedSet

MAX_LISTED_FAILURES = 20
NO_CALLS = {"calls": 0, "replies_reused": 0, "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
SENTENCES_NOTE = (
    "The sentences of each reference were stored as its claims, as evaluate does by default; no model was "
    "called.\nAspects need a model: --judge openai:MODEL writes both claims and aspects."
)


@options.spread_options
def freeze(command_options: FreezeSetOptions) -> None:
    """Freezes a set and names the file."""
    from ragauge.testsets.check.verb import freeze_set

    typer.echo(f"wrote {freeze_set(**vars(command_options))}", err=True)


@options.spread_options
def mark(command_options: MarkSetOptions) -> None:
    """Marks examples and counts them."""
    from ragauge.testsets.curate.verb import mark_set

    typer.echo(f"marked {format_count(mark_set(**vars(command_options)), 'example')} as {command_options.to}", err=True)


@options.spread_options
def export(command_options: ExportSetOptions) -> None:
    """Exports a set and names the file."""
    from ragauge.testsets.curate.verb import export_set

    typer.echo(
        f"wrote {command_options.output} ({format_count(export_set(**vars(command_options)), 'example')})", err=True
    )


@options.spread_options
def prepare(
    command_options: PrepareOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Prepares a set and writes it."""
    from ragauge.testsets.prepare import verb as testset
    from ragauge.verbs.coroutines import run_coroutine

    if only_plan:
        planned = testset.estimate_prepare_cost(command_options)
        show_json(planned) if as_json else show(_format_plan(planned))
        return
    with report_interrupt(), show_progress(quiet, "prepared") as progress:
        prepared = run_coroutine(lambda: testset.prepare_set(replace(command_options, progress=progress)))
    if prepared.stopped:
        raise Interrupted(
            f"{prepared.stopped} {command_options.output} was not written.", resume=build_resume_command()
        )
    show_json(_build_json(prepared, command_options.output)) if as_json else show(
        _format_prepared(prepared, command_options)
    )
    typer.echo(f"wrote {command_options.output} ({format_count(len(prepared.examples), 'example')})", err=True)


def _format_plan(planned: dict[str, Any]) -> str:
    return (
        f"{format_count(planned['examples'], 'example')}, {planned['to_do']:,} to prepare: "
        f"{describe_expected_calls(planned)}"
    )


def _format_prepared(prepared: PreparedSet, command_options: Any) -> str:
    from ragauge.rendering.judge_usage import format_money
    from ragauge.rendering.words import to_line

    ready_note = f", {prepared.there:,} already prepared" if prepared.there else ""
    lines = [f"prepared {prepared.done:,} of {format_count(len(prepared.examples), 'example')}{ready_note}"]
    if prepared.calling is None:
        lines.append(SENTENCES_NOTE)
    else:
        calls = prepared.calling
        cost = format_money(None if calls.unpriced else calls.cost)
        lines.append(
            f"{format_count(calls.calls, 'call')}, {format_count(calls.reused, 'stored reply', 'stored replies')}, "
            f"{calls.tokens.input_tokens:,} tokens in, {calls.tokens.output_tokens:,} out, {cost}"
        )
    if prepared.failed:
        lines.append(
            f"{len(prepared.failed):,} could not be prepared; their claims are the sentences of their references:"
        )
        lines += [
            f"  {to_line(name)}: {to_line(reason, 100)}"
            for name, reason in list(prepared.failed.items())[:MAX_LISTED_FAILURES]
        ]
        if len(prepared.failed) > MAX_LISTED_FAILURES:
            lines.append(f"  and {len(prepared.failed) - MAX_LISTED_FAILURES:,} more; --json lists all")
    lines.append(f"Next: {format_command('evaluate', str(command_options.output), 'RESPONSES')}")
    return "\n".join(lines)


def _build_json(prepared: PreparedSet, output: Path) -> dict[str, Any]:
    calls = NO_CALLS if prepared.calling is None else prepared.calling.to_json()
    return {
        "path": str(output),
        "examples": len(prepared.examples),
        "prepared": prepared.done,
        "ready_before": prepared.there,
        "failed": prepared.failed,
        **calls,
    }
