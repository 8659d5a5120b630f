"""What follows on scores: equal alerts however often the worker looks, told until it arrives, without users' words."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.analysis.monitored import stored, traffic

from ragauge.analysis.monitoring.replaying import watchings
from ragauge.analysis.monitoring.watches import Watches, watches
from ragauge.api.monitor_alerts import alert, resolve_alert
from ragauge.data.config.monitor import MonitorSection
from ragauge.data.config.reading import read_config
from ragauge.monitoring.notifying import deliver, slack_text
from ragauge.monitoring.watcher import Watcher, judge_series
from ragauge.store.open import Store, open_store

DAYS = traffic([0.9, 0.9, 0.5, 0.5, 0.95, 0.95, 0.95], rate=40)


def configured(*notify: dict[str, Any]) -> tuple[MonitorSection, Watches]:
    """A level for all requests and for each tenant, and who is told."""
    rule = {"metric": "faithfulness", "min": 0.8, "segments": ["tenant"]}
    file = read_config({"monitor": {"segments": {"tenant": "metadata.tenant"}, "monitors": [rule], "notify": notify}})
    monitor = file.checked().monitor
    assert monitor is not None
    return monitor, watches(file)[0]


def store_at(path: Path) -> Store:
    return open_store(f"sqlite:///{path}")


def test_looks_of_any_number_raise_equal_alerts(tmp_path: Path) -> None:
    """One look at the end and one after every day keep equal alerts, ends included; a look at nothing new is none."""
    with store_at(tmp_path / "one.db") as once, store_at(tmp_path / "many.db") as often:
        stored(once, DAYS)
        judge_series(once, *configured(), 0.0)
        for day in range(7):
            stored(often, DAYS[40 * day : 40 * (day + 1)])
            judge_series(often, *configured(), float(day))
        kept = once.monitors.alerts()
        assert kept == often.monitors.alerts()
        assert len(kept) == 3
        assert all(one.alert.ended_at is not None for one in kept)
        assert judge_series(often, *configured(), 9.0) == ()


def test_a_look_that_is_cut_off_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails before the transaction ends leaves no alert, no delivery and the old place; the next look has all."""
    given = configured({"webhook": "http://127.0.0.1:9/x"})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        with monkeypatch.context() as broken:
            broken.setattr(type(store.monitors), "tell", lambda *_: (_ for _ in ()).throw(RuntimeError("cut")))
            with pytest.raises(RuntimeError):
                judge_series(store, *given, 0.0)
        assert (store.monitors.alerts(), store.monitors.due(1e12)) == ([], [])
        assert len(judge_series(store, *given, 0.0)) == len(store.monitors.due(1e12)) == 3


