"""Lists: filters, orders, pages, and the same rows in every form."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.web.conftest import SWEEP, Stored, read, rows

import ragauge as rg
from ragauge.evaluation.runs.tags import tag_run
from ragauge.rendering.words import between
from ragauge.store.store_access import open_store

Opened = Callable[..., TestClient]


def listed(client: TestClient, question: str) -> list[str]:
    """The query_ids of a list, in its order, as its JSON has them."""
    answer = client.get(f"/runs/bad/examples.json?{question}")
    assert answer.status_code == 200, answer.text
    return [row["query_id"] for row in answer.json()["rows"]]


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("status=failed", lambda row: row.status == "failed"),
        ("segment.type=hop", lambda row: int(row.query_id[1:]) % 2 == 1),
        ("tag=golden", lambda row: int(row.query_id[1:]) % 4 == 0),
        ("metric.recall@5.lt=0.5", lambda row: row.values["recall@5"] is not None and row.values["recall@5"] < 0.5),
        ("metric.latency.gte=830&metric.latency.lte=850", lambda row: 830 <= row.values["latency"] <= 850),
        ("status.recall@5=scored", lambda row: row.values["recall@5"] is not None),
        ("status.recall@5=failed", lambda row: False),
        ("q=LONG+returned", lambda row: int(row.query_id[1:]) % 3 == 0),
        (
            "cause=retrieval_miss&tag=golden",
            lambda row: row.cause == "retrieval_miss" and int(row.query_id[1:]) % 4 == 0,
        ),
        ("cause=hallucinated", lambda row: False),
    ],
)
def test_filters_leave_what_they_say(
    opened: Opened, stored: Stored, question: str, chosen: Callable[[Any], bool]
) -> None:
    """Every kind of filter leaves just the examples that it describes, as counted from the whole list."""
    whole = rg.open_run("bad", store=stored.url).examples(None)
    assert listed(opened(), question) == [row.query_id for row in whole if chosen(row)]


def test_rows_say_what_was_answered_and_where_it_belongs(opened: Opened, stored: Stored) -> None:
    """Answer, tags and segments of every example stand in JSON, CSV and Parquet as they are in the run."""
    client, run = opened(), rg.open_run("bad", store=stored.url)
    views = {row.query_id: run.example(row.query_id) for row in run.examples(None)}
    for row in client.get("/runs/bad/examples.json").json()["rows"]:
        view = views[row["query_id"]]
        assert row["answer"] == view.response.answer
        assert (row["tags"], row["segments"]) == (sorted(view.example.tags), dict(view.example.segments))
    frame = pl.read_parquet(io.BytesIO(client.get("/runs/bad/examples.parquet").content))
    assert frame.height == len(views)
    for row in frame.to_dicts():
        view = views[row["query_id"]]
        assert row["answer"] == view.response.answer
        assert row["tags"] == ", ".join(sorted(view.example.tags))
        assert {name: row[f"segment.{name}"] for name in view.example.segments} == view.example.segments
    assert any(view.example.tags and view.example.segments for view in views.values())


@pytest.mark.parametrize("twice", [False, True])
def test_order_of_quality_is_that_of_the_quality_shown(copied: str, twice: bool) -> None:
    """What the database adds up for the order is the quality of each row; a judge's score counts before nobody's."""
    whole = rg.open_run("bad", store=copied).examples(None)
    if twice:  # and the index of the run goes, as it does with a write
        with closing(sqlite3.connect(copied.removeprefix("sqlite:///"))) as raw, raw:
            raw.execute("""
                INSERT INTO scores SELECT s.run_no, s.response_no, (SELECT judge_no FROM judges WHERE judge_id = ''), 0,
                s.metric_no, 0, s.response_no % 2, NULL, NULL, NULL, NULL, NULL FROM scores s
                JOIN metrics m ON m.metric_no = s.metric_no AND m.name IN ('faithfulness', 'context_recall')""")
            raw.execute("DELETE FROM cards WHERE part = 'examples'")
    run = rg.open_run("bad", store=copied)
    best = 2.0  # those without a quality come last
    by_quality = sorted(whole, key=lambda row: best if row.quality is None else row.quality)
    assert run.examples(None, sort="quality") == by_quality
    often = [row.cause for row in whole]
    assert run.examples(None, sort="cause") == sorted(
        by_quality, key=lambda row: (not row.cause, -often.count(row.cause), row.cause)
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("segment.tipe=hop", "nearest: segment.type"),
        ("segment.type=hip", "nearest: hop"),
        ("tag=gold", "nearest: golden"),
        ("status=fialed", "nearest: failed"),
        ("status.recall@5=score", "nearest: scored"),
        ("sort=recal@5", "recall@5"),
        ("metric.recall@5.below=1", "lt"),
        ("metric.recal@5.lt=1", "nearest: recall@5"),
        ("metric.recall@5.lt=half", "number"),
        ("metric.recall@5.lt=nan", "number"),
        ("page=0", "page"),
        ("page=x", "page"),
        ("stauts=failed", "nearest: status"),
        ("cause=halucinated", "cause"),
        ("columns=recal", "recall"),
    ],
)
def test_filters_that_mean_nothing_are_refused(opened: Opened, question: str, said: str) -> None:
    """An unknown column, value, status, comparison or number is 400, with what was meant."""
    answer = opened().get(f"/runs/bad/examples?{question}")
    assert answer.status_code == 400
    assert said in read(answer.text)


@pytest.mark.parametrize("path", ["/runs", "/runs/bad/examples", "/compare?base=good&new=bad", "/sets"])
def test_every_form_has_the_same_rows(opened: Opened, path: str) -> None:
    """CSV and Parquet have all rows of a list, with one set of columns and equal values."""
    client = opened()
    start, sign, asked = path.partition("?")
    text = client.get(f"{start}.csv{sign}{asked}")
    frame = pl.read_parquet(io.BytesIO(client.get(f"{start}.parquet{sign}{asked}").content))
    assert text.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(text.text)))
    assert len(rows) == frame.height > 1
    assert list(rows[0]) == frame.columns
    for row, other in zip(rows, frame.to_dicts(), strict=True):
        for name, value in other.items():
            if isinstance(value, float):
                assert float(row[name]) == value
            else:
                assert row[name].replace("\r\n", "\n") == ("" if value is None else str(value)).replace("\r\n", "\n")


def test_an_example_knows_its_list(opened: Opened) -> None:
    """From a filtered list each example leads to the one before and behind it there, to the end and no further."""
    client, question = opened(), "?sort=recall%405&status=failed"
    order, seen = listed(client, question[1:]), []
    address: str | None = f"/runs/bad/examples/{order[0]}{question}"
    while address:
        text = client.get(address).text
        seen += re.findall(r"<code>(q\d+)</code>", text)[:1]
        found = re.search(r'rel="next" href="([^"]+)"', text)
        address = unescape(found[1]) if found else None
    assert seen == order
    assert len(seen) > 3


def test_ticked_runs_are_compared_with_the_oldest(opened: Opened, stored: Stored) -> None:
    """Ticking runs in the list leads to the comparison with the oldest of them; one alone is refused."""
    client, good, bad = opened(), stored.ids["good"], stored.ids["bad"]
    answer = client.get(f"/compare?new={bad}&new={good}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/compare?base={good}&new={bad}")
    assert client.get(f"/compare?new={bad}").status_code == client.get("/compare").status_code == 400
    assert client.get("/compare?base=goood&new=bad").status_code == 404
    value = client.get("/compare.json?base=good&new=bad").json()
    assert value == rg.compare("good", "bad", store=stored.url).to_dict()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("set=tabel", "nearest: table"),
        ("tag=maim", "nearest: main"),
        ("system=lost", "system"),
        ("name=god", "nearest: good"),
    ],
)
def test_runs_that_nobody_could_mean_are_refused(opened: Opened, copied: str, question: str, said: str) -> None:
    """A set, tag, system or name that no run has is 400 with the nearest; 200 where each is there, but not together."""
    tag_run("good", "main", store=copied)
    client = opened(copied)
    for form in ("", ".json", ".csv"):
        answer = client.get(f"/runs{form}?{question}")
        assert answer.status_code == 400
        assert said in unescape(answer.text)
    together = client.get("/runs?tag=main&name=bad")
    assert together.status_code == 200
    assert "No run matches" in together.text


def test_what_judging_cost_is_not_the_metric_cost(opened: Opened) -> None:
    """In the table of runs what judging cost has a column of its own beside the mean of the metric cost."""
    client = opened()
    (row,) = (row for row in csv.DictReader(io.StringIO(client.get("/runs.csv").text)) if row["name"] == "bad")
    assert float(row["judging_cost"]) == 0.0
    assert float(row["cost"]) == pytest.approx(0.001)
    assert ">judging cost</th>" in client.get("/runs").text


def test_history_has_a_mark_a_run(opened: Opened, stored: Stored) -> None:
    """The history draws each run of a set that has the metric, as a link to it, and names unknown sets and metrics."""
    client = opened()
    text = client.get("/history?metric=recall@5").text
    for run_id in stored.ids.values():
        assert f'<a href="/runs/{run_id}" tabindex="-1"><title>' in text
    assert client.get("/history?metric=recal@5").status_code == 400
    assert client.get("/history?set=lost").status_code == 400


def test_history_says_that_its_intervals_leave_out_the_judge(opened: Opened, stored: Stored) -> None:
    """The history shows intervals without the judge's error and says so; the list of runs includes it and says so."""
    client = opened()
    summaries = rg.open_run("bad", store=stored.url).scorecard().card.summaries
    one = next(each for each in summaries if each.metric == "faithfulness")
    assert between(one.interval, one.kind) != between(one.judged, one.kind)
    for path, interval, said in (
        ("/runs?name=bad", one.judged, "including judge error"),
        ("/history?metric=faithfulness", one.interval, "without judge error"),
    ):
        text = client.get(path).text
        assert between(interval, one.kind) in text
        assert said in text


