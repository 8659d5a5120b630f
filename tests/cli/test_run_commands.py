"""`report`, `runs`, `show`, `export`, `delete` and `metrics` on stored runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from tests.cli.conftest import Cli

SCHEMAS = Path(__file__).resolve().parents[2] / "src/ragauge/core/schema"
GOLDEN = Path(__file__).resolve().parents[1] / "golden/retrieval"


def validator(name: str) -> Draft202012Validator:
    found = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.schema.json")}
    registry: Registry[Any] = Registry().with_resources(
        [(other, Resource.from_contents(schema)) for other, schema in found.items()]
    )
    Draft202012Validator.check_schema(found[name])
    return Draft202012Validator(found[name], registry=registry)


@pytest.fixture
def evaluated(cli: Cli, small: Path) -> str:
    """The id of a run with everything in it."""
    run_id: str = cli("evaluate", small, "-q", "--json").json()["run_id"]
    return run_id


def test_scorecard_json_has_its_schema(cli: Cli, small: Path, evaluated: str) -> None:
    """JSON of evaluate and report has the shape that scorecard.schema.json describes, without NaN."""
    check = validator("scorecard.schema.json")
    for words in (["evaluate", str(small), "-q"], ["report"], ["evaluate", "ten", "-q", "--judge", "none"]):
        check.validate(cli(*words, "--json").json())
    broken = cli("report", "--json").json()
    broken["metrics"]["recall@5"]["mean"] = "0.9"
    assert not check.is_valid(broken)
    assert evaluated


def test_retrieval_json_has_its_schema(cli: Cli) -> None:
    """JSON of retrieval has the shape that retrieval.schema.json describes."""
    check = validator("retrieval.schema.json")
    for more in ([], ["--per-query"], ["--topics", "trec_eval", "--per-query"]):
        check.validate(cli("retrieval", GOLDEN / "qrels.txt", GOLDEN / "run.txt", "--json", *more).json())
    assert not check.is_valid({"topics": "all", "n": 1, "metrics": {"mrr": {"mean": 1.0}}, "warnings": []})


def test_json_of_the_lists(cli: Cli, evaluated: str) -> None:
    """runs, show and metrics print valid JSON with the fields that scripts read."""
    (run,) = cli("runs", "--json").json()
    assert (run["run_id"], run["name"], run["responses"]) == (evaluated, "ten", 10)
    assert run["means"]["recall@5"] == pytest.approx(7 / 8)
    shown = cli("show", "latest", "--json").json()
    assert (shown["run_id"], shown["responses"], shown["without_response"]) == (evaluated, 10, 0)
    example = cli("show", "ten", "q9", "--json").json()
    assert example["example"]["query_id"] == "q9"
    assert example["evidence"]["verify_answer"]["facts"]["claims"][0]["contradicting"] == [1]
    assert example["scores"]["recall@5"] == {"value": 1.0, "status": "scored", "reason": ""}
    catalogue = cli("metrics", "--json").json()
    assert {"recall", "faithfulness"} <= {metric["name"] for metric in catalogue["metrics"]}
    assert "prompt" in catalogue["presets"]
    assert cli("metrics", "ndcg:gain=exp@10", "--json").json()["name"] == "ndcg:gain=exp@10"


def test_what_was_not_asked_is_said_to_be_so(cli: Cli, tmp_path: Path) -> None:
    """Show says of every verdict that is not there that it was not asked, or what was not recorded; never "none"."""
    rows: list[dict[str, Any]] = [
        {
            "query_id": "q1",
            "query": "How wide is the weir?",
            "answer": "The weir is 9 metres wide.",
            "passages": [{"doc_id": "d1", "text": "The weir is 9 metres wide."}],
            "reference_answer": "9 metres",
            "aspects": ["the width"],
        },
        {"query_id": "q2", "query": "Who keeps it?", "answer": "The miller keeps it."},
        {
            "query_id": "q3",
            "query": "Who fills it?",
            "answer": "",
            "passages": [{"doc_id": "d1", "text": "The brook fills it."}],
        },
    ]
    Path("weir.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    supported, addresses = "whether the passages support it: not asked", "whether it addresses the question: not asked"
    held, stated = "whether the passages contain it: not asked", "whether the answer states it: not asked"
    relevant = "which are relevant to the question: not asked"
    every = {supported, addresses, held, stated, relevant, "which aspects it meets: not asked"}
    asked: tuple[tuple[str, set[str]], ...] = (
        ("token_f1 --judge none", every),
        ("faithfulness", every - {supported, addresses}),
        ("answer_recall", {held, relevant, "which aspects it meets: not asked"}),
        ("context_recall,answer_recall,context_precision,completeness", set()),
    )
    for number, (metrics, expected) in enumerate(asked):
        store = ("--store", f"sqlite:///{tmp_path}/{number}.db")
        cli("evaluate", "weir.jsonl", "-q", "-m", *metrics.split(), *store)
        lines = {line.strip() for line in cli("show", "latest", "q1", *store).out.splitlines()}
        assert {line for line in lines if "not asked" in line} == expected, metrics
        told = cli("show", "latest", "q1", "--json", *store).json()["untold"]
        assert {line for part in told.values() for line in part if "not asked" in line} == expected
        cli("report", "latest", "-o", "r.html", *store)
        assert (held.capitalize() in Path("r.html").read_text()) == (held in expected)
        unrecorded = cli("show", "latest", "q2", *store).out
        assert "not in the passages" not in unrecorded
        assert ("? 1. not asked, because the passages were not recorded" in unrecorded) == (number > 0)
        assert "Answer\nempty\n" in cli("show", "latest", "q3", *store).out


def test_human_forms(cli: Cli, evaluated: str) -> None:
    """The same commands without --json print tables with the same numbers; data cannot colour or move the terminal."""
    assert "ten" in cli("runs").out
    assert "0.88" in cli("runs").out
    shown = cli("show", "latest", "q7").out
    assert "[red]yes[/red]" in shown
    assert "\x1b" not in shown
    assert "faithfulness = " in cli("metrics", "faithfulness").out
    assert "recall" in cli("metrics").out
    assert evaluated in cli("show", "latest").out


def test_one_run_has_the_same_numbers_everywhere(cli: Cli, evaluated: str) -> None:
    """Case 66: terminal, JSON, Markdown and HTML show the same means, intervals and counts of a real run."""
    card = cli("report", "--json", "-o", "card.html", "-o", "card.md").json()
    terminal = cli("report").out
    markdown, page = Path("card.md").read_text(), Path("card.html").read_text()
    rows = [_text(row) for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)]
    shown = 0
    for name, one in card["metrics"].items():
        if one["mean"] is None or name in ("latency", "tokens", "cost"):
            continue
        wanted = [f"{one['mean']:.2f}", f"{one['scored']} scored"]
        others = [status for status in ("undefined", "not_applicable", "failed") if one[status]]
        wanted += [f"{one[status]} {status.replace('_', ' ')}" for status in others]
        if one["ci"] is not None:
            wanted.append(f"[{one['ci'][0]:.2f}, {one['ci'][1]:.2f}]")
        for form, lines in (("terminal", terminal.splitlines()), ("md", markdown.splitlines()), ("html", rows)):
            pairs = zip(lines, [*lines[1:], ""], strict=True)  # counts may go on below
            plain = (f"{line} {below.strip() if form == 'terminal' else ''}".replace("\\", "") for line, below in pairs)
            line = next((line for line in plain if re.search(rf"^[ |]*{re.escape(name)}[ ↓|]", line)), "")
            for part in wanted:
                assert part in line, (form, name, part, line)
        shown += 1
    assert shown >= 15
    assert card["run_id"] == evaluated


def _text(row: str) -> str:
    from html import unescape

    return " " + " ".join(unescape(re.sub(r"<[^>]+>", " ", row.replace("<wbr>", ""))).split()) + " "


def test_report_markup_is_text(cli: Cli, evaluated: str) -> None:
    """Case 69: an answer that holds a script is shown as text in the page."""
    assert cli("report", "-o", "card.html").code == 0
    page = Path("card.html").read_text()
    assert "alert(" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;" in page or "&lt;b&gt;Is&lt;/b&gt;" in page


def test_export_evaluates_to_equal_numbers(cli: Cli, evaluated: str) -> None:
    """The exported responses, evaluated elsewhere, give equal numbers for every metric."""
    assert cli("runs", "export", "latest", "-o", "again.jsonl").code == 0
    first = cli("report", "--json").json()
    again = cli("evaluate", "again.jsonl", "-q", "--json", "--store", "again.db").json()
    assert again["metrics"] == first["metrics"]
    assert again["failures"] == first["failures"]
    assert cli("evaluate", "again.jsonl", "-q", "--json").json()["took"]["asked"] == 0


def test_export_of_scores(cli: Cli, evaluated: str) -> None:
    """Scores go to JSON lines, CSV and Parquet with every status and verdict; another ending is refused."""
    check = validator("scores.schema.json")
    assert cli("runs", "export", "latest", "-o", "scores.jsonl").code == 0
    lines = [json.loads(line) for line in Path("scores.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines] == [f"q{n}" for n in range(1, 11)]
    for line in lines:
        check.validate(line)
    assert (
        cli("runs", "export", "latest", "-o", "s.csv").code
        == cli("runs", "export", "latest", "-o", "s.PARQUET").code
        == 0
    )
    assert pl.read_parquet("s.PARQUET").height == pl.read_csv("s.csv").height == sum(len(x["scores"]) for x in lines)
    for table in (pl.read_parquet("s.PARQUET"), pl.read_csv("s.csv")):
        verdicts = {row[0]: row[1:] for row in table.select("query_id", "verdict", "right", "grounded").iter_rows()}
        assert verdicts == {x["query_id"]: (x["verdict"], *x["verdicts"].values()) for x in lines}
    for path, words in (("new/s.xml", "a file that ends in .jsonl"), ("scores.jsonl/s.csv", "is not a folder")):
        done = cli("runs", "export", "latest", "-o", path)
        assert done.code == 2
        assert words in done.err
    assert not Path("new").exists()


def test_a_name_or_an_option_says_what_is_exported(cli: Cli, evaluated: str) -> None:
    """A .jsonl file holds scores, with verdicts, where its name or --content says so; else responses."""
    for path, content, key in (
        ("scores_x.jsonl", "", "scores"),
        ("x.jsonl", "", "query"),
        ("y.jsonl", "scores", "verdicts"),
        ("scores_z.jsonl", "responses", "query"),
    ):
        extra = ("--content", content) if content else ()
        done = cli("runs", "export", "latest", "-o", path, *extra)
        assert done.code == 0
        assert key in json.loads(Path(path).read_text().splitlines()[0])
        assert ("scores" if key != "query" else "responses") in done.err
    assert cli("runs", "export", "latest", "-o", "r.csv", "--content", "responses").code == 2
    assert cli("runs", "export", "latest", "-o", "r.jsonl", "--content", "charts").code == 2


def test_runs_are_listed_in_pages(cli: Cli, evaluated: str) -> None:
    """--limit, --after, --sort and --filter give a part of the list; an unknown order or filter is a usage error."""
    Path("other.jsonl").write_text('{"query": "How long?", "answer": "The trial lasts 30 days."}\n')
    cli("evaluate", "other.jsonl", "-q", "-m", "answer_tokens")
    every = [run["run_id"] for run in cli("runs", "--json").json()]
    (first,) = cli("runs", "--json", "--limit", "1").json()
    assert first["run_id"] == every[0]
    assert [run["run_id"] for run in cli("runs", "--json", "--after", every[0]).json()] == every[1:]
    assert [run["run_id"] for run in cli("runs", "--json", "--sort", "oldest").json()] == every[::-1]
    assert [run["run_id"] for run in cli("runs", "--json", "--filter", "name=ten").json()] == [evaluated]
    for wrong, words in (("--sort=newst", "nearest: newest"), ("--filter=nme=ten", "nearest: name")):
        done = cli("runs", wrong)
        assert done.code == 2
        assert words in done.err


def test_delete(cli: Cli, evaluated: str) -> None:
    """Deleting asks, on stderr; without an answer nothing happens; with --yes the run and its scores are gone."""
    asked = cli("runs", "delete", "ten")
    assert asked.code == 1
    assert asked.out.strip() == ""
    assert len(cli("runs", "--json").json()) == 1
    assert cli("runs", "delete", evaluated, "--yes").code == 0
    assert cli("runs", "--json").json() == []
    assert "No runs yet" in cli("runs").out
    assert cli("runs", "delete", "ten", "-y").code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["show", "tem"], "no run 'tem'; nearest: ten"),
        (["show", "ten", "q11"], "no query_id 'q11'"),
        (["report", "ten", "--judge", "other"], "no judge of this run 'other'"),
        (["report", "ten", "-o", "r.doc"], "got .doc"),
        (["metrics", "recal"], "nearest: recall"),
        (["runs", "export", "nope", "-o", "x.jsonl"], "no run 'nope'"),
    ],
)
def test_unknown_names(cli: Cli, small: Path, words: list[str], expected: str) -> None:
    """An unknown name is one line on stderr with the nearest names, exit code 2."""
    cli("evaluate", small, "-q", "--judge", "none")
    done = cli(*words)
    assert done.code == 2
    assert expected in done.err
    assert done.out == ""


def test_report_of_a_run_that_nobody_evaluated(cli: Cli) -> None:
    """An empty store is said to be empty: nothing is made up."""
    done = cli("report")
    assert done.code == 2
    assert done.err == "error: there are no runs yet. Start with: ragauge evaluate FILE, or ragauge demo.\n"
