"""Files that people really have, through `ragauge evaluate`: a clear line and exit code 2, or a defined status."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, ten, write

LINE = json.dumps(ten()[0])
Made = Callable[[Path], object]


def _bytes(content: bytes) -> Made:
    return lambda path: path.write_bytes(content)


def _text(content: str) -> Made:
    return _bytes(content.encode())


REFUSED: dict[str, tuple[str, Made, str]] = {
    "empty": ("a.jsonl", _text(""), "the file is empty"),
    "empty csv": ("a.csv", _text(""), "the file is empty"),
    "blank lines": ("a.jsonl", _text("\n \n\t\n"), "only blank lines"),
    "utf-16": ("a.jsonl", _bytes(LINE.encode("utf-16-le")), "UTF-16"),
    "latin-1": ("a.jsonl", _bytes('{"query": "caf\xe9?", "answer": "a"}'.encode("latin-1")), "0xE9"),
    "duplicate ids": ("a.jsonl", _text(f"{LINE}\n{LINE}\n"), "'q1' is already on line 1"),
    "no query": ("a.jsonl", _text('{"qestion": "a", "answer": "b"}'), "nearest: qestion). Use --map query=qestion"),
    "NaN score": ("a.jsonl", _text('{"query": "a", "passages": [{"text": "t", "score": NaN}]}'), "got NaN"),
    "cut gzip": ("a.jsonl.gz", _bytes(gzip.compress((LINE * 50).encode())[:-40]), "truncated"),
    "binary": ("a.jsonl", _bytes(bytes(range(256)) * 20), "a.jsonl"),
    "binary parquet": ("a.parquet", _bytes(bytes(range(256)) * 20), "not a Parquet file"),
    "unknown ending": ("a.pkl", _bytes(b"\x80\x04K\x01."), "unknown format"),
    "zip": ("a.zip", _bytes(b"PK\x03\x04" + bytes(60)), "zip archive"),
    "a folder": ("a.jsonl", lambda path: path.mkdir(), "not a BEIR data set"),
    "only questions": (
        "a.jsonl",
        _text('{"query": "a"}\n{"query": "b"}\n'),
        "no line holds a response (an answer or passages). Name the answer column with --map answer=COLUMN,",
    ),
    "cut line": ("a.jsonl", _text(f"{LINE}\n{LINE[:-20]}"), "line 2"),
    "a number": ("a.json", _text("3"), "expected a JSON object, got number 3"),
    "too deep": ("a.jsonl", _text('{"query":"a","answer":"b","x":' + "[" * 99_999 + "]" * 99_999 + "}"), "too deeply"),
    "negative repeat": ("a.jsonl", _text('{"query": "a", "answer": "b", "repeat": -1}'), "at least 0"),
    "open quote": ("a.csv", _text('query,answer\n"a,b\nc,d'), "never closed"),
    "no such file": ("a.jsonl", lambda _: None, "no such file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_one_line(cli: Cli, tmp_path: Path, case: str) -> None:
    """A file that cannot be read as it is: one line that names it, exit code 2, nothing on stdout, nothing stored."""
    name, make, words = REFUSED[case]
    make(tmp_path / name)
    done = cli("evaluate", name, "-q", "--judge", "none")
    assert done.code == 2
    assert done.err.startswith(f"error: {name}")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert cli("runs", "--json").json() == []


@pytest.mark.parametrize("name", ["", "x" * 5000, "a\nb", "-", "https://example.org/a.jsonl"])
def test_names_that_no_file_can_have(cli: Cli, name: str) -> None:
    """A source that is neither a file nor a run is said to be so, whatever it is called."""
    done = cli("evaluate", name, "-q")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert done.out == ""


def test_bad_line_at_the_end_leaves_the_store_alone(cli: Cli, tmp_path: Path) -> None:
    """A file whose last line is broken adds nothing to what is stored."""
    rows = [{"query": f"q {n}?", "answer": f"a {n}", "passages": ["p"]} for n in range(1_200)]
    good = write(tmp_path / "good.jsonl", rows[:5])
    assert cli("evaluate", good, "-q", "--judge", "none").code == 0
    before = cli("runs", "--json").out
    bad = write(tmp_path / "bad.jsonl", rows)
    bad.write_text(bad.read_text() + "{broken")
    done = cli("evaluate", bad, "-q", "--judge", "none")
    assert done.code == 2
    assert "line 1201" in done.err
    assert cli("runs", "--json").out == before


def test_byte_order_mark_and_packing_change_nothing(cli: Cli, small: Path, tmp_path: Path) -> None:
    """A BOM or gzip around the same lines gives the same numbers."""
    plain = cli("evaluate", small, "-q", "--judge", "none", "--json").json()["metrics"]
    (tmp_path / "bom.jsonl").write_bytes(b"\xef\xbb\xbf" + small.read_bytes())
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(small.read_bytes()))
    for name in ("bom.jsonl", "packed.jsonl.gz"):
        assert cli("evaluate", name, "-q", "--judge", "none", "--json").json()["metrics"] == plain


def test_unknown_columns_are_named(cli: Cli, tmp_path: Path) -> None:
    """Columns that nothing reads are named in one warning on stderr; the evaluation goes on."""
    write(tmp_path / "a.jsonl", [{**ten()[0], "foo": 1, "bar": 2}])
    done = cli("evaluate", "a.jsonl", "-q", "--judge", "none", "--json")
    assert done.code == 0
    assert "columns not read: foo, bar" in done.err
    assert done.json()["n"] == 1


def test_labels_of_absent_queries(cli: Cli, tmp_path: Path) -> None:
    """Labelled queries without results count as empty and are named; results of unlabelled queries are named too."""
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 3.0 t\nq9 Q0 b 1 2.0 t\n")
    done = cli("retrieval", "qrels", "run", "-m", "mrr", "--json")
    assert done.json()["metrics"]["mrr"]["mean"] == pytest.approx(1 / 2)
    assert "q2" in done.err
    assert "q9" in done.err


def test_hostile_text_in_every_field(cli: Cli, tmp_path: Path) -> None:
    """Markup, control characters, NUL and half characters in every field: evaluated, shown as text, stored whole."""
    bad = "\0\x07\x1b[2J<script>x</script>\ud800 | [red]`*_"
    row = {
        "query_id": f"q{bad}",
        "query": f"Is it {bad}?",
        "answer": f"It is {bad}. Yes, 5 of them.",
        "passages": [{"doc_id": f"d{bad}", "passage_id": f"p{bad}", "text": f"It is {bad}."}],
        "reference_answer": f"It is {bad}.",
        "relevant": {f"d{bad}": 1},
        "segments": {f"s{bad}": f"v{bad}"},
        "tags": [f"t{bad}"],
        "aspects": [bad],
        "criteria": [bad],
        "citations": [f"d{bad}"],
        "cluster": bad,
    }
    (tmp_path / "hostile.jsonl").write_text("".join(json.dumps({**row, "query_id": f"{n}{bad}"}) + "\n" for n in "ab"))
    done = cli("evaluate", "hostile.jsonl", "-q", "-o", "h.html", "-o", "h.md", "-o", "h.csv")
    assert done.code == 0, done.err
    assert "replaced by U+FFFD" in done.err
    shown = done.out + cli("runs").out + cli("show", "latest").out + Path("h.md").read_text()
    query_id = cli("show", "latest", "nope").err.partition("Known: ")[2].partition(", b")[0]
    assert query_id.startswith("a")
    assert not {"\0", "\x07", "\x1b"} & set(shown)
    assert "<script>x" not in Path("h.html").read_text()
    assert "<script>x" not in Path("h.md").read_text()
    card = cli("report", "--json").json()
    assert card["n"] == 2
    assert card["metrics"]["recall@5"]["mean"] == 1
    assert card["metrics"]["faithfulness"]["failed"] == 0
    assert cli("runs", "export", "latest", "-o", "back.jsonl").code == 0
    assert cli("evaluate", "back.jsonl", "-q", "--json").json()["metrics"] == card["metrics"]


LANGUAGES = {
    "zh": ("铁塔高330米。它位于巴黎。", "铁塔高330米，位于巴黎。", "铁塔高985米。它位于巴黎。"),
    "ja": (
        "塔の高さは330メートルです。パリにあります。",
        "塔の高さは330メートルで、パリにあります。",
        "塔の高さは985メートルです。パリにあります。",
    ),
    "ar": (
        "يبلغ ارتفاع البرج ٣٣٠ مترا. يقع في باريس.",
        "يبلغ ارتفاع البرج 330 مترا ويقع في باريس.",
        "يبلغ ارتفاع البرج ٩٨٥ مترا. يقع في باريس.",
    ),
    "hi": (
        "मीनार की ऊँचाई ३३० मीटर है। यह पेरिस में है।",
        "मीनार की ऊँचाई 330 मीटर है और यह पेरिस में है।",
        "मीनार की ऊँचाई ९८५ मीटर है। यह पेरिस में है।",
    ),
    "ru": (
        "Высота башни 330 метров. Она стоит в Париже.",
        "Высота башни 330 метров, она стоит в Париже.",
        "Высота башни 985 метров. Она стоит в Париже.",
    ),
    "de": (
        "Der Turm ist 330 Meter hoch. Er steht in Paris.",
        "Der Turm ist 330 Meter hoch und steht in Paris.",
        "Der Turm ist 985 Meter hoch. Er steht in Paris.",
    ),
}


@pytest.mark.prove
def test_other_languages(cli: Cli, tmp_path: Path) -> None:
    """Case 39: claims split at each language's sentence ends, numbers in its digits matched, invented ones found."""
    rows = [
        {"query_id": f"{code}-{kind}", "query": f"{passage[:6]}?", "answer": answer, "passages": [passage]}
        for code, (right, passage, wrong) in LANGUAGES.items()
        for kind, answer in (("right", right), ("wrong", wrong))
    ]
    write(tmp_path / "languages.jsonl", rows)
    assert cli("evaluate", "languages.jsonl", "-q", "-m", "faithfulness,fabricated_specifics").code == 0
    for code in LANGUAGES:
        right, wrong = (cli("show", "latest", f"{code}-{kind}", "--json").json() for kind in ("right", "wrong"))
        for shown in (right, wrong):
            assert len(shown["evidence"]["verify_answer"]["facts"]["claims"]) == 2, code
        assert right["scores"]["fabricated_specifics"]["value"] == 0, code
        assert wrong["scores"]["fabricated_specifics"]["value"] > 0, code


