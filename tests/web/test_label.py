"""People label a draw in the dashboard: each label is kept as it is given, and nothing but what was drawn is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import EVIL, Stored

import ragauge as rg
from ragauge.core.human_labels import CheckRecord
from ragauge.core.json_keys import encode
from ragauge.core.label import Label, format_part
from ragauge.store.store_access import open_store

Opened = Callable[..., TestClient]
ORIGIN = {"origin": "http://127.0.0.1:7471"}


def drawn(store: str, run: str = "bad", **more: Any) -> int:
    """The number of a draw of four answers."""
    return rg.label_draw(run, n=4, store=store, **more).draw


def labels(store: str) -> list[Label]:
    """Every label of a store."""
    with open_store(store) as found:
        return list(found.labels.list())


def forms(text: str) -> list[dict[str, str]]:
    """The fields of each form of a page on which a part is labelled."""
    found = re.findall(r'<form method="post" action="/label" class="part".*?</form>', text, re.DOTALL)
    return [
        {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', one)}
        for one in found
    ]


def pressed(text: str) -> list[str]:
    """What is labelled on a page."""
    return re.findall(r'value="(\w+)" aria-pressed="true"', text)


def test_a_draw_is_labelled_form_by_form(opened: Opened, copied: str) -> None:
    """Without script each form saves one label and leads to what is left, until all of the draw is labelled."""
    number, client = drawn(copied), opened(copied)
    address, steps = f"/label?draw={number}&annotator=ann", 0
    while True:
        page = client.get(address).text
        left = [one for one in forms(page) if f'value="{one["part"]}"' in page]
        if "All parts are labeled" in page:
            break
        target = int((re.search(r"#part-(\d+)$", address) or ["", "1"])[1])
        answer = client.post(
            "/label", data={**left[target - 1], "value": "supported"}, headers={**ORIGIN, "accept": "text/html"}
        )
        assert answer.status_code == 303
        address, steps = answer.headers["location"], steps + 1
    assert steps == len(labels(copied)) == progress(copied, number)["parts"]
    assert {one.annotator for one in labels(copied)} == {"ann"}


def checks(store: str) -> list[CheckRecord]:
    """Every check of a judge that a store keeps."""
    with open_store(store) as found:
        return list(found.check_log.list())


def progress(store: str, number: int) -> dict[str, Any]:
    """What the list says of a draw."""
    from ragauge.labels.label.label_session import list_draws

    return next(encode(one) for one in list_draws(store=store) if one.draw == number)


def test_labels_are_those_of_the_file(opened: Opened, copied: str, tmp_path: Path) -> None:
    """Answers and parts come as `label draw -o` writes them, in its order, and a label has its key and guideline."""
    found = rg.label_draw("bad", n=4, output=tmp_path / "tasks.jsonl", store=copied)
    tasks = [json.loads(one) for one in (tmp_path / "tasks.jsonl").read_text().splitlines()]
    client, shown = opened(copied), []
    for place in range(1, len(tasks) + 1):
        shown += forms(client.get(f"/label?draw={found.draw}&annotator=ann&answer={place}").text)
    wanted = [(task["key"], f"{part[0]}-{part[1]}") for task in tasks for part in task["parts"]]
    assert [(form["key"], form["part"]) for form in shown] == wanted
    client.post("/label", data={**shown[1], "value": "contradicted"}, headers=ORIGIN)
    (kept,) = labels(copied)
    assert (kept.key, format_part(kept.part), kept.value, kept.guideline) == (
        *wanted[1],
        "contradicted",
        found.guideline,
    )


def test_each_sees_own_labels_and_goes_on_where_they_left(opened: Opened, copied: str) -> None:
    """Another annotator sees no label of the first; who comes back is led to the first part without one."""
    number, client = drawn(copied), opened(copied)
    first = client.get(f"/label?draw={number}&annotator=ann").text
    for form in forms(first):
        client.post("/label", data={**form, "value": "supported"}, headers=ORIGIN)
    assert pressed(client.get(f"/label?draw={number}&annotator=bo").text) == []
    assert pressed(client.get(f"/label?draw={number}&annotator=ann&answer=1").text) == ["supported"] * len(forms(first))
    again = client.get(f"/label?draw={number}&annotator=ann").text
    assert pressed(again) == []
    assert "Answer 2 of" in again
    assert progress(copied, number)["labelled"] == {"ann": len(forms(first))}


def test_nothing_tells_system_or_judge(opened: Opened, copied: str) -> None:
    """The page names neither run nor system, and shows no verdict, score or cause."""
    client = opened(copied)
    page = client.get(f"/label?draw={drawn(copied)}&annotator=ann").text
    body = page[page.index("<main") :]
    for word in ("bad", "local", "faithfulness", "hallucinated", rg.open_run("bad", store=copied).run.run_id):
        assert word not in body, word


def test_a_label_can_be_changed_and_twice_is_once(opened: Opened, copied: str) -> None:
    """The same again adds nothing; another value is one more label, and counts; there and back at once too."""
    client = opened(copied)
    form = forms(client.get(f"/label?draw={drawn(copied)}&annotator=ann").text)[0]
    for value in ("supported", "supported", "contradicted", "supported"):
        assert client.post("/label", data={**form, "value": value}, headers=ORIGIN).status_code == 303
    assert [one.value for one in labels(copied)] == ["supported", "contradicted", "supported"]
    page = client.get(f"/label?draw={form['draw']}&annotator=ann&answer=1").text
    assert pressed(page) == ["supported"]


def test_only_what_was_drawn_is_taken(opened: Opened, copied: str) -> None:
    """Another key, part, value, draw or name adds no label and says what would do; so does a form of elsewhere."""
    number, client = drawn(copied), opened(copied)
    other = forms(client.get(f"/label?draw={drawn(copied, 'good')}&annotator=ann").text)
    form = forms(client.get(f"/label?draw={number}&annotator=ann").text)[0]
    pages = [client.get(f"/label?draw={number}&annotator=a&answer={n}").text for n in range(1, 5)]
    drawn_here = {one["key"] for page in pages for one in forms(page)}
    alien = next((one["key"] for one in other if one["key"] not in drawn_here), "0" * 64)
    for change, said in (
        ({"key": alien}, "has no answer with key"),
        ({"key": EVIL}, "has no answer with key"),
        ({"part": "0-1"}, "part of answer"),
        ({"part": EVIL}, "part of answer"),
        ({"value": "suported"}, "supported"),
        ({"value": EVIL}, "label of support"),
        ({"value": ""}, "label of support"),
        ({"draw": "999"}, "draw"),
        ({"draw": "-1"}, "expected a number"),
        ({"draw": "9" * 5000}, "expected a number"),
        ({"annotator": " "}, "expected a name"),
        ({"annotator": "Adjudicator"}, "is reserved for adjudicating disagreements"),
        ({"annotator": "x" * 61}, "expected a name"),
        ({"annotator": EVIL}, "expected a name"),
    ):
        answer = client.post("/label", data={**form, "value": "supported", **change}, headers=ORIGIN)
        assert answer.status_code == 400, change
        assert said in answer.text, change
        assert "<script>alert" not in answer.text
    assert client.post("/label", data={**form, "value": "supported", "csrf": "x"}, headers=ORIGIN).status_code == 403
    assert client.post("/label", data={**form, "value": "supported"}).status_code == 403
    assert labels(copied) == []


def test_addresses_that_name_nothing_are_refused(opened: Opened, copied: str) -> None:
    """A draw, answer, run or key that there is none of: 404 or 400, never an error of the server."""
    number, client = drawn(copied), opened(copied)
    for asked, status in (
        ("?draw=99", 404),
        ("?draw=x", 400),
        (f"?draw={number}&annotator=a&answer=5", 400),
        ("?run=none", 404),
        ("?drow=1", 400),
        (f"?draw={number}&annotator=adjudicator", 400),
        ("/agreement", 400),
        ("/agreement?draw=99", 404),
    ):
        assert client.get(f"/label{asked}").status_code == status, asked


def test_read_only_shows_and_takes_nothing(opened: Opened, copied: str) -> None:
    """With --read-only the page shows what is labelled, has no form to send, and a POST is refused."""
    number = drawn(copied)
    form = forms(opened(copied).get(f"/label?draw={number}&annotator=ann").text)[0]
    closed = opened(copied.replace("sqlite:///", "sqlite+read:///"), csrf=form["csrf"], read_only=True)
    page = closed.get(f"/label?draw={number}&annotator=ann").text
    assert "not labeled" in page
    assert 'method="post"' not in page
    begin = closed.get(f"/label?draw={number}").text
    assert "read-only: it shows labels but does not accept any" in begin
    assert not [said for said in ("Begin", "saved immediately", "your name") if said in begin]
    assert closed.post("/label", data={**form, "value": "supported"}, headers=ORIGIN).status_code == 403


def test_list_says_how_far_each_is(opened: Opened, copied: str) -> None:
    """`/label` lists the draws with what each annotator labelled; those of one run can be seen alone."""
    client = opened(copied)
    assert "ragauge label draw" in client.get("/label").text
    here, there = drawn(copied), drawn(copied, "good")
    form = forms(client.get(f"/label?draw={here}&annotator=ann").text)[0]
    client.post("/label", data={**form, "value": "unsure"}, headers=ORIGIN)
    whole, run_id = client.get("/label").text, rg.open_run("bad", store=copied).run.run_id
    assert [f"draw={number}" in whole for number in (here, there)] == [True, True]
    assert "ann 1" in whole
    own = client.get(f"/label?run={run_id}").text
    assert [f"draw={number}" in own for number in (here, there)] == [True, False]
    assert client.get("/label.json").json()[0]["draw"] == there


def test_agreement_is_that_of_judge_check(opened: Opened, copied: str) -> None:
    """The page has the figures of `judge check RUN` by the judge of the run, and asks and keeps nothing."""
    number, client = rg.label_draw("bad", n=12, store=copied).draw, opened(copied)
    assert "after the first label" in client.get(f"/label/agreement?draw={number}").text
    for place in range(1, progress(copied, number)["answers"] + 1):
        for n, form in enumerate(forms(client.get(f"/label?draw={number}&annotator=ann&answer={place}").text)):
            value = "contradicted" if (place + n) % 3 == 0 else "supported"
            client.post("/label", data={**form, "value": value}, headers=ORIGIN)
    before = checks(copied)
    shown = client.get(f"/label/agreement.json?draw={number}").json()
    assert checks(copied) == before
    checked = encode(rg.check_judge("bad", store=copied))
    mine, theirs = shown["judges"][0], checked["judges"][0]
    assert mine["supported_or_not"] == theirs["supported_or_not"]
    assert mine["supported_or_not"]["kappa"]["value"] is not None
    page = client.get(f"/label/agreement?draw={number}").text
    assert "kappa" in page
    assert "no judge was called and nothing was saved" in page


@pytest.mark.parametrize("question", ["relevance", "address", "score:answer_contains"])
def test_other_questions_are_asked_too(opened: Opened, copied: str, question: str) -> None:
    """Passages are labelled one by one, an answer as a whole, a score in steps; the agreement says what labels tell."""
    number, client = drawn(copied, question=question), opened(copied)
    page = client.get(f"/label?draw={number}&annotator=ann").text
    found = forms(page)
    assert len(found) == 1
    value = re.findall(r'name="value" value="([^"]+)"', page)[0]
    assert client.post("/label", data={**found[0], "value": value}, headers=ORIGIN).status_code == 303
    assert labels(copied)[0].question == question
    assert "labels as a judge" in client.get(f"/label/agreement?draw={number}").text


def test_own_instructions_are_shown(opened: Opened, copied: str, tmp_path: Path) -> None:
    """A draw by instructions of one's own shows their text; one by a hash alone says so."""
    (tmp_path / "how.txt").write_text("Read <b>twice</b>.")
    client = opened(copied)
    page = client.get(f"/label?draw={drawn(copied, guideline=tmp_path / 'how.txt')}&annotator=ann").text
    assert "Read &lt;b&gt;twice&lt;/b&gt;." in page
    assert (
        "Only the hash of these instructions is stored"
        in client.get(f"/label?draw={drawn(copied, guideline='0123456789ab')}&annotator=ann").text
    )


def test_hostile_texts_stay_texts(opened: Opened, copied: str, stored: Stored) -> None:
    """Hostile question, passages and answer are shown as they are, and name no element of their own."""
    client = opened(copied)
    number = drawn(copied, stored.ids["evil"])
    for address in (
        "/label",
        f"/label?draw={number}",
        f"/label?draw={number}&annotator=%3Cb%3E",
        f"/label/agreement?draw={number}",
    ):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "<img" not in answer.text
        assert "<b>" not in answer.text
