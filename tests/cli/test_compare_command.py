"""`ragauge compare` as people type it."""

from __future__ import annotations

import html
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, Row, ten, write
from tests.cli.test_baseline_option import MEASURED
from tests.cli.test_run_commands import validator
from tests.conftest import Demonstrated


def answered(found: set[int], n: int = 120) -> list[Row]:
    """Questions of which these got their document; every fourth is of the segment b."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"What is {i}?",
            "answer": f"It is {i}.",
            "relevant": {f"d{i}": 1},
            "passages": [{"doc_id": f"d{i}" if i in found else "x", "text": "a text"}],
            "segments": {"type": "b" if i % 4 == 0 else "a"},
        }
        for i in range(n)
    ]


@pytest.fixture
def two(cli: Cli, tmp_path: Path) -> None:
    """A run in which every third of a is missed, and one in which a is found and half of b is missed."""
    every = set(range(120))
    main, changed = every - {i for i in every if i % 4 and i % 3 == 0}, every - set(range(0, 120, 8))
    for name, found in (("main", main), ("changed", changed)):
        assert cli("evaluate", write(tmp_path / f"{name}.jsonl", answered(found)), *MEASURED).code == 0


def test_verdict_comes_first(cli: Cli, two: None) -> None:
    """Under the names comes the outcome in a sentence, which names the segment that the mean hides; then the rest."""
    done = cli("compare", "main", "changed")
    heading, first, *rest = done.out.splitlines()
    assert done.code == 0
    assert heading.startswith("main → changed  ")
    assert first.startswith(
        "Mixed results against main: worse where type=b (mrr −0.50, recall@5 −0.50), though overall mrr"
    )
    text = "\n".join(rest)
    places = [
        text.index(part)
        for part in (
            "Segments that got worse",
            "before → now",
            "No change seen",
            "Examples that flipped",
            "What differs between the runs",
            "corrected by Holm",
        )
    ]
    assert places == sorted(places)
    assert "ragauge compare main changed -o change.html" in text


def test_json_has_its_schema(cli: Cli, two: None) -> None:
    """The JSON has the shape of comparison.schema.json, holds no NaN, and is the same every time."""
    done = cli("compare", "main", "changed", "--json")
    found = done.json()
    check = validator("comparison.schema.json")
    check.validate(found)
    assert cli("compare", "main", "changed", "--json").out == done.out
    (comparison,) = found["comparisons"]
    assert comparison["worse_segments"][0]["value"] == "b"
    assert comparison["worse_segments"][0]["difference"] < 0 < comparison["worse_segments"][0]["overall"]
    check.validate(cli("compare", "main", "changed", "main", "--json").json())
    broken = cli("compare", "main", "changed", "--json").json()
    broken["comparisons"][0]["metrics"]["recall@5"]["p"] = 0
    assert not check.is_valid(broken)


def test_options(cli: Cli, two: None, tmp_path: Path) -> None:
    """Metrics, filter and level are those asked for; every output is written, and said on stderr."""
    done = cli(
        "compare",
        "main",
        "changed",
        "-m",
        "recall@5",
        "--filter",
        "type=b",
        "--level",
        "0.9",
        "--json",
        "-o",
        tmp_path / "c.html",
        "-o",
        tmp_path / "c.md",
        "-o",
        tmp_path / "c.csv",
    )
    found = done.json()
    assert (found["level"], list(found["comparisons"][0]["metrics"])) == (0.9, ["recall@5"])
    assert found["comparisons"][0]["metrics"]["recall@5"]["n"] == 30
    assert [line.split()[0] for line in done.err.splitlines()] == ["wrote"] * 3
    assert all((tmp_path / f"c.{ending}").is_file() for ending in ("html", "md", "csv"))


def test_correction_is_said(cli: Cli, two: None, tmp_path: Path) -> None:
    """The correction asked for stands in the JSON and in every form that people read; Holm's is the default."""
    for words, name, said in (
        ((), "holm", "corrected by Holm's method for"),
        (("--correction", "bh"), "bh", "corrected by the Benjamini–Hochberg method for"),
        (("--correction", "none"), "none", "p, not corrected for"),
    ):
        page = tmp_path / f"{name}.html"
        done = cli("compare", "main", "changed", *words, "-o", page, "-o", page.with_suffix(".md"))
        shown = [done.out, html.unescape(page.read_text()), page.with_suffix(".md").read_text()]
        assert all(said in " ".join(text.split()) for text in shown)
        assert [("corrected p" in text) for text in shown[1:]] == [name != "none"] * 2
        found = cli("compare", "main", "changed", *words, "--json").json()
        assert found["correction"] == name
        validator("comparison.schema.json").validate(found)


