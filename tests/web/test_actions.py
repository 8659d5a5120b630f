"""What forms change: the store, through the same verbs as the command line, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import ragauge as rg
from ragauge.core.errors import UnknownName

Opened = Callable[..., TestClient]
ORIGIN = {"origin": "http://127.0.0.1:7471"}


@pytest.fixture
def send(opened: Opened, copied: str) -> Iterator[Callable[..., tuple[int, str]]]:
    """Sends a form of the run `bad`; gives the status, and where it leads or what was wrong."""
    client = opened(copied, csrf="known")

    def sent(action: str, **fields: str) -> tuple[int, str]:
        answer = client.post(f"/runs/bad/{action}", data={"csrf": "known", **fields}, headers=ORIGIN)
        return answer.status_code, answer.headers.get("location", answer.text)

    with closing(client):
        yield sent


def test_forms_do_what_commands_do(send: Callable[..., tuple[int, str]], copied: str) -> None:
    """Tag, note and baseline of a page are those of Python and the command line; each leads back to the run."""
    run_id = rg.open_run("bad", store=copied).run.run_id
    for action, fields in (
        ("tag", {"tag": "release"}),
        ("tag", {"tag": "odd"}),
        ("untag", {"tag": "odd"}),
        ("note", {"text": "as <b>asked</b>"}),
        ("baseline", {"name": "main"}),
    ):
        what = next(iter(fields.values()))
        told = f"did={action}" if action == "note" else f"did={action}&what={what}"
        assert send(action, **fields) == (303, f"/runs/{run_id}?{told}#manage"), action
    row = next(row for row in rg.runs(store=copied) if row.run_id == run_id)
    assert (row.tags, row.note) == (("release",), "as <b>asked</b>")
    assert [line["run_id"] for line in rg.baselines(name="main", store=copied)] == [run_id]


def test_a_baseline_is_taken_away_where_it_stands(
    send: Callable[..., tuple[int, str]], opened: Opened, copied: str
) -> None:
    """A run's page offers to take away the baselines that mean this run, and no others; read-only it offers none."""
    assert send("baseline", name="main")[0] == 303
    rg.set_baseline("good", name="nightly", store=copied)
    offered = "Remove baseline main"
    assert offered in opened(copied).get("/runs/bad").text
    assert "Remove baseline" not in opened(copied, read_only=True).get("/runs/bad").text
    status, said = send("remove-baseline", name="nightly")
    assert (status, "is not a baseline of this run" in said) == (400, True)
    assert send("remove-baseline", name="")[0] == 400
    assert send("remove-baseline", name="main")[0] == 303
    assert [line["name"] for line in rg.baselines(store=copied)] == ["nightly"]
    assert offered not in opened(copied).get("/runs/bad").text


def test_a_run_goes_only_by_its_name(send: Callable[..., tuple[int, str]], copied: str) -> None:
    """Deleting takes the run's name typed; without it the run stays."""
    for typed in ("", "good", "BAD", "bad "):
        status, said = send("delete", name=typed)
        assert status == 400
        assert "type its name" in said
    assert rg.open_run("bad", store=copied)
    assert send("delete", name="bad") == (303, "/runs")
    with pytest.raises(UnknownName):
        rg.open_run("bad", store=copied)


def test_what_cannot_be_done_is_refused(send: Callable[..., tuple[int, str]], copied: str) -> None:
    """An empty field, a tag that is none, another action or another run change nothing, and say why."""
    for action, fields, status in (
        ("tag", {}, 400),
        ("tag", {"tag": "a,b"}, 400),
        ("tag", {"tag": "x" * 100_000}, 400),
        ("note", {"text": "x" * 2_001}, 400),
        ("baseline", {"name": "../<script>"}, 400),
        ("baseline", {"name": "x" * 201}, 400),
        ("untag", {"tag": "none"}, 400),
        ("baseline", {}, 400),
        ("remove-baseline", {"name": "none"}, 400),
        ("baseline", {"name": "good"}, 400),  # another run's name
        ("evaluate", {}, 404),
        ("tag%2F..%2Fdelete", {"name": "bad"}, 404),
    ):
        assert send(action, **fields)[0] == status, (action, fields)
    row = next(row for row in rg.runs(store=copied) if row.name == "bad")
    assert (row.tags, row.note) == ((), "")
    assert "at most 2,000 characters, got 2,001" in send("note", text="x" * 2_001)[1]
    assert send("note", text="\r\n".join(["x"] * 1_000))[0] == 303  # 1,999 characters: a line break is one


def test_a_store_that_is_only_read_stays_as_it_is(opened: Opened, copied: str) -> None:
    """With --read-only every page is shown, no form, and not a byte of the store changes."""
    path = Path(copied.removeprefix("sqlite:///"))
    before = path.read_bytes()
    client = opened(copied.replace("sqlite:///", "sqlite+read:///"), csrf="known", read_only=True)
    for page in (
        "/",
        "/runs",
        "/runs/bad",
        "/runs/bad/examples",
        "/runs/bad/examples/q0",
        "/compare?base=good&new=bad",
        "/history",
    ):
        answer = client.get(page)
        assert answer.status_code == 200, (page, answer.text[-400:])
        assert 'method="post"' not in answer.text
    for action, fields in (("tag", {"tag": "x"}), ("remove-baseline", {"name": "main"})):
        answer = client.post(f"/runs/bad/{action}", data={"csrf": "known", **fields}, headers=ORIGIN)
        assert answer.status_code == 403
    assert path.read_bytes() == before


def test_a_form_leads_back_to_what_it_did(send: Callable[..., tuple[int, str]], opened: Opened, copied: str) -> None:
    """The page says, with its forms open, what happened; an address that says what is not so is not believed."""
    rg.set_baseline("good", name="main", store=copied)
    client = opened(copied)
    for action, fields, said in (
        ("tag", {"tag": "<b>x"}, "Tagged &lt;b&gt;x."),
        ("untag", {"tag": "<b>x"}, "The tag &lt;b&gt;x was removed."),
        ("note", {"text": "odd"}, "The note was saved."),
        ("note", {"text": ""}, "The note was removed."),
        ("baseline", {"name": "main"}, "The baseline main is now bad; it was good."),
        ("remove-baseline", {"name": "main"}, "main is no longer a baseline."),
    ):
        status, to = send(action, **fields)
        assert (status, to.endswith("#manage")) == (303, True)
        page = client.get(to.partition("#")[0]).text
        assert said in page, (action, to)
        assert '<details class="manage" id="manage" open>' in page
    assert "Tagged" not in client.get("/runs/bad?did=tag&what=never").text
    assert client.get("/runs/bad?did=tga&what=x").status_code == 400


def test_deleting_says_what_goes_too(send: Callable[..., tuple[int, str]], opened: Opened, copied: str) -> None:
    """The form names the draws that go, and how many labels stay; afterwards the draw's address says what became."""
    assert "also deletes its draws" not in opened(copied).get("/runs/bad").text
    rg.label_draw("bad", n=3, store=copied)
    assert "This also deletes its draws: draw 1 (0 labels). The labels stay" in opened(copied).get("/runs/bad").text
    assert send("delete", name="bad") == (303, "/runs")
    answer = opened(copied).get("/label?draw=1")
    assert (answer.status_code, "Deleting a run deletes its draws" in answer.text) == (404, True)
