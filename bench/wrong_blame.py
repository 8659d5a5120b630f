"""Whom the local judge blames where it is known who is to blame, and how often it says that it cannot tell.

python bench/wrong_blame.py [SET ...]     on every set with gold passages; about two minutes
python bench/wrong_blame.py --write       writes the table in docs/local-judge.md, too

Four kinds of examples of every set. *Sound*: gold passages, the right answer; no one is to blame. *Spoilt*: gold
passages, and the answer of another question or a copy of the right one with something altered; the generator is to
blame. *Missed*: passages of other questions, and an answer from them; retrieval is to blame, with the gold documents
labelled and without labels.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from evidence_data import SETS, Asked, asked
from judge_data import content
from planted_edits import EDITS
from planter import Context

from ragauge.analysis.causes.attribute import attribute
from ragauge.analysis.results.scorecard import Cause
from ragauge.data.example import Example, Relevant
from ragauge.data.facts import Evidence, FactsOf
from ragauge.data.response import Passage, Response
from ragauge.engine.embed_answers import EmbedAnswers
from ragauge.engine.judges import build_judge
from ragauge.judging.inputs import inputs_for
from ragauge.judging.judge import Judge, drive
from ragauge.metrics.facts import Facts
from ragauge.text.sentences import split

PAGE = Path(__file__).resolve().parents[1] / "docs/local-judge.md"
MARKS = "<!-- blame, written by bench/wrong_blame.py: begin -->", "<!-- blame: end -->"
QUESTIONS = ("verify_answer", "verify_reference", "rate_passages", "agree")
MOST = 300     # questions of a set
HEAD = "set | examples | of | failed | blamed on retrieval | on generation | undecided | undecided of the failed"


def facts(judge: Judge, answering: EmbedAnswers, one: Asked, answer: str, passages: Sequence[str], gold: bool) -> Facts:
    """What the judge finds about one answer; `gold`: the gold documents are labelled."""
    handed = tuple(Passage(f"p{n}", _name(one, text), text) for n, text in enumerate(passages, 1))
    labels = tuple(Relevant((_name(one, text),)) for text in one.gold) if gold else None
    example = Example(one.query_id, one.query, references=(one.reference,), relevant=labels)
    response = Response(one.query_id, passages=handed, answer=answer)
    found: dict[str, FactsOf] = {}
    evidence: dict[str, Evidence] = {}
    for question in QUESTIONS:
        inputs = inputs_for(question, example, response, found)
        if inputs is not None:
            found[question] = drive(judge.ask(inputs), answering)
            evidence[question] = Evidence("", question, 1, judge.judge_id, "ok", found[question])
    return Facts(example, response, evidence)


def _name(one: Asked, text: str) -> str:
    return f"gold{one.gold.index(text)}" if text in one.gold else f"other{one.others.index(text)}"


def kinds(one: Asked, other: str, rng: Random) -> Iterator[tuple[str, str, tuple[str, ...], bool]]:
    """Kind, answer, passages, whether gold documents are labelled."""
    yield "sound", one.answer, one.gold, False
    yield "another answer", other, one.gold, False
    altered = _altered(one, rng)
    if altered:
        yield "altered copy", altered, one.gold, False
    if one.others:
        copied = split(one.others[0])
        answer = copied[rng.randrange(len(copied))].text if copied else one.others[0]
        yield "missed, labelled", answer, one.others, True
        yield "missed, no labels", answer, one.others, False


def _altered(one: Asked, rng: Random) -> str:
    """A sentence of the gold passages with one thing altered, by the planter of `planted_edits`; "" where none fits."""
    sentences = tuple(sentence.text for text in one.gold for sentence in split(text))
    context = Context(sentences, "\n".join(one.gold), Counter(re.findall(r"\b[a-z]+", " ".join(one.gold))))
    wanted = set(content(one.answer))
    for sentence in sorted(sentences, key=lambda text: (-len(wanted.intersection(content(text))), text)):
        for edit in rng.sample(list(EDITS.values()), len(EDITS)):
            planted = edit(sentence, context, rng)
            if planted is not None:
                return planted.text
    return ""


def counted(source: str, judge: Judge, answering: EmbedAnswers) -> dict[str, Counter[str]]:
    """Kind -> who is blamed -> examples."""
    drawn, rng = asked(source, MOST, seed=7), Random(7)
    table: dict[str, Counter[str]] = {}
    for n, one in enumerate(drawn):
        other = drawn[(n + 1) % len(drawn)].answer
        for kind, answer, passages, gold in kinds(one, other, rng):
            cause = attribute(facts(judge, answering, one, answer, passages, gold))
            table.setdefault(kind, Counter())[blamed(cause)] += 1
    return table


def blamed(cause: Cause | None) -> str:
    """The component to blame; "none" = it did not fail, "unnamed" = no row applies."""
    if cause is None:
        return "none"
    return {"": "unnamed", "data": "retrieval"}.get(cause.component, cause.component)


def line(source: str, kind: str, who: Counter[str]) -> str:
    """One row of the table."""
    n, failed = who.total(), who.total() - who["none"]
    cells = [f"{who[name] / n:.1%}" for name in ("retrieval", "generation", "undecided")]
    share = f"{who['undecided'] / failed:.0%}" if failed else "–"
    return f"{source} | {kind} | {n} | {failed / n:.1%} | {' | '.join(cells)} | {share}"


def main() -> int:
    """Prints, and writes where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help=", ".join(SETS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    judge, answering = build_judge("local"), EmbedAnswers()
    assert judge is not None
    lines = [HEAD, "---|---|---:|---:|---:|---:|---:|---:"]
    for source in options.sets or SETS:
        lines += [line(source, kind, who) for kind, who in counted(source, judge, answering).items()]
        print("\n".join(lines[-5:]), flush=True)
    if options.write and not options.sets:
        page, (begin, end) = PAGE.read_text(encoding="utf-8"), MARKS
        block = f"{begin}\n\n" + "\n".join(lines) + f"\n\n{end}"
        PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: block, page, flags=re.DOTALL), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
