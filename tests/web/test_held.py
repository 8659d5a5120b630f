"""What a run is held against where nobody named it: the same on the first page, in lists and on the run's own page."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import Stored, rows

import ragauge as rg
from ragauge.core.response import Run
from ragauge.evaluation.runs import page as runs
from ragauge.evaluation.scorecard import cards
from ragauge.store.run_list import STALE_AFTER_S
from ragauge.store.store_access import Store, open_store

Opened = Callable[..., TestClient]


def verdicts(client: TestClient, run_id: str) -> list[tuple[str, str]]:
    """Verdict and baseline of a run in the JSON and CSV of the list."""
    tables = (client.get("/runs.json").json(), list(csv.DictReader(io.StringIO(client.get("/runs.csv").text))))
    return [(row["verdict"], row["baseline"]) for table in tables for row in table if row["run_id"] == run_id]


def test_every_page_has_one_verdict(opened: Opened, copied: str, stored: Stored) -> None:
    """A scorecard that was seen beside another run, or made stale since, changes no list: all say what `/` says."""
    newer = rg.evaluate(rows(0), name="newer", store=copied).run.run_id
    bad, good, client = stored.ids["bad"], stored.ids["good"], opened(copied)
    client.get(f"/runs/{bad}?baseline={newer}")  # was listed as the verdict on bad
    told = rg.compare("good", "bad", store=copied).compared.runs[0].verdict
    assert verdicts(client, bad) == [(told, "good")] * 2
    assert f'href="/compare?base={good}&amp;new={bad}"' in client.get("/runs").text
    rg.tag_run("good", "seen", store=copied)
    rg.evaluate("good", metrics="hit@3", store=copied)  # what was kept is stale
    assert verdicts(client, bad) == [(told, "good")] * 2


def test_what_a_run_is_held_against(opened: Opened, copied: str, stored: Stored) -> None:
    """The run before it, then what it was last evaluated against, then the baseline of the set; the pages say which."""
    client, bad, good = opened(copied), stored.ids["bad"], stored.ids["good"]
    third = rg.evaluate(rows(0), name="third", store=copied).run.run_id

    def seen(base: str, why: str) -> None:
        link = f'href="/compare?base={base}&amp;new={third}"'
        for page in ("/", f"/runs/{third}"):
            text = client.get(page).text
            assert link in text, page
            assert why in text, page

    seen(bad, "The previous run on the same set.")
    rg.evaluate("third", baseline="good", store=copied)
    seen(good, "The baseline of its last evaluation.")
    rg.set_baseline("bad", name="release", store=copied)
    seen(bad, "The baseline release.")
    assert "baseline" not in client.get(f"/runs/{third}?baseline=good").text.partition("what changed</a>")[0][-200:]


def test_a_run_without_passages_is_no_baseline(opened: Opened, copied: str, stored: Stored) -> None:
    """A run is compared with the newest run before it that measures the same layers."""
    bare = [{key: value for key, value in row.items() if key not in ("passages", "relevant")} for row in rows(0)]
    without = rg.evaluate(bare, name="bare", store=copied).run.run_id
    third = rg.evaluate(rows(0), name="third", store=copied).run.run_id
    assert f'href="/compare?base={stored.ids["bad"]}&amp;new={third}"' in opened(copied).get("/runs").text
    bare[0]["answer"] = "It is not known."
    fourth = rg.evaluate(bare, name="fourth", store=copied).run.run_id
    assert f'href="/compare?base={without}&amp;new={fourth}"' in opened(copied).get("/runs").text


def test_verdicts_that_a_list_went_without_are_made_when_it_is_sent(
    opened: Opened, copied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that has no time for verdicts leads to comparisons, and has them the next time; read-only, never."""
    rg.evaluate(rows(0), name="newer", store=copied)
    with closing(sqlite3.connect(copied.removeprefix("sqlite:///"))) as connection:
        connection.execute("DELETE FROM cards")
        connection.commit()
    monkeypatch.setattr(runs, "VERDICT_TIMEOUT_S", -1.0)
    looked, client = opened(copied, read_only=True), opened(copied)
    for one in (looked, looked, client):
        assert ">compare</a>" in one.get("/runs").text
    assert ">compare</a>" not in client.get("/runs").text


