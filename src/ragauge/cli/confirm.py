"""`ragauge confirm`: answer failed examples again with other passages."""

from __future__ import annotations

from dataclasses import replace

from ragauge.api.options import ConfirmOptions
from ragauge.cli import options
from ragauge.cli.output import kept_on_interrupt, progress_line, show, show_json, warn


@options.grouped
def confirm(wanted: ConfirmOptions, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Confirm a run's causes: change the passages of failed examples, answer again, and see. Makes extra calls."""
    from ragauge.api.confirm import confirm_causes
    from ragauge.api.verbs import finish
    from ragauge.reporting.confirmed import sections
    from ragauge.reporting.writers.terminal import terminal

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
