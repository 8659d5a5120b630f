"""`ragauge confirm`: answer failed examples again with other passages."""

from __future__ import annotations

from dataclasses import replace

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import report_interrupt, show, show_json, show_progress, warn
from ragauge.verbs.evaluate_options import ConfirmOptions


@options.spread_options
def confirm(command_options: ConfirmOptions, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Test a run's causes: change the passages of failed examples and answer again. Makes extra calls."""
    from ragauge.diagnosis.confirm.tables import build_sections
    from ragauge.diagnosis.confirm.verb import confirm_causes
    from ragauge.rendering.writers.terminal import render_terminal
    from ragauge.verbs.coroutines import run_coroutine

    with report_interrupt("All answers so far are saved."), show_progress(quiet, "done") as progress:
        confirmation = run_coroutine(lambda: confirm_causes(replace(command_options, progress=progress, warn=warn)))
    if as_json:
        show_json(confirmation.to_dict())
        return
    report_sections = build_sections(
        confirmation.run,
        confirmation.answers,
        confirmation.judge_id,
        confirmation.causes,
        confirmation.outcomes,
        confirmation.asked,
    )
    show(render_terminal(report_sections))
