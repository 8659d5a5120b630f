"""Answers that people accepted or rejected, or whose truth is known, with references or without.

The sets that are not in the data folder beside the repository are read from a folder of their own, one subfolder each,
and left out where that is absent.
"""

from __future__ import annotations

import csv
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Literal, NamedTuple

from evidence_data import SETS, asked
from judge_data import SYSTEMS, accepted_answers, lines

from ragauge.core.example import Example
from ragauge.core.facts import Evidence, JudgeFacts
from ragauge.core.response import Passage, Response
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import Judge, answer_asks
from ragauge.metrics.facts import Facts

SEED = 20_261_128
MAX_ITEMS = 120  # of a set, drawn at random
MAX_CLAIMS = 250
Kind = Literal["claims", "rag", "reference", "conversation", "gold"]


class VerdictCase(NamedTuple):
    """One answer.

    Attributes:
        source: the set, or a part of it that another system answered or that is in another language.
        family: the sets that are left out together.
        kind: claims: one statement a text; rag: answers to questions from passages; reference: answers compared with a
            reference; conversation: with both; gold: right answers beside their evidence, and beside other passages.
        accepted: whether people accept it, or it is right by construction.
        example: the question and its references.
        response: passages and answer.
    """

    source: str
    family: str
    kind: Kind
    accepted: bool
    example: Example
    response: Response


def build_case(
    place: tuple[str, str, Kind],
    query: str,
    answer: str,
    passages: list[str] | None,
    accepted: bool,
    references: tuple[str, ...] = (),
) -> VerdictCase:
    """A case of a source, a family and a kind; passages None = not recorded."""
    texts = None if passages is None else tuple(Passage(f"p{n}", f"d{n}", text) for n, text in enumerate(passages, 1))
    missing = {"passages": "the set has none"} if texts is None else {}
    response = Response("q", passages=texts, answer=answer, missing=missing)
    return VerdictCase(*place, accepted, Example("q", query, references=references), response)


def sample(cases: Iterator[VerdictCase], n: int = MAX_ITEMS) -> list[VerdictCase]:
    """Up to so many cases, drawn at random, in a fixed order."""
    rows = list(cases)
    return Random(SEED).sample(rows, min(n, len(rows)))


# ---- the folder beside the repository ----


def read_claims() -> Iterator[VerdictCase]:
    """AttributionBench and WiCE: statements with their sources; partly supported counts as rejected."""
    by_source: dict[str, list[VerdictCase]] = {}
    for row in lines("attributionbench", "dev_all_subset_balanced.jsonl"):
        place: tuple[str, str, Kind] = (row["src_dataset"], row["src_dataset"], "claims")
        accepted = row["attribution_label"] == "attributable"
        case = build_case(place, row["question"], row["claim"], row["references"], accepted)
        by_source.setdefault(row["src_dataset"], []).append(case)
    wice = (
        build_case(
            ("WiCE", "WiCE", "claims"),
            "Is this so?",
            row["claim"],
            ["\n".join(row["evidence"])],
            row["label"] == "supported",
        )
        for row in lines("wice", "dev.jsonl")
    )
    for cases in (*by_source.values(), list(wice)):
        yield from sample(iter(cases), MAX_CLAIMS)


def read_evouna() -> Iterator[VerdictCase]:
    """EVOUNA: answers of five systems to short questions, beside accepted answers; no passages."""
    for system in SYSTEMS:
        place: tuple[str, str, Kind] = (f"EVOUNA {system}", "EVOUNA", "reference")
        rows = (
            build_case(place, row.query, row.answers[system], None, row.right[system], row.accepted)
            for row in accepted_answers()
        )
        yield from sample(rows, 80)


def read_gold() -> Iterator[VerdictCase]:
    """Right answers beside their evidence and others, with and without references, and beside the others alone."""
    for source in SETS:
        for row in asked(source, 80, seed=3):
            for given, accepted in (([*row.gold, *row.others], True), (list(row.others), False)):
                yield build_case((source, source, "gold"), row.query, row.answer, given, accepted)
            name = f"{source} with references"
            yield build_case(
                (name, source, "gold"), row.query, row.answer, [*row.gold, *row.others], True, (row.reference,)
            )


# ---- sets that are fetched ----


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _table(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter, quoting=quoting))


