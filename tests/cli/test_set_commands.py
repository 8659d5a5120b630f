"""`ragauge testset generate, freeze, check, mark, diff`, as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.loopback.server import FaultyServer
from tests.testsets.writing_server import corpus as pages
from tests.testsets.writing_server import writing

import ragauge as rg
from ragauge.core.errors import UsageError


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Twelve pages of text in a folder."""
    folder = tmp_path / "docs"
    folder.mkdir()
    things = (
        "harbour",
        "crane",
        "vessel",
        "anchor",
        "violin",
        "sonata",
        "orchestra",
        "tempo",
        "enzyme",
        "protein",
        "membrane",
        "receptor",
    )
    for n, thing in enumerate(things):
        others = [(things[(n + k) % 12], things[(n * k) % 12]) for k in range(9)]
        sentences = [f"The {thing} number {k} belongs to {a} {b}." for k, (a, b) in enumerate(others)]
        (folder / f"{thing}.md").write_text(" ".join(sentences), encoding="utf-8")
    return folder


def test_a_set_is_made_frozen_checked_and_mended(cli: Cli, corpus: Path) -> None:
    """From a folder to a set, its lock, a stale set by exit code 3, and a mended one that is intact."""
    made = cli("testset", "generate", "docs", "-o", "set.jsonl", "-n", "40", "--json")
    assert made.code == 0, made.err
    assert made.json()["examples"] == 40
    assert "not to compare lexical with dense" in made.json()["fit"]
    before = Path("set.jsonl").read_bytes()
    assert cli("testset", "generate", "docs", "-o", "again.jsonl", "-n", "40").code == 0
    assert Path("again.jsonl").read_bytes() == before
    assert cli("testset", "freeze", "set.jsonl", "--corpus", "docs").code == 0
    assert cli("testset", "check", "set.jsonl", "--corpus", "docs", "--json").json()["counts"] == {"intact": 40}
    assert "No example has both a reference and gold" in cli("testset", "check", "set.jsonl", "--corpus", "docs").out
    corpus.joinpath("violin.md").rename(corpus / "fiddle.md")
    corpus.joinpath("crane.md").unlink()
    corpus.joinpath("anchor.md").unlink()
    stale = cli("testset", "check", "set.jsonl", "--corpus", "docs", "--fix", "-o", "new.jsonl")
    assert stale.code == 3
    assert "Fewer than 90 % of the gold documents are alive" in stale.out
    assert "violin → fiddle" in stale.out
    fixed = [json.loads(line) for line in Path("new.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"fiddle"} == {name for row in fixed for name in row["relevant"] if name in ("fiddle", "violin")}
    lost = [row for row in fixed if set(row["relevant"]) & {"crane", "anchor"}]
    assert {row["meta"]["note"] for row in lost} == {"evidence unwinnable"}
    told = cli("testset", "diff", "set.jsonl", "new.jsonl", "--json").json()
    assert {one["field"] for one in told["changed"]} == {"relevant", "meta.note"}


def test_examples_are_marked_and_rejected_ones_not_evaluated(cli: Cli, corpus: Path) -> None:
    """A mark changes the named lines alone, needs somebody who looked, and takes rejected examples out of the set."""
    assert cli("testset", "generate", corpus, "-o", "set.jsonl", "-n", "5").code == 0
    lines = Path("set.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])["query_id"]
    assert cli("testset", "mark", "set.jsonl", "--to", "rejected", "--ids", first).code == 2
    assert cli("testset", "mark", "set.jsonl", "--to", "rejected", "--by", "Ann", "--ids", f"{first}x").code == 2
    done = cli("testset", "mark", "set.jsonl", "--to", "rejected", "--by", "Ann", "--ids", first)
    assert (done.code, done.err) == (0, "marked 1 example as rejected\n")
    after = Path("set.jsonl").read_text(encoding="utf-8").splitlines()
    assert after[1:] == lines[1:]
    left = [json.loads(line)["query_id"] for line in lines[1:]]
    assert [example.query_id for example in rg.read_set("set.jsonl")] == left
    assert len(cli("testset", "diff", "set.jsonl", "set.jsonl", "--json").json()["changed"]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["generate", "docs", "-o", "set.csv"], "expected a file that ends in .jsonl"),
        (["generate", "nowhere", "-o", "set.jsonl"], "nowhere"),
        (["check", "set.csv", "--corpus", "docs", "--fix", "-o", "new.jsonl"], "expected JSON lines"),
        (["check", "none.jsonl", "--corpus", "docs"], "none.jsonl"),
        (["check", "set.jsonl", "--corpus", "docs", "--fix"], "use --fix and -o NEW.jsonl together"),
        (["mark", "set.jsonl", "--to", "gold", "--by", "A", "--all"], "'gold' is not one of"),
        (["mark", "set.jsonl", "--to", "golden", "--by", "A"], "--ids ID,ID or --all"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, corpus: Path, words: list[str], told: str) -> None:
    """A wrong ending, a missing file, a choice that is missing or unknown: exit code 2 and what to do."""
    assert cli("testset", "generate", corpus, "-o", "set.jsonl", "-n", "3").code == 0
    done = cli("testset", *words)
    assert done.code == 2
    assert told in done.err


def test_fewer_questions_than_wanted_end_with_4(cli: Cli, tmp_path: Path) -> None:
    """A corpus of few words gives fewer queries, said and told by the exit code."""
    (tmp_path / "a.md").write_text("harbour crane vessel", encoding="utf-8")
    done = cli("testset", "generate", "a.md", "-o", "set.jsonl", "-n", "50")
    assert done.code == 4
    assert "Fewer than requested" in done.out
    assert "ragauge testset freeze set.jsonl --corpus a.md" in done.out
    (tmp_path / "a.md").write_text("harbour crane", encoding="utf-8")
    kept = Path("set.jsonl").read_bytes()
    none = cli("testset", "generate", "a.md", "-o", "set.jsonl", "-n", "5")
    assert (none.code, Path("set.jsonl").read_bytes()) == (4, kept)
    assert "No question passed the checks, so set.jsonl was not written" in none.out
    assert not any(word in none.out for word in ("freeze", "difficulty", "easy:"))
    with pytest.raises(UsageError, match="-n must be at least 1"):
        rg.generate_set({"a": "b"}, output=tmp_path / "x.jsonl", n=0)


@pytest.mark.server
def test_a_model_writes_a_set(cli: Cli, tmp_path: Path) -> None:
    """A dry run tells the calls, which the run then makes; what is not kept is told by filter; options need a model."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for page in pages(24):
        folder.joinpath(f"{page.doc_id}.md").write_text(page.text, encoding="utf-8")
    Path("plan.yaml").write_text("styles: {keywords: 1}\n", encoding="utf-8")
    with FaultyServer(reply=writing()) as server:
        model = f"openai-chat:any@{server.url}"
        words = (
            "testset",
            "generate",
            folder,
            "-o",
            "set.jsonl",
            "-n",
            "9",
            "--model",
            model,
            "--types",
            "single=2,unanswerable=1",
            "--plan",
            "plan.yaml",
            "--rejected",
            "no.jsonl",
        )
        planned = cli(*words, "--dry-run", "--json").json()
        assert planned["types"] == {"single": 6, "unanswerable": 3}
        assert not server.requests
        made = cli(*words, "-q", "--json")
        assert made.code == 0, made.err
        assert made.json()["calls"] == len(server.requests) == planned["calls"] == 2 + 1 + 9
        again = cli(*words, "-q")
        assert "0 calls" in again.out
        assert "which also checked them" in again.out
        assert len(server.requests) == 12
    rows = [json.loads(line) for line in Path("set.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["segments"]["style"] for row in rows] == ["keywords"] * 9
    assert Path("no.jsonl").read_text(encoding="utf-8") == ""
    alone = cli("testset", "generate", folder, "-o", "set.jsonl", "--types", "single=1")
    assert alone.code == 2
    assert "got types without a model" in alone.err
    assert "expected a language model" in cli("testset", "generate", folder, "-o", "s.jsonl", "--model", "local").err


def test_questions_are_put_otherwise(cli: Cli, corpus: Path) -> None:
    """Variants stand behind their originals in the new file, again alike by seed; what is wrong is refused."""
    assert cli("testset", "generate", corpus, "-o", "set.jsonl", "-n", "6").code == 0
    told = cli("testset", "vary", "set.jsonl", "--kinds", "typos,case", "-o", "new.jsonl", "--json").json()
    assert told["kinds"]["typos"]["made"] == told["kinds"]["case"]["made"] == 6
    rows = [json.loads(line) for line in Path("new.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row.get("segments", {}).get("variation") for row in rows] == [None] * 6 + ["typos"] * 6 + ["case"] * 6
    shown = cli("testset", "vary", "set.jsonl", "-n", "2", "--corpus", corpus)
    assert "wrote" not in shown.out
    assert "ragauge testset stats set.varied.jsonl --run latest" in shown.out
    assert len(Path("set.varied.jsonl").read_text(encoding="utf-8").splitlines()) >= 6 + 2 * 2
    for words, why in (
        (("--kinds", "typo"), "'typo'"),
        (("--kinds", "entity"), "--corpus CORPUS"),
        (("-o", "new.csv"), ".jsonl"),
    ):
        refused = cli("testset", "vary", "set.jsonl", *words)
        assert refused.code == 2
        assert why in refused.err


def test_a_set_is_described(cli: Cli, corpus: Path) -> None:
    """Counts, topics and likeness are shown and written as Markdown, JSON and a page; options of a run need one."""
    for name, seed in (("set", "1"), ("real", "2")):
        made = cli("testset", "generate", corpus, "-o", f"{name}.jsonl", "-n", "30", "--seed", seed)
        assert made.code == 0
    words = ("testset", "stats", "set.jsonl", "--corpus", corpus, "--like", "real.jsonl")
    shown = cli(*words, "-o", "stats.html", "-o", "stats.md")
    assert shown.code == 0, shown.err
    assert "30 questions and 30 real ones. A classifier cannot distinguish them" in shown.out
    assert "Similarity to real questions" in Path("stats.html").read_text(encoding="utf-8")
    assert "| state | draft | 30 |" in Path("stats.md").read_text(encoding="utf-8")
    told = cli(*words, "--json").json()
    assert told["set"]["states"] == {"draft": 30}
    assert told["set"]["topics"]["documents"] == 12
    assert told["set"]["like"]["interval"][0] < 0.5
    assert told["reach"] is None
    refused = cli("testset", "stats", "set.jsonl", "--detect", "3%")
    assert (refused.code, "Add --run RUN" in refused.err) == (2, True)
