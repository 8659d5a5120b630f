"""Whom the local judge blames where it is known who is to blame, by what its control pairs tell of its scores.

python bench/wrong_blame.py [SET ...]            every shared set with gold passages, XQuAD in each language
python bench/wrong_blame.py --filings FILE ...   and FinanceBench's open questions (jsonl), whose pages are cells
python bench/wrong_blame.py --write              writes the table in docs/local-judge.md, too

A run answers questions of a set. Of so many in a hundred the gold passages are replaced by three of other documents,
at random or the nearest by the words of the question, and the answer is a sentence of these: retrieval is to blame.
The others are answered rightly (nobody is to blame) or with the answer of another question (the generator is).
Controls are drawn from each run as an evaluation draws them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

from evidence_data import SETS, Row, tatqa, xquad
from judge_data import Bm25

from ragauge.core.example import Example, Relevant
from ragauge.core.facts import Evidence, JudgeFacts, ReferenceFacts, RelevanceFacts
from ragauge.core.response import (
    CONTROLLED_FACTS,
    ControlledFact,
    Controls,
    ControlScale,
    Passage,
    Response,
    ScaleKey,
    TextKind,
)
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.diagnosis.findings.diagnosis_builder import diagnose
from ragauge.engine.control_pairs import ControlPair, list_missing_kinds, sample_pairs, select_shipped_pairs
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import Judge, answer_asks
from ragauge.metrics.facts import Facts
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.summarize import build_cause_frame
from ragauge.text.sentences import split_sentences

PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
MARKS = "<!-- blame, written by bench/wrong_blame.py: begin -->", "<!-- blame: end -->"
LANGUAGES = ("ar", "de", "el", "es", "hi", "ru", "th", "tr", "vi", "zh")  # beside English
QUESTIONS = ("verify_answer", "verify_reference", "rate_passages", "agree")
SHARES = (0.0, 0.2, 0.5, 1.0)
N_QUESTIONS, N_CONTROLS, N_OTHERS, N_POOL = 50, 100, 3, 1_000
ASKED: tuple[ControlledFact, ...] = ("reference", "relevance")  # of the facts that pairs are asked about here
CLEAR = ControlScale((1.0,) * 20, (0.0,) * 20)  # of facts that no table here is about
HEAD = (
    "set | gold, right answers: failed | blamed on retrieval | gold, another answer: on retrieval | on generation | "
    "random: on retrieval | unclear | nearest: on retrieval | unclear | replaced, 20 and 50 %: on retrieval | "
    "its gold | labelled, replaced | labelled, gold | headline, all replaced | passes with three more"
)


class Question(NamedTuple):
    """A question, what may be handed on for it, and what is found about each answer.

    Attributes:
        example: with its reference, without labels.
        passages: kind -> passages; gold, random, nearest, or more: gold with three random ones.
        evidence: kind and answer (right or wrong) -> what the judge finds.
    """

    example: Example
    passages: Mapping[str, tuple[Passage, ...]]
    evidence: Mapping[tuple[str, str], Facts]


def read_filings(path: Path) -> Iterator[Row]:
    """FinanceBench: questions on pages of filings; the document is the filing."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["financebench_id"], row["question"], row["answer"], tuple(e["evidence_text"] for e in row["evidence"])


def write_cells() -> Iterator[Row]:
    """TAT-QA with each table written one cell a line, before its paragraphs."""
    for query_id, query, reference, (table, *paragraphs) in tatqa():
        cells = "\n".join(cell for line in table.splitlines() for cell in line.split("\t"))
        yield query_id, query, reference, ("\n".join([cells, *paragraphs]),)


SOURCES: dict[str, Callable[[], Iterator[Row]]] = {
    **SETS,
    "TAT-QA, cells": write_cells,
    **{f"XQuAD {code}": partial(xquad, code) for code in LANGUAGES},
}


def ask(judge: Judge, embed: EmbedAnswers, example: Example, response: Response, questions: Sequence[str]) -> Facts:
    """What the judge finds."""
    found: dict[str, JudgeFacts] = {}
    for question in questions:
        inputs = build_inputs(question, example, response, found)
        if inputs is not None:
            found[question] = answer_asks(judge.ask(inputs), embed)
    evidence = {name: Evidence("", name, 1, judge.judge_id, "ok", facts) for name, facts in found.items()}
    return Facts(example, response, evidence)


