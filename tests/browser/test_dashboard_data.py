"""The dashboard's pages over real data, in a real browser: every kind of page, wide and narrow, light and dark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from playwright.sync_api import Browser
from tests.browser.test_dashboard import SCHEMES, opened, serving
from tests.browser.test_report_accessible import COLOUR, CONTRAST, axe

import ragauge as rg
from ragauge.labels.judges.verb import list_judges

# together they took 9 minutes on two cores beside other work, a third of it for what they look at
pytestmark = [pytest.mark.browser, pytest.mark.prove, pytest.mark.realdata, pytest.mark.timeout(900)]
DATA = Path(__file__).resolve().parents[3] / "shared/data"
MOST = 12  # rows of each
PATIENCE = 300_000  # ms: the first opening of a run draws its charts, beside other work for more than the usual 30 s
READ = ("xquad", "clapnq", "ragchecker")


def xquad() -> list[dict[str, Any]]:
    """Questions of several articles, each answered by its gold answer."""
    read = json.loads((DATA / "xquad/xquad.en.json").read_text(encoding="utf-8"))["data"][:MOST]
    first = [(text["title"], text["paragraphs"][0]) for text in read]
    return [
        {
            "query_id": asked["id"],
            "query": asked["question"],
            "answer": asked["answers"][0]["text"],
            "reference_answer": asked["answers"][0]["text"],
            "passages": [part["context"]],
            "segments": {"text": title},
        }
        for title, part in first
        for asked in part["qas"][:1]
    ]


def clapnq() -> list[dict[str, Any]]:
    """Long answers with the passage that they are from."""
    lines = (DATA / "clapnq/clapnq_dev_answerable.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {
            "query_id": row["id"],
            "query": row["input"],
            "answer": row["output"][0]["answer"],
            "passages": [one["text"] for one in row["passages"]],
            "segments": {"title": row["passages"][0]["title"]},
        }
        for row in map(json.loads, lines[:MOST])
    ]


def ragchecker() -> list[dict[str, Any]]:
    """Answers of many paragraphs beside reference answers, without passages."""
    read = json.loads((DATA / "ragchecker_meta/baseline_ragchecker.json").read_text(encoding="utf-8"))[:MOST]
    return [
        {
            "query_id": f"{row['dataset']} {row['query_id']} {n}",
            "query": row["query"],
            "answer": row["model1"]["response"],
            "reference_answer": row["gt_answer"],
            "segments": {"dataset": row["dataset"]},
        }
        for n, row in enumerate(read)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two runs over each slice, the second with halves of the answers; a sweep, and a check of the judge."""
    url = f"sqlite:///{tmp_path_factory.mktemp('real')}/store.db"
    for read in (xquad, clapnq, ragchecker):
        whole = read()
        halves = [{**row, "answer": row["answer"][: len(row["answer"]) // 2]} for row in whole]
        for name, rows in (("whole", whole), ("halves", halves)):
            rg.evaluate(rows, name=f"{read.__name__}-{name}", store=url)
    asked = xquad()
    keys = ("query_id", "query", "reference_answer", "segments")
    questions = rg.read_set([{key: row[key] for key in keys} for row in asked], name="xquad")
    answers = {row["query"]: row["answer"].split() for row in asked}
    rg.sweep(
        lambda words: lambda query: " ".join(answers[query][:words]),
        questions,
        parameters={"words": [1, 2, 9]},
        objective="token_f1",
        store=url,
    )
    labelled = [
        {"query": row["query"], "passages": row["passages"], "answer": f"{row['query']} {end}.", "label": label}
        for row in asked
        for end, label in ((row["answer"], "supported"), ("Nobody", "not_in_context"))
    ]
    rg.check_judge(pl.DataFrame(labelled), store=url)
    return url


def addresses(store: str, of: str) -> list[str]:
    """An address of every kind of page of the runs over one slice, or of all that is not of a run."""
    ids = {row.name: row.run_id for row in rg.runs(store=store)}
    if of not in READ:
        (judge,) = list_judges(store=store)
        return [
            "/",
            "/runs",
            "/history",
            "/sets",
            "/studies",
            "/studies/sweep-xquad",
            "/judges",
            "/label",
            "/glossary",
            f"/judges/{quote(judge.judge_id, safe='')}",
            f"/sets/table/{rg.open_run('xquad-whole', store=store).run.set_version}",
        ]
    run, base = ids[f"{of}-halves"], ids[f"{of}-whole"]
    worst = rg.open_run(run, store=store).examples(limit=1, sort="quality")[0].query_id
    return [
        f"/runs/{run}",
        f"/runs/{run}/examples?sort=quality",
        f"/runs/{run}/examples/{quote(worst, safe='')}",
        f"/compare?base={base}&new={run}",
    ]


@pytest.mark.parametrize("of", [*READ, "the others"])
def test_pages_over_real_data_are_accessible_and_closed(browser: Browser, store: str, tmp_path: Path, of: str) -> None:
    """Over xquad, clapnq and ragchecker, on a phone and a desk, in light and dark, axe-core finds nothing on any page.

    Nothing is said on the console, no other server is asked, and no page scrolls sideways. A picture of each is kept.
    """
    with serving(store) as address, opened(browser, address) as (page, wrong):
        page.set_default_timeout(PATIENCE)
        for n, path in enumerate(addresses(store, of)):
            answer = page.goto(address + path)
            assert answer is not None
            assert answer.ok, path
            for width in (390, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (path, width)
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    page.screenshot(path=tmp_path / f"{n}-{width}-{scheme}.png", full_page=True)
                    assert page.evaluate(CONTRAST)["poor"] == [], (path, width, scheme)
                    assert axe(page, COLOUR)["violations"] == [], (path, width, scheme)
                assert axe(page)["violations"] == [], (path, width)
            assert wrong == [], path