def test_mistakes_end_with_code_2(cli: Cli, two: None, tmp_path: Path) -> None:
    """One run, an unknown one, another judge, a wrong level or ending: exit code 2, nothing on stdout, what to do."""
    for words, said in (
        (("main",), "compare needs two runs"),
        (("main", "chnged"), "nearest: changed"),
        (("main", "changed", "--level", "95"), "level must be between 0 and 1"),
        (("main", "changed", "--correction", "hom"), "no correction 'hom'; nearest: holm"),
        (("main", "changed", "-o", "c.pdf"), "expected .html, .md, .json, .csv"),
        (("main", "changed", "--filter", "type=c"), "no value of segment type 'c'"),
        (("main", "changed", "--judge", "local"), "no judge of this run 'local'"),
    ):
        done = cli("compare", *words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err


def test_another_judge_is_refused_with_the_command(cli: Cli, small: Path) -> None:
    """Case 98: a run that nobody judged is not compared with one that the local judge did; the command is printed."""
    assert cli("evaluate", small, "-q", "--name", "judged").code == 0
    rows = [{**row, "answer": "Something else."} for row in ten()]
    other = write(small.with_name("other.jsonl"), rows)
    assert cli("evaluate", other, "-q", "--judge", "none").code == 0
    done = cli("compare", "other", "judged")
    assert (done.code, done.out) == (2, "")
    assert "ragauge evaluate other -m" in done.err
    assert cli("compare", "other", "judged", "-m", "recall@5").code == 0


@pytest.mark.prove
def test_demo_runs_are_compared(cli: Cli, demonstrated: Demonstrated, tmp_path: Path) -> None:
    """The demo's planted faults are found by comparing its runs: retrieval in one, generation in the other."""
    shutil.copytree(demonstrated.folder / ".ragauge", tmp_path / ".ragauge")
    names = ("good", "broken-retrieval", "corrupted-generation")
    found = cli("compare", *names, "--json", "-o", tmp_path / "c.html").json()
    validator("comparison.schema.json").validate(found)
    retrieval, generation = found["comparisons"]
    worse = [{n for n, one in c["metrics"].items() if one["verdict"] == "worse"} for c in (retrieval, generation)]
    assert {"recall@5", "context_recall"} <= worse[0]
    assert "faithfulness" not in worse[0]
    assert {"faithfulness", "not_in_context"} <= worse[1]
    assert not {"recall@5", "mrr"} & worse[1]
    assert retrieval["diagnosis"][0]["cause"] == "retrieval_miss"
    assert generation["diagnosis"][0]["cause"] in ("hallucinated", "contradicted")
    sentence = cli("compare", "good", "broken-retrieval").out.splitlines()[1]
    assert sentence.startswith(("Worse than good", "Mixed results against good"))


def test_offered_commands_name_the_store(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that judges alike works as it is printed, in a store of any name; so do those in every report."""
    store = "sqlite:///kept/by me.db"
    (tmp_path / "kept").mkdir()
    assert cli("evaluate", write(tmp_path / "a.jsonl", ten()), "-q", "--store", store).code == 0
    assert cli("evaluate", write(tmp_path / "b.jsonl", ten()[1:]), *MEASURED, "--store", store).code == 0
    refused = cli("compare", "b", "a", "-m", "faithfulness", "--store", store)
    assert refused.code == 2
    offered = shlex.split(refused.err.partition("the same way: ragauge ")[2])
    assert offered == ["evaluate", "b", "-m", "faithfulness", "--store", store]
    assert cli(*offered, "-q").code == 0
    done = cli("compare", "b", "a", "-m", "faithfulness", "--store", store)
    assert done.code == 0
    assert f"ragauge compare b a -o change.html --store '{store}'" in done.out
    assert f"ragauge report a -o report.html --store '{store}'" in cli("show", "a", "--store", store).out
    missing = cli("gate", "a", "--store", store, "--config", _rules(tmp_path))
    assert f"Measure it with: ragauge evaluate a -m mrr@3 --store '{store}'" in missing.err
    monkeypatch.setenv("RAGAUGE_STORE", store)
    assert "--store" not in cli("show", "a").out


def _rules(folder: Path) -> Path:
    path = folder / "rules.yaml"
    path.write_text("gate:\n  rules:\n    - {metric: mrr@3, min: 0.5}\n", encoding="utf-8")
    return path
