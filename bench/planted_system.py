"""Faults planted in the reference system: how often a failure is blamed on the right part, and for the right cause.

    python bench/planted_system.py            # prints the table; exit 1 below the floors
    python bench/planted_system.py --write    # the same, and puts the table into docs/planted-faults.md
    python bench/planted_system.py --check    # exit 1 below the floors, or when the page says something else
    python bench/planted_system.py --misses scripted   # also prints every case that counts as wrong, or: local

Every fault is planted in the answers to all questions of the demo, one at a time. It counts where it changed the
outcome: the passages were right and are now wrong, or the answer was right and is now wrong, both by the known facts
(`tests/planted/known_facts.py`): passages are right when every labelled document came and every gold span stands
whole in one of them; an answer is right when it states every reference claim and nothing that stands in no passage, or
refuses an unanswerable question.

The cause is right when it is one of those that the fault's class names; the component is right when it is that of one
of them. Two judges: the scripted one, whose verdicts are the known facts, and the local judge.

False blame on the clean system is the share of all questions with a cause where no fact says that anything failed
(passages and answer right), or with a cause whose component is not where the facts put the failure: retrieval or data
when the passages are wrong, generation when they are right.

Floors, for the scripted judge: over all counted faults together 90 % right component and 90 % right cause; false blame
under 5 %.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Evidence, JudgeFacts
from ragauge.core.response import Response
from ragauge.diagnosis.causes.attribution import ROWS_BY_NAME, attribute_failure
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.evaluation.demo.demo_systems import read_documents, read_eval_set
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import answer_asks
from ragauge.metrics.facts import Facts
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.faults.demo_faults import DONORS
from tests.faults.generation import AnswerAnyway, IgnoreFirst, RefuseAnyway
from tests.faults.reference_faults import (
    ChangeNumber,
    DropGold,
    Fault,
    FindNothing,
    IgnorePassages,
    InventNumber,
    PushGoldLow,
)
from tests.faults.retrieval import ShuffleRanking
from tests.faults.sources import CutEvidence, ServeSuperseded
from tests.planted.known_facts import KnownFacts

PAGE = Path(__file__).resolve().parents[1] / "docs/planted-faults.md"
BEGIN = "<!-- table, written by bench/planted_system.py: begin -->\n"
END = "<!-- table: end -->"
LEAST, MOST_BLAME = 0.90, 0.05
QUESTIONS = ("verify_answer", "verify_reference", "rate_passages", "agree")
NONE, UNNAMED = "no failure", "no cause"
SEEDS = 4
MOVED = 0.03  # how far a share of the local judge may move before the page is stale
Judging = Callable[[Example, Response, Response], Mapping[str, Evidence]]


@dataclass(frozen=True, slots=True)
class Named:
    """What was said about one response.

    Attributes:
        query_id: of the question.
        cause: its name, or what stands for none.
        told: what decided it.
        right_cause: as the bench counts.
        right_component: as the bench counts.
    """

    query_id: str
    cause: str
    told: str
    right_cause: bool
    right_component: bool


@dataclass(slots=True)
class Planted:
    """One fault over all questions.

    Attributes:
        fault: what was planted.
        struck: responses that it spoilt.
        changed: of those, responses with another outcome.
        whole: of those, responses to questions where passages and answer were right before.
        named: judge -> what it led to, one a changed outcome.
    """

    fault: Fault
    struck: int = 0
    changed: int = 0
    whole: int = 0
    named: dict[str, list[Named]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Clean:
    """The honest system under one judge.

    Attributes:
        n: questions.
        failed: questions where the facts say that something failed.
        blamed: cases of false blame.
    """

    n: int
    failed: int
    blamed: tuple[Named, ...]

    @property
    def share(self) -> float:
        """False blame among all questions."""
        return len(self.blamed) / self.n


def faults() -> tuple[Fault, ...]:
    """Every fault, on every question that it can strike."""
    return (
        DropGold(),
        PushGoldLow(),
        ShuffleRanking(),
        FindNothing(),
        CutEvidence(),
        ServeSuperseded(pages=read_documents()),
        IgnoreFirst(),
        IgnorePassages(donors=DONORS),
        InventNumber(),
        ChangeNumber(),
        RefuseAnyway(),
        AnswerAnyway(),
    )


class Bench:
    """The demo with its honest answers, and the two judges."""

    def __init__(self, *, local: bool = True) -> None:
        pages = read_documents()
        self.examples = read_eval_set().examples
        self.system = ReferenceRag(ReferenceConfig(), pages, WordLlamaEmbedder().embed)
        self.known = KnownFacts(pages)
        self.honest = {example.query_id: self.system.respond(example) for example in self.examples}
        self.judges: dict[str, Judging] = {"scripted": self.known.evidence}
        if local:
            self.judges["local"] = local_judge()

    def planted(self, fault: Fault, judges: Mapping[str, Judging] | None = None) -> Planted:
        """One fault over all questions, under the two judges or others."""
        judges = self.judges if judges is None else judges
        found = Planted(fault, named={judge: [] for judge in judges})
        for example in self.examples:
            honest = self.honest[example.query_id]
            spoilt = fault.inject_fault(example, honest, self.system)
            if spoilt is None:
                continue
            found.struck += 1
            before, after = self._right(example, honest), self._right(example, spoilt)
            if not any(was and not now for was, now in zip(before, after, strict=True)):
                continue
            found.changed += 1
            found.whole += all(before)
            for judge, judging in judges.items():
                found.named[judge].append(_named(example, spoilt, judging(example, spoilt, honest), fault.causes))
        return found

    def clean(self, judging: Judging) -> Clean:
        """False blame on the honest system."""
        blamed, failed = [], 0
        for example in self.examples:
            honest = self.honest[example.query_id]
            passages, answer = self._right(example, honest)
            failed += not (passages and answer)
            expected = () if passages and answer else ("generation",) if passages else ("retrieval", "data")
            cause = attribute_failure(Facts(example, honest, judging(example, honest, honest)))
            if cause is not None and cause.component not in expected and (cause.name or not expected):
                blamed.append(Named(example.query_id, cause.name or UNNAMED, cause.decided_by, False, False))
        return Clean(len(self.examples), failed, tuple(blamed))

    def _right(self, example: Example, response: Response) -> tuple[bool, bool]:
        honest = self.honest[example.query_id]
        return self.known.passages_right(example, response), self.known.answer_right(example, response, honest)


def local_judge() -> Judging:
    """The local judge, asked as an evaluation asks it."""
    judge, answering = build_judge("local"), EmbedAnswers()

    def asked(example: Example, response: Response, _honest: Response) -> Mapping[str, Evidence]:
        found: dict[str, JudgeFacts] = {}
        for question in QUESTIONS:
            inputs = build_inputs(question, example, response, found)
            if inputs is not None:
                found[question] = answer_asks(judge.ask(inputs), answering)
        return {name: Evidence(name, name, 1, judge.judge_id, "ok", facts) for name, facts in found.items()}

    return asked


def without_address(judging: Judging) -> Judging:
    """A judge that never says whether an answer addresses the question; refusals are told as before."""

    def asked(example: Example, response: Response, honest: Response) -> Mapping[str, Evidence]:
        found = dict(judging(example, response, honest))
        facts = found["verify_answer"].facts
        if isinstance(facts, AnswerFacts) and not facts.refuse:
            found["verify_answer"] = replace(found["verify_answer"], facts=replace(facts, address=None))
        return found

    return asked


def reservations(bench: Bench) -> str:
    """What the figures of the scripted judge hang on: one draw of the shuffle, and its verdict on the address."""
    judge = {"scripted": bench.judges["scripted"]}
    draws = [rates([bench.planted(ShuffleRanking(seed=seed), judge)], "scripted")[1] for seed in range(SEEDS)]
    silent = {"scripted": without_address(bench.judges["scripted"])}
    part, right = rates([bench.planted(IgnoreFirst(), silent)], "scripted")
    blame = bench.clean(silent["scripted"]).share
    return (
        f"Right cause of shuffle_ranking by seed, 0 to {SEEDS - 1}: {', '.join(f'{share:.0%}' for share in draws)}.  \n"
        f"Without a verdict on whether the answer addresses the question: ignore_first {part:.0%} right component, "
        f"{right:.0%} right cause; false blame {blame:.1%}."
    )


def _named(example: Example, response: Response, evidence: Mapping[str, Evidence], causes: Sequence[str]) -> Named:
    cause = attribute_failure(Facts(example, response, evidence))
    if cause is None:
        return Named(example.query_id, NONE, "", False, False)
    components = {ROWS_BY_NAME[name].component for name in causes}
    return Named(
        example.query_id, cause.name or UNNAMED, cause.decided_by, cause.name in causes, cause.component in components
    )


def rates(planted: Sequence[Planted], judge: str) -> tuple[float, float]:
    """Right components and right causes among all counted faults."""
    named = [one for fault in planted for one in fault.named[judge]]
    return _share([one.right_component for one in named]), _share([one.right_cause for one in named])


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0


def table(planted: Sequence[Planted], clean: Mapping[str, Clean]) -> str:
    """The figures as they stand in the page."""
    heads = ["fault", "struck", "changed the outcome", "all right before", "component", "cause"]
    heads += ["local judge: component", "local judge: cause"]
    lines = [" | ".join(heads), "|".join(["---", *["---:"] * (len(heads) - 1)])]
    lines += [_line(one.fault.name, [one]) for one in planted]
    lines += [_line("**all**", planted), ""]
    for judge, found in clean.items():
        lines.append(
            f"False blame on the clean system, {judge} judge: {len(found.blamed)} of {found.n} questions "
            f"({found.share:.1%}); the facts say that {found.failed} failed.  "
        )
    return "\n".join(lines).strip()


def _line(name: str, planted: Sequence[Planted]) -> str:
    counts = [sum(getattr(one, count) for one in planted) for count in ("struck", "changed", "whole")]
    shares = [f"{share:.0%}" for judge in planted[0].named for share in rates(planted, judge)]
    return " | ".join([name, *map(str, counts), *shares])


def problems(planted: Sequence[Planted], clean: Mapping[str, Clean]) -> list[str]:
    """What lies below its floor with the scripted judge."""
    found = []
    for what, share in zip(("component", "cause"), rates(planted, "scripted"), strict=True):
        if share < LEAST:
            found.append(f"the right {what} is named in {share:.1%}; it has to be {LEAST:.0%}")
    if clean["scripted"].share >= MOST_BLAME:
        found.append(f"false blame is {clean['scripted'].share:.1%}; it has to be under {MOST_BLAME:.0%}")
    return found


def stale(old: str, new: str) -> bool:
    """Whether the page's table says something else, beyond what a share may move."""
    numbers = re.compile(r"\d+(?:\.\d+)?%?")
    if numbers.sub("#", old) != numbers.sub("#", new):
        return True
    return any(_differ(one, other) for one, other in zip(numbers.findall(old), numbers.findall(new), strict=True))


