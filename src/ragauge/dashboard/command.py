"""`ragauge ui`: the dashboard."""

from __future__ import annotations

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.options import UiOptions


@options.spread_options
def ui(command_options: UiOptions) -> None:
    """Serve a dashboard of the store: runs, reports, examples, comparisons. Press Ctrl-C to stop it.

    Only this machine can read them, unless --host says otherwise, which needs a token. --export writes files instead.
    """
    from ragauge.dashboard.serve import serve_dashboard

    serve_dashboard(command_options, lambda message: typer.echo(message, err=True))
