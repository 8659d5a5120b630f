"""What each rule of the local judge adds: left out in turn, AUROC on labelled sets, recall of planted edits, time.

    python bench/rules.py                     # all rules
    python bench/rules.py --rules signs kin   # these only
    python bench/rules.py --sample 100        # items a set (300 else; a third for pairs, a language, a kind of edit)

A rule is left out by patching the judge here; the judge has no switches. Sets: claims of AttributionBench and WiCE with
people's labels of support; answers of EVOUNA with people's labels of correctness; pairs of answers of RAGChecker, of
which people found one more correct; right answers of TAT-QA beside those of another question of the same kind; human
answers of CLAPNQ and PubMedQA beside their own passage and another's; sentences of XQuAD likewise, in ten languages.
Coefficients are as shipped: they were learned with the rules at work.

A rule earns its place by .005 AUROC on some set or .02 of recall of some kind of edit.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
from judge_data import DATA, accepted_answers, claims, human_answers, lines
from logistic import auroc
from planted_edits import OTHERS, PLAIN, contexts
from planter import Context
from planter import unit as edit_unit
from second_planted import items, judged
from second_planter import ASKED, SOURCES

from ragauge.core.ask import Reply
from ragauge.core.example import Example
from ragauge.judges import inputs
from ragauge.judges.judge import answer_asks
from ragauge.judges.local import checks, overlap, refusals, statements, support, verify_reference
from ragauge.judges.local import reference_match as stating
from ragauge.judges.local import table_support as tabled
from ragauge.judges.local.agree import agree
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.text.sentences import split_sentences

SEED = 3
MIN_AUROC, MIN_RECALL = 0.005, 0.02
LANGUAGES = ("de", "es", "el", "ru", "tr", "ar", "hi", "th", "vi", "zh")
Item = tuple[Callable[[], float], int]  # scores an item; its label
patched = patch.object


def ask(question: Any) -> Any:
    """The facts of a question, without vectors."""
    return answer_asks(question, lambda asks: [Reply("failed", reason="no vectors") for _ in asks])


def score_answer(query: str, passages: tuple[str, ...], answer: str) -> float:
    """Mean p of the claims of an answer; 0 where it has none."""
    facts = ask(verify_answer(inputs.VerifyAnswer(query, passages, answer)))
    return fmean([claim.p or 0.0 for claim in facts.claims] or [0.0])


def score_reference(query: str, passages: tuple[str, ...], reference: str) -> float:
    """The p of a reference claim."""
    facts = ask(verify_reference.verify_reference(inputs.VerifyReference(query, (reference,), passages)))
    return facts.claims[0].p or 0.0


def score_agreement(query: str, accepted: tuple[str, ...], answer: str) -> float:
    """Mean p that the claims of the main accepted answer are stated."""
    texts = tuple(claim.text for claim in ask(verify_answer(inputs.VerifyAnswer(query, None, answer))).claims)
    own = inputs.list_reference_claims(Example("q", query, references=accepted))
    facts = ask(agree(inputs.Agree(texts, own, query, accepted[1:], answer, accepted[0])))
    return fmean([p or 0.0 for p in facts.reference_p or ()] or [0.0])


def read_sets() -> Iterator[tuple[str, list[Item]]]:
    """Name and items of every set."""
    by_source: dict[str, list[Item]] = {}
    for row in claims():
        by_source.setdefault(row.source, []).append((partial(score_answer, "", row.passages, row.claim), row.supported))
    yield from by_source.items()
    yield (
        "EVOUNA",
        [
            (partial(score_agreement, row.query, row.accepted, row.answers[system]), int(row.right[system]))
            for row in accepted_answers()
            for system in row.answers
        ],
    )
    pairs = json.loads((DATA / "ragchecker_meta/human_labeled_data.json").read_text(encoding="utf-8"))[::2]
    pairs = [pair for pair in pairs if pair["correctness_label"]]
    yield "RAGChecker pairs", [(partial(_difference, pair), int(pair["correctness_label"] > 0)) for pair in pairs]
    yield "TAT-QA", list(_table_answers())
    abstracts = json.loads((DATA / "pubmedqa/ori_pqal.json").read_text(encoding="utf-8")).values()
    texts = {
        "CLAPNQ": [row["passages"][0]["text"] for row in lines("clapnq", "clapnq_dev_answerable.jsonl")],
        "PubMedQA": ["\n".join(row["CONTEXTS"]) for row in abstracts],
    }
    for name, rows in human_answers().items():
        yield name, list(_own_and_other([(*row, text) for row, text in zip(rows, texts[name], strict=True)]))
    for code in LANGUAGES:
        articles = json.loads((DATA / f"xquad/xquad.{code}.json").read_text(encoding="utf-8"))["data"]
        paragraphs = [paragraph["context"] for article in articles for paragraph in article["paragraphs"][:2]]
        rows = [("", split_sentences(text)[len(split_sentences(text)) // 2].text, text) for text in paragraphs]
        yield f"XQuAD {code}", list(_own_and_other(rows))


def _difference(pair: dict[str, Any]) -> float:
    answers = [pair[model]["response"] for model in ("model1", "model2")]
    first, second = (score_agreement(pair["query"], (pair["gt_answer"],), answer) for answer in answers)
    return second - first


def _table_answers() -> Iterator[Item]:
    last: dict[str, str] = {}
    for row in lines("tatqa", "questions.jsonl"):
        parts = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
        answer = f"{', '.join(map(str, parts))} {row['scale']}".strip()
        for text, label in ((answer, 1), (last.get(row["answer_type"], answer), 0)):
            if label or text != answer:
                yield partial(score_reference, row["query"], (row["table"], *row["paragraphs"]), text), label
        last[row["answer_type"]] = answer


def _own_and_other(rows: list[tuple[str, str, str]]) -> Iterator[Item]:
    for n, (query, answer, text) in enumerate(rows):
        yield partial(score_answer, query, (text,), answer), 1
        yield partial(score_answer, query, (rows[n - 1][2],), answer), 0


def read_edits(each: int) -> dict[str, list[tuple[str, str]]]:
    """Kind of edit -> sentences and their passages: four kinds of the second planter, the others of the first."""
    edits = {kind: [item[:2] for source in SOURCES for item in items(kind, source, each // 6)] for kind in ASKED}
    draw = Random(SEED)
    taken = draw.sample(list(contexts()), 4 * each)
    for kind, edit in {"unit": edit_unit, **OTHERS}.items():
        for own in taken:
            context = Context(own.sentences, "\n".join(own.passages), Counter())
            tried = (edit(text, context, draw) for text in own.sentences if PLAIN.fullmatch(text))
            planted = next(filter(None, tried), None)
            if planted is not None and len(edits.setdefault(kind, [])) < each:
                edits[kind].append((planted.text, "\n".join(own.passages)))
    return edits


def _without_kind(kind: str) -> Any:
    find = checks.find_difference
    return patched(checks, "difference", lambda laid: None if (d := find(laid)) is None or d.kind == kind else d)


@contextmanager
def _without_files(*files: str) -> Iterator[None]:
    refusals._read_wordings.cache_clear()
    with patched(refusals, "FILES", tuple(name for name in refusals.FILES if name not in files)):
        yield
    refusals._read_wordings.cache_clear()


def _unmended(*given: Any) -> tabled.TableVerdict:
    return tabled.TableVerdict(given[2], "direct" if given[2].supporting else None)


RULES: dict[str, Callable[[], Any]] = {
    "near-copies": lambda: patched(support, "check", lambda *_: None),
    "stated items": lambda: patched(support.ClaimOverPassages, "least", lambda *_: 0.0),
    "digits nowhere": lambda: patched(support, "ABSENT", 1.0),
    "no shared word": lambda: patched(support, "NOTHING", 1.0),
    "signs": lambda: patched(support, "signs", lambda _: ()),
    "kin": lambda: patched(overlap, "_kin", lambda *given: given[-1]),
    "clauses": lambda: patched(statements, "cut_up", lambda _: ()),
    "tables": lambda: patched(tabled.PassageTables, "mend", _unmended),
    "derived numbers": lambda: patched(tabled.TablePart, "_implied", lambda *_: None),
    "topic of the passages": lambda: patched(verify_reference, "there", lambda *given: given[0]),
    "short answers": lambda: patched(stating, "is_short", lambda _: False),
    "refusals": lambda: _without_files(*refusals.FILES),
    **{f"refusals {name}": partial(_without_files, name) for name in refusals.FILES},
    **{f"near-copy {kind}": partial(_without_kind, kind) for kind in (*ASKED, "unit", *OTHERS)},
}


def measure(sets: dict[str, list[Item]], edits: dict[str, list[tuple[str, str]]]) -> dict[str, float]:
    """AUROC by set, recall by kind of edit, and milliseconds of processor time an item."""
    started = time.process_time()
    figures = {}
    for name, rows in sets.items():
        figures[name] = float(auroc(np.array([label for _, label in rows]), np.array([score() for score, _ in rows])))
    for kind, planted in edits.items():
        hits = [any(claim.label == "contradicted" for claim in judged(text, passage)) for text, passage in planted]
        figures[f"planted {kind}"] = fmean(hits)
    return {**figures, "ms": 1000 * (time.process_time() - started) / sum(map(len, [*sets.values(), *edits.values()]))}


def row(rule: str, figures: dict[str, float], whole: dict[str, float]) -> str:
    """What is lost without the rule: the worst AUROC and recall, time, and what moves by a third of the bar."""
    lost = {name: whole[name] - value for name, value in figures.items()}
    saved = lost.pop("ms")
    edits = {name: change for name, change in lost.items() if name.startswith("planted")}
    auroc_lost, recall_lost = max(lost[name] for name in lost.keys() - edits), max(edits.values())
    earns = "earns its place" if auroc_lost >= MIN_AUROC or recall_lost >= MIN_RECALL else "adds nothing"
    moved = [f"{n} {d:+.3f}" for n, d in lost.items() if abs(d) >= (MIN_RECALL if n in edits else MIN_AUROC) / 3]
    return f"{rule} | {auroc_lost:+.4f} | {recall_lost:+.3f} | {saved:+.2f} | {earns} | {', '.join(moved)}"


def main() -> None:
    """Measures the judge whole, then without each rule."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--rules", nargs="*", default=list(RULES), choices=list(RULES))
    options = parser.parse_args()
    sets = dict(read_sets())
    for name, rows in sets.items():
        size = options.sample // (3 if name.startswith(("XQuAD", "RAGChecker")) else 1)
        sets[name] = Random(SEED).sample(rows, min(len(rows), size))
    edits = read_edits(options.sample // 3)
    measure({"TAT-QA": sets["TAT-QA"]}, edits)  # so that what is read once is read
    whole = measure(sets, edits)
    print("whole: " + ", ".join(f"{name} {value:.3f}" for name, value in whole.items()), flush=True)
    print("without | most AUROC lost | most recall lost | ms saved | | lost (+) or gained (-) where it moves")
    print("---|---:|---:|---:|---|---")
    for rule in options.rules:
        with RULES[rule]():
            print(row(rule, measure(sets, edits), whole), flush=True)


if __name__ == "__main__":
    main()