def _differ(one: str, other: str) -> bool:
    if one.endswith("%"):
        return abs(float(one[:-1]) - float(other[:-1])) > 100 * MOVED
    return abs(int(one) - int(other)) > max(1, MOVED * int(one))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints, writes or checks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--check", action="store_true", help="exit 1 when the page is stale")
    parser.add_argument("--misses", choices=("scripted", "local"), help="print what counts as wrong with this judge")
    asked = parser.parse_args(arguments)
    bench = Bench()
    planted = [bench.planted(fault) for fault in faults()]
    clean = {judge: bench.clean(judging) for judge, judging in bench.judges.items()}
    shown = f"{table(planted, clean)}\n\n{reservations(bench)}"
    print(shown)
    if asked.misses:
        wrong = [(one.fault.name, name) for one in planted for name in one.named[asked.misses] if not name.right_cause]
        for what, miss in [*wrong, *(("clean", miss) for miss in clean[asked.misses].blamed)]:
            print(f"{what} {miss.query_id}: {miss.cause}: {miss.told}")
    found = problems(planted, clean)
    if asked.write or asked.check:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        inside, _, after = rest.partition(END)
        if asked.write:
            PAGE.write_text(f"{before}{BEGIN}\n{shown}\n\n{END}{after}", encoding="utf-8")
        elif stale(inside.strip(), shown):
            found.append("docs/planted-faults.md says something else; write it again with --write")
    for problem in found:
        print(f"planted_system: {problem}.", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
