"""`ragauge explain`: the formula with the numbers put in."""

from __future__ import annotations

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json
from ragauge.verbs.options import ExplainOptions


@options.spread_options
def explain(command_options: ExplainOptions, as_json: options.Json = False) -> None:
    """Explain a number: the facts, formulas and cause of one example, or the means and findings of a run."""
    from ragauge.diagnosis.explain.tables import build_example_sections, build_run_sections
    from ragauge.evaluation.runs.verb import open_run
    from ragauge.rendering.writers.terminal import render_terminal

    stored_run, metrics, judge = (
        open_run(command_options.run, store=command_options.store),
        command_options.metrics,
        command_options.judge,
    )
    if command_options.example:
        explained = stored_run.explain_example(
            command_options.example, metrics, repeat=command_options.repeat, judge=judge
        )
        show_json(explained) if as_json else show(render_terminal(build_example_sections(explained)))
        return
    explained_run = stored_run.explain(metrics, judge=judge, baseline=command_options.baseline)
    show_json(explained_run) if as_json else show(render_terminal(build_run_sections(explained_run)))
