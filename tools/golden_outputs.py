"""Records what every command, page and exported file shows, so that two versions of ragauge can be compared.

    python tools/golden_outputs.py before             # with the version of today
    python tools/golden_outputs.py after              # with the version that was changed
    diff -r before after

Inputs are fixed texts that this file writes. What differs from run to run (ids, dates, durations, paths) is replaced by
its kind. A command is one line of COMMANDS; its output, its exit code and the files that it wrote are recorded.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TOPICS = (
    "battery",
    "fee",
    "refund",
    "screen",
    "range",
    "update",
    "hub",
    "warranty",
    "noise",
    "weight",
    "cable",
    "plan",
)
VALUES = (
    "18 hours",
    "9 euros",
    "14 days",
    "6.1 inches",
    "40 metres",
    "3 months",
    "60 devices",
    "2 years",
    "31 decibels",
    "410 grams",
    "1.5 metres",
    "5 members",
)
REPEATS = 3
SYSTEM = '''
import json
from pathlib import Path

PAGES = {row["doc_id"]: row["text"] for row in map(json.loads, Path(__file__).with_name("docs.jsonl").open())}

def build(k: int, shift: int):
    """The system under test: the page of the topic stands at place `shift` of its list."""
    def answer(question: str, passages=None):
        if passages is not None:
            return {"answer": passages[0]["text"] if passages else "I do not know.", "passages": passages}
        topic = question.split("about the ")[1].split(" ")[0]
        ids = sorted(PAGES, key=lambda doc_id: (not doc_id.startswith(topic), doc_id))
        ids = ids[shift:] + ids[:shift]
        passages = [{"doc_id": doc_id, "text": PAGES[doc_id]} for doc_id in ids[:k]]
        return {"answer": passages[0]["text"], "passages": passages}
    return answer

answer = build(2, 0)
'''
CONFIG = """
gate:
  rules:
    - {metric: recall@5, max_drop: 3%}
    - {metric: faithfulness, min: 0.6}
    - {tag: golden, must_pass: true}
sweep:
  system: my_app:build
  set: golden.jsonl
  parameters: {k: [1, 2], shift: [0, 1]}
  base: {k: 1, shift: 1}
  objective: recall@5
monitor:
  judge: local
  monitors:
    - {metric: faithfulness, min: 0.8}
