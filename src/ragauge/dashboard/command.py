"""`ragauge ui`: the dashboard."""

from __future__ import annotations

import typer

from ragauge.verbs import command_options as options
from ragauge.verbs.options import UiOptions


@options.grouped
def ui(wanted: UiOptions) -> None:
    """Serve what the store knows as linked pages: runs, reports, examples, comparisons. Ctrl-C ends it.

    Only this machine can read them, unless --host says otherwise, which needs a token. --export writes files instead.
    """
    from ragauge.dashboard.serve import serve

    serve(wanted, lambda said: typer.echo(said, err=True))
