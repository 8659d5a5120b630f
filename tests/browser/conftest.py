"""The report in a real browser: Debian's Chromium, driven by Playwright.

Chromium is shared by the tests of a module and closed with it: Playwright keeps an event loop in the thread, which the
asynchronous tests of other folders must not find there.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright
from tests.conftest import Demonstrated

import ragauge as rg
from ragauge.evaluation.scorecard.html import render_report as page
from ragauge.scores.results.overview import Overview
from ragauge.scores.results.scorecard import JudgeNote, ScorecardData

ROOT = Path(__file__).resolve().parents[2]
INSTALL = "apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation fonts-dejavu-core"
WIDTHS = {390: 844, 1280: 900}  # width -> height of the window
SCHEMES = ("light", "dark")
LOOKS = tuple((width, scheme) for width in WIDTHS for scheme in SCHEMES)
DEMO = ("good", "broken-retrieval", "corrupted-generation")
STORY = "The appliance keeps a copy of every file for the days that the plan names and then archives it. "
PATIENCE = 120_000  # ms for what a page is to do; Playwright's 30 s are too few on a machine that others use too
LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 12
HOSTILE = (
    "\"'`><script>document.title='ran';alert(1)</script><img src={trap}/img onerror=alert(2)><svg/onload=alert(3)>"
    "<iframe srcdoc='<script>alert(4)</script>'></iframe></style></svg></title></textarea></details><!-- ]]>"
    "<a href=javascript:alert(5)>javascript:alert(6)</a><link rel=stylesheet href={trap}/css><base href={trap}/>"
    "<meta http-equiv=refresh content='0;url={trap}/go'><form action={trap}/form><input autofocus onfocus=alert(7)>"
    "&lt;script&gt;&#x3c;b&#x3e;{{{{7*7}}}}{{% raw %}}${{7*7}}<%= 7*7 %>[x](javascript:alert(8))url({trap}/url)"
    "\x00\x08\x1b[31m\x7f\x9b\ud800\u202e\u2066עברית العربية\u2028\U000e0041" + LONG
)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is. Its absence fails the tests where CI is set, and skips them elsewhere."""
    found = shutil.which("chromium")
    if found is None:
        reason = f"Chromium is not installed. Install it with: {INSTALL}"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A headless browser that can reach this machine only."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium, args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield found
        found.close()


# ---- what is opened ----


class Trap:
    """A server on this machine that writes down what it is asked for; a report asks it for nothing."""

    def __init__(self) -> None:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self.asked = asked
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="session")
def trap() -> Iterator[Trap]:
    """The server that the hostile report's addresses name."""
    found = Trap()
    yield found
    found.server.shutdown()
    found.server.server_close()


