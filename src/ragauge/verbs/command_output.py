"""Where the command line writes: results to stdout, progress and warnings to stderr."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ragauge.core.errors import Interrupted, mask_secrets
from ragauge.core.messages import format_count, format_duration

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.engine.execute import Progress
    from ragauge.verbs.result_base import ShownResult

PIPED_WIDTH_CHARS = 140  # characters of a line in a file: every column has room
LIBRARY_LOGGERS = (  # their loggers
    "alembic",
    "anthropic",
    "google_genai",
    "httpcore",
    "httpx",
    "LiteLLM",
    "openai",
    "pydantic_ai",
    "sqlalchemy",
    "urllib3",
)
FRESH_OPTION = "--fresh"  # of a command that resumes it would pay for everything again
SILENCE_S = 30.0  # seconds after which a log is told that work goes on


def show(renderable: RenderableType | str) -> None:
    """Prints to stdout; what goes to a file or a program has no trailing blanks.

    What must not wrap, such as a command, is a Text with no_wrap=True and overflow="ignore".
    """
    from rich.console import Console
    from rich.text import Text

    printable = Text(renderable) if isinstance(renderable, str) else renderable
    if sys.stdout.isatty():
        Console(highlight=False).print(printable, crop=False)
        return
    console = Console(width=_find_piped_width(), color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(printable, crop=False)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _find_piped_width() -> int:
    """As COLUMNS says; in a file the usual; what is piped is as wide as the terminal in which it may be read on."""
    columns_text = os.environ.get("COLUMNS", "")
    if columns_text.isdigit() and int(columns_text):
        return int(columns_text)
    try:
        if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
            return PIPED_WIDTH_CHARS
        return os.get_terminal_size(sys.stderr.fileno()).columns or PIPED_WIDTH_CHARS
    except (OSError, ValueError):  # no terminal, or no real file
        return PIPED_WIDTH_CHARS


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Libraries log nothing within, such as a line a request: a system under test may have turned logging on.

    What they would say we say ourselves. Loggers with a level of their own, ours and the system's are left alone.
    """
    import logging

    silenced = [
        library_logger
        for name in LIBRARY_LOGGERS
        if (library_logger := logging.getLogger(name)).level == logging.NOTSET
    ]
    for logger in silenced:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger in silenced:
            logger.setLevel(logging.NOTSET)


@contextmanager
def shorten_warnings() -> Iterator[None]:
    """What the library warns of within is printed as one line, as commands warn; not as Python does, with a path."""
    import warnings

    ours = str(Path(__file__).parents[1])
    original_showwarning = warnings.showwarning

    def show_warning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, UserWarning) and filename.startswith(ours):
            warn(str(message))
        else:
            original_showwarning(message, category, filename, lineno, file, line)

    warnings.showwarning = show_warning
    try:
        yield
    finally:
        warnings.showwarning = original_showwarning


@contextmanager
def redirect_prints() -> Iterator[None]:
    """What a user's system or metric prints within goes to stderr: stdout is for results, which a program may read."""
    with redirect_stdout(sys.stderr):
        yield


def show_result(result: ShownResult, outputs: Sequence[Path] | None = None, *, as_json: bool = False) -> None:
    """Prints a result to stdout, for people or for programs; writes it to files, and says so."""
    show_json(result.to_dict()) if as_json else show(result.to_terminal())
    for path in outputs or ():
        sys.stderr.write(f"wrote {result.save(path)}\n")


def validate_outputs(outputs: Sequence[Path] | None, result: type[ShownResult]) -> None:
    """Refuses files that a result cannot be written to, before any work is done."""
    from ragauge.verbs.files import validate_report_path

    for path in outputs or ():
        validate_report_path(path, result.FORMS)


def show_command(line: str) -> None:
    """Prints a line with a command in it to stdout, never wrapped: what is copied must be whole."""
    sys.stdout.write(f"{line}\n")


def show_json(value: Any) -> None:
    """Prints a result, or JSON types, as valid JSON to stdout: no NaN, no infinity."""
    from ragauge.core.json_keys import format_json

    sys.stdout.write(format_json(value))


def warn(message: str) -> None:
    """Prints one line to stderr."""
    sys.stderr.write(f"warning: {mask_secrets(message)}\n")


def build_resume_command(also: str = "") -> str:
    """The command that resumes: the command line as typed, quoted, without passwords and without --fresh.

    Args:
        also: an option that is added where it is not there.
    """
    called = ["python", "-m", "ragauge"] if sys.argv[0].endswith("__main__.py") else ["ragauge"]
    words = [mask_secrets(word) for word in sys.argv[1:] if word != FRESH_OPTION]
    return shlex.join([*called, *words, *([also] if also and also not in words else [])])


