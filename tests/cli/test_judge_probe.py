"""`ragauge judge probe`: does the order of two answers matter to a judge?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.loopback.server import FaultyServer

pytestmark = pytest.mark.server
PAIRS = [
    {
        "query_id": f"p{n}",
        "query": f"How tall is tower {n}?",
        "answer_a": f"I like bridges {n}.",
        "answer_b": f"The tower {n} is {300 + n} metres tall.",
        "better": "b",
    }
    for n in range(6)
]


def first(_system: str, _user: str, _schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A judge that favours whatever it is shown first."""
    return {"better": "First."}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in PAIRS))
    return path


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def test_a_steady_judge(cli: Cli, pairs: Path, server: FaultyServer) -> None:
    """A judge that reads the answers prefers the same one in both orders, agrees with people, and is paid once."""
    words = ("judge", "probe", pairs, "--judge", f"openai-chat:any@{server.url}", "-q")
    planned = cli(*words, "--dry-run", "--json").json()
    assert (planned["pairs"], planned["calls"], planned["probes"]) == (6, 24, ["position"])
    found = cli(*words, "--json").json()
    assert (found["pairs"], found["calls"]) == (6, 24)
    assert (found["position"]["decided"], found["position"]["agreement"]["mean"]) == (6, 1)
    assert found["position"]["first_place"]["mean"] is None
    (only,) = found["findings"]
    assert (only["figure"], only["value"], only["seen"], only["verdict"]) == ("position_flip", 0, 0, "not enough data")
    again = cli(*words, "--json").json()
    assert (again["calls"], again["replies_reused"], len(server.requests)) == (0, 24, 24)
    assert cli(*words, "--dry-run", "--json").json()["calls"] == 0


def test_case_40_a_judge_that_favours_the_first_place(cli: Cli, pairs: Path) -> None:
    """A judge that takes what is shown first flips every pair, which makes every pair a tie and agrees with nobody."""
    with FaultyServer(reply=first) as server:
        words = ("judge", "probe", pairs, "--judge", f"openai-chat:any@{server.url}", "-q")
        found = cli(*words, "--json").json()
        shown = cli(*words).out
    (flips,) = found["findings"]
    position = found["position"]
    assert (flips["value"], flips["seen"], flips["by_itself"], flips["verdict"]) == (1, 1, 0, "alarm")
    assert position["position_flip"]["mean"] == position["first_place"]["mean"] == position["ties"]["mean"] == 1
    assert position["agreement"]["mean"] == 0
    assert position["flipped"] == [f"p{n}" for n in range(6)]
    assert "alarm: position" in shown
    asked = [request.body["messages"][1]["content"] for request in server.requests]
    one = [text for text in asked if "tower 3?" in text]
    assert sorted(text.index("bridges") < text.index("metres") for text in one) == [False, False, True, True]


def test_what_cannot_be_probed_is_said(cli: Cli, pairs: Path, tmp_path: Path) -> None:
    """The local judge compares no answers; a row without a second answer is told with its line."""
    refused = cli("judge", "probe", pairs, "--judge", "local")
    assert refused.code == 2
    assert "does not compare two answers" in refused.err
    lame = tmp_path / "lame.jsonl"
    lame.write_text(json.dumps(PAIRS[0]) + "\n" + json.dumps({"query": "Why?", "answer_a": "So."}) + "\n")
    told = cli("judge", "probe", lame, "--judge", "openai-chat:any@http://127.0.0.1:9/v1")
    assert told.code == 2
    assert "lame.jsonl line 2: no field 'answer_2'" in told.err
    odd = tmp_path / "odd.jsonl"
    odd.write_text(json.dumps({**PAIRS[0], "better": "seventh"}) + "\n")
    assert "better must be 1 or 2" in cli("judge", "probe", odd, "--judge", "openai-chat:any@http://127.0.0.1:9/v1").err
    near = cli("judge", "probe", pairs, "--judge", "local", "--probes", "positon")
    assert near.code == 2
    assert "position" in near.err


def test_faults_leave_pairs_undecided(cli: Cli, pairs: Path) -> None:
    """A reply that is no verdict is asked for once more, then the pair is undecided with its reason, in no share."""
    with FaultyServer({"prose": 1.0}) as server:
        found = cli("judge", "probe", pairs, "--judge", f"openai-chat:any@{server.url}", "-q", "--json").json()
    (only,) = found["findings"]
    assert (only["n"], only["value"], only["without_verdict"]) == (0, None, 12)
    assert found["position"]["decided"] == 0
    assert set(found["position"]["undecided"]) == {f"p{n}" for n in range(6)}
    assert all(found["position"]["undecided"].values())


TIMES = "The hub {n} was sold by Ada Roe for {price} euros on 3 May 20{year}. It is delivered within {days} days."
ANSWERED = [
    {
        "query_id": f"a{n}",
        "query": f"What is known of hub {n}?",
        "answer": text,
        "passages": [text, f"Hub {n} has a green lamp."],
        "label": "supported",
        "system": f"s{n % 2}",
    }
    for n in range(12)
    for text in [TIMES.format(n=n, price=30 + n, year=10 + n, days=4 + n)]
]


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    path = tmp_path / "answered.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ANSWERED))
    return path