def read_mtrag(folder: Path) -> Iterator[VerdictCase]:
    """MT-RAG: the last answers of conversations by people and two models, as the medians of three annotators say.

    Without the reference an answer is accepted that is faithful (3 of 4 or more), with it one that is also complete and
    appropriate. The people's own answers are the references, so they are left out there.
    """
    path = folder / "mtrag-human/evaluations/reference_subset_with_human_evaluations.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    texts = {document["document_id"]: document["text"] for document in data["documents"]}
    tasks = {task["task_id"]: task for task in data["tasks"]}
    for row in data["evaluations"]:
        task = tasks[row["task_id"]]
        passages = [texts[context["document_id"]] for context in task["contexts"]]
        query, reference = task["input"][-1]["text"], task["targets"][0]["text"]
        if not passages or task["Answerability"] != ["ANSWERABLE"]:
            continue
        grades = {
            name: median(float(grade["value"]) for grade in row["annotations"][name].values())
            for name in ("faithfulness", "completeness", "appropriateness")
        }
        faithful, useful = grades["faithfulness"] >= 3, min(grades.values()) >= 3
        yield build_case(("MT-RAG", "MT-RAG", "rag"), query, row["model_response"], passages, faithful)
        if row["model_id"] != "reference":
            yield build_case(
                ("MT-RAG with references", "MT-RAG", "conversation"),
                query,
                row["model_response"],
                passages,
                useful,
                (reference,),
            )


def read_memerag(folder: Path) -> Iterator[VerdictCase]:
    """MEMERAG: answers of models in five languages; accepted where people call every sentence supported."""
    for path in sorted((folder / "data/memerag_ext_w_majority_vote").glob("*.jsonl")):
        place: tuple[str, str, Kind] = (f"MEMERAG {path.stem}", "MEMERAG", "rag")
        for row in _rows(path):
            grades = {sentence["factuality"] for sentence in row["answer"]}
            answer = " ".join(sentence["sentence"] for sentence in row["answer"])
            if grades <= {"Supported", "Not Supported"}:
                yield build_case(
                    place,
                    row["query"],
                    answer,
                    [context["text"] for context in row["context"]],
                    grades == {"Supported"},
                )


def read_financebench(folder: Path) -> Iterator[VerdictCase]:
    """FinanceBench: answers of models beside the reference, with the gold pages as passages where they got these."""
    rows = {row["financebench_id"]: row for row in _rows(folder / "data/financebench_open_source.jsonl")}
    for path in sorted((folder / "results").glob("*.jsonl")):
        answers = [row for row in _rows(path) if row["financebench_id"] in rows and row["model_answer"]]
        oracle = "oracle" in path.stem
        source = "FinanceBench, gold pages" if oracle else "FinanceBench"
        place: tuple[str, str, Kind] = (source, "FinanceBench", "reference")
        for row in answers:
            gold = rows[row["financebench_id"]]
            passages = [evidence["evidence_text"] for evidence in gold["evidence"]] if oracle else None
            yield build_case(
                place,
                row["question"],
                row["model_answer"],
                passages,
                row["label"] == "Correct Answer",
                (str(gold["answer"]),),
            )


def read_begin(folder: Path) -> Iterator[VerdictCase]:
    """BEGIN: replies of four systems in conversations over a passage; generic ones make no claim and are left out."""
    for part in ("cmu-dog/begin_dev_cmu.tsv", "topicalchat/begin_dev_tc.tsv", "wow/begin_test_wow.tsv"):
        place: tuple[str, str, Kind] = (f"BEGIN {part.partition('/')[0]}", "BEGIN", "claims")
        rows = [row for row in _table(folder / part, "\t") if "Generic" not in (row["begin_label"] or "Generic")]
        yield from sample(
            build_case(
                place, row["message"], row["response"], [row["knowledge"]], row["begin_label"] == "Fully attributable"
            )
            for row in rows
        )


def read_q_squared(folder: Path) -> Iterator[VerdictCase]:
    """Q²: replies of two systems in conversations over a passage, inconsistent with it or not."""
    for row in _table(folder / "third_party/data/cross_annotation.csv"):
        for system in ("dodeca", "memnet"):
            yield build_case(
                (f"Q2 {system}", "Q2", "claims"),
                row["message"],
                row[f"{system}_response"],
                [row["knowledge"]],
                row[f"{system}_label"] in ("0", "0.0"),
            )


