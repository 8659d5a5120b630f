"""What follows on scores: equal alerts however often the worker looks, told until it arrives, without users' words."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.analysis.monitored import FIRST, stored, traffic
from typer.testing import CliRunner

from ragauge.cli.main import app
from ragauge.core.config.config_loader import read_config
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.messages import format_value
from ragauge.engine.request_stream import iter_arrivals
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.notifications import build_alert_request, format_slack_text
from ragauge.monitoring.alerts.verb import find_alert, list_monitors, resolve_alert
from ragauge.monitoring.erasing import erase_traces
from ragauge.monitoring.outbox import send_due
from ragauge.monitoring.replay.compute import build_trackers
from ragauge.monitoring.replay.verb import monitor_replay
from ragauge.monitoring.series.monitor_specs import MonitorSpecs, read_monitor_specs
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.service import read_config_stages
from ragauge.monitoring.traffic.verb import save_running_config
from ragauge.monitoring.worker import StageTurn
from ragauge.store.store_access import Store, open_store

DAYS = traffic([0.9, 0.9, 0.5, 0.5, 0.95, 0.95, 0.95], rate=40)


def configured(*notify: dict[str, Any]) -> tuple[MonitorSection, MonitorSpecs]:
    """A level for all requests and for each tenant, and who is told."""
    rule = {"metric": "faithfulness", "min": 0.8, "segments": ["tenant"]}
    file = read_config({"monitor": {"segments": {"tenant": "metadata.tenant"}, "monitors": [rule], "notify": notify}})
    monitor = file.checked().monitor
    assert monitor is not None
    return monitor, read_monitor_specs(file)[0]


def store_at(path: Path) -> Store:
    return open_store(f"sqlite:///{path}")


def test_looks_of_any_number_raise_equal_alerts(tmp_path: Path) -> None:
    """One look at the end and one after every day keep equal alerts, ends included; a look at nothing new is none."""
    with store_at(tmp_path / "one.db") as once, store_at(tmp_path / "many.db") as often:
        stored(once, DAYS)
        advance_monitors(once, *configured(), 0.0)
        for day in range(7):
            stored(often, DAYS[40 * day : 40 * (day + 1)])
            advance_monitors(often, *configured(), float(day))
        kept = once.monitors.list_alerts()
        assert kept == often.monitors.list_alerts()
        assert len(kept) == 3
        assert all(one.alert.ended_at is not None for one in kept)
        assert advance_monitors(often, *configured(), 9.0) == ()


def test_a_look_that_is_cut_off_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails before the transaction ends leaves no alert, no delivery and the old place; the next look has all."""
    given = configured({"webhook": "http://127.0.0.1:9/x"})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        with monkeypatch.context() as broken:
            broken.setattr(
                type(store.monitors), "add_deliveries", lambda *_: (_ for _ in ()).throw(RuntimeError("cut"))
            )
            with pytest.raises(RuntimeError):
                advance_monitors(store, *given, 0.0)
        assert (store.monitors.list_alerts(), store.monitors.list_due(1e12)) == ([], [])
        assert len(advance_monitors(store, *given, 0.0)) == len(store.monitors.list_due(1e12)) == 3


def test_an_alert_says_that_scores_of_it_were_deleted(tmp_path: Path) -> None:
    """Its headline keeps the mean that raised it, and the text says of how many scores that was and how many went."""
    config = tmp_path / "ragauge.yaml"
    config.write_text("monitor: {monitors: [{metric: faithfulness, min: 0.8}]}")
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        given = read_config(str(config))
        section = given.checked().monitor
        assert section is not None
        (raised,) = advance_monitors(store, section, read_monitor_specs(given)[0], 0.0)
        told = str(find_alert(raised.alert_id, config=config, store=store.url))
        assert "have been deleted since" not in told
        erase_traces(store, [raised.trace_id, f"t{int(raised.trace_id[1:]) - 1}"], {})
        told = " ".join(str(find_alert(raised.alert_id, config=config, store=store.url)).split())
    assert raised.mean is not None
    assert (
        f"{raised.n} scores with a mean of {format_value(raised.mean)} raised it. 2 of them have been deleted since"
        in told
    )
    assert f"since ({raised.n - 2})" in told


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
        one_series = read_monitor_specs(
            read_config({"monitor": {"monitors": [{"metric": "faithfulness", "min": 0.8}]}})
        )[0]
        stored(store, DAYS[:160])
        advance_monitors(store, monitor, one_series, 0.0)
        assert send_due(store, monitor, 0.0) == 0
        assert send_due(store, monitor, 29.0) == 0
        assert len(seen) == 1
        assert send_due(store, monitor, 30.0) == 0
        assert send_due(store, monitor, 90.0) == 1
        assert send_due(store, monitor, 1e9) == 0
        assert len(seen) == 3
        assert len({key for key, _ in seen}) == 1
        assert "How long?" not in json.dumps(seen)
        assert seen[0][1]["title"].startswith("faithfulness has been 0.")
        assert 5 <= len(seen[0][1]["traces"]) <= 10
        sent = seen[0][1]
        assert sent["n"] > 0
        assert f"Mean: {format_value(sent['mean'])} over {sent['n']} scores" in format_slack_text(sent)
        assert f"Full report: ragauge monitor alerts {sent['alert']}" in format_slack_text(sent)
    assert address.encode() not in (tmp_path / "store.db").read_bytes()
    assert watched.metrics