def judge_questions(rows: Sequence[Row], judge: Judge, embed: EmbedAnswers) -> list[Question]:
    """Questions drawn at random, each with what is found about its answers."""
    rng = Random(7)
    drawn = rng.sample(rows, min(N_QUESTIONS, len(rows)))
    by_text = {text: query_id for query_id, *_, gold in rows for text in gold}  # a document is named by a question
    own = [text for *_, gold in drawn for text in gold]
    rest = [text for text in by_text if text not in set(own)]
    pool = list(dict.fromkeys(own + rng.sample(rest, min(N_POOL, len(rest)))))
    index, judged = Bm25(pool), []
    for (query_id, query, reference, gold), (*_, wrong, _) in pairwise([*drawn, drawn[0]]):
        docs = {by_text[text] for text in gold}
        allowed = [text for text in pool if by_text[text] not in docs]
        clean = [text for text in allowed if reference.casefold() not in text.casefold()]
        usable = clean if len(clean) >= N_OTHERS else allowed
        nearest = [pool[n] for n in index.ranked(query) if pool[n] in set(usable)][:N_OTHERS]
        random = rng.sample(usable, N_OTHERS)
        texts = {"gold": gold, "random": random, "nearest": nearest, "more": (*gold, *random)}
        passages = {
            kind: tuple(Passage(f"{kind}{n}", by_text[text], text) for n, text in enumerate(some))
            for kind, some in texts.items()
        }
        example, evidence = Example(query_id, query, references=(reference,)), {}
        for kind, some in passages.items():
            answers = {"right": reference, "wrong": wrong}
            if kind in ("random", "nearest"):
                answers = {
                    "wrong": rng.choice([part.text for part in split_sentences(some[0].text or "")] or [some[0].text])
                }
            for name, answer in answers.items():
                response = Response(query_id, passages=some, answer=answer)
                evidence[kind, name] = ask(judge, embed, example, response, QUESTIONS)
        judged.append(Question(example, passages, evidence))
    return judged


def draw_controls(run: Sequence[tuple[Question, str]], judge: Judge, embed: EmbedAnswers) -> Controls:
    """The judge's scores of pairs of a run's texts, and of shipped ones where it has too few, as the engine draws them.

    Args:
        run: its questions and the kinds of their passages.
        judge: whose scores.
        embed: its vectors.
    """
    responses = [
        (question.example, Response(question.example.query_id, passages=question.passages[kind], answer="-"))
        for question, kind in run
    ]
    scores = defaultdict[ScaleKey, tuple[list[float], list[float]]](lambda: ([], []))

    def add(pairs: Iterable[ControlPair], only: ScaleKey | None = None) -> None:
        for pair in pairs:
            facts = ask(judge, embed, pair.example, pair.response, ("verify_reference", "rate_passages"))
            for key, chances in read_chances(facts, pair.place):
                if only is None or key == only:
                    scores[key][not pair.is_yes].extend(chances)

    add(pair for pair in sample_pairs(responses, N_CONTROLS) if pair.kind == "passages")
    places = {TextKind.from_texts(*response) for response in responses}
    for key in {place.key(fact) for place in places for fact in ASKED}:
        kinds = list_missing_kinds(*map(len, scores[key]))
        add((pair for pair in select_shipped_pairs("passages", *key[1:]) if pair.is_yes in kinds), key)
    return Controls(
        {key: ControlScale(tuple(sorted(yes)), tuple(sorted(no))) for key, (yes, no) in scores.items() if yes and no}
    )


def read_chances(facts: Facts, place: TextKind) -> Iterator[tuple[ScaleKey, list[float]]]:
    """The scores of a pair, by the scale that they belong to."""
    for evidence in facts.evidence.values():
        match evidence.facts:
            case ReferenceFacts() as reference:
                yield place.key("reference"), [claim.chance for claim in reference.claims]
            case RelevanceFacts() as rated:
                known = [rating.chance for rating in rated.ratings if rating.chance is not None]
                yield place.key("relevance"), known


def blame(facts: Facts, controls: Controls, gold: Sequence[Passage] = ()) -> tuple[str, Cause | None]:
    """The verdict, or the component that a failed example is blamed on; and its cause. Gold: labelled documents."""
    relevant = tuple(Relevant((doc_id,)) for doc_id in {passage.doc_id for passage in gold}) or None
    example = replace(facts.example, relevant=relevant)
    readability = controls.build_readability(example, facts.response)
    others = {fact: CLEAR for fact in CONTROLLED_FACTS if fact not in ASKED}
    readability = replace(readability, scales={**others, **readability.scales})
    verdict, cause = judge_example(replace(facts, example=example, readability=readability))
    if cause is None:
        return verdict.verdict, None
    return {"data": "retrieval"}.get(cause.component, cause.component), cause


