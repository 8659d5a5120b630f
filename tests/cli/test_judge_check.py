"""`ragauge judge check`: figures that follow from scripted answers by hand, paid once, whole or in part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
# people: yes and no; the model: yes where the passage has the claim's words
TABLE = {(1, 1): 20, (1, 0): 5, (0, 1): 10, (0, 0): 15}
FLIPPED = 5  # claims of people's and the model's yes that a question of their own turns into a no


def item(n: int, human: int, model: int) -> dict[str, Any]:
    """A claim that shares its words with its passage, or does not."""
    claim = f"Thing{n} weighs{n} seven{n} tons{n} today{n}."
    passage = f"{claim} Also more." if model else f"Nothing{n} of that kind{n} stands here{n}."
    return {
        "query": f"What of thing{n}?",
        "claim": claim,
        "passages": [passage],
        "label": human,
        "kind": "even" if n % 2 == 0 else "odd",
    }


def scripted(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answers by words; a question about one claim is answered no for the first claims."""
    said = dict(answer(system, user, schema))
    one_by_one = "claims" in schema.get("properties", {}) and "sentences" not in schema.get("properties", {})
    if one_by_one and any(f"Thing{n} " in user for n in range(FLIPPED)):
        said["claims"] = [{**one, "verdict": "absent", "by": []} for one in said["claims"]]
    return said


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Fifty labelled claims with a known table."""
    cells = [cell for cell, count in TABLE.items() for _ in range(count)]
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps(item(n, *cell)) + "\n" for n, cell in enumerate(cells)))
    return path


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A judge that answers as scripted."""
    with FaultyServer(reply=scripted) as serving:
        yield serving


def spec(server: FaultyServer) -> str:
    """The judge at the server."""
    return f"openai-chat:any@{server.url}"


