"""Where the command line writes: results to stdout, progress and warnings to stderr."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragauge.errors import Interrupted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.engine.execute import Progress


def show(renderable: RenderableType | str) -> None:
    """Prints to stdout; a pipe gets the full width instead of a terminal's guess."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    console.print(Text(renderable) if isinstance(renderable, str) else renderable)


def show_json(value: Any) -> None:
    """Prints valid JSON to stdout: no NaN, no infinity."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def warn(message: str) -> None:
    """Prints one line to stderr."""
    sys.stderr.write(f"warning: {message}\n")


def same_command() -> str:
    """The command line as typed, quoted: the command that resumes."""
    called = ["python", "-m", "ragauge"] if sys.argv[0].endswith("__main__.py") else ["ragauge"]
    return shlex.join([*called, *sys.argv[1:]])


@contextmanager
def kept_on_interrupt(kept: str = "Everything evaluated so far is kept.") -> Iterator[None]:
    """Ctrl-C within ends the command with what is kept and the command that goes on."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped. {kept}", resume=same_command()) from None


def clock(seconds: float) -> str:
    """Time left as people say it.

    >>> clock(5), clock(125), clock(7300)
    ('5 s', '2 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def progress_text(now: Progress, done: str = "evaluated") -> str:
    """How far it is, in one line; `done` says what was done to an example."""
    rate = f"{now.rate:,.0f}" if now.rate >= 10 or now.rate == 0 else f"{now.rate:.1f}"
    parts = [f"{done} {now.done:,} of {now.total:,}", f"{rate} a second"]
    calling = now.calling
    if calling is not None:
        pace = f" ({calling.calls / now.seconds:,.0f} a second)" if now.seconds >= 1 else ""
        reused = f", {calling.reused:,} reused" if calling.reused else ""
        parts += [f"{calling.calls:,} calls{pace}{reused}", f"{calling.in_flight:,} in flight"]
        parts.append("price unknown" if calling.unpriced else f"${calling.cost:,.4f}")
    if now.note:
        parts.append(now.note)
    if now.seconds_left is not None and now.done < now.total:
        parts.append(f"{clock(now.seconds_left)} left")
    return " · ".join(parts)


@contextmanager
def progress_line(quiet: bool, done: str = "evaluated") -> Iterator[Any]:
    """A callback that shows how far it is: a live line in a terminal, a line now and then elsewhere."""
    if quiet:
        yield None
        return
    width, last = 0, [-1]

    def moved(now: Progress) -> None:
        nonlocal width
        line = progress_text(now, done)
        if sys.stderr.isatty():
            line = line[: shutil.get_terminal_size().columns - 1]     # a line that wraps could not be written over
            sys.stderr.write("\r" + line.ljust(width))
            width = len(line)
        elif now.total and now.done * 10 // now.total != last[0]:     # less than before: the next run has begun
            last[0] = now.done * 10 // now.total
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    try:
        yield moved
    finally:
        if width:
            sys.stderr.write("\n")
