"""`ragauge testset`: eval sets made, held against their corpus, curated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import format_command, format_count
from ragauge.testsets.options import (
    AddExamplesOptions,
    CheckSetOptions,
    ExportSetOptions,
    FreezeSetOptions,
    GenerateSetOptions,
    MarkSetOptions,
    SetStatsOptions,
    VarySetOptions,
)
from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import (
    build_resume_command,
    describe_expected_calls,
    report_interrupt,
    show,
    show_json,
    show_progress,
    show_result,
)
from ragauge.verbs.evaluate_options import PrepareOptions

if TYPE_CHECKING:
    from ragauge.testsets.preparation import PreparedSet

app = typer.Typer(help="Create eval sets, check them against their corpus, and curate them.", no_args_is_help=True)
MAX_LISTED_FAILURES = 20
NO_CALLS = {"calls": 0, "replies_reused": 0, "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
SENTENCES_NOTE = (
    "The sentences of each reference were stored as its claims, as evaluate does by default; no model was "
    "called.\nAspects need a model: --judge openai:MODEL writes both claims and aspects."
)


@app.command()
@options.spread_options
def generate(
    command_options: GenerateSetOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make questions with labels from a corpus: known-item queries, or a model's. Exit 4: fewer than wanted."""
    from ragauge.testsets.generate.verb import estimate_set, generate_set

    if only_plan:
        planned = estimate_set(command_options)
        message = f"{format_count(planned['questions'], 'question')}: {describe_expected_calls(planned)}"
        show_json(planned) if as_json else show(message)
        return
    with (
        report_interrupt("All replies so far are cached."),
        show_progress(quiet or not command_options.model, "done") as progress,
    ):
        generated_set = generate_set(**vars(replace(command_options, progress=progress)))
    show_result(generated_set, as_json=as_json)
    raise typer.Exit(generated_set.exit_code)


@app.command()
@options.spread_options
def check(command_options: CheckSetOptions, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Hold a set against its corpus: stale evidence, holes in labels, types. Exit 3: under 90 % of gold alive."""
    from ragauge.testsets.check.verb import check_set

    with report_interrupt("All replies so far are cached."), show_progress(quiet, "judged") as progress:
        check_result = check_set(**vars(replace(command_options, progress=progress)))
    show_result(check_result, as_json=as_json)
    raise typer.Exit(check_result.exit_code)


@app.command()
@options.spread_options
def freeze(command_options: FreezeSetOptions) -> None:
    """Keep hashes of a set's evidence beside it, by which `check` tells what changed and finds what was renamed."""
    from ragauge.testsets.check.verb import freeze_set

    typer.echo(f"wrote {freeze_set(**vars(command_options))}", err=True)


@app.command()
@options.spread_options
def mark(command_options: MarkSetOptions) -> None:
    """Mark examples as draft, reviewed, golden or rejected; other lines keep their bytes."""
    from ragauge.testsets.curate.verb import mark_set

    typer.echo(f"marked {format_count(mark_set(**vars(command_options)), 'example')} as {command_options.to}", err=True)


@app.command()
@options.spread_options
def vary(command_options: VarySetOptions, as_json: options.Json = False) -> None:
    """Put questions otherwise, beside their originals: typos, keywords, case; entity: what no document tells."""
    from ragauge.testsets.vary.verb import vary_set

    show_result(vary_set(**vars(command_options)), as_json=as_json)


@app.command()
@options.spread_options
def add(command_options: AddExamplesOptions, as_json: options.Json = False) -> None:
    """Add examples of a run to a set: by id, all that failed, or a sample; the rest of the file keeps its bytes."""
    from ragauge.testsets.add.verb import add_examples

    show_result(add_examples(**vars(command_options)), as_json=as_json)


@app.command()
@options.spread_options
def stats(command_options: SetStatsOptions, outputs: options.Outputs = None, as_json: options.Json = False) -> None:
    """Say what a set is made of, whether it is like real questions, and what change a run on it can show."""
    from ragauge.testsets.stats.verb import set_stats

    show_result(set_stats(**vars(command_options)), outputs or (), as_json=as_json)


@app.command()
@options.spread_options
def export(command_options: ExportSetOptions) -> None:
    """Write a set in the form of another tool; what that has no place for stands beside it, and is read again."""
    from ragauge.testsets.curate.verb import export_set

    typer.echo(
        f"wrote {command_options.output} ({format_count(export_set(**vars(command_options)), 'example')})", err=True
    )


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(help="The older set, in any format that evaluate reads.")],
    new: Annotated[Path, typer.Argument(help="The newer set.")],
    as_json: options.Json = False,
) -> None:
    """Say what was added, removed and changed between two versions of a set, by field."""
    from ragauge.testsets.curate.verb import diff_sets

    show_result(diff_sets(old, new), as_json=as_json)


@app.command()
@options.spread_options
def prepare(
    command_options: PrepareOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Extract the claims of each reference answer and the aspects of each question, once for all runs on the set."""
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