@pytest.fixture
def prices(server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A price of 1 dollar a thousand input tokens, 2 a thousand output tokens."""
    path = tmp_path / "prices.yaml"
    path.write_text(json.dumps({spec(server): {"input": 1_000, "output": 2_000}}))
    monkeypatch.setenv("RAGAUGE_PRICES", str(path))


@pytest.mark.server
@pytest.mark.usefixtures("prices")
def test_kappa_is_that_of_the_script(cli: Cli, file: Path, server: FaultyServer) -> None:
    """Fused and per-claim agreement, their difference, cost and segments equal hand arithmetic; again is free."""
    words = ["judge", "check", str(file), "--judge", spec(server), "--segments", "kind", "-q", "--json"]
    found = cli(*words).json()
    fused, apart, local = found["judges"]
    assert [one["mode"] for one in found["judges"]] == ["fused", "per_claim", ""]
    assert local["judge"] == "local"
    # po = 35/50, rows 25 25, columns 30 20: pe = .5·.6 + .5·.4 = .5; kappa = (.7 - .5) / .5
    assert fused["confusion"] == [[20, 5], [10, 15]]
    assert fused["kappa"]["value"] == pytest.approx(0.4)
    assert fused["accuracy"]["value"] == pytest.approx(0.7)
    # 20/25 and 15/25
    assert fused["balanced_accuracy"]["value"] == pytest.approx(0.7)
    # five of the 20 turned: po = 30/50, columns 25 25: pe = .5; kappa = .2
    assert apart["confusion"] == [[15, 10], [10, 15]]
    assert apart["kappa"]["value"] == pytest.approx(0.2)
    pair = found["pairs"][0]
    assert (pair["judge"], pair["base"]) == (f"{spec(server)} (per_claim)", f"{spec(server)} (fused)")
    # the same on 45 of 50: rows 30 20, columns 25 25: pe = .5, kappa = .8; accuracy lost 5/50
    assert pair["agreement"]["kappa"]["value"] == pytest.approx(0.8)
    assert pair["accuracy_gain"]["value"] == pytest.approx(-0.1)
    assert {value: over["n"] for value, over in fused["segments"]["kind"].items()} == {"even": 25, "odd": 25}
    # a call a claim fused; one to list its claims and one to check each otherwise
    assert (fused["took"]["replies"], apart["took"]["replies"], len(server.requests)) == (50, 100, 150)
    tokens = apart["took"]["input_tokens"] * 1e-3 + apart["took"]["output_tokens"] * 2e-3
    assert apart["took"]["cost"] == pytest.approx(tokens)
    assert found["cost"] == pytest.approx(fused["took"]["cost"] + apart["took"]["cost"])
    again = cli(*words).json()
    assert len(server.requests) == 150
    assert (again["calls"], again["cost"]) == (0, 0.0)
    for one in (*again["judges"], *found["judges"]):
        assert one["error"]["faithfulness"].pop("checked")  # the one thing that is new
        assert one["error"]["unsupported"].pop("checked")
    assert again["judges"] == found["judges"]


@pytest.mark.server
@pytest.mark.usefixtures("prices")
def test_dry_run_says_calls_and_cost_of_each_way(cli: Cli, file: Path, server: FaultyServer) -> None:
    """A dry run calls nothing and says the first calls of each way; what is stored is not counted."""
    words = ["judge", "check", str(file), "--judge", spec(server), "-q", "--modes", "fused"]
    planned = cli(*words, "--dry-run", "--json").json()
    assert planned["judges"][f"{spec(server)} fused"]["calls"] == 50
    assert planned["judges"]["local"]["calls"] == 0
    assert "50 calls to a model" in cli(*words, "--dry-run").out
    assert server.requests == []
    cli(*words)
    assert cli(*words, "--dry-run", "--json").json()["judges"][f"{spec(server)} fused"]["calls"] == 0


@pytest.mark.server
@pytest.mark.usefixtures("prices")
def test_a_bound_on_cost_stops_and_goes_on(cli: Cli, file: Path, server: FaultyServer) -> None:
    """Stopped by --max-cost it shows what it has, ends with 130, and goes on without paying twice."""
    words = ["judge", "check", str(file), "--judge", spec(server), "--modes", "fused", "--concurrency", "1", "-q"]
    stopped = cli(*words, "--max-cost", "8", "--json")
    assert stopped.code == 130
    assert "To resume: ragauge judge check" in stopped.err
    part = stopped.json()
    assert part["cost"] <= 8
    assert 0 < part["judges"][0]["n"] < 50
    assert part["judges"][0]["no_verdict_reasons"] == {"not asked: the budget was spent": 50 - part["judges"][0]["n"]}
    whole = cli(*words, "--json").json()
    assert whole["judges"][0]["n"] == 50
    assert len(server.requests) == 50


@pytest.mark.server
def test_calls_that_fail_are_no_verdicts(cli: Cli, file: Path) -> None:
    """A filtered reply has no verdict, is counted with its reason, and is neither right nor wrong."""
    with FaultyServer({"content_filter": 0.3}, reply=scripted, seed=3) as server:
        found = cli("judge", "check", file, "--judge", spec(server), "--modes", "fused", "-q", "--json").json()
    fused = found["judges"][0]
    assert fused["n"] + fused["no_verdict"] == 50
    assert 5 < fused["no_verdict"] < 25
    assert all("filter" in reason for reason in fused["no_verdict_reasons"])


def test_offline_with_reports(cli: Cli, file: Path) -> None:
    """Without a model the local judge is checked offline; reports name every part that differs."""
    out = cli("judge", "check", file, "-q", "-o", "r.md", "-o", "r.json", "-o", "r.jsonl")
    assert out.code == 0
    assert "Cohen's kappa" in out.out
    assert "0.40 [0.15, 0.65]" in out.out  # the words decide for the local judge too
    assert json.loads(Path("r.json").read_text())["judges"][0]["kappa"]["value"] == pytest.approx(0.4)
    lines = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert len(lines) == 15
    assert lines[0]["verdict"] == "supported"  # what people called unsupported comes first
    assert lines[0]["window"]
    assert Path("r.md").read_text().startswith("# Judge check")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["missing.jsonl"], "no such file, and no run of that name"),
        (["labelled.jsonl", "-o", "r.html"], "expected a file that ends in .md, .json or .jsonl"),
        (["labelled.jsonl", "--judge", "openai-chat:"], "does not name a model"),
        (["labelled.jsonl", "--modes", "fuesd"], "nearest: fused"),
        (["labelled.jsonl", "--map", "label=gold"], "no field 'label'"),
        (["labelled.jsonl", "--segments", "kin"], "nearest: kind"),
    ],
)
def test_wrong_words_are_one_line(cli: Cli, file: Path, words: list[str], told: str) -> None:
    """A wrong file, option or column is one line and exit code 2."""
    done = cli("judge", "check", *words, "-q")
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1


@pytest.mark.realdata
@pytest.mark.skipif(not DATA.exists(), reason="the public data sets are not beside the repository")
def test_local_judge_on_public_labels(cli: Cli) -> None:
    """On 400 claims of AttributionBench and on WiCE the local judge agrees with people as its page says it does."""
    attribution = DATA / "attributionbench" / "dev_all_subset_balanced.jsonl"
    maps = ["--map", "passages=references", "--map", "label=attribution_label", "--segments", "src_dataset"]
    found = cli("judge", "check", attribution, *maps, "--limit", "400", "-q", "--json").json()["judges"][0]
    assert 0.70 <= found["accuracy"]["value"] <= 0.85
    assert 0.4 <= found["kappa"]["value"] <= 0.7
    assert set(found["segments"]["src_dataset"]) == {"AttributedQA", "ExpertQA", "LFQA", "Stanford-GenSearch"}
    wice = cli("judge", "check", DATA / "wice" / "dev.jsonl", "--limit", "150", "-q", "--json").json()
    assert wice["human"]["not_supported"] > wice["human"]["supported"]
    assert 0.55 <= wice["judges"][0]["balanced_accuracy"]["value"] <= 0.9


def test_slight_agreement_above_chance_is_not_called_none(cli: Cli, tmp_path: Path) -> None:
    """A judge whose interval leaves chance out is not said to tell nothing; one that holds chance is."""
    for alike, said in ((55, False), (50, True)):
        rows = [
            {
                "query": f"{n}?",
                "passages": [f"{n} is so."],
                "answer": f"{n} is so.",
                "label": n % 2,
                "judge": n % 2 if n // 2 % 100 < alike else 1 - n % 2,
            }
            for n in range(3_000)
        ]
        file = tmp_path / f"{alike}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        out = cli("judge", "check", file, "--verdict", "judge", "-q").out
        assert ("does not distinguish supported from unsupported" in " ".join(out.split())) == said, out


def test_labels_that_are_all_alike_show_nothing(cli: Cli, tmp_path: Path) -> None:
    """Where people called everything supported, no judge is said to tell nothing: such labels cannot show it."""
    file = tmp_path / "alike.jsonl"
    rows = [
        {"query": f"{n}?", "passages": [f"{n} is so."], "answer": f"{n} is so.", "label": 1, "judge": int(n % 9 > 0)}
        for n in range(241)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = " ".join(cli("judge", "check", file, "--verdict", "judge", "-q").out.split())
    assert "all labels are the same (supported): they cannot show whether a judge recognizes unsupported claims" in out
    assert "does not distinguish" not in out
    assert "Do not rely" not in out


def test_the_ceiling_is_that_of_the_row_of_people(cli: Cli, tmp_path: Path) -> None:
    """What no judge can be asked to exceed is the kappa of the row of people, not Fleiss' kappa."""
    file = tmp_path / "several.jsonl"
    said = ([1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0])
    rows = [
        {"query": f"{n}?", "passages": ["So."], "answer": f"{n} is so.", "labels": said[n % 5], "judge": n % 2}
        for n in range(100)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = cli("judge", "check", file, "--verdict", "judge", "-q", "--json").json()
    out = " ".join(cli("judge", "check", file, "--verdict", "judge", "-q").out.split())
    most = found["ceiling"]["kappa"]["value"]
    assert f"no judge can be expected to agree more than annotators do with each other: Cohen's kappa {most:.2f}" in out
