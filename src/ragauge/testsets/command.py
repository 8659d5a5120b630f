"""`ragauge testset`: eval sets made, held against their corpus, curated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragauge.core.errors import Interrupted
from ragauge.core.messages import command, plural
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
    expected_calls,
    kept_on_interrupt,
    progress_line,
    same_command,
    show,
    show_json,
    show_result,
)
from ragauge.verbs.evaluate_options import PrepareOptions

if TYPE_CHECKING:
    from ragauge.testsets.prepare.prepare import PreparedSet

app = typer.Typer(help="Make eval sets, hold them against their corpus, curate them.", no_args_is_help=True)
MOST_LISTED = 20
NO_CALLS = {"calls": 0, "replies_reused": 0, "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
SENTENCES = (
    "The sentences of each reference are its claims now, as evaluate takes them anyway; no model was asked.\n"
    "Aspects take reading: with --judge openai:MODEL a model writes both."
)


@app.callback()
def front() -> None:
    """Make eval sets, hold them against their corpus, curate them."""


@app.command()
@options.grouped
def generate(
    wanted: GenerateSetOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make questions with labels from a corpus: known-item queries, or a model's. Exit 4: fewer than wanted."""
    from ragauge.testsets.generate.verb import expect_set, generate_set

    if only_plan:
        planned = expect_set(wanted)
        told = f"{plural(planned['questions'], 'question')}: {expected_calls(planned)}"
        show_json(planned) if as_json else show(told)
        return
    with kept_on_interrupt("Every reply so far is kept."), progress_line(quiet or not wanted.model, "done") as progress:
        found = generate_set(**vars(replace(wanted, progress=progress)))
    show_result(found, as_json=as_json)
    raise typer.Exit(found.exit_code)


@app.command()
@options.grouped
def check(wanted: CheckSetOptions, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Hold a set against its corpus: stale evidence, holes in labels, types. Exit 3: under 90 % of gold alive."""
    from ragauge.testsets.check.verb import check_set

    with kept_on_interrupt("Every reply so far is kept."), progress_line(quiet, "judged") as progress:
        found = check_set(**vars(replace(wanted, progress=progress)))
    show_result(found, as_json=as_json)
    raise typer.Exit(found.exit_code)


@app.command()
@options.grouped
def freeze(wanted: FreezeSetOptions) -> None:
    """Keep hashes of a set's evidence beside it, by which `check` tells what changed and finds what was renamed."""
    from ragauge.testsets.check.verb import freeze_set

    typer.echo(f"wrote {freeze_set(**vars(wanted))}", err=True)


@app.command()
@options.grouped
def mark(wanted: MarkSetOptions) -> None:
    """Mark examples as draft, reviewed, golden or rejected; other lines keep their bytes."""
    from ragauge.testsets.curate.verb import mark_set

    typer.echo(f"marked {plural(mark_set(**vars(wanted)), 'example')} as {wanted.to}", err=True)


@app.command()
@options.grouped
def vary(wanted: VarySetOptions, as_json: options.Json = False) -> None:
    """Put questions otherwise, beside their originals: typos, keywords, case; entity: what no document tells."""
    from ragauge.testsets.vary.verb import vary_set

    show_result(vary_set(**vars(wanted)), as_json=as_json)


@app.command()
@options.grouped
def add(wanted: AddExamplesOptions, as_json: options.Json = False) -> None:
    """Add examples of a run to a set: by id, all that failed, or a sample; the rest of the file keeps its bytes."""
    from ragauge.testsets.add.verb import add_examples

    show_result(add_examples(**vars(wanted)), as_json=as_json)


@app.command()
@options.grouped
def stats(wanted: SetStatsOptions, outputs: options.Outputs = None, as_json: options.Json = False) -> None:
    """Say what a set is made of, whether it is like real questions, and what change a run on it can show."""
    from ragauge.testsets.stats.verb import set_stats

    show_result(set_stats(**vars(wanted)), outputs or (), as_json=as_json)


@app.command()
@options.grouped
def export(wanted: ExportSetOptions) -> None:
    """Write a set in the form of another tool; what that has no place for stands beside it, and is read again."""
    from ragauge.testsets.curate.verb import export_set

    typer.echo(f"wrote {wanted.output} ({plural(export_set(**vars(wanted)), 'example')})", err=True)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(help="The older set, in any form that evaluate reads.")],
    new: Annotated[Path, typer.Argument(help="The newer set.")],
    as_json: options.Json = False,
) -> None:
    """Say what was added, removed and changed between two versions of a set, by field."""
    from ragauge.testsets.curate.verb import diff_sets

    show_result(diff_sets(old, new), as_json=as_json)


@app.command()
@options.grouped
def prepare(
    wanted: PrepareOptions,
    only_plan: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Extract the claims of each reference answer and the aspects of each question, once for all runs on the set."""
    from ragauge.testsets.prepare import verb as testset
    from ragauge.verbs.coroutines import finish

    if only_plan:
        planned = testset.expect(wanted)
        show_json(planned) if as_json else show(_planned(planned))
        return
    with kept_on_interrupt(), progress_line(quiet, "prepared") as progress:
        prepared = finish(lambda: testset.prepare(replace(wanted, progress=progress)))
    if prepared.stopped:
        raise Interrupted(f"{prepared.stopped} {wanted.output} was not written.", resume=same_command())
    show_json(_as_json(prepared, wanted.output)) if as_json else show(_said(prepared, wanted))
    typer.echo(f"wrote {wanted.output} ({plural(len(prepared.examples), 'example')})", err=True)


def _planned(planned: dict[str, Any]) -> str:
    return f"{plural(planned['examples'], 'example')}, {planned['to_do']:,} to prepare: {expected_calls(planned)}"


def _said(prepared: PreparedSet, wanted: Any) -> str:
    from ragauge.rendering.judge_usage import money
    from ragauge.rendering.words import line

    there = f", {prepared.there:,} were ready" if prepared.there else ""
    lines = [f"prepared {prepared.done:,} of {plural(len(prepared.examples), 'example')}{there}"]
    if prepared.calling is None:
        lines.append(SENTENCES)
    else:
        calls = prepared.calling
        cost = money(None if calls.unpriced else calls.cost)
        lines.append(
            f"{plural(calls.calls, 'call')}, {plural(calls.reused, 'stored reply', 'stored replies')}, "
            f"{calls.tokens.input_tokens:,} tokens in, {calls.tokens.output_tokens:,} out, {cost}"
        )
    if prepared.failed:
        lines.append(
            f"{len(prepared.failed):,} could not be prepared; the sentences of their references serve as claims:"
        )
        lines += [f"  {line(name)}: {line(why, 100)}" for name, why in list(prepared.failed.items())[:MOST_LISTED]]
        if len(prepared.failed) > MOST_LISTED:
            lines.append(f"  and {len(prepared.failed) - MOST_LISTED:,} more; --json lists all")
    lines.append(f"Go on with: {command('evaluate', str(wanted.output), 'RESPONSES')}")
    return "\n".join(lines)


def _as_json(prepared: PreparedSet, output: Path) -> dict[str, Any]:
    calls = NO_CALLS if prepared.calling is None else prepared.calling.plain()
    return {
        "path": str(output),
        "examples": len(prepared.examples),
        "prepared": prepared.done,
        "ready_before": prepared.there,
        "failed": prepared.failed,
        **calls,
    }
