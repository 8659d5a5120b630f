"""`ragauge confirm`: answer failed examples again with other passages."""

from __future__ import annotations

from dataclasses import replace

from ragauge.verbs import command_options as options
from ragauge.verbs.command_output import kept_on_interrupt, progress_line, show, show_json, warn
from ragauge.verbs.evaluate_options import ConfirmOptions


@options.grouped
def confirm(wanted: ConfirmOptions, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Confirm a run's causes: change the passages of failed examples, answer again, and see. Makes extra calls."""
    from ragauge.diagnosis.confirm.tables import sections
    from ragauge.diagnosis.confirm.verb import confirm_causes
    from ragauge.rendering.writers.terminal import terminal
    from ragauge.verbs.coroutines import finish

    with kept_on_interrupt("Every answer so far is kept."), progress_line(quiet, "done") as progress:
        confirmation = finish(lambda: confirm_causes(replace(wanted, progress=progress, warn=warn)))
    if as_json:
        show_json(confirmation.to_dict())
        return
    parts = sections(
        confirmation.run,
        confirmation.answers,
        confirmation.judge_id,
        confirmation.causes,
        confirmation.outcomes,
        confirmation.asked,
    )
    show(terminal(parts))