"""
COMMANDS = """
evaluate good.jsonl --name good
evaluate weak.jsonl --name weak --json
evaluate bare.jsonl --name bare
evaluate good.jsonl --dry-run
evaluate missing.jsonl
evaluate solved.jsonl --name solved
run my_app:answer golden.jsonl --name asked
evaluate asked -o asked.jsonl -o asked.csv
retrieval qrels.txt run.txt
retrieval qrels.txt run.txt --json
report good
report weak --baseline good
report weak --json
report weak -o weak.md -o weak.html -o weak-report.json
show weak
show weak battery-0
show weak fee-1 --json
explain weak
explain weak battery-0
explain weak battery-0 --json
compare good weak
compare good weak --json
compare good weak asked -o compared.md -o compared.html
gate weak --baseline good
gate weak --baseline good --json
gate weak --baseline good -o gate.md -o gate.xml
gate good --baseline weak --config rules.yaml
baseline set good --name main --branch main --note first
baseline list
baseline list --json
runs
runs --json
runs tag good release
runs --filter tag=release
runs log
runs log --json
report solved --thresholds faithfulness
confirm weak --system my_app:answer --corpus docs.jsonl --limit 4
runs export weak -o exported.jsonl
runs export weak -o exported.csv
metrics
metrics faithfulness
metrics --json
doctor ragauge.yaml
doctor
docs
docs gates
testset stats golden.jsonl
testset stats golden.jsonl --json
testset freeze golden.jsonl --corpus docs.jsonl
testset check golden.jsonl --corpus docs.jsonl
testset check golden.jsonl --corpus docs.jsonl --json
testset generate docs.jsonl -n 8 -o made.jsonl
testset vary golden.jsonl -o varied.jsonl
testset diff golden.jsonl varied.jsonl
testset mark golden.jsonl --to golden --ids battery-0 --by ann
testset add weak fee-1 --to added.jsonl --from golden.jsonl
testset export golden.jsonl --to ragas -o ragas.jsonl
testset export golden.jsonl --to beir -o beir
label plan weak --width 0.1
label draw weak -n 8 -o labels.html
label import labels.csv
judge check human.csv
judge check human.csv --json
judge probe weak --limit 5
component chunking golden.jsonl --corpus docs.jsonl --chunker token:size=8,16
component chunking golden.jsonl --corpus docs.jsonl --chunker token:size=8,16 --json
component embeddings golden.jsonl --corpus docs.jsonl --embedder local --dimensions 64
sweep -o sweep.html
sweep --json
component ann vectors.npy --queries queries.npy --index null -k 3
study list
study list --json
study show sweep-golden
study report sweep-golden -o study.html
study export sweep-golden -o trials.csv
evaluate good.jsonl --name traffic --traffic
monitor plan good --metric faithfulness
monitor status
monitor traces
monitor alerts
monitor drift
monitor replay
store cache list
runs delete asked --dry-run
runs delete asked --yes
init --help
"""
VOLATILE = (
    (r"\x1b\[[0-9;]*m", ""),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?", "<time>"),
    (r"\b\d{4}-\d\d-\d\d\b|\b\d\d:\d\d\b", "<day>"),
    (r"(?m)^.*\b(under way|a second)\b.*\n?", ""),
    (r"\b\d[\d,.]* ?(ms|s|min|MB|kB|µs|/s|QPS)\b", "<amount>"),
    (r'"([a-z_]*(?:latency|second|took|_ms|started|finished|qps|bytes|cpu)[a-z_]*)": [\d.eE+-]+', r'"\1": "<amount>"'),
    (r"(csrf|nonce)[-\w]*[\"'=: ]+[\w-]{16,}", r"\1"),
    (r"/static/[0-9a-f]+/", "/static/"),
)
ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{12,16})\b")
VISITS = 3  # of pages of one shape


def write_inputs(place: Path) -> None:
    """The files that the commands name."""
    rows, pages = [], []
    for topic, value in zip(TOPICS, VALUES, strict=True):
        text = f"The {topic} of the device is {value}. It was measured in the laboratory of the maker in Trento."
        pages.append({"doc_id": f"{topic}.md", "title": topic.title(), "text": text})
        for repeat in range(REPEATS):
            asked = (
                "What is known about the {} of the device?",
                "What do papers say about the {} today?",
                "Tell me about the {} please.",
            )[repeat]
            rows.append((f"{topic}-{repeat}", topic, value, asked.format(topic), text))
    others = {topic: pages[(index + 3) % len(pages)] for index, topic in enumerate(TOPICS)}
    sets, good, weak, bare = [], [], [], []
    for index, (query_id, topic, value, query, text) in enumerate(rows):
        example = {
            "query_id": query_id,
            "query": query,
            "reference_answer": f"The {topic} is {value}.",
            "relevant": {f"{topic}.md": 1},
            "gold_spans": [{"doc_id": f"{topic}.md", "start": 0, "end": text.index(".", len(topic) + 24) + 1}],
            "segments": {"kind": "short" if index % 2 else "long"},
            "tags": ["golden"] * (index % 4 == 0),
        }
        own, other = {"doc_id": f"{topic}.md", "text": text}, {key: others[topic][key] for key in ("doc_id", "text")}
        sets.append(example)
        good.append({**example, "answer": f"The {topic} of the device is {value}.", "passages": [own, other]})
        wrong = {0: f"The {topic} of the device is 77 furlongs.", 1: "I do not know.", 2: f"It is {value}."}[index % 3]
        weak.append({**example, "answer": wrong, "passages": [other] if index % 5 == 0 else [other, own]})
        bare.append({"query": query, "answer": wrong, "contexts": [text]})
    solved = [{**row, "solved": n % 3 > 0} for n, row in enumerate(good)]
    for name, lines in (
        ("golden", sets),
        ("good", good),
        ("weak", weak),
        ("bare", bare),
        ("docs", pages),
        ("solved", solved),
    ):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (place / "qrels.txt").write_text("".join(f"{query_id} 0 {topic}.md 1\n" for query_id, topic, *_ in rows))
    ranking = []
    for query_id, topic, *_ in rows:
        ranking.append(f"{query_id} Q0 {others[topic]['doc_id']} 1 1.0 golden\n")
        ranking.append(f"{query_id} Q0 {topic}.md 2 0.5 golden\n")
    (place / "run.txt").write_text("".join(ranking))
    labels = ["query,passages,answer,label,annotator"]
    human = ["query,passages,answer,label"]
    for index, (_, topic, value, query, text) in enumerate(rows):
        labels.append(f"{query},{text},{weak[index]['answer']},{int(index % 3 == 2)},ann")
        shown, label = (value, "supported") if index % 2 else ("77 furlongs", "contradicted")
        human.append(f"{query},{text},The {topic} is {shown}.,{label}")
    (place / "labels.csv").write_text("\n".join(labels))
    (place / "human.csv").write_text("\n".join(human))
    (place / "rules.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, min: 0.9}\n")
    (place / "my_app.py").write_text(SYSTEM)
    (place / "ragauge.yaml").write_text(CONFIG)
    import numpy as np

    rng = np.random.default_rng(0)
    np.save(place / "vectors.npy", rng.standard_normal((200, 8)).astype("float32"))
    np.save(place / "queries.npy", rng.standard_normal((20, 8)).astype("float32"))


def stable(text: str, place: Path) -> str:
    """A text without what differs from run to run."""
    text = re.sub(ID, "<id>", text.replace(str(place), "<place>"))
    for pattern, kind in VOLATILE:
        text = re.sub(pattern, kind, text)
    return text


def record_commands(place: Path, kept: Path) -> None:
    """Runs each command in its turn, and keeps what it printed and wrote."""
    environment = {
        **os.environ,
        "COLUMNS": "140",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONPATH": os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(place))),
    }
    for number, line in enumerate(COMMANDS.strip().splitlines()):
        before = {path: path.stat().st_mtime_ns for path in written(place)}
        done = subprocess.run(
            [sys.executable, "-m", "ragauge", *line.split()],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        name = f"{number:03}-{re.sub('[^a-z0-9]+', '-', line.lower())}"
        said = f"$ ragauge {line}\nexit {done.returncode}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
        (kept / f"{name}.txt").write_text(stable(said, place), encoding="utf-8")
        for path in written(place):
            if before.get(path) != path.stat().st_mtime_ns:
                copied = kept / name / path.relative_to(place)
                copied.parent.mkdir(parents=True, exist_ok=True)
                copied.write_text(stable(path.read_text(encoding="utf-8", errors="replace"), place), encoding="utf-8")


def written(place: Path) -> Iterable[Path]:
    """The files outside the store and Python's own."""
    for path in sorted(place.rglob("*")):
        if path.is_file() and not {".ragauge", "__pycache__"} & set(path.parts):
            yield path