class Blamed(NamedTuple):
    """Whom one run's examples are blamed on.

    Attributes:
        replaced: of each example with replaced passages, whom.
        right: of each with its gold passages and the right answer.
        failed: whether each of these fails.
        wrong: of each with its gold passages and another answer.
        labelled: replaced, with the gold documents labelled.
        labelled_gold: gold passages and another answer, with the gold documents labelled.
        headline: what the first finding names; "" = no finding.
        passes: of each that failed with another answer, whether it passes with three random passages more.
    """

    replaced: list[str]
    right: list[str]
    failed: list[bool]
    wrong: list[str]
    labelled: list[str]
    labelled_gold: list[str]
    headline: str
    passes: list[bool]


def run_once(questions: Sequence[Question], share: float, kind: str, judge: Judge, embed: EmbedAnswers) -> Blamed:
    """One run with a share of its evidence replaced."""
    replaced = set(Random(5).sample(range(len(questions)), round(share * len(questions))))
    run = [(question, kind if n in replaced else "gold") for n, question in enumerate(questions)]
    controls = draw_controls(run, judge, embed)
    found, causes = Blamed([], [], [], [], [], [], "", []), []
    for question, how in run:
        gold, facts = question.passages["gold"], question.evidence[how, "wrong"]
        who, cause = blame(facts, controls)
        if how != "gold":
            causes.append((question.example.query_id, 0, cause))
            found.replaced.append(who)
            found.labelled.append(blame(facts, controls, gold)[0])
            continue
        right, right_cause = blame(question.evidence["gold", "right"], controls)
        found.right.append(right)
        found.failed.append(right_cause is not None)
        found.wrong.append(who)
        found.labelled_gold.append(blame(facts, controls, gold)[0])
        if cause is not None:
            found.passes.append(blame(question.evidence["more", "wrong"], controls)[0] == "passed")
    named = [(query_id, repeat, cause) for query_id, repeat, cause in causes if cause is not None]
    findings = diagnose((), build_cause_frame(named), len(run), judge_id=judge.judge_id) if named else ()
    headline = findings[0].cause or "unclear" if findings else ""
    return found._replace(headline=headline)


def share_of(blamed: Sequence[str | bool], who: str | bool) -> str:
    """Which share is blamed on one; – of none."""
    return f"{sum(one == who for one in blamed) / len(blamed):.2f}" if blamed else "–"


def write_line(source: str, rows: Sequence[Row], judge: Judge, embed: EmbedAnswers) -> str:
    """One row of the table."""
    questions = judge_questions(rows, judge, embed)
    runs = {
        (kind, share): run_once(questions, share, kind, judge, embed)
        for kind in ("random", "nearest")
        for share in SHARES
        if share or kind == "random"
    }
    gold, random, nearest = runs["random", 0.0], runs["random", 1.0], runs["nearest", 1.0]
    mixed = [runs[kind, share] for share in (0.2, 0.5) for kind in ("random", "nearest")]
    cells = [
        share_of(gold.failed, True),
        share_of(gold.right, "retrieval"),
        share_of(gold.wrong, "retrieval"),
        share_of(gold.wrong, "generation"),
        share_of(random.replaced, "retrieval"),
        share_of(random.replaced, "unclear"),
        share_of(nearest.replaced, "retrieval"),
        share_of(nearest.replaced, "unclear"),
        ", ".join(share_of(run.replaced, "retrieval") for run in mixed),
        share_of([who for run in mixed for who in run.wrong], "retrieval"),
        share_of([*random.labelled, *nearest.labelled], "retrieval"),
        share_of(gold.labelled_gold, "retrieval"),
        f"{random.headline}, {nearest.headline}",
        share_of(gold.passes, True),
    ]
    return " | ".join([source, *cells])


def main() -> int:
    """Prints, and writes where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help=", ".join(SOURCES))
    parser.add_argument("--filings", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    judge, embed = build_judge("local"), EmbedAnswers()
    assert judge is not None
    sources = {name: SOURCES[name] for name in options.sets or SOURCES}
    if options.filings is not None:
        sources = {"FinanceBench": partial(read_filings, options.filings), **sources}
    lines = [HEAD, "---|" + "---:|" * (HEAD.count("|") - 2) + "---|---:"]
    for source, read in sources.items():
        lines.append(write_line(source, list(read()), judge, embed))
        print(lines[-1], flush=True)
    if options.write and not options.sets:
        page, (begin, end) = PAGE.read_text(encoding="utf-8"), MARKS
        block = f"{begin}\n\n" + "\n".join(lines) + f"\n\n{end}"
        PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: block, page, flags=re.DOTALL), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
