"""`ragauge explain`: the formula with the numbers put in."""

from __future__ import annotations

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import show, show_json
from ragauge.verbs.options import ExplainOptions


@options.grouped
def explain(wanted: ExplainOptions, as_json: options.Json = False) -> None:
    """Show how a number came about: of one example its facts, formulas and cause; of a run its means and findings."""
    from ragauge.diagnosis.explain.tables import example_sections, run_sections
    from ragauge.evaluation.runs.verb import open_run
    from ragauge.rendering.writers.terminal import terminal

    opened, metrics, judge = open_run(wanted.run, store=wanted.store), wanted.metrics, wanted.judge
    if wanted.example:
        explained = opened.explain_example(wanted.example, metrics, repeat=wanted.repeat, judge=judge)
        show_json(explained) if as_json else show(terminal(example_sections(explained)))
        return
    whole = opened.explain(metrics, judge=judge, baseline=wanted.baseline)
    show_json(whole) if as_json else show(terminal(run_sections(whole)))