def builder() -> Callable[..., ScorecardData]:
    """The maker of scorecards with every part filled, which the tests of the other forms of a report use too."""
    spec = importlib.util.spec_from_file_location("scorecards", ROOT / "tests/reporting/conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[..., ScorecardData] = module.whole_card
    return made


def hostile(trap: str) -> ScorecardData:
    """A scorecard with markup, quotes, control characters and endless words in every field that data reaches."""
    evil = HOSTILE.format(trap=trap)
    card = builder()(24, text=lambda words: f"{words}{evil}", worst=4)
    first, second, *rest = card.worst
    passages = [
        replace(p, passage_id=p.passage_id + evil, doc_id=p.doc_id + evil) for p in first.response.passages or ()
    ]
    first = replace(first, response=replace(first.response, passages=tuple(passages)))
    second = replace(second, response=replace(second.response, passages=None, answer=None, citations=None, error=evil))
    names = {summary.metric: f"{summary.metric}:by={evil}" for summary in card.summaries[:3]}
    summaries = tuple(
        replace(summary, metric=names.get(summary.metric, summary.metric), reasons={evil: 2})
        for summary in card.summaries
    )
    definitions = {names.get(name, name): (evil, evil, evil) for name in card.definitions}
    run = replace(card.run, run_id=evil, system=evil, git=evil, set_name=evil, config={evil: [evil, {evil: evil}]})
    judge = JudgeNote(evil, evil, (evil, evil), 0.4, evil)
    causes = {f"{cause}{evil}" if place == 0 else cause: n for place, (cause, n) in enumerate(card.causes.items())}
    return replace(
        card,
        run=run,
        judge=judge,
        summaries=summaries,
        definitions=definitions,
        causes=causes,
        warnings=(evil, evil),
        worst=(first, second, *rest),
        took={evil: 1, "seconds": 2.5},
    )


def bare() -> ScorecardData:
    """Nobody judged, every metric and every response failed, and there is nothing beside that."""
    card = builder()(30, worst=2)
    summaries = tuple(
        replace(
            summary,
            scored=0,
            undefined=0,
            failed=30,
            mean=None,
            interval=None,
            micro=None,
            quantiles={},
            low=0.0,
            high=1.0,
        )
        for summary in card.summaries
    )
    worst = tuple(
        replace(
            view,
            evidence={},
            cause=None,
            scores={},
            response=replace(view.response, passages=None, answer=None, citations=None, error="timed out"),
        )
        for view in card.worst
    )
    return replace(
        card,
        summaries=summaries,
        worst=worst,
        judge=JudgeNote(""),
        overview=Overview(),
        baseline=None,
        findings=(),
        segments={},
    )


def nothing() -> ScorecardData:
    """A run without an example and without a metric."""
    return replace(bare(), n=0, summaries=(), causes={}, failed_examples=0, worst=(), definitions={}, warnings=())


@dataclass
class Reports:
    """The reports by name, each written when it is first asked for."""

    folder: Path
    trap: str
    demo: Callable[[], Demonstrated]
    made: dict[str, Path] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Path:
        if name not in self.made:
            self.made.update(self._demo() if name in (*DEMO, "notebook") else {name: self._write(name)})
        return self.made[name]

    def _demo(self) -> dict[str, Path]:
        """The demo's reports, and one of them as a notebook shows it."""
        found = self.demo()
        notebook = self.folder / "notebook.html"
        shown = rg.evaluate("good", store=found.store)._repr_html_()
        notebook.write_text(f"<!doctype html><title>notebook</title>{shown}", encoding="utf-8")
        return {**found.paths, "notebook": notebook}

    def _write(self, name: str) -> Path:
        cards: dict[str, Callable[[], ScorecardData]] = {
            "thousand": lambda: builder()(1_000, text=lambda words: f"{words} {STORY}"),
            "hostile": lambda: hostile(self.trap),
            "bare": bare,
            "nothing": nothing,
        }
        path = self.folder / f"{name}.html"
        path.write_text(page(cards[name]()), encoding="utf-8")
        return path


@pytest.fixture(scope="session")
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, trap: Trap) -> Reports:
    """The demo's three reports and one in a notebook's frame, and made ones: thousand, hostile, bare, nothing."""
    demo = functools.partial(request.getfixturevalue, "demonstrated")  # which takes long: only when asked for
    return Reports(tmp_path_factory.mktemp("reports"), trap.address, demo)


# ---- how it is opened ----


@dataclass
class Seen:
    """A page as it was opened, and what it did that a report must not do."""

    page: Page
    said: list[str] = field(default_factory=list)  # on the console
    asked: list[str] = field(default_factory=list)  # addresses
    alerts: list[str] = field(default_factory=list)

    def alerted(self, dialog: Dialog) -> None:
        """Notes a dialog, and closes it."""
        self.alerts.append(dialog.message)
        dialog.dismiss()

    def open_all(self) -> None:
        """Opens every fold and shows every list behind a mark, as if the reader had been everywhere."""
        self.page.add_style_tag(content=".behind { display: block !important } .group { content-visibility: visible }")
        self.page.evaluate("() => document.querySelectorAll('details').forEach((fold) => { fold.open = true })")


class Window:
    """Opens pages, each in a context of its own."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    @contextmanager
    def open(self, path: Path, width: int = 1280, scheme: str = "light", *, bypass: bool = False) -> Iterator[Seen]:
        """A file in a window of that width and colour scheme.

        With `bypass` the page's policy is off, so that whatever it holds can run, and so can what a test brings along.
        """
        context = self.browser.new_context(
            viewport={"width": width, "height": WIDTHS.get(width, 900)},
            bypass_csp=bypass,
            reduced_motion="reduce",
            color_scheme="dark" if scheme == "dark" else "light",
        )
        context.set_default_timeout(PATIENCE)
        seen = Seen(context.new_page())
        context.on("request", lambda request: seen.asked.append(request.url))
        context.on("console", lambda message: seen.said.append(message.text))
        context.on("weberror", lambda error: seen.said.append(str(error.error)))
        seen.page.on("dialog", seen.alerted)
        try:
            seen.page.goto(path.as_uri(), wait_until="load")
            yield seen
        finally:
            context.close()


@pytest.fixture
def window(browser: Browser) -> Window:
    """Opens pages of a width and a colour scheme."""
    return Window(browser)