def describe_expected_calls(planned: Mapping[str, Any]) -> str:
    """What a dry run says of the calls to models: how many, their tokens and price."""
    from ragauge.rendering.judge_usage import format_money

    if not planned["calls"]:
        return "no call to a model, cost 0"
    cost = "price unknown" if planned["cost"] is None else f"about {format_money(planned['cost'])}"
    cached = planned.get("cached_tokens", 0)
    served = f" ({cached:,} of them expected to come from the provider's cache)" if cached else ""
    tokens = f"{planned['input_tokens']:,} tokens in{served}, {planned['output_tokens']:,} out"
    return f"{format_count(planned['calls'], 'call')} to a model, about {tokens}, {cost}"


@contextmanager
def report_interrupt(kept_note: str = "Everything evaluated so far is saved.", resume: str = "") -> Iterator[None]:
    """Ctrl-C or SIGTERM within ends the command with what is kept and the command that goes on, the same by default."""
    try:
        yield
    except KeyboardInterrupt as end:
        number = signal.SIGTERM if isinstance(end, Terminated) else signal.SIGINT
        raise Interrupted(
            f"Stopped. {kept_note}", resume=resume or build_resume_command(), exit_code=128 + number
        ) from None


class Terminated(KeyboardInterrupt):
    """SIGTERM, as containers, schedulers and CI systems end a program: it ends the work as Ctrl-C does."""


@contextmanager
def raise_on_sigterm() -> Iterator[None]:
    """SIGTERM within is raised as `Terminated`, once: a second one ends the program at once."""
    if threading.current_thread() is not threading.main_thread():  # no other may take signals
        yield
        return

    def raise_terminated(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    previous_handler = signal.signal(signal.SIGTERM, raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


def format_progress(progress: Progress, action: str = "evaluated", width: int | None = None) -> str:
    """How far it is, in one line.

    Args:
        progress: what there is to say.
        action: what was done to an example.
        width: characters that there is room for; what matters least is left out. None = all is said.
    """
    parts = _list_parts(progress, action)
    while len(parts) > 1 and width is not None and len(_join_parts(parts)) > width:
        parts.remove(max(parts))
    return _join_parts(parts)


def _join_parts(parts: Sequence[tuple[int, str]]) -> str:
    return " · ".join(text for _, text in parts)


def _list_parts(progress: Progress, action: str) -> list[tuple[int, str]]:
    """How little each part matters, and its text, in the order of printing."""
    from ragauge.rendering.judge_usage import format_money

    parts = [(0, f"{action} {progress.done:,} of {progress.total:,}"), (5, f"{_format_rate(progress.rate)} a second")]
    calling = progress.calling
    if calling is not None:
        parts.append((2, format_count(calling.calls, "call")))
        if progress.seconds >= 1:
            parts.append((6, f"{_format_rate(calling.calls / progress.seconds)} calls a second"))
        if calling.reused:
            parts.append((7, f"{calling.reused:,} reused"))
        if calling.errors:
            commonest_error = max(calling.errors, key=lambda kind: calling.errors[kind])
            parts.append((4, f"{sum(calling.errors.values()):,} failed ({commonest_error})"))
        parts.append((3, f"{calling.in_flight:,} in flight"))
        if calling.unpriced:
            parts.append((1, "price unknown"))
        elif calling.cost or calling.tokens.input_tokens or not calling.calls:  # else nothing is known yet
            parts.append((1, format_money(calling.cost)))
    if progress.note:
        parts.append((3, progress.note))
    if progress.seconds_left is not None and progress.done < progress.total:
        parts.append((1, f"{format_duration(progress.seconds_left)} left"))
    return parts


def _format_rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.1f}"


@contextmanager
def show_progress(quiet: bool, action: str = "evaluated") -> Iterator[Any]:
    """A callback that shows how far it is: a live line in a terminal; elsewhere one a tenth, and every half minute."""
    if quiet:
        yield None
        return
    width, last, told_at = 0, -1, 0.0

    def print_progress(progress: Progress) -> None:
        nonlocal width, last, told_at
        line = format_progress(progress, action)
        if sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - 1  # a line that wraps could not be written over
            line = format_progress(progress, action, room)[:room]
            sys.stderr.write("\r" + line.ljust(width))
            width = len(line)
        elif progress.total and (
            progress.done * 10 // progress.total != last or time.monotonic() - told_at >= SILENCE_S
        ):
            last, told_at = progress.done * 10 // progress.total, time.monotonic()
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    try:
        yield print_progress
    finally:
        if width:
            sys.stderr.write("\n")
