"""verify_answer: the claims of an answer, their support, whether it addresses the question, whether it declines."""

from __future__ import annotations

from itertools import chain

from ragauge.data.facts import AnswerFacts, Claim
from ragauge.judging.cosines import cosines
from ragauge.judging.inputs import VerifyAnswer
from ragauge.judging.judge import Asking
from ragauge.judging.local.address import LOOKED_AT, address
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.relevance import embed
from ragauge.judging.local.statements import Part, bare, parts, statements
from ragauge.judging.local.support import Evidence, Weighed
from ragauge.judging.local.tabled import Tabled
from ragauge.judging.local.weighing import weighed

VERSION = 1


def verify_answer(inputs: VerifyAnswer, judge_repeat: int = 0) -> Asking:
    """A claim is a clause of a sentence that states something; greetings, questions, pointers and refusals are none.

    Support is direct, but for amounts that follow from others by one operation: these are implied. With passages
    recorded but none there, every claim is unsupported. An answer that declines as a whole claims nothing.
    """
    said = statements(inputs.answer)
    cosine = None
    if said.claims and inputs.query.strip():
        (reply,) = yield [embed("verify_answer", VERSION, (inputs.query, said.shown[:LOOKED_AT]), judge_repeat)]
        (cosine,) = cosines(reply, 1)
    mode = mode_of((inputs.query, inputs.answer))
    addressed = address(inputs.query, said, inputs.answer, cosine, mode)
    cut = [parts(sentence) for sentence in said.claims]
    if inputs.passages is None:
        plain = [
            Claim(n, one.text, one.start, one.end, within=one.within)
            for n, one in enumerate(chain.from_iterable(cut), 1)
        ]
        return AnswerFacts(tuple(plain), addressed.label, said.refuses, support_asked=False, address_p=addressed.p)
    whole = [bare(sentence.text) for sentence in said.claims]
    evidence, tabled = Evidence(inputs.passages, whole), Tabled(inputs.query, inputs.passages)
    verdicts = [weighed(sentence, own, evidence) for sentence, own in zip(whole, cut, strict=True)]
    pairs = zip(chain.from_iterable(cut), chain.from_iterable(verdicts), strict=True)
    claims = tuple(_claim(n, part, found, tabled) for n, (part, found) in enumerate(pairs, 1))
    return AnswerFacts(claims, addressed.label, said.refuses, address_p=addressed.p)


def _claim(n: int, part: Part, words: Weighed, tabled: Tabled) -> Claim:
    found, strength = tabled.mend(part.text, words)
    return Claim(
        n=n,
        text=part.text,
        start=part.start,
        end=part.end,
        supporting=found.supporting,
        joint=found.joint,
        contradicting=found.contradicting,
        strength=strength,
        p=found.p,
        window=found.window,
        reason=found.reason,
        within=part.within,
    )