def record_helps(kept: Path) -> None:
    """The --help of every command."""
    import typer.main
    from typer.testing import CliRunner

    from ragauge.cli.main import app

    runner, group = CliRunner(), typer.main.get_command(app)

    def visit(command: object, words: tuple[str, ...]) -> None:
        shown = runner.invoke(app, [*words, "--help"], env={"COLUMNS": "140", "NO_COLOR": "1", "TERM": "dumb"})
        (kept / f"help-{'-'.join(words) or 'ragauge'}.txt").write_text(shown.output, encoding="utf-8")
        for name, below in getattr(command, "commands", {}).items():
            visit(below, (*words, name))

    visit(group, ())


def record_pages(place: Path, kept: Path) -> None:
    """Every page that links lead to, with its JSON."""
    from fastapi.testclient import TestClient

    os.chdir(place)
    from ragauge.dashboard.app import create_app
    from ragauge.dashboard.security import Access
    from ragauge.dashboard.site import Site

    site = Site("sqlite:///.ragauge/ragauge.db", Access())
    with TestClient(create_app(site), base_url="http://127.0.0.1:7471", follow_redirects=False) as client:
        waiting, met, visits = ["/"], {"/"}, Counter[str]()
        while waiting:
            path = waiting.pop(0)
            bare = re.sub(r"=[^&]*|-\d\b", "", stable(path, place))
            shape = re.sub(r"[^\w.=-]+", "_", bare).strip("_")
            visits[shape] += 1
            if visits[shape] > VISITS:
                continue
            answer = client.get(path)
            page = kept / f"page-{shape[:140] or 'first'}-{visits[shape]}"
            page.write_text(stable(answer.text, place), encoding="utf-8")
            for link in re.findall(r'href="(/[^"#]*)', answer.text):
                bare = link.replace("&amp;", "&")
                if bare not in met and not bare.startswith("/static"):
                    met.add(bare)
                    waiting.append(bare)


def main() -> None:
    """Records into the folder that is named."""
    kept = Path(sys.argv[1]).absolute()
    kept.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made).resolve()
        write_inputs(place)
        record_commands(place, kept)
        record_helps(kept)
        record_pages(place, kept)


if __name__ == "__main__":
    main()
