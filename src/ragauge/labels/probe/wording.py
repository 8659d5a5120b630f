"""wording: the same question in four other words; the paraphrases of what a model judge is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule


class InstructionParts(NamedTuple):
    """One way to put the task."""

    claims: str  #: how an answer is taken apart.
    verdicts: str  #: what deserves which verdict.
    whole: str  #: what is asked of the answer as a whole.
    given: str  #: how claims that are given are introduced.


INSTRUCTIONS_BY_WAY: Mapping[str, InstructionParts] = {
    "imperative": InstructionParts(
        "Take each numbered sentence of the answer and break it into single facts. Write every fact so that it can be "
        "understood alone, with names in place of pronouns, and add nothing of your own. Greetings, questions, "
        "pointers and refusals hold no fact.",
        "Compare each fact with the passages. Say supported when they state it or it follows directly; contradicted "
        "when they state something else; absent when they do neither, however plausible it is.",
        "Then say of the answer as a whole whether it addresses the question fully, partly or no, right or wrong, and "
        "whether it refuses: it declines to answer or says that the information is missing.",
        "Here are the claims to compare with the passages.",
    ),
    "role": InstructionParts(
        "You are a careful editor. List what each numbered sentence of the answer asserts: one short statement a fact, "
        "complete in itself, true to the sentence. Leave the list empty for a sentence that asserts nothing, such as a "
        "greeting, a question, a reference elsewhere or a refusal.",
        "An assertion is supported if a reader finds it in the passages or must conclude it from them, contradicted if "
        "the passages say otherwise, and absent if they leave it open. What you happen to know, or find likely, does "
        "not count.",
        "Judge the whole answer too. addresses: fully, partly or no, whether or not it is correct. refuses: true if it "
        "gives no answer or says the information is not there.",
        "Check these assertions as that editor.",
    ),
    "questions": InstructionParts(
        "Which facts does each numbered sentence of the answer state? Give them one by one, short, self-contained and "
        "without additions. Does a sentence only greet, ask, point elsewhere or decline? Then it states none.",
        "Do the passages say so, or does it follow directly from them? Then supported. Do they say the opposite or "
        "something that excludes it? Then contradicted. Is there nothing either way, even if it sounds right? Then "
        "absent.",
        "Does the answer as a whole deal with the question: fully, partly or no, no matter whether it is right? Does "
        "it refuse, that is, decline or say that the information is not given?",
        "Ask this of each of the claims.",
    ),
    "brief": InstructionParts(
        "Split each numbered answer sentence into atomic claims: stand-alone, names instead of pronouns, nothing "
        "added. No claims for greetings, questions, pointers, refusals.",
        "supported = stated in the passages or following directly. contradicted = the passages say otherwise. absent = "
        "neither, plausible guesses included.",
        "Whole answer: addresses = fully, partly, no (right or wrong alike); refuses = declines or says the "
        "information is not there.",
        "Claims:",
    ),
}


def _build_templates(parts: InstructionParts) -> Mapping[str, str]:
    return {
        "verify_answer": (f"{parts.claims}\n{parts.verdicts}\n{parts.whole}\n{{question}}\n{{passages}}\n{{answer}}"),
        "verify_claims": f"{parts.verdicts}\n{{question}}\n{{passages}}\n{parts.given}\n{{claims}}",
        "list_claims": f"{parts.claims}\n{parts.whole}\n{{question}}\n{{answer}}",
    }


# name of a way -> name of a prompt -> template, as a user's own wording is written
PARAPHRASES: Mapping[str, Mapping[str, str]] = {
    name: _build_templates(parts) for name, parts in INSTRUCTIONS_BY_WAY.items()
}


def reword_instruction(examined: ExaminedRow, _: ProbePool) -> Sequence[Change]:
    """Every example by every paraphrase."""
    return tuple(Change(name, examined.inputs, examined.spans, templates) for name, templates in PARAPHRASES.items())


PROBE = Probe(
    ProbeRule(
        "wording",
        "prompt_consistency",
        "wording of the instruction, four paraphrases",
        "the same verdict",
        "flip",
        "Verdicts depend on how the question is worded. Check the judge against labels (ragauge judge "
        "check), use the instruction that agrees best with them (prompts=FILE), and keep it.",
        complement=True,
    ),
    ("answers", "wording"),
    reword_instruction,
)