class Hook(BaseHTTPRequestHandler):
    """Refuses the first posts, and keeps all of them."""

    refused: ClassVar[int]
    seen: ClassVar[list[tuple[str, dict[str, Any]]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.headers["Idempotency-Key"], body))
        self.send_response(503 if len(self.seen) <= self.refused else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def hook(refusals: int = 2) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """A receiver of webhooks: its address and what it was told."""

    class Own(Hook):
        refused: ClassVar = refusals
        seen: ClassVar = []

    with HTTPServer(("127.0.0.1", 0), Own) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", Own.seen
        server.shutdown()


def test_a_webhook_is_told_again_under_one_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receiver that refuses is told again, later, under the same id, until it takes it; then no more.

    Its address, out of the environment, is not kept, and without `text: true` no user's words are sent.
    """
    with hook() as (address, seen), store_at(tmp_path / "store.db") as store:
        monkeypatch.setenv("HOOK", address)
        monitor, watched = configured({"webhook": "$HOOK"})
        one_series = watches(read_config({"monitor": {"monitors": [{"metric": "faithfulness", "min": 0.8}]}}))[0]
        stored(store, DAYS[:160])
        judge_series(store, monitor, one_series, 0.0)
        assert deliver(store, monitor, 0.0) == 0
        assert deliver(store, monitor, 29.0) == 0
        assert len(seen) == 1
        assert deliver(store, monitor, 30.0) == 0
        assert deliver(store, monitor, 90.0) == 1
        assert deliver(store, monitor, 1e9) == 0
        assert len(seen) == 3
        assert len({key for key, _ in seen}) == 1
        assert "How long?" not in json.dumps(seen)
        assert seen[0][1]["title"].startswith("faithfulness is 0.")
        assert 5 <= len(seen[0][1]["traces"]) <= 10
    assert address.encode() not in (tmp_path / "store.db").read_bytes()
    assert watched.metrics


def test_words_are_sent_where_they_are_asked_for(tmp_path: Path) -> None:
    """With `text: true` questions and answers of the worst are in it."""
    monitor, watched = configured({"webhook": "http://127.0.0.1:9/", "text": True})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        judge_series(store, monitor, watched, 0.0)
        assert store.monitors.due(0.0)[0].body["examples"][0] == {"query": "How long?", "answer": "Long."}


def test_an_alert_says_what_changed_in_the_traces(tmp_path: Path) -> None:
    """Served model, prompt and index before and since stand in the text, the JSON and the page, each with its share."""

    def origin(number: int) -> dict[str, str]:
        new = number >= 80
        return {"model": "m-2" if new else "m-1", "index": "docs", "prompt": f"text:{number}", "span": f"{number:016x}"}

    monitor, watched = configured({"webhook": "http://127.0.0.1:9/"})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160], origin=origin)
        judge_series(store, monitor, watched, 0.0)
        changed = store.monitors.due(0.0)[0].body["changed"]
        name = store.monitors.alerts()[0].alert.alert_id
    assert [(one["value"], one["before"], one["now"]) for one in changed if one["fact"] == "model"] == [
        ("m-1", 1.0, 0.0), ("m-2", 0.0, 1.0)
    ]  # fmt: skip
    assert {one["fact"] for one in changed} == {"model"}
    path = tmp_path / "ragauge.yaml"
    path.write_text(
        "monitor: {segments: {tenant: t}, monitors: [{metric: faithfulness, min: 0.8, segments: [tenant]}]}"
    )  # fmt: skip
    page = alert(name, config=path, store=f"sqlite:///{tmp_path / 'store.db'}").to_markdown()
    assert "| model | m-2 | 0% | 100% |" in page


def test_slack_gets_no_links_or_mentions() -> None:
    """Names of segments and causes cannot be a link or call everybody."""
    body = {
        "event": "fired", "title": "faithfulness of tenant <!channel>", "asked": "a & b", "alert": "a1",
        "fired_at": "2026-01-01T00:00", "causes": [], "changed": [], "traces": [],
    }  # fmt: skip
    assert slack_text(body).startswith("faithfulness of tenant &lt;!channel&gt;\nAsked: a &amp; b.")


def test_a_mail_is_sent(tmp_path: Path) -> None:
    """A mail says what fired, under the delivery's id, and nothing of a user's words."""
    received: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening, store_at(tmp_path / "store.db") as store:
        thread = threading.Thread(target=_mailbox, args=(listening, received), daemon=True)
        thread.start()
        server = f"127.0.0.1:{listening.getsockname()[1]}"
        monitor, watched = configured({"email": "ops@example.org", "server": server})
        stored(store, DAYS[:160])
        judge_series(store, monitor, watched, 0.0)
        (first, *_) = store.monitors.due(0.0)
        assert deliver(store, monitor, 0.0) == 1      # the mailbox takes one
        thread.join(10)
    mail = "".join(received)
    assert "Subject: faithfulness" in mail
    assert f"Message-ID: <{first.delivery_id}@ragauge>" in mail
    assert "How long?" not in mail


def _mailbox(listening: socket.socket, received: list[str]) -> None:
    """An SMTP server of one mail."""
    connection, _ = listening.accept()
    listening.close()
    with connection, connection.makefile("rw", newline="\r\n") as lines:
        lines.write("220 here\r\n")
        lines.flush()
        in_mail = False
        for line in lines:
            received.append(line)
            if in_mail and line.strip() != ".":
                continue
            word = line[:4].upper().strip()
            in_mail = word == "DATA"
            lines.write("354 go on\r\n" if in_mail else "221 bye\r\n" if word == "QUIT" else "250 fine\r\n")
            lines.flush()
            if word == "QUIT":
                return


def test_what_people_say_of_alerts(tmp_path: Path) -> None:
    """Alerts are acknowledged or called false by the beginning of their id, and precision follows."""
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        judge_series(store, *configured(), 0.0)
        names = [one.alert.alert_id for one in store.monitors.alerts()]
    url = f"sqlite:///{tmp_path / 'store.db'}"
    assert resolve_alert(names[0][:5], store=url).precision == 1
    found = resolve_alert(names[1], resolution="false_alarm", store=url)
    assert (found.resolved, found.precision) == (2, 0.5)


def test_no_monitors_no_watcher(tmp_path: Path) -> None:
    """A file without a monitor of a metric needs no watcher; one with has one."""
    path = tmp_path / "ragauge.yaml"
    path.write_text("monitor:\n  judge: local\n")
    assert Watcher.of(path) is None
    path.write_text("monitor:\n  monitors: [{metric: faithfulness, min: 0.8}]\n")
    watcher = Watcher.of(path)
    assert watcher is not None
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        assert watcher.look(store, 0.0) == 1


def test_two_servers_tell_once(tmp_path: Path) -> None:
    """Of two servers that find an attempt due one makes it; what a killed one had taken is due two minutes later."""
    given = configured({"webhook": "http://127.0.0.1:9/"})
    with store_at(tmp_path / "store.db") as store, store_at(tmp_path / "store.db") as other:
        stored(store, DAYS[:160])
        judge_series(store, *given, 0.0)
        (first, *_) = other.monitors.due(0.0)
        assert store.monitors.claimed(first, 120.0)
        assert not other.monitors.claimed(first, 120.0)
        assert first.delivery_id not in {one.delivery_id for one in other.monitors.due(119.0)}
        assert first.delivery_id in {one.delivery_id for one in other.monitors.due(120.0)}


@pytest.mark.parametrize("named", ["", "shop", "other"])
def test_a_monitor_watches_one_project(tmp_path: Path, named: str) -> None:
    """Scores of other projects are not in its series: it watches the one that is named, else the first that came."""
    bad = traffic([0.9, 0.9, 0.3, 0.3], rate=40, first=1000)
    rule = {"metric": "faithfulness", "min": 0.8}
    file = read_config({"monitor": {"monitors": [rule], **({"project": named} if named else {})}})
    monitor, watched = file.checked().monitor, watches(file)[0]
    assert monitor is not None
    with store_at(tmp_path / "store.db") as store:
        stored(store, traffic([0.9, 0.9, 0.9, 0.9], rate=40), project="shop")
        stored(store, bad, project="other")
        raised = judge_series(store, monitor, watched, 0.0)
        (taken,) = [store.monitors.state(by.name) for by in watchings(monitor, watched)]
        assert len(raised) == (named == "other")
        assert taken.last is not None
        kept = sum(day.n for series in taken.series.values() for day in series.days.values())
        assert kept == 160