def test_words_are_sent_where_they_are_asked_for(tmp_path: Path) -> None:
    """With `text: true` questions and answers of the worst are in it."""
    monitor, watched = configured({"webhook": "http://127.0.0.1:9/", "text": True})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        advance_monitors(store, monitor, watched, 0.0)
        assert store.monitors.list_due(0.0)[0].body["examples"][0] == {"query": "How long?", "answer": "Long."}


@pytest.mark.parametrize("url", ["", "https://rag.example.org/watch/"])
def test_what_is_sent_links_to_the_alert(tmp_path: Path, url: str) -> None:
    """With `url:` the JSON, the text and the log record bear the whole address of the alert's page."""
    monitor, watched = configured({"webhook": "http://127.0.0.1:9/"})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        advance_monitors(store, monitor.model_copy(update={"url": url}), watched, 0.0)
        body = store.monitors.list_due(1e12)[0].body
    link = f"https://rag.example.org/watch/monitor/alerts/{body['alert']}" if url else ""
    assert body["link"] == link
    assert (link or f"or /monitor/alerts/{body['alert']} in the dashboard") in format_slack_text(body)
    assert (b"ragauge.alert.link" in gzip.decompress(build_alert_request(body))) == bool(url)
    assert "url: expected https://HOST" in str(read_config({"monitor": {"url": "rag.example.org"}}).problems[0])


def test_status_says_that_a_server_runs_another_configuration(tmp_path: Path) -> None:
    """Once the section monitor is edited, status says since when a server runs with another."""
    path, url = tmp_path / "ragauge.yaml", f"sqlite:///{tmp_path / 'store.db'}"
    section = "monitor: {{monitors: [{{metric: faithfulness, min: {}}}], cool_down: 2h}}\n"
    one, other = section.format(0.8), section.format(0.9)

    def said() -> str:
        return CliRunner().invoke(app, ["monitor", "status", "--config", str(path), "--store", url]).output

    path.write_text(one)
    assert "Restart the server" not in said()
    save_running_config(path, url)
    assert "Restart the server" not in said()
    path.write_text(f"# a comment\n{one}")
    assert "Restart the server" not in said()
    path.write_text(other)
    assert "The monitor section of the file has changed since" in " ".join(said().split())
    path.write_text(one)
    assert "Restart the server" not in said()


def test_an_alert_says_what_changed_in_the_traces(tmp_path: Path) -> None:
    """Served model, prompt and index before and since stand in the text, the JSON and the page, each with its share."""

    def origin(number: int) -> dict[str, str]:
        new = number >= 80
        return {"model": "m-2" if new else "m-1", "index": "docs", "prompt": f"text:{number}", "span": f"{number:016x}"}

    monitor, watched = configured({"webhook": "http://127.0.0.1:9/"})
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160], origin=origin)
        advance_monitors(store, monitor, watched, 0.0)
        changed = store.monitors.list_due(0.0)[0].body["changed"]
        name = store.monitors.list_alerts()[0].alert.alert_id
    assert [(one["value"], one["before"], one["now"]) for one in changed if one["fact"] == "model"] == [
        ("m-1", 1.0, 0.0),
        ("m-2", 0.0, 1.0),
    ]
    assert {one["fact"] for one in changed} == {"model"}
    path = tmp_path / "ragauge.yaml"
    path.write_text(
        "monitor: {segments: {tenant: t}, monitors: [{metric: faithfulness, min: 0.8, segments: [tenant]}]}"
    )
    page = find_alert(name, config=path, store=f"sqlite:///{tmp_path / 'store.db'}").to_markdown()
    assert "| model | m-2 | 0% | 100% |" in page


