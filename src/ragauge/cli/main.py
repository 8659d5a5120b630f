"""The command line: the one place where an error becomes a message and an exit code."""

from __future__ import annotations

import gc
import signal
import sys
from typing import Annotated

import typer

from ragauge.cli.command_group import CommandGroup
from ragauge.core.errors import Interrupted, RagaugeError
from ragauge.verbs.command_output import raise_on_sigterm, shorten_warnings, silence_libraries
from ragauge.version import __version__

app = typer.Typer(
    name="ragauge",
    cls=CommandGroup,
    help="Evaluate retrieval-augmented generation: what works, where it fails, what to fix.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Examples:\nragauge demo\nragauge evaluate golden.jsonl answers.jsonl -o report.html\n\n"
    "Results go to stdout, progress to stderr. Documentation: ragauge docs",
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"ragauge {__version__}")
        raise typer.Exit


@app.callback()
def handle_version(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Evaluate retrieval-augmented generation: what works, where it fails, what to fix."""


def main() -> None:
    """Entry point of the `ragauge` command."""
    try:
        gc.set_threshold(50_000, *gc.get_threshold()[1:])  # 700 made passes a fifth of a quick evaluation's time
        with raise_on_sigterm(), silence_libraries(), shorten_warnings():
            app()
    except Interrupted as error:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # one more Ctrl-C ends at once, without a traceback
        print(f"\n{error}", file=sys.stderr)  # noqa: T201 - the last word of the program
        if error.resume:
            print(f"To resume: {error.resume}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except RagaugeError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
