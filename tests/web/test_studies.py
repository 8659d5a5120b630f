"""Pages of studies and of judges: what their reports say, with links."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import SWEEP, Stored, read

import ragauge as rg

Opened = Callable[..., TestClient]
STUDY = f"/studies/{quote(SWEEP, safe='')}"
NUMBER = re.compile(r"\d+\.\d+")


def words(page: str) -> str:
    """What the main part of a page says, without markup; drawings are left out."""
    main = page.partition("<main")[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", main, flags=re.DOTALL)))


def test_a_study_is_its_report(opened: Opened, stored: Stored) -> None:
    """The page of a study says word for word what its report says, its JSON is the study's, its table the trials'."""
    client, study = opened(), rg.open_study(SWEEP, store=stored.url)
    page = client.get(f"{STUDY}.html")
    assert page.status_code == 200
    assert words(page.text) == words(study.to_html())
    assert len(NUMBER.findall(words(page.text))) > 10
    assert client.get(f"{STUDY}.json").json() == study.to_dict()
    table = client.get(f"{STUDY}.csv").text.splitlines()
    assert table[0].split(",") == study.trials.columns
    assert len(table) == 1 + len(study.study.trials)
    for trial in study.study.trials:
        assert f'href="/runs/{trial.run_id}"' in page.text
    assert 'href="/glossary/token_f1"' in page.text


def test_the_list_says_what_came_of_each(opened: Opened, stored: Stored) -> None:
    """The list of studies has the trials by state and the sentence that the study's own page begins with."""
    client = opened()
    (row,) = client.get("/studies.json").json()
    assert (row["name"], row["trials"]) == (SWEEP, {"complete": 2})
    assert row["verdict"] in client.get(f"{STUDY}.html").text
    page = client.get("/studies").text
    assert row["verdict"] in page
    assert f'href="{STUDY}.html"' in page


def test_what_a_study_is_read_by_stands_in_the_address(opened: Opened) -> None:
    """What decides and the target are taken as the command takes them; what there is not is refused."""
    client = opened()
    assert client.get(f"{STUDY}.json?base=wrong=6").json()["base"] == "wrong=6"
    for asked, said in (
        ("base=wrong=7", "nearest: wrong="),
        ("metric=tokn_f1", "token_f1"),
        ("colour=1", "no query parameter 'colour'"),
    ):
        answer = client.get(f"{STUDY}.json?{asked}")
        assert answer.status_code == 400, asked
        assert said in answer.json()["error"]
    assert client.get("/studies/swep").status_code == 404


def test_a_judge_says_how_far_it_can_be_trusted(opened: Opened, stored: Stored) -> None:
    """The page of a judge has the numbers of its checks, by its own id, and says which runs it judged."""
    client = opened()
    (known,) = client.get("/judges.json").json()
    (step,) = rg.judge_history(store=stored.url).steps
    assert (known["judge_id"], known["spec"], known["last"]["n"]) == (step.judge_id, "local", 12)
    address = f"/judges/{quote(known['judge_id'], safe='')}"
    page = client.get(address)
    assert f'href="{address}"' in client.get("/judges").text
    assert step.accuracy.interval is not None
    assert f"{step.accuracy.value:.2f} [{step.accuracy.interval.low:.2f}" in page.text
    for run_id in stored.ids.values():
        assert f'href="/runs/{run_id}"' in page.text
    value = client.get(f"{address}.json").json()
    assert value["steps"][0]["accuracy"]["value"] == pytest.approx(step.accuracy.value)
    assert value["errors"]["faithfulness"]["labels"] == 12
    assert client.get(f"{address}.csv").text.splitlines()[0].startswith("judge,judge_id,at")
    assert client.get("/judges/locl").status_code == 404


def test_a_judge_that_nobody_checked_says_so(opened: Opened, copied: str) -> None:
    """Where no label speaks of a judge its page warns, and gives the command that checks it."""
    from ragauge.store.store_access import open_store

    with open_store(copied) as store:
        store.judges.save_spec("openai:gpt-x", "openai:gpt-x")
    page = read(opened(copied).get("/judges/openai%3Agpt-x").text)
    assert "ragauge judge check labels.jsonl --judge openai:gpt-x" in page
    assert "so its accuracy on your data is unknown" in page


def test_labels_that_wait_for_a_check_are_named(opened: Opened, copied: str) -> None:
    """Where the store has labels, the page of an unchecked judge names the check of the run, and its agreement."""
    import sqlite3
    from contextlib import closing

    from ragauge.core.label import Label
    from ragauge.store.store_access import open_store

    with closing(sqlite3.connect(copied.removeprefix("sqlite:///"))) as raw, raw:
        raw.execute("DELETE FROM check_log")
    number, run = rg.label_draw("bad", n=3, store=copied).draw, rg.open_run("bad", store=copied)
    with open_store(copied) as store:
        store.labels.add([Label("ab" * 32, None, "support", "supported", "ann", "2026-01-01", "g")])
    address = f"/judges/{quote(run.judges()[0], safe='')}"
    page = opened(copied).get(address).text
    assert f"ragauge judge check {run.run.run_id} --judge local" in read(page)
    assert "The store has 1 label;" in page
    assert f'href="/label/agreement?draw={number}"' in page
    assert "It has not been checked against human labels" not in page
