"""Whether an answer meets a pass or fail statement about it, such as "mentions the 30-day limit".

A criterion is taken apart: its subject is left out ("The answer should …"), a denial is remembered ("does not …"), and
the rest is checked where that can be done exactly, or is to be mentioned. All else takes reading and has no verdict.

cover_aspects and cover_criteria: which aspects of the question the answer addresses, which criteria it meets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from math import inf

from ragauge.core.ask import Reply
from ragauge.core.criterion import CriterionVerdict
from ragauge.core.facts import CoverFacts, CriteriaFacts
from ragauge.judges.inputs import CoverAspects, CoverCriteria, MeetCriteria
from ragauge.judges.judge import Asking
from ragauge.judges.local.answer_type import carries, wanted_kind
from ragauge.judges.local.index import Mode, mode_of
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.relevance import PreparedQuestion, chosen, embed, language_of
from ragauge.judges.local.short_answers import AnswerClaim, ReferencePart, plain_units, readings
from ragauge.judges.local.statements import bare, statements
from ragauge.judges.similarity import cosine_scale, standard_table
from ragauge.text.language import guess
from ragauge.text.patterns import ADDRESS, BRACKETED, BULLET, MARKDOWN, matches
from ragauge.text.sentences import split
from ragauge.text.specifics import DATE, EXACT, NAME, NUMBER, PERCENT, Kind, find
from ragauge.text.tokens import answer_tokens
from ragauge.text.word_files import read_patterns, read_words

ASPECTS_VERSION, CRITERIA_VERSION = 1, 2
LONGEST = 500  # characters of a criterion that are read
MOST_SENTENCES = 200  # of an answer that are looked at

WORDS, FORMS = read_words(__file__, "criteria"), read_patterns(__file__, "criteria")
LANGUAGES, SPELLED = (
    dict(entry.split() for entry in WORDS[kind].replace("\n", ",").split(",") if entry.strip())
    for kind in ("languages", "numbers")
)
MONEY = frozenset("$€£¥₹₩₽") | {"CHF", "cents"}

COUNTED: Mapping[str, Callable[[str], int]] = {
    "word": lambda text: len(FORMS["word"].findall(text)),
    "sentence": lambda text: sum(FORMS["word"].search(sentence.text) is not None for sentence in split(text)),
    "character": lambda text: len(text.strip()),
    "letter": lambda text: sum(map(str.isalpha, text)),
    "paragraph": lambda text: sum(bool(block.strip()) for block in re.split(r"\n\s*\n", text)),
    "line": lambda text: sum(bool(line.strip()) for line in text.splitlines()),
    "bullet": lambda text: sum(BULLET.match(line) is not None for line in text.splitlines()),
}
LIMITS: Mapping[str, Callable[[int], tuple[int, float]]] = {  # in the order in which they are tried
    "most": lambda n: (0, n),
    "below": lambda n: (0, n - 1),
    "least": lambda n: (n, inf),
    "above": lambda n: (n + 1, inf),
    "exactly": lambda n: (n, n),
}


def holds(text: str, kinds: Collection[Kind]) -> bool:
    """Whether a text has a specific of one of these kinds."""
    return bool(find(text, kinds))


def names_money(text: str) -> bool:
    """Whether a text names an amount of money."""
    return any(mark.unit in MONEY for mark in find(text, NUMBER))


# of kinds that no single pattern shows
CHECKS: Mapping[str, Callable[[str], bool]] = {
    "cites": lambda text: any(sign.search(text) for sign in (BRACKETED, ADDRESS, FORMS["sign_cites"])),
    "link": lambda text: ADDRESS.search(text) is not None,
    "bullets": lambda text: COUNTED["bullet"](text) > 0,
    "markdown": lambda text: MARKDOWN.search(text) is not None,
    "number": lambda text: holds(text, EXACT),
    "percentage": lambda text: holds(text, PERCENT),
    "date": lambda text: holds(text, DATE),
    "price": names_money,
    "json": lambda text: matches("json_block", text),
}


_KINDS: dict[str, Callable[[str], bool]] = {
    "money": lambda text: names_money(text) or holds(text, PERCENT),
    "date": lambda text: holds(text, DATE) or FORMS["day"].search(text) is not None,
    "year": lambda text: FORMS["sign_year"].search(text) is not None,
    "amount": lambda text: holds(text, EXACT),
    "name": lambda text: holds(text, NAME),
}
KINDS = {unit: _KINDS[kind] for kind, nouns in WORDS["kinds"].items() for unit in plain_units(nouns)}


def checked(criterion: str, answer: str) -> bool | None:
    """Whether the answer meets a criterion that can be checked exactly; None where it is no such criterion.

    >>> checked("is at most 5 words", "It costs 49 euros."), checked("is polite", "Thanks!")
    (True, None)
    """
    for check in (_length, _literal, _kind):
        outcome = check(criterion, answer)
        if outcome is not None:
            return outcome
    return declines(answer) if FORMS["declines"].match(criterion) else None


def declines(answer: str) -> bool:
    """Whether an answer declines, wholly or in some sentence."""
    spoken = statements(answer)
    return spoken.refuses or spoken.declined or is_refusal(answer)


def _length(criterion: str, answer: str) -> bool | None:
    both = FORMS["between"].fullmatch(criterion)
    if both is not None:
        return _number(both[1]) <= COUNTED[both[3].lower()](answer) <= _number(both[2])
    for name, bounds in LIMITS.items():
        match = FORMS[name].fullmatch(criterion)
        if match is not None:
            number, unit = [group for group in match.groups() if group is not None][:2]
            low, high = bounds(_number(number))
            return low <= COUNTED[unit.lower()](answer) <= high
    return None


def _number(text: str) -> int:
    return int(SPELLED.get(text.lower(), text.replace(",", "")))


def _literal(criterion: str, answer: str) -> bool | None:
    """The criterion quotes words that have to stand in the answer, at its start or at its end."""
    match = FORMS["literal"].fullmatch(criterion)
    if match is None or not FORMS["literal_verb"].fullmatch(criterion[: match.start(2) - 1].strip()):
        return None
    wanted, given = answer_tokens(match[2]), answer_tokens(answer)
    where = (match[1] or "").lower()[:1]
    if not wanted:
        return match[2] in answer
    if where in ("s", "b", "o"):
        return given[: len(wanted)] == wanted
    if where in ("e", "c"):
        return given[-len(wanted) :] == wanted
    return f" {' '.join(wanted)} " in f" {' '.join(given)} "


def _kind(criterion: str, answer: str) -> bool | None:
    match = FORMS["language"].fullmatch(criterion)
    named = LANGUAGES.get(match[1].lower()) if match is not None else None
    if named is not None and (code := guess(answer)) != "und":
        return bool(code == named)
    for name, form in FORMS.items():
        head, _, kind = name.partition("_")
        if head == "kind" and form.fullmatch(criterion):
            return CHECKS[kind](answer) if kind in CHECKS else FORMS[f"sign_{kind}"].search(answer) is not None
    return None


class PreparedAnswer:
    """An answer made ready for criteria."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.said = [AnswerClaim(bare(sentence.text)) for sentence in split(answer)[:MOST_SENTENCES]]

    def meets(self, criterion: str) -> bool | None:
        """Whether the answer meets a criterion; None where that takes reading."""
        core = FORMS["subject"].sub("", criterion[:LONGEST].strip()).strip(" .")
        neither = FORMS["neither"].search(core)
        if neither is not None:
            head = core[: neither.start()]
            return _every([self.meets(f"does not {head} {part}") for part in (neither[1], core[neither.end() :])])
        parts = _conjuncts(core)
        if len(parts) > 1:
            return _every([self.meets(part) for part in parts])
        denied = FORMS["denied"].match(core)
        if denied is None:
            return self._does(core)
        rest = core[denied.end() :]
        done = self._does(f"mentions {rest}" if denied["noun"] and not FORMS["mention"].match(rest) else rest)
        return None if done is None else not done

    def _does(self, core: str) -> bool | None:
        """Of a criterion without its subject and denial."""
        exact = checked(core, self.answer)
        mention = FORMS["mention"].match(core)
        if exact is not None or mention is None:
            return exact
        content = FORMS["manner"].sub("", core[mention.end() :].strip(" .,"))
        if FORMS["told"].match(content):
            return None
        accepted = readings(content)
        if any(all(any(_names(claim, part) for claim in self.said) for part in each) for each in accepted):
            return True
        return None if any(map(self._partly, accepted)) else False

    def _partly(self, parts: Sequence[ReferencePart]) -> bool:
        """Whether something of it is there and no number is missing: the rest may be there in other words."""
        numbers = list(chain.from_iterable(part.numbers for part in parts))
        if numbers:
            return all(any(claim.counts(number) for claim in self.said) for number in numbers)
        units = set(chain.from_iterable(part.words for part in parts))
        return any(
            claim.where(unit) or (unit in KINDS and KINDS[unit](claim.text)) for claim in self.said for unit in units
        )


