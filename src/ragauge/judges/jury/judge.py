"""A jury: several judges asked side by side, each by its own means, and one verdict of what they say.

What a report says about a jury: who sits in it and how its verdicts come about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, fields

from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import JudgeError, UsageError
from ragauge.core.facts import JudgeFacts
from ragauge.core.providers import find_provider
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import AskGenerator, Judge, can_ask_models, reword_judge
from ragauge.judges.jury.vote_aggregation import merge_facts
from ragauge.judges.model.judge import LIMITS as MODEL_LIMITS
from ragauge.scores.results.scorecard import JudgeNote

PREFIX = "jury:"
VERSION = 1  # of how votes become facts
COMBINE_METHOD = "majority"  # stands in the id
MIN_MEMBERS = 2
# before a further judge: local, or a word and a colon; a plus inside a model's name is followed by neither
MEMBER_SEPARATOR = re.compile(r"\+(?=local(?:[+,]|$)|[A-Za-z_][\w.-]*:(?!//))")


def parse_members(spec: str) -> tuple[str, ...]:
    """The judges that a jury's spec names.

    Raises:
        UsageError: too few members, one twice, or a setting that a jury does not have.

    >>> parse_members("jury:local+openai:a,mode=per_claim+anthropic:b")
    ('local', 'openai:a,mode=per_claim', 'anthropic:b')
    """
    body = spec.removeprefix(PREFIX).removesuffix(f",combine={COMBINE_METHOD}")
    if match := re.search(r",(combine|weights)=", body):
        raise UsageError(f"--judge {spec}: a jury decides by majority and has no setting {match[1]}. Remove it.")
    members = tuple(member.strip() for member in MEMBER_SEPARATOR.split(body))
    if len(members) < MIN_MEMBERS or not all(members):
        raise UsageError(
            f"--judge {spec}: a jury needs at least {MIN_MEMBERS} judges. Write jury:local+openai:MODEL+…."
        )
    if len(set(members)) < len(members):
        raise UsageError(f"--judge {spec}: a judge is listed twice. List each judge once.")
    return members


@dataclass(frozen=True, slots=True)
class MemberAsk(Ask):
    """What one member of a jury asks."""

    member: int = 0  #: its place in the jury.


class JuryJudge:
    """Members answer apart and see nothing of each other; what they say is put together by sentences.

    Of each sentence of an answer, reference claim, passage and aspect most decide. A member that fails has no vote, and
    a verdict stands where that vote could not turn it. Vectors are those of the first member that has them.
    """

    def __init__(self, members: Sequence[Judge]) -> None:
        self.members = tuple(members)

    @staticmethod
    def of(spec: str, build: Callable[[str], Judge]) -> JuryJudge:
        """The jury that a spec names.

        Args:
            spec: as `parse_members` reads it.
            build: makes a judge from its spec.

        Raises:
            UsageError: a member that needs a store, or is a jury.
        """
        names = parse_members(spec)
        if any(name.startswith(PREFIX) for name in names):
            raise UsageError(f"--judge {spec}: a jury cannot be a member of a jury. List its members instead.")
        members = tuple(build(name) for name in names)
        kind = ModelJury if any(map(can_ask_models, members)) else JuryJudge
        return kind(members)

    @property
    def judge_id(self) -> str:
        """Such as "jury:local:overlap-4-3f9a0c21+openai:gpt-5-mini#5b0c1f7e,majority": all members' ids."""
        return f"{PREFIX}{'+'.join(member.judge_id for member in self.members)},{COMBINE_METHOD}"

    def version(self, question: str) -> int:
        """Of the jury and its members in one number, which rises with each of them."""
        return VERSION + sum(member.version(question) for member in self.members if member.answers(question))

    def answers(self, question: str) -> bool:
        """Whether a member can answer the question at all."""
        return any(member.answers(question) for member in self.members)

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        """Every member's asks in one list, until all have answered.

        Vectors come before chats: who decides by vectors what to ask a model then asks it together with the others.

        Raises:
            JudgeError: no member answered.
        """
        answering = [n for n, member in enumerate(self.members) if member.answers(inputs.question)]
        sessions = {n: _MemberSession(self.members[n].ask(inputs, judge_repeat)) for n in answering}
        while waiting := [n for n in answering if not sessions[n].done]:
            ready = [n for n in waiting if all(ask.kind == "embed" for ask in sessions[n].asks)] or waiting
            asks: list[Ask] = [_tag_ask(ask, n) for n in ready for ask in sessions[n].asks]
            replies = (yield asks) if asks else []
            start = 0
            for n in ready:
                end = start + len(sessions[n].asks)
                sessions[n].receive_replies(replies[start:end])
                start = end
        facts_by_member = {n: facts for n in answering if (facts := sessions[n].facts) is not None}
        if not facts_by_member:
            reasons = "; ".join(dict.fromkeys(sessions[n].reason for n in answering))
            raise JudgeError(f"no member of the jury answered {inputs.question}: {reasons}")
        return merge_facts(inputs, tuple(facts_by_member.values()), len(answering) - len(facts_by_member))

    def reworded(self, templates: Mapping[str, str]) -> JuryJudge | None:
        """The same jury whose members are asked by other templates where they can be; None where none can."""
        worded = [reword_judge(member, templates) for member in self.members]
        if not any(worded):
            return None
        return type(self)([new or old for new, old in zip(worded, self.members, strict=True)])


