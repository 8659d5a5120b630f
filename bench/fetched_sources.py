"""Public sets that people labelled, answers of several systems among them, read from clones of their repositories.

They are not in the data folder beside the repository. `python bench/judge_error.py --fetched FOLDER` judges them from a
folder that holds clones under the names below, and keeps the numbers that come of it in
bench/fetched_scales.json; without FOLDER that file is read.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from evidence_data import beside_hardest
from judge_error_data import SEED, Case, beside_evidence, build_case

ANSWERS = 150  # of each system of a set
QUESTIONS = 80
BEGIN = ("cmu-dog/begin_dev_cmu.tsv", "topicalchat/begin_dev_tc.tsv", "wow/begin_test_wow.tsv")


def _sample(rows: list[dict[str, str]], n: int = ANSWERS) -> list[dict[str, str]]:
    return Random(SEED).sample(rows, min(n, len(rows)))


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter, quoting=quoting))


def begin(folder: Path) -> Iterator[Case]:
    """BEGIN: replies of four systems in conversations over a passage; generic ones make no claim and are left out."""
    for path in BEGIN:
        rows = _rows(folder / path, "\t")
        for system in ("ctrl", "doha", "gpt2", "t5"):
            told = [row for row in rows if row["model_name"] == system and "Generic" not in (row["begin_label"] or "G")]
            for n, row in enumerate(_sample(told)):
                truth = float(row["begin_label"] == "Fully attributable")
                source = f"BEGIN {path[:3]} {system}"
                yield build_case(
                    source,
                    f"{path[:3]}{n}",
                    row["message"],
                    [row["knowledge"]],
                    row["response"],
                    (),
                    {"faithfulness": truth},
                )


def q_squared(folder: Path) -> Iterator[Case]:
    """Q²: replies of two systems in conversations over a passage, inconsistent with it or not."""
    for n, row in enumerate(_sample(_rows(folder / "third_party/data/cross_annotation.csv"))):
        for system in ("dodeca", "memnet"):
            truth = 1.0 - float(row[f"{system}_label"])
            yield build_case(
                f"Q2 {system}",
                f"q{n}",
                row["message"],
                [row["knowledge"]],
                row[f"{system}_response"],
                (),
                {"faithfulness": truth},
            )


def qags(folder: Path) -> Iterator[Case]:
    """QAGS: sentences of summaries by two systems, as the majority of three annotators says."""
    for part in ("cnndm", "xsum"):
        text = folder.joinpath(f"data/mturk_{part}.jsonl").read_text(encoding="utf-8")
        told = []
        for line in text.splitlines():
            article = json.loads(line)
            for sentence in article["summary_sentences"]:
                yes = sum(reply["response"] == "yes" for reply in sentence["responses"])
                truth = "1" if 2 * yes > len(sentence["responses"]) else "0"
                told.append({"article": article["article"], "sentence": sentence["sentence"], "truth": truth})
        for n, row in enumerate(_sample(told)):
            yield build_case(
                f"QAGS {part}",
                f"{part}{n}",
                "Summarise the article.",
                [row["article"]],
                row["sentence"],
                (),
                {"faithfulness": float(row["truth"])},
            )


def infotabs(folder: Path) -> Iterator[Case]:
    """InfoTabS: sentences about a table of an encyclopedia, a key and its values a line; only *entailed* is right."""
    for n, row in enumerate(_sample(_rows(folder / "data/maindata/infotabs_dev.tsv", "\t"), 2 * ANSWERS)):
        table = json.loads(folder.joinpath(f"data/tables/json/{row['table_id']}.json").read_text(encoding="utf-8"))
        lines = [f"{key}\n" + "\n".join(map(str.strip, values)) for key, values in table.items()]
        truth = float(row["label"] == "E")
        yield build_case(
            "InfoTabS",
            f"i{n}",
            row["hypothesis"],
            ["\n".join(lines)],
            row["hypothesis"],
            (row["hypothesis"],),
            {"faithfulness": truth, "context_recall": truth},
        )


def cmrc(folder: Path) -> Iterator[Case]:
    """CMRC 2018: Chinese questions with the paragraph that answers them."""
    data = json.loads(folder.joinpath("squad-style-data/cmrc2018_dev.json").read_text(encoding="utf-8"))["data"]
    rows = [
        (row["id"], row["question"], row["answers"][0]["text"], (paragraph["context"],))
        for article in data
        for paragraph in article["paragraphs"]
        for row in paragraph["qas"]
    ]
    yield from beside_evidence(beside_hardest("CMRC", rows, QUESTIONS))


def wiki_tables(folder: Path) -> Iterator[Case]:
    """WikiTableQuestions: questions with the table that answers them, with bars and with one cell a line."""
    rows = []
    for row in _sample(_rows(folder / "data/pristine-unseen-tables.tsv", "\t"), 6 * QUESTIONS):
        with (folder / row["context"]).open(encoding="utf-8", newline="") as file:
            table = [[cell.replace("\n", " ") for cell in line] for line in csv.reader(file, escapechar="\\")]
        if len(table) <= 40 and any(row["targetValue"] in line for line in table):
            rows.append((row["id"], row["utterance"], row["targetValue"], table))
    for name, parted in (("WikiTables", " | "), ("WikiTables cells", "\n")):
        laid = [(*row, ("\n".join(parted.join(line) for line in table),)) for *row, table in rows]
        yield from beside_evidence(beside_hardest(name, laid, QUESTIONS))


FETCHED: Mapping[str, Callable[[Path], Iterator[Case]]] = {
    "BEGIN-dataset": begin,
    "q-squared": q_squared,
    "qags": qags,
    "infotabs": infotabs,
    "cmrc2018": cmrc,
    "WikiTableQuestions": wiki_tables,
}


def fetched(folder: Path) -> Iterator[Case]:
    """Everything that there is a clone of."""
    for name, cases in FETCHED.items():
        yield from cases(folder / name)
