"""verify_answer: the claims of an answer, their support, whether it addresses the question, whether it declines."""

from __future__ import annotations

from ragauge.data.facts import AnswerFacts, Claim
from ragauge.judging.cosines import cosines
from ragauge.judging.inputs import VerifyAnswer
from ragauge.judging.judge import Asking
from ragauge.judging.local.address import LOOKED_AT, address
from ragauge.judging.local.index import mode_of
from ragauge.judging.local.relevance import embed
from ragauge.judging.local.statements import bare, statements
from ragauge.judging.local.support import Evidence
from ragauge.text.sentences import Sentence

VERSION = 1


def verify_answer(inputs: VerifyAnswer, judge_repeat: int = 0) -> Asking:
    """A claim is a sentence that states something; greetings, questions, pointers and refusals are none.

    Support is always direct: what is only implied is not seen. With passages recorded but none there, every claim is
    unsupported. An answer that declines as a whole claims nothing.
    """
    said = statements(inputs.answer)
    cosine = None
    if said.claims and inputs.query.strip():
        (reply,) = yield [embed("verify_answer", VERSION, (inputs.query, said.shown[:LOOKED_AT]), judge_repeat)]
        (cosine,) = cosines(reply, 1)
    mode = mode_of((inputs.query, inputs.answer))
    addressed = address(inputs.query, said, inputs.answer, cosine, mode)
    texts = [bare(sentence.text) for sentence in said.claims]
    pairs = enumerate(zip(texts, said.claims, strict=True), 1)
    if inputs.passages is None:
        plain = tuple(Claim(n, text, s.start, s.end) for n, (text, s) in pairs)
        return AnswerFacts(plain, addressed.label, said.refuses, support_asked=False, address_p=addressed.p)
    evidence = Evidence(inputs.passages, texts)
    claims = tuple(_weighed(n, text, sentence, evidence) for n, (text, sentence) in pairs)
    return AnswerFacts(claims, addressed.label, said.refuses, address_p=addressed.p)


def _weighed(n: int, text: str, sentence: Sentence, evidence: Evidence) -> Claim:
    found = evidence.weigh(text)
    return Claim(
        n=n,
        text=text,
        start=sentence.start,
        end=sentence.end,
        supporting=found.supporting,
        joint=found.joint,
        contradicting=found.contradicting,
        strength="direct" if found.supporting else None,
        p=found.p,
        window=found.window,
        reason=found.reason,
    )