def test_slack_gets_no_links_or_mentions() -> None:
    """Names of segments and causes cannot be a link or call everybody."""
    body = {
        "event": "fired",
        "title": "faithfulness of tenant <!channel>",
        "asked": "a & b",
        "alert": "a1",
        "fired_at": "2026-01-01T00:00",
        "causes": [],
        "changed": [],
        "traces": [],
    }
    assert format_slack_text(body).startswith("faithfulness of tenant &lt;!channel&gt;\nRule: a &amp; b.")


def test_a_mail_is_sent(tmp_path: Path) -> None:
    """A mail says what fired, under the delivery's id, and nothing of a user's words."""
    received: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening, store_at(tmp_path / "store.db") as store:
        thread = threading.Thread(target=_mailbox, args=(listening, received), daemon=True)
        thread.start()
        server = f"127.0.0.1:{listening.getsockname()[1]}"
        monitor, watched = configured({"email": "ops@example.org", "server": server})
        stored(store, DAYS[:160])
        advance_monitors(store, monitor, watched, 0.0)
        (first, *_) = store.monitors.list_due(0.0)
        assert send_due(store, monitor, 0.0) == 1  # the mailbox takes one
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
        advance_monitors(store, *configured(), 0.0)
        names = [one.alert.alert_id for one in store.monitors.list_alerts()]
    url = f"sqlite:///{tmp_path / 'store.db'}"
    assert resolve_alert(names[0][:5], store=url).precision == 1
    found = resolve_alert(names[1], resolution="false_alarm", store=url)
    assert (found.resolved, found.precision) == (2, 0.5)
    said = CliRunner().invoke(app, ["monitor", "resolve", names[0], "--store", url]).output
    assert "50% of 2 reviewed alerts count as true alarms, including this one unless you mark it" in said


def test_status_counts_every_open_alert(tmp_path: Path) -> None:
    """An alert that is no series', such as a schedule's, stands in status as in the list of alerts, and it is not well.

    Once it has ended nothing fires.
    """
    path = tmp_path / "ragauge.yaml"
    path.write_text("monitor: {monitors: [{metric: faithfulness, min: 0.1}]}")
    raised = bare_alert("schedule nightly", "schedule nightly, due 2026-01-10, could not run")
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        file = read_config(path)
        monitor = file.checked().monitor
        assert monitor is not None
        advance_monitors(store, monitor, read_monitor_specs(file)[0], 0.0)
        store.monitors.save_alerts([raised])
        url = store.url
        page = list_monitors(config=path, store=url).to_markdown()
        assert "1 alert is open: schedule nightly, due 2026-01-10, could not run." in page
        assert "No alerts are firing" not in page
        store.monitors.save_alerts([replace(raised, ended_at=FIRST)])
        page = list_monitors(config=path, store=url).to_markdown()
    assert "No alerts are firing" in page
    assert "open:" not in page
    said = CliRunner().invoke(app, ["monitor", "alerts", raised.alert_id[:4], "--store", url]).output
    assert "could not run" in said
    assert "Rule: a run on time" in said


def bare_alert(monitor: str, said: str) -> Alert:
    """An alert that says itself what fired."""
    return Alert(
        "5c3d1e7f00",
        monitor,
        "a run on time that passes its gate",
        ("", ""),
        FIRST,
        -1,
        "",
        FIRST.date(),
        None,
        0,
        0.0,
        None,
        1.0,
        1.0,
        1,
        "schedule",
        False,
        said=said,
    )


def test_no_monitors_no_stage(tmp_path: Path) -> None:
    """A file without a monitor of a metric has no stage of alerts; one with has one."""
    path = tmp_path / "ragauge.yaml"
    path.write_text("monitor:\n  judge: local\n")
    assert "alerts" not in {stage.lane for stage in read_config_stages(path)}
    path.write_text("monitor:\n  monitors: [{metric: faithfulness, min: 0.8}]\n")
    (raise_alerts,) = [stage.work for stage in read_config_stages(path) if stage.lane == "alerts"]
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        assert raise_alerts(StageTurn(store)) == 1


