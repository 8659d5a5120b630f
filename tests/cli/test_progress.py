"""The progress line: what it says of a model judge, and that it moves while a slow model thinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.engine.model_rows import rows
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.ask import Usage
from ragauge.engine.caller import CallCounts
from ragauge.engine.execute import Progress
from ragauge.verbs.command_output import format_progress, show_progress


@dataclass(frozen=True)
class Case:
    now: Progress
    line: str


def counts(
    calls: int, reused: int, cost: float, unpriced: int = 0, errors: Mapping[str, int] | None = None
) -> CallCounts:
    return CallCounts(calls, reused, 9, 16, Usage(), cost, unpriced, errors or {})


@pytest.mark.parametrize(
    "case",
    [
        Case(Progress(40, 500, 120.4, 3.8, 0, 0), "evaluated 40 of 500 · 120 a second · 4 s left"),
        Case(Progress(500, 500, 120.4, 0.0, 0, 0), "evaluated 500 of 500 · 120 a second"),
        Case(
            Progress(40, 500, 2.04, 225.0, 0, 0, counts(120, 3, 0.01234), 20.0),
            "evaluated 40 of 500 · 2.0 a second · 120 calls · 6.0 calls a second · 3 reused · 9 in flight · $0.0123 · "
            "3 min 45 s left",
        ),
        Case(
            Progress(0, 500, 0.0, None, 0, 0, counts(8, 0, 0.0, 8), 0.4),
            "evaluated 0 of 500 · 0 a second · 8 calls · 9 in flight · price unknown",
        ),
        Case(
            Progress(0, 500, 0.0, None, 0, 0, counts(8, 0, 0.0), 0.4),
            "evaluated 0 of 500 · 0 a second · 8 calls · 9 in flight",
        ),
        Case(
            Progress(0, 500, 0.0, None, 0, 0, counts(8, 0, 0.0, 0, {"server": 1, "rate_limited": 5}), 0.4),
            "evaluated 0 of 500 · 0 a second · 8 calls · 6 failed (rate_limited) · 9 in flight",
        ),
    ],
    ids=["local", "done", "model", "unpriced", "start", "refused"],
)
def test_line(case: Case) -> None:
    """The line says how many of how many, how fast, and of a model judge its calls, those in flight and the cost."""
    assert format_progress(case.now) == case.line


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (200, "evaluated 40 of 500 · 2.0 a second · 120 calls · 6.0 calls a second · 9 in flight · $0.0123 · 4 s left"),
        (79, "evaluated 40 of 500 · 120 calls · 9 in flight · $0.0123 · 4 s left"),
        (50, "evaluated 40 of 500 · $0.0123 · 4 s left"),
        (10, "evaluated 40 of 500"),
    ],
)
def test_a_narrow_terminal_keeps_what_matters(width: int, line: str) -> None:
    """Where the line does not fit, how far it is, the cost and the time left stay longest; nothing is cut in half."""
    assert format_progress(Progress(40, 500, 2.04, 4.0, 0, 0, counts(120, 0, 0.01234), 20.0), width=width) == line


def test_a_log_hears_of_long_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no terminal is, a line comes at the start, at every tenth, and after half a minute without one."""
    clock = [0.0]
    monkeypatch.setattr("ragauge.verbs.command_output.time.monotonic", lambda: clock[0])
    with show_progress(quiet=False) as moved:
        for second, done in ((0, 0), (5, 1), (29, 2), (31, 2), (40, 3), (50, 10)):
            clock[0] = 100.0 + second
            moved(Progress(done, 100, 0.1, None, 0, 0))
    told = [line.split(" ·")[0] for line in capsys.readouterr().err.splitlines()]
    assert told == ["evaluated 0 of 100", "evaluated 2 of 100", "evaluated 10 of 100"]


@pytest.mark.server
def test_a_slow_model_is_told_of_every_second(tmp_path: Path) -> None:
    """While not one example is through, calls in flight are reported; what is reported never falls."""
    seen: list[Progress] = []
    with FaultyServer(latency=1.3) as server:
        rg.evaluate(
            rows(4),
            judge=f"openai-chat:any@{server.url}",
            metrics="faithfulness",
            store=f"sqlite:///{tmp_path}/s.db",
            progress=seen.append,
        )
    waiting = [now.calling for now in seen if now.done == 0]
    assert any(one is not None and one.in_flight == 4 for one in waiting)
    last = seen[-1]
    assert (last.done, last.total) == (4, 4)
    assert last.calling is not None
    assert (last.calling.calls, last.calling.in_flight) == (4, 0)
    assert [now.done for now in seen] == sorted(now.done for now in seen)


@pytest.mark.server
def test_what_is_in_flight_and_left_is_told_before_the_first_batch_is_through(tmp_path: Path) -> None:
    """Calls that wait for their turn are not in flight; the time left is known as soon as questions are answered."""
    seen: list[Progress] = []
    with FaultyServer(latency=0.4) as server:
        rg.evaluate(
            rows(12),
            judge=f"openai-chat:any@{server.url}",
            metrics="faithfulness",
            concurrency=2,
            max_concurrency=2,
            store=f"sqlite:///{tmp_path}/s.db",
            progress=seen.append,
        )
    waiting = [now for now in seen if now.done == 0 and now.calling is not None and now.calling.calls > 2]
    assert waiting
    assert all(now.calling is not None and now.calling.in_flight <= 2 for now in seen)
    for now in waiting:
        assert now.seconds_left is not None
        assert 0 <= now.seconds_left < 30
        assert now.rate > 0
        # nothing is left once all are answered and the batch is being stored
        assert now.seconds_left > 0 or (now.calling is not None and now.calling.in_flight == 0)


@pytest.mark.server
def test_progress_of_the_command(cli: Cli, small: Path) -> None:
    """The command tells calls and cost on stderr; -q tells nothing."""
    with FaultyServer() as server:
        judge = f"openai-chat:any@{server.url}"
        told = cli("evaluate", small, "-m", "faithfulness", "--judge", judge).err.splitlines()
        assert told[-1].startswith("evaluated 10 of 10 ")
        assert "10 calls" in told[-1]
        assert "price unknown" in told[-1]
        assert cli("evaluate", small, "-q", "-m", "context_recall", "--judge", judge).err == ""