@pytest.mark.parametrize(("judge", "baseline"), [("local", ""), (None, ""), ("local", "first")])
def test_an_evaluation_keeps_what_pages_show(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: str | None, baseline: str
) -> None:
    """After evaluations the first page, the list and a run's page show verdicts, and compute no scorecard."""
    store = f"sqlite:///{tmp_path}/store.db"
    for name, wrong, base in (("first", 1, None), ("second", 5, None), ("third", 3, baseline or None)):
        run_id = rg.evaluate(rows(wrong), name=name, judge=judge, baseline=base, store=store).run.run_id
    computed: list[Run] = []
    real = cards.build_card

    def seen(opened: Store, run: Run, *rest: Any, **more: Any) -> rg.Scorecard:
        computed.append(run)
        return real(opened, run, *rest, **more)

    monkeypatch.setattr(cards, "build_card", seen)
    client = opened(store)
    told = {row.name: (bool(row.verdict), row.baseline) for row in rg.runs(store=store)}
    assert told == {"first": (False, ""), "second": (True, "first"), "third": (True, baseline or "second")}
    for path in ("/", "/runs", f"/runs/{run_id}"):
        assert client.get(path).status_code == 200
        assert computed == [], path
    rg.evaluate("third", metrics="hit@3", judge=judge, store=store)
    assert [run.run_id for run in computed[1:]] == [run_id]  # beside the first one, which it was asked for
    assert client.get(f"/runs/{run_id}").status_code == 200
    assert len(computed) == 2


def test_a_base_that_was_deleted_is_none(opened: Opened, tmp_path: Path) -> None:
    """A run whose baseline was deleted is evaluated and shown again, held against nothing."""
    store = f"sqlite:///{tmp_path}/store.db"
    base = rg.evaluate(rows(1), name="base", judge=None, store=store).run.run_id
    held = rg.evaluate(rows(5), name="held", judge=None, baseline=base, store=store).run.run_id
    rg.open_run(base, store=store).delete()
    assert rg.evaluate("held", judge=None, store=store).run.run_id == held
    assert [opened(store).get(path).status_code for path in ("/", "/runs", f"/runs/{held}")] == [200] * 3
    assert [row.against for row in rg.runs(store=store)] == [""]


def test_an_evaluation_that_was_killed_is_not_finished(opened: Opened, copied: str, stored: Stored) -> None:
    """While a run is being evaluated its pages say how far that is; without a sign of life it is stopped."""
    client, bad = opened(copied), stored.ids["bad"]
    with open_store(copied) as store:
        store.evaluations.begin_evaluation(bad, 5, 12)
    first = client.get("/").text.partition("Not finished")[2]
    assert re.search(r"in flight</span><span[^>]*>5 of 12 evaluated", first)
    late = (datetime.now(UTC) - timedelta(seconds=STALE_AFTER_S + 1)).isoformat(timespec="milliseconds")
    with closing(sqlite3.connect(copied.removeprefix("sqlite:///"))) as raw, raw:
        raw.execute("UPDATE evaluations SET heartbeat = ? WHERE done = 5", (late,))
    for page in ("/", "/runs", f"/runs/{bad}/state"):
        assert re.search(r"stopped</span><span[^>]*>5 of 12 evaluated", client.get(page).text), page
    assert [row["run_id"] for row in client.get("/runs.json?state=stopped").json()] == [bad]
    rg.evaluate("bad", store=copied)
    assert "Not finished" not in client.get("/").text


def test_traffic_is_called_so(opened: Opened, copied: str, stored: Stored) -> None:
    """A run of traffic has no set: the first page heads it as traffic, apart from runs of sets, and links to all."""
    with closing(sqlite3.connect(copied.removeprefix("sqlite:///"))) as raw, raw:
        raw.execute("UPDATE runs SET kind = 'traffic', set_name = '' WHERE run_id = ?", (stored.ids["bad"],))
    text = opened(copied).get("/").text
    assert "<bdi>traffic</bdi></h2>" in text
    assert 'href="/runs?kind=traffic"' in text


def test_the_worst_segment_leads_to_what_it_counts(opened: Opened, stored: Stored) -> None:
    """The first finding's segment leads to the failed examples of that cause there, the worst first."""
    text = opened().get("/").text
    links = re.findall(r"most in <a href=\"([^\"]+)\"", text)
    for link in links:
        assert re.search(r"segment\.type=[^&]+&amp;(cause=[a-z_]+&amp;)?status=failed&amp;sort=quality$", link)