def read_qags(folder: Path) -> Iterator[VerdictCase]:
    """QAGS: sentences of summaries by two systems, as the majority of three annotators says."""
    for part in ("cnndm", "xsum"):
        for article in _rows(folder / f"data/mturk_{part}.jsonl"):
            for sentence in article["summary_sentences"]:
                yes = sum(reply["response"] == "yes" for reply in sentence["responses"])
                yield build_case(
                    (f"QAGS {part}", "QAGS", "claims"),
                    "Summarise the article.",
                    sentence["sentence"],
                    [article["article"]],
                    2 * yes > len(sentence["responses"]),
                )


def read_faithbench(folder: Path) -> Iterator[VerdictCase]:
    """FaithBench: summaries by ten models, chosen to be hard; rejected where someone marked an unwanted invention."""
    for path in sorted((folder / "data_for_release").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["samples"]:
            unwanted = any("Unwanted" in label for note in row["annotations"] for label in note["label"])
            yield build_case(
                ("FaithBench", "FaithBench", "rag"),
                "Summarise the text.",
                row["summary"].strip(),
                [row["source"]],
                not unwanted,
            )


SHARED: Mapping[str, Callable[[], Iterator[VerdictCase]]] = {
    "claims": read_claims,
    "evouna": read_evouna,
    "gold": read_gold,
}
EXTRA: Mapping[str, Callable[[Path], Iterator[VerdictCase]]] = {
    "mt-rag-benchmark": read_mtrag,
    "MEMERAG": read_memerag,
    "financebench": read_financebench,
    "BEGIN-dataset": read_begin,
    "q-squared": read_q_squared,
    "qags": read_qags,
    "FaithBench": read_faithbench,
}


# ---- what the judge finds ----

QUESTIONS = ("verify_answer", "verify_reference", "agree")


def judge_cases(cases: list[VerdictCase]) -> list[Facts]:
    """What the local judge finds of each case, as an evaluation asks it."""
    judge, answering = build_judge("local"), EmbedAnswers()
    if judge is None:
        raise SystemExit("there is no local judge")
    return [_judge(judge, answering, case) for case in cases]


def _judge(judge: Judge, answering: EmbedAnswers, case: VerdictCase) -> Facts:
    found: dict[str, JudgeFacts] = {}
    evidence: dict[str, Evidence] = {}
    for question in QUESTIONS:
        inputs = build_inputs(question, case.example, case.response, found)
        if inputs is not None:
            found[question] = answer_asks(judge.ask(inputs), answering)
            evidence[question] = Evidence("", question, 1, judge.judge_id, "ok", found[question])
    return Facts(case.example, case.response, evidence)


class JudgedCase(NamedTuple):
    """A case with what the judge found of it."""

    case: VerdictCase
    facts: Facts


def judged_cases(extra: Path | None, cache: Path | None) -> Iterator[JudgedCase]:
    """All cases of the sets that are there, at most `MAX_ITEMS` of a source, judged or from the cache."""
    for name, read in SHARED.items():
        yield from _load(name, read, cache)
    for name, read_folder in EXTRA.items():
        folder = None if extra is None else extra / name
        if folder is not None and folder.is_dir():
            yield from _load(name, lambda read=read_folder, folder=folder: _limit(read(folder)), cache)


def _limit(cases: Iterator[VerdictCase]) -> Iterator[VerdictCase]:
    by_source: dict[str, list[VerdictCase]] = {}
    for case in cases:
        by_source.setdefault(case.source, []).append(case)
    for own in by_source.values():
        yield from sample(iter(own))


def _load(name: str, read: Callable[[], Iterator[VerdictCase]], cache: Path | None) -> list[JudgedCase]:
    path = None if cache is None else cache / f"{name}.pickle"
    if path is not None and path.is_file():
        stored: list[JudgedCase] = pickle.loads(path.read_bytes())  # noqa: S301 (a file that this script wrote)
        return stored
    cases = list(read())
    judged = [JudgedCase(case, facts) for case, facts in zip(cases, judge_cases(cases), strict=True)]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(judged))
    return judged