def test_two_servers_tell_once(tmp_path: Path) -> None:
    """Of two servers that find an attempt due one makes it; what a killed one had taken is due two minutes later."""
    given = configured({"webhook": "http://127.0.0.1:9/"})
    with store_at(tmp_path / "store.db") as store, store_at(tmp_path / "store.db") as other:
        stored(store, DAYS[:160])
        advance_monitors(store, *given, 0.0)
        (first, *_) = other.monitors.list_due(0.0)
        assert store.monitors.take_delivery(first, 120.0)
        assert not other.monitors.take_delivery(first, 120.0)
        assert first.delivery_id not in {one.delivery_id for one in other.monitors.list_due(119.0)}
        assert first.delivery_id in {one.delivery_id for one in other.monitors.list_due(120.0)}


def test_each_monitor_may_watch_its_own_project(tmp_path: Path) -> None:
    """A monitor that names a project takes its scores alone, is called after it, and shares the false alarms.

    Status and page say whose traffic is not watched and what to write, and a name of which nothing has come.
    """
    path = tmp_path / "ragauge.yaml"
    path.write_text("""monitor:
  segments: {tenant: metadata.tenant}
  monitors:
    - {metric: faithfulness, min: 0.8}
    - {metric: faithfulness, min: 0.8, project: desk}
    - {metric: faithfulness, min: 0.8, project: shpo}
""")
    file = read_config(path)
    monitor, watched = file.checked().monitor, read_monitor_specs(file)[0]
    assert monitor is not None
    with store_at(tmp_path / "store.db") as store:
        stored(store, traffic([0.9, 0.9], rate=40), project="shop")
        stored(store, traffic([0.3, 0.3], rate=40, first=1000), project="desk")
        stored(store, traffic([0.3, 0.3], rate=40, first=2000), project="<b>mobile")
        (raised,) = advance_monitors(store, monitor, watched, 0.0)
        assert (raised.monitor, raised.asks) == ("faithfulness (desk)", "faithfulness (desk) at least 0.8")
        url = store.url
    page = list_monitors(config=path, store=url).to_markdown()
    assert "Monitored: shop, desk. Ingested and scored, but not monitored: " in page
    assert "mobile. To monitor it, add a monitor with project: " in page
    assert "No traffic has arrived yet from the monitored shpo" in page
    replayed = monitor_replay(str(path), store=url).data
    assert [one.alert.monitor for one in replayed.alerts] == ["faithfulness (desk)"]


def asked(**rule: Any) -> tuple[MonitorSection, MonitorSpecs]:
    """One monitor of faithfulness, and a receiver."""
    file = read_config(
        {
            "monitor": {
                "segments": {"tenant": "metadata.tenant"},
                "monitors": [{"metric": "faithfulness", **rule}],
                "notify": [{"webhook": "http://127.0.0.1:9/"}],
            }
        }
    )
    monitor = file.checked().monitor
    assert monitor is not None
    return monitor, read_monitor_specs(file)[0]


@pytest.mark.parametrize(
    ("metric", "sample", "heaviest"),
    [
        ("faithfulness", {"rate": "5%", "always": ["error"]}, 20),
        ("faithfulness", {"rate": "5%"}, 0),
        ("empty_result_rate", {"rate": "5%", "always": ["error"]}, 0),
    ],
)
def test_what_a_drawn_request_weighs(metric: str, sample: dict[str, Any], heaviest: float) -> None:
    """On its first day a level knows what a drawn request stands for, where a judge is asked about others always."""
    side = "min" if metric == "faithfulness" else "max"
    file = read_config({"monitor": {"sample": sample, "monitors": [{"metric": metric, side: 0.5}]}})
    monitor = file.checked().monitor
    assert monitor is not None
    assert [by.heaviest for by in build_trackers(monitor, read_monitor_specs(file)[0])] == [heaviest]


def opened(store: Store) -> list[str]:
    return [one.alert.alert_id for one in store.monitors.list_alerts() if one.alert.ended_at is None]