def _names(claim: AnswerClaim, part: ReferencePart) -> bool:
    """Whether a sentence names a part, or has a thing of the kind that a noun of it stands for."""
    kinds = [KINDS[word] for word in part.words if word in KINDS]
    return claim.says(part) or (
        bool(kinds)
        and all(map(claim.counts, part.numbers))
        and all(word in KINDS or claim.where(word) for word in part.words)
        and (bool(part.numbers) or all(has(claim.text) for has in kinds))
    )


def _every(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all hold; one that fails decides, one without a verdict leaves it open."""
    return False if False in verdicts else None if None in verdicts else True


def _conjuncts(core: str) -> list[str]:
    """Criteria joined by "and", where each begins with what the answer does."""
    parts, start = [], 0
    for cut in FORMS["joined"].finditer(core) if checked(core, "") is None else ():
        rest = core[cut.end() :]
        if FORMS["mention"].match(rest) or FORMS["denied"].match(rest) or checked(rest, "") is not None:
            parts.append(core[start : cut.start()])
            start = cut.end()
    return [*parts, core[start:]]


MOST_COMPARED = 200  # of an answer that are compared with each aspect
NEAR = 0.35  # relevance that will do where the kind of thing asked for is there
SHARED = 2  # words that two aspects of one thing have in common


def cover_aspects(inputs: CoverAspects, judge_repeat: int = 0) -> Asking:
    """An aspect is met when some sentence of the answer is about it; a refusal meets none.

    About: relevant, as by rate_passages, with the kind of thing that the aspect asks for ("how long": an amount), and
    not about another aspect that differs in a word ("the price of plan B" beside "the price of plan A").
    """
    spoken = statements(inputs.answer)
    if not spoken.claims:
        return CoverFacts((False,) * len(inputs.aspects))
    texts = [bare(sentence.text) for sentence in spoken.claims[:MOST_COMPARED]]
    (reply,) = yield [embed("cover_aspects", ASPECTS_VERSION, (*inputs.aspects, *texts), judge_repeat)]
    table = _about(inputs.aspects, texts, reply, mode_of((inputs.query, inputs.answer)))
    return CoverFacts(tuple(map(any, table)))


def cover_criteria(inputs: CoverCriteria, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Each criterion by what it asks for; one that takes reading, such as "is polite", has no verdict."""
    yield from ()
    return CoverFacts(tuple(map(PreparedAnswer(inputs.answer).meets, inputs.criteria)))


CHECKED = "checked exactly, in the answer's own words"
TAKES_READING = "the local judge checks what can be checked exactly; this takes reading: --judge PROVIDER:MODEL"


def meet_criteria(inputs: MeetCriteria, judge_repeat: int = 0) -> Asking:  # noqa: ARG001 - every question has it
    """Statements about the answer, as `cover_criteria` has them; levels, and what takes reading, have no verdict."""
    yield from ()
    answer = PreparedAnswer(inputs.answer or "")
    verdicts = []
    for criterion in inputs.criteria:
        checkable = "answer" in criterion.sees and not criterion.levels
        met = answer.meets(criterion.text) if checkable else None
        verdicts.append(CriterionVerdict.of(criterion, met, TAKES_READING if met is None else CHECKED))
    return CriteriaFacts(tuple(verdicts))


def _about(aspects: Sequence[str], texts: Sequence[str], reply: Reply, mode: Mode) -> list[list[bool]]:
    """Of every aspect, which texts are about it."""
    scale = cosine_scale(language_of(" ".join(aspects), " ".join(texts)))
    table = standard_table(reply, len(aspects), [scale] * len(texts))
    rows = []
    for n, (aspect, angles) in enumerate(zip(aspects, table, strict=True)):
        asked = PreparedQuestion(aspect, mode)
        rivals = _rivals(aspect, [*aspects[:n], *aspects[n + 1 :]])
        kind = None if FORMS["when_to"].match(aspect) else wanted_kind(aspect)
        kinds = [KINDS[unit] for unit in plain_units(aspect) if unit in KINDS]
        row = []
        for text, angle in zip(texts, angles, strict=True):
            judge = chosen("relevance", angle, mode)
            enough = NEAR if kinds or kind is not None else judge.threshold
            near = bool(asked.distinct) and judge.p(asked.features(text, angle)) >= enough
            there = near and carries(kind, text) and all(has(text) for has in kinds)
            in_text = _words(text)
            row.append(there and not any(not left & in_text and right & in_text for left, right in rivals))
        rows.append(row)
    return rows


def _rivals(aspect: str, others: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Of the other aspects that qualify the same thing otherwise: what only this one has, and what only they have."""
    own, qualifiers = _words(aspect), []
    head, of, _ = aspect.partition(" of ")  # the price of plan A
    for other in others:
        mine, theirs = own - _words(other), _words(other) - own
        if mine and theirs and len(own & _words(other)) >= SHARED and not (of and _words(head) & mine):
            qualifiers.append((mine, theirs))
    return qualifiers


def _words(text: str) -> frozenset[str]:
    """Words with content, and single capitals: plan A."""
    return frozenset(plain_units(text)) | frozenset(FORMS["capital"].findall(text))