def test_means_of_an_evaluation_that_is_not_over_follow_its_scores(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means in lists, their order and the log are those of all scores of a run in flight, not of when it was looked at.

    What was kept at 4 of 12 evaluated is renewed to what the run's own page says.
    """
    url = f"sqlite:///{tmp_path}/store.db"
    run = rg.evaluate(rows(7), metrics="recall@5,faithfulness", limit=4, name="moving", store=url).run.run_id

    def killed(*_: object, **__: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patched:
        patched.setattr("ragauge.evaluation.scorecard.cards.build_card", killed)
        with pytest.raises(InterruptedError):
            rg.evaluate("moving", metrics="recall@5,faithfulness", store=url)
    with open_store(url) as store:
        store.evaluations.begin_evaluation(run, 11, 12)
    client = opened(url)
    shown = client.get("/runs.json?sort=recall@5").json()[0]
    logged = client.get("/history.json").json()
    (whole, *_) = rg.open_run(run, store=url).scorecard().card.summaries
    kept = shown["headline"]["retrieval"]
    assert (kept["n"], kept["mean"]) == (12, whole.mean)
    assert whole.widest_interval is not None
    assert (kept["low"], kept["high"]) == (whole.widest_interval.low, whole.widest_interval.high)
    assert str(whole.mean) in str(logged)
    with open_store(url) as store:  # its page was opened: nothing is to renew
        assert store.run_list.list_outdated() == []


def test_refusals_say_what_there_is(opened: Opened, stored: Stored) -> None:
    """A tag where there are none, a run that is gone: said without contradiction, with a few names at most."""
    client = opened()
    trial = rg.runs(study=SWEEP, store=stored.url)[0].run_id
    answer = client.get(f"/runs/{trial}/examples?tag=golden")
    assert (answer.status_code, "o example has tags" in answer.text) == (400, True)
    for address in ("/label?run=GONE", "/runs/GONE", "/compare?base=GONE&new=bad"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "All are listed on /runs." in answer.text
        assert sum(one in answer.text for one in stored.ids.values()) <= 5
        assert "Known:" not in answer.text


def test_what_a_list_prints_leads_to_it(opened: Opened) -> None:
    """The beginning of a version filters runs; a page behind the last is the last, with the filters kept."""
    client = opened()
    (row,) = (row for row in client.get("/runs.json").json() if row["name"] == "bad")
    found = client.get(f"/runs.json?version={row['set_version'][:8]}").json()
    assert "bad" in {one["name"] for one in found}
    assert {one["set_version"] for one in found} == {row["set_version"]}
    assert client.get("/runs?version=0000").status_code == 400
    answer = client.get("/runs/bad/examples?status=failed&page=99")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/bad/examples?status=failed&page=1")


def test_lists_mark_baselines_and_keep_what_matters_when_narrow(opened: Opened, copied: str) -> None:
    """The name of a baseline stands beside its run, counts, verdict and state beside each; the order's column stays."""
    rg.set_baseline("good", name="main", store=copied)
    client = opened(copied)
    rows = re.findall(r'<th scope="row">.*?</tr>', client.get("/runs").text, re.DOTALL)
    (good,) = (row.partition("</th>")[0] for row in rows if "<bdi>good</bdi></a>" in row)
    ((bad, cells),) = (row.split("</th>") for row in rows if "<bdi>bad</bdi></a>" in row)
    assert "baseline <bdi>main</bdi>" in good
    assert "baseline" not in bad
    counts, verdict, state = cells.split('<td class="whole"')[1:]  # which a phone shows on lines of their own
    assert " failed</span>" in counts
    assert "/compare?base=" in verdict
    assert "finished</span>" in state
    heads = re.findall(r'<th scope="col" class="(n[^"]*)">mrr', client.get("/runs/bad/examples?sort=mrr").text)
    assert heads == ["n"]