@pytest.mark.prove
@pytest.mark.parametrize("megabytes", [1, pytest.param(10, marks=pytest.mark.prove)])
def test_a_very_long_passage(cli: Cli, tmp_path: Path, megabytes: int) -> None:
    """A passage of many MB is judged, what stands at its end is found, and the report does not carry it whole."""
    n_sentences = 18_000 * megabytes
    sentences = (f"Sentence {n} tells of the bridge, the river and the old mine {n % 97}." for n in range(n_sentences))
    text = f"{' '.join(sentences)[: megabytes * 1_000_000].rpartition('.')[0]}. The tower has 330 parts."
    row = {
        "query_id": "q1",
        "query": "How many parts has the tower?",
        "answer": "The tower has 330 parts.",
        "passages": [{"doc_id": "d1", "text": text}],
        "reference_answer": "It has 330 parts.",
        "relevant": {"d1": 1},
    }
    write(tmp_path / "long.jsonl", [row])
    done = cli("evaluate", "long.jsonl", "-q", "--json", "-o", "long.html")
    assert done.code == 0
    assert done.json()["metrics"]["faithfulness"]["mean"] == pytest.approx(0.97)  # a copy
    assert done.json()["metrics"]["fabricated_specifics"]["mean"] == 0
    assert Path("long.html").stat().st_size < 2_000_000
    (claim,) = cli("show", "latest", "q1", "--json").json()["evidence"]["verify_answer"]["facts"]["claims"]
    assert text[claim["window"]["start"] : claim["window"]["end"]] == "The tower has 330 parts."