class ModelJury(JuryJudge):
    """A jury of which a member asks models."""

    def model_of(self, ask: Ask) -> ModelName | None:
        """Who answers a chat ask: the model of the member that asks it."""
        return self._find_model(ask, "model_of")

    def embedder_of(self, ask: Ask) -> ModelName | None:
        """Who answers an embed ask; None = the embedded embedder."""
        return self._find_model(ask, "embedder_of")

    def models(self) -> tuple[ModelName, ...]:
        """Every model that may be asked."""
        return tuple(
            dict.fromkeys(name for member in self.members if can_ask_models(member) for name in member.models())
        )

    def _find_model(self, ask: Ask, method_name: str) -> ModelName | None:
        find_name = getattr(self.members[ask.member], method_name, None) if isinstance(ask, MemberAsk) else None
        model_name: ModelName | None = None if find_name is None else find_name(ask)
        return model_name


class _MemberSession:
    """A member's question on its way to its end.

    Attributes:
        asks: what it asks now.
        facts: what it found; None where it failed.
        reason: why it failed.
        done: it has ended.
    """

    def __init__(self, asking: Generator[list[Ask], list[Reply], JudgeFacts]) -> None:
        self._asking = asking
        self.asks: list[Ask] = []
        self.facts: JudgeFacts | None = None
        self.reason, self.done, self._begun = "", False, False
        self.receive_replies([])

    def receive_replies(self, replies: list[Reply]) -> None:
        """Takes in the replies to what it asks, and asks on or ends; an error is the member's failure."""
        try:
            self.asks = self._asking.send(replies) if self._begun else next(self._asking)
            self._begun = True
        except StopIteration as ended:
            self.facts, self.done = ended.value, True
        except Exception as error:
            self.reason, self.done = f"{type(error).__name__}: {error}", True


def _tag_ask(ask: Ask, n: int) -> MemberAsk:
    return MemberAsk(**{ask_field.name: getattr(ask, ask_field.name) for ask_field in fields(Ask)}, member=n)


LIMITS = (
    "Members that make the same error outvote one that does not, and judges of one model family make similar errors.",
    "Each sentence is one claim here, supported only if a member finds all of it supported, so scores are lower than "
    "those of judges that count the claims of a sentence separately.",
)


def build_judge_note(judge_id: str, spec: str, versions: Mapping[str, tuple[int, ...]]) -> JudgeNote:
    """What is to be said of a jury.

    Args:
        judge_id: whose verdicts.
        spec: the text that it is built from; "" where it is not known.
        versions: question -> the versions in which it was asked.
    """
    ids = judge_id.removeprefix(PREFIX).removesuffix(f",{COMBINE_METHOD}")
    members = parse_spec_members(spec) or tuple(MEMBER_SEPARATOR.split(ids))
    questions = ", ".join(f"{question} {'/'.join(map(str, numbers))}" for question, numbers in versions.items())
    sentences = [
        f"A jury of {len(members)} judges: {'; '.join(members)}. Each is asked separately. The majority decides, "
        "and if they differ, the share is the probability.",
        f"Judge questions, with the summed versions of all members: {questions}." if questions else "",
    ]
    steered = any(find_provider(member.removeprefix("hybrid:")) for member in members)
    limits = (*MODEL_LIMITS, *LIMITS) if steered else LIMITS
    return JudgeNote(judge_id, " ".join(sentence for sentence in sentences if sentence), limits)


def parse_spec_members(spec: str) -> tuple[str, ...]:
    """The members that a spec names; () for none."""
    return parse_members(spec) if spec else ()