def test_a_changed_monitor_takes_up_what_is_open(tmp_path: Path) -> None:
    """With segments added, the open alert goes on under its id, and only those of the tenants are told besides.

    With another level the old alert ends and the new one is told, once each; put back, nothing is told again.
    """
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        (first,) = advance_monitors(store, *asked(min=0.8), 0.0)
        added = advance_monitors(store, *asked(min=0.8, segments=["tenant"]), 1.0)
        assert [one.segment[0] for one in added] == ["tenant", "tenant"]
        assert first.alert_id in opened(store)
        assert len(store.monitors.list_due(1e12)) == 3
        changed = advance_monitors(store, *asked(min=0.88), 2.0)
        assert sorted(one.asks for one in changed if one.ended_at is not None) == ["faithfulness at least 0.8"] * 3
        (now,) = opened(store)
        assert now != first.alert_id
        told = {one.delivery_id: one.body["event"] for one in store.monitors.list_due(1e12)}
        assert sorted(told.values()) == ["ended"] * 3 + ["fired"] * 4
        advance_monitors(store, *asked(min=0.8), 3.0, began=3.0)
        assert opened(store) == [first.alert_id]
        stored(store, DAYS[160:])
        advance_monitors(store, *asked(min=0.8), 4.0, began=3.0)
        assert opened(store) == []
        assert len(store.monitors.list_due(1e12)) == 8


def test_a_monitor_that_is_taken_out_leaves_no_alert_open(tmp_path: Path) -> None:
    """A server that starts without it ends its alert, and says so; of another project's monitors it ends none."""
    latency = {"monitors": [{"metric": "latency", "share_above": 4000, "max": 0.05}]}
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:160])
        (first,) = advance_monitors(store, *asked(min=0.8), 0.0)
        for of, left in (({"project": "desk"}, [first.alert_id]), ({}, [])):
            file = read_config({"monitor": {**latency, **of, "notify": [{"webhook": "http://127.0.0.1:9/"}]}})
            monitor = file.checked().monitor
            assert monitor is not None
            advance_monitors(store, monitor, read_monitor_specs(file)[0], 5.0, began=5.0)
            assert opened(store) == left
        assert sorted(one.body["event"] for one in store.monitors.list_due(1e12)) == ["ended", "fired"]


def test_what_was_over_before_a_monitor_was_there_is_not_told(tmp_path: Path) -> None:
    """A new monitor goes through what is stored: a drop that began and ended in it is kept, and no one is notified."""
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS)
        advance_monitors(store, *asked(min=0.8), 0.0)
        (kept,) = store.monitors.list_alerts()
        assert kept.alert.ended_at is not None
        assert store.monitors.list_due(1e12) == []


def test_a_look_that_saw_less_keeps_nothing(tmp_path: Path) -> None:
    """Of two servers the one that does not know that all fell silent keeps nothing over it: that alert ends for good.

    The cursor is the same for both, so it alone would not tell.
    """
    given = asked(min=0.5)
    with store_at(tmp_path / "store.db") as store:
        stored(store, DAYS[:40])
        advance_monitors(store, *given, 0.0)
        (by,) = build_trackers(*given)
        seen = store.monitors.state(by.name)
        at = FIRST.timestamp() + 30 * 3600
        (missing,) = advance_monitors(store, *given, at, began=FIRST.timestamp())
        stored(store, DAYS[40:80])
        after, raised = by.after(seen, list(iter_arrivals(store, ["faithfulness"], after=seen.cursor)))
        assert not store.monitors.save_progress(by.name, seen, after, raised)
        (ended,) = advance_monitors(store, *given, at + 1, began=FIRST.timestamp())
        assert (ended.alert_id, opened(store)) == (missing.alert_id, [])


@pytest.mark.parametrize("named", ["", "shop", "other"])
def test_a_monitor_watches_one_project(tmp_path: Path, named: str) -> None:
    """Scores of other projects are not in its series: it watches the one that is named, else the first that came."""
    bad = traffic([0.9, 0.9, 0.3, 0.3], rate=40, first=1000)
    rule = {"metric": "faithfulness", "min": 0.8}
    file = read_config({"monitor": {"monitors": [rule], **({"project": named} if named else {})}})
    monitor, watched = file.checked().monitor, read_monitor_specs(file)[0]
    assert monitor is not None
    with store_at(tmp_path / "store.db") as store:
        stored(store, traffic([0.9, 0.9, 0.9, 0.9], rate=40), project="shop")
        stored(store, bad, project="other")
        raised = advance_monitors(store, monitor, watched, 0.0)
        (taken,) = [store.monitors.state(by.name) for by in build_trackers(monitor, watched)]
        assert len(raised) == (named == "other")
        assert taken.last is not None
        kept = sum(day.n for series in taken.series.values() for day in series.days.values())
        assert kept == 160