def test_the_local_judge_is_probed_without_a_call(cli: Cli, answered: Path, tmp_path: Path) -> None:
    """Labelled answers allow every probe but those of pairs and of an instruction, which are named with the reason."""
    page, text = tmp_path / "probes.html", tmp_path / "probes.md"
    ran = cli("judge", "probe", answered, "--family", "system", "-q", "-o", page, "-o", text)
    found = cli("judge", "probe", answered, "--family", "system", "-q", "--json").json()
    assert [one["probe"] for one in found["findings"]] == [
        "retest",
        "passage_order",
        "verbosity",
        "planted",
        "unrelated",
        "injection",
        "self_preference",
        "leniency",
    ]
    assert set(found["left_out"]) == {"position", "wording"}
    assert found["left_out"]["position"] in ("no question has two answers", "this judge does not compare two answers")
    by_name = {one["probe"]: one for one in found["findings"]}
    assert by_name["retest"]["value"] == 0
    assert {kind["kind"] for kind in by_name["planted"]["kinds"]} == {"number", "name", "date", "unit", "negation"}
    for shown in (ran.out, page.read_text().replace("<wbr>", ""), text.read_text().replace("\\_", "_")):
        assert not [name for name in by_name if name not in shown]
        assert "no question has two answers" in shown or "does not compare two answers" in shown


def test_a_stored_run_is_probed_and_labels_are_asked_for_where_needed(cli: Cli, answered: Path) -> None:
    """A run's answers need no labels; a probe that does is left out with the reason, or refused when asked for."""
    rows = [{key: value for key, value in one.items() if key not in ("label", "system")} for one in ANSWERED]
    answered.write_text("".join(json.dumps(one) + "\n" for one in rows))
    of_file = cli("judge", "probe", answered, "-q", "--json").json()
    assert cli("evaluate", answered, "--name", "base", "-q").code == 0
    of_run = cli("judge", "probe", "base", "-q", "--json").json()
    for found in (of_file, of_run):
        assert (found["examples"], found["parts"]) == (12, 24)
        assert found["left_out"]["leniency"] == "these answers have no human labels"
    assert of_run["findings"] == of_file["findings"]
    refused = cli("judge", "probe", "base", "--probes", "leniency")
    assert refused.code == 2
    assert "leniency is not possible: these answers have no human labels" in refused.err


def test_a_stopped_probe_goes_on(
    cli: Cli, answered: Path, server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound on cost stops it with what is found; the same command then pays only for what is left."""
    spec, prices = f"openai-chat:any@{server.url}", tmp_path / "prices.yaml"
    prices.write_text(f'"{spec}": {{input: 1000, output: 1000}}\n')
    monkeypatch.setenv("RAGAUGE_PRICES", str(prices))
    words = ("judge", "probe", answered, "--judge", spec, "--concurrency", "1", "-q", "--json")
    planned = cli(*words, "--dry-run").json()
    assert planned["probes"] == [
        "retest",
        "passage_order",
        "wording",
        "verbosity",
        "planted",
        "unrelated",
        "injection",
        "leniency",
    ]
    stopped = cli(*words, "--max-cost", "60")
    assert stopped.code == 130
    assert "To resume: ragauge judge probe" in stopped.err
    part = stopped.json()
    before = len(server.requests)
    assert part["cost"] <= 60
    assert part["stopped"]
    whole = cli(*words).json()
    asked = len(server.requests)
    assert asked > 12 * 10
    assert whole["calls"] == asked - before
    assert 0 < part["parts"] < whole["parts"] == 12
    assert {one["probe"]: one["n"] for one in whole["findings"]}["wording"] == 12 * 4
    again = cli(*words).json()
    assert (again["calls"], len(server.requests)) == (0, asked)
    assert again["findings"] == whole["findings"]


def test_wording_of_ones_own_is_not_paraphrased(cli: Cli, answered: Path, server: FaultyServer, tmp_path: Path) -> None:
    """A hybrid judge is probed too; where the user words the questions, `wording` is left out with the reason."""
    template = tmp_path / "prompts.yaml"
    template.write_text('verify_claims: "Mind the rules. {question} {passages} {claims}"\n')
    spec = f"hybrid:openai-chat:any@{server.url}"
    ours = cli("judge", "probe", answered, "--judge", spec, "--dry-run", "--json").json()
    assert "wording" in ours["probes"]
    assert set(ours["left_out"]) == {"position", "self_preference"}
    own = cli("judge", "probe", answered, "--judge", f"{spec},prompts={template}", "--dry-run", "--json").json()
    assert "one of your own" in own["left_out"]["wording"]
    refused = cli("judge", "probe", answered, "--judge", "people:any")
    assert refused.code == 2
    assert "only a judge of any text can be probed" in refused.err
