"""The examples of a run, a page at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response, Run
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.store.store_access import open_store

METRICS = "recall@5,mrr,ndcg@5,latency"


def record(n: int, repeat: int) -> tuple[Example, Response]:
    """Questions whose document is found at rank 1, at rank 2 or not at all, in turn; the last kind has no label.

    Question 5 failed with an error.
    """
    ids = ["a", f"d{n}"] if n % 4 == 1 else [f"d{n}", "a"] if n % 4 == 0 or repeat else ["a", "b"]
    example = Example(
        f"q{n:02}",
        f"How heavy is device {n}?",
        relevant=None if n % 4 == 3 else (Relevant((f"d{n}",)),),
        segments={"type": "odd" if n % 2 else "even"},
        tags=frozenset({"new"} if n > 8 else ()),
    )
    passages = tuple(Passage(f"{one}#0", one, f"Device {one[1:]} weighs {n} kilograms.") for one in ids)
    error = "time-out" if n == 5 else None
    took = {"total": 100.0 + n % 5}
    return example, Response(example.query_id, passages=passages, repeat=repeat, latency_ms=took, error=error)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    """Twelve questions, each retrieved for twice, evaluated by labels."""
    url = f"sqlite:///{tmp_path_factory.mktemp('pages')}/s.db"
    with open_store(url) as store:
        store.runs.import_run(Run("", "r"), [record(n, repeat) for n in range(12) for repeat in range(2)])
    rg.evaluate("r", metrics=METRICS, judge=None, store=url)
    return rg.open_run("r", store=url)


def keys(rows: list[Any]) -> list[tuple[str, int]]:
    return [(row.query_id, row.repeat) for row in rows]


@pytest.mark.parametrize("filter", [None, {"status": "failed"}, {"type": "odd"}])
@pytest.mark.parametrize("sort", ["", "cause", "quality", *METRICS.split(",")])
def test_pages_are_the_whole(opened: OpenRun, sort: str, filter: dict[str, str] | None) -> None:
    """Pages that each begin after the last row of the one before are the whole list, row by row, in every order."""
    whole = opened.examples(None, sort=sort, filter=filter)
    paged: list[Any] = []
    while page := opened.examples(2, after=paged[-1] if paged else None, sort=sort, filter=filter):
        assert len(page) <= 2
        paged += page
    assert paged == whole
    assert len(set(keys(whole))) == len(whole) == (24 if filter is None else len(whole)) > 2


def test_rows_say_what_the_scorecard_says(opened: OpenRun) -> None:
    """Question, status, cause and values of every row are those of the scorecard's examples, in the set's order."""
    rows, views = opened.examples(None), list(opened.scorecard().examples())
    assert len(rows) == len(views) == 24
    assert {row.status for row in rows} == {"failed", "passed", "not_judged"}
    for row, view in zip(rows, views, strict=True):
        assert (row.query_id, row.query) == (view.example.query_id, view.example.query)
        assert row.repeat == view.response.repeat
        assert (row.status, row.reason) == (view.verdict, view.reason)
        assert row.cause == (view.cause.name if view.cause is not None else "")
        assert row.values == {name: score.value for name, score in view.scores.items()}
    assert list(opened.examples(1, metrics="mrr,recall@5")[0].values) == ["mrr", "recall@5"]


def test_worst_first(opened: OpenRun) -> None:
    """A metric puts its worst value first whichever way is better, equal ones in the set's order, none last."""
    found = opened.examples(None, sort="mrr")
    values = [row.values["mrr"] for row in found]
    known = [value for value in values if value is not None]
    assert known == sorted(known)
    assert len(set(known)) == 3
    assert values[len(known) :] == [None] * 8  # three without labels and one that failed, twice each
    assert keys(found)[:2] == [("q02", 0), ("q06", 0)]
    slow = [row.values["latency"] or 0.0 for row in opened.examples(None, sort="latency")]
    assert slow == sorted(slow, reverse=True) != []
    causes = [row.cause for row in opened.examples(None, sort="cause")]
    often = {cause: causes.count(cause) for cause in causes if cause}
    assert len(often) > 1
    assert [*dict.fromkeys(causes)] == [*sorted(often, key=lambda cause: (-often[cause], cause)), ""]


def test_filters(opened: OpenRun) -> None:
    """Segment, tag, cause and status each leave the rows that have the value, together those that have all."""
    rows = opened.examples(None)
    failed = next(row for row in rows if row.cause)
    assert opened.examples(None, filter={"cause": failed.cause}) == [row for row in rows if row.cause == failed.cause]
    assert opened.examples(None, filter={"status": "passed"}) == [row for row in rows if row.status == "passed"]
    assert keys(opened.examples(None, filter={"tag": "new"})) == [(f"q{n:02}", r) for n in (9, 10, 11) for r in (0, 1)]
    both = opened.examples(None, filter={"type": "odd", "tag": "new"})
    assert keys(both) == [(f"q{n:02}", repeat) for n in (9, 11) for repeat in (0, 1)]
    assert keys(opened.examples(2, after="q09", filter={"tag": "new"})) == [("q09", 1), ("q10", 0)]
    assert keys(opened.examples(1, after=("q09", 1))) == [("q10", 0)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sort": "recal@5"}, r"no order of examples 'recal@5'; nearest: recall@5"),
        ({"filter": {"staus": "failed"}}, r"no filter of examples 'staus'; nearest: status"),
        ({"filter": {"type": "od"}}, r"no value of segment type 'od'; nearest: odd"),
        ({"filter": {"tag": "nwe"}}, r"no tag 'nwe'; nearest: new"),
        ({"filter": {"status": "fail"}}, r"no status 'fail'; nearest: failed"),
        ({"filter": {"cause": "retrieval"}}, r"no cause in this run 'retrieval'"),
        ({"metrics": "precision@5"}, r"no score in this run of 'precision@5'; nearest: "),
        ({"after": "q9"}, r"no query_id in this list 'q9'; nearest: q09"),
        ({"after": ("q01", 7)}, r"no query_id in this list 'q01 \(repeat 7\)'"),
        ({"judge": "hybrid"}, r"hybrid"),
    ],
)
def test_unknown_names(opened: OpenRun, asked: dict[str, Any], said: str) -> None:
    """What cannot be sorted, filtered, shown or continued by is an error that names the nearest."""
    with pytest.raises(UnknownName, match=said):
        opened.examples(**asked)


def test_other_mistakes(opened: OpenRun) -> None:
    """A limit below 1 and an `after` that is no example are refused with what to write."""
    with pytest.raises(UsageError, match=r"limit must be at least 1, got 0\. None lists all"):
        opened.examples(0)
    with pytest.raises(UsageError, match=r"its \(query_id, repeat\) or its query_id, got 5"):
        opened.examples(after=5)


def test_a_run_without_scores(tmp_path: Path) -> None:
    """A run that nobody evaluated is listed too: nothing is known of it."""
    url = f"sqlite:///{tmp_path}/s.db"
    with open_store(url) as store:
        store.runs.import_run(Run("", "r"), [record(n, 0) for n in range(3)])
    rows = rg.open_run("r", store=url).examples()
    assert [(row.status, row.quality, row.values) for row in rows] == [("not_judged", None, {})] * 3
