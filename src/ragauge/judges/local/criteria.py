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
from ragauge.core.facts import CoverFacts, CriteriaFacts, CriterionVerdict
from ragauge.judges.inputs import CoverAspects, CoverCriteria, MeetCriteria
from ragauge.judges.judge import AskGenerator
from ragauge.judges.local.answer_type import find_answer_kind, has_answer_kind
from ragauge.judges.local.index import Mode, detect_mode
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.relevance import PreparedQuestion, build_embed_ask, detect_language, select_scorer
from ragauge.judges.local.short_answers import AnswerClaim, ReferencePart, list_plain_units, list_readings
from ragauge.judges.local.statements import find_statements, strip_marks
from ragauge.judges.similarity import compute_standard_table, find_scale
from ragauge.text.language import guess_language
from ragauge.text.patterns import ADDRESS, BRACKETED_CITATION, BULLET, MARKDOWN, matches_pattern
from ragauge.text.sentences import split_sentences
from ragauge.text.specifics import (
    DATE_KINDS,
    EXACT_KINDS,
    NAME_KINDS,
    NUMBER_KINDS,
    PERCENT_KINDS,
    Kind,
    find_specifics,
)
from ragauge.text.tokens import split_answer_tokens
from ragauge.text.word_files import read_patterns, read_words

ASPECTS_VERSION, CRITERIA_VERSION = 1, 2
MAX_CRITERION_CHARS = 500  # characters of a criterion that are read
MAX_SENTENCES = 200  # of an answer that are looked at

WORDS, FORMS = read_words(__file__, "criteria"), read_patterns(__file__, "criteria")
LANGUAGES, NUMBER_WORDS = (
    dict(entry.split() for entry in WORDS[kind].replace("\n", ",").split(",") if entry.strip())
    for kind in ("languages", "numbers")
)
MONEY = frozenset("$€£¥₹₩₽") | {"CHF", "cents"}

UNIT_COUNTERS: Mapping[str, Callable[[str], int]] = {
    "word": lambda text: len(FORMS["word"].findall(text)),
    "sentence": lambda text: sum(FORMS["word"].search(sentence.text) is not None for sentence in split_sentences(text)),
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


def has_specific(text: str, kinds: Collection[Kind]) -> bool:
    """Whether a text has a specific of one of these kinds."""
    return bool(find_specifics(text, kinds))


def has_money(text: str) -> bool:
    """Whether a text names an amount of money."""
    return any(mark.unit in MONEY for mark in find_specifics(text, NUMBER_KINDS))


# of kinds that no single pattern shows
CHECKS: Mapping[str, Callable[[str], bool]] = {
    "cites": lambda text: any(sign.search(text) for sign in (BRACKETED_CITATION, ADDRESS, FORMS["sign_cites"])),
    "link": lambda text: ADDRESS.search(text) is not None,
    "bullets": lambda text: UNIT_COUNTERS["bullet"](text) > 0,
    "markdown": lambda text: MARKDOWN.search(text) is not None,
    "number": lambda text: has_specific(text, EXACT_KINDS),
    "percentage": lambda text: has_specific(text, PERCENT_KINDS),
    "date": lambda text: has_specific(text, DATE_KINDS),
    "price": has_money,
    "json": lambda text: matches_pattern("json_block", text),
}


_KINDS: dict[str, Callable[[str], bool]] = {
    "money": lambda text: has_money(text) or has_specific(text, PERCENT_KINDS),
    "date": lambda text: has_specific(text, DATE_KINDS) or FORMS["day"].search(text) is not None,
    "year": lambda text: FORMS["sign_year"].search(text) is not None,
    "amount": lambda text: has_specific(text, EXACT_KINDS),
    "name": lambda text: has_specific(text, NAME_KINDS),
}
KINDS = {unit: _KINDS[kind] for kind, nouns in WORDS["kinds"].items() for unit in list_plain_units(nouns)}


def check_exactly(criterion: str, answer: str) -> bool | None:
    """Whether the answer meets a criterion that can be checked exactly; None where it is no such criterion.

    >>> check_exactly("is at most 5 words", "It costs 49 euros."), check_exactly("is polite", "Thanks!")
    (True, None)
    """
    for check in (_check_length, _check_literal, _check_kind):
        outcome = check(criterion, answer)
        if outcome is not None:
            return outcome
    return has_refusal(answer) if FORMS["declines"].match(criterion) else None


def has_refusal(answer: str) -> bool:
    """Whether an answer declines, wholly or in some sentence."""
    spoken = find_statements(answer)
    return spoken.refuses or spoken.declined or is_refusal(answer)


def _check_length(criterion: str, answer: str) -> bool | None:
    both = FORMS["between"].fullmatch(criterion)
    if both is not None:
        return _parse_number(both[1]) <= UNIT_COUNTERS[both[3].lower()](answer) <= _parse_number(both[2])
    for name, bounds in LIMITS.items():
        match = FORMS[name].fullmatch(criterion)
        if match is not None:
            number, unit = [group for group in match.groups() if group is not None][:2]
            low, high = bounds(_parse_number(number))
            return low <= UNIT_COUNTERS[unit.lower()](answer) <= high
    return None


def _parse_number(text: str) -> int:
    return int(NUMBER_WORDS.get(text.lower(), text.replace(",", "")))


def _check_literal(criterion: str, answer: str) -> bool | None:
    """The criterion quotes words that have to stand in the answer, at its start or at its end."""
    match = FORMS["literal"].fullmatch(criterion)
    if match is None or not FORMS["literal_verb"].fullmatch(criterion[: match.start(2) - 1].strip()):
        return None
    quoted_tokens, answer_words = split_answer_tokens(match[2]), split_answer_tokens(answer)
    position = (match[1] or "").lower()[:1]
    if not quoted_tokens:
        return match[2] in answer
    if position in ("s", "b", "o"):
        return answer_words[: len(quoted_tokens)] == quoted_tokens
    if position in ("e", "c"):
        return answer_words[-len(quoted_tokens) :] == quoted_tokens
    return f" {' '.join(quoted_tokens)} " in f" {' '.join(answer_words)} "


def _check_kind(criterion: str, answer: str) -> bool | None:
    match = FORMS["language"].fullmatch(criterion)
    language_code = LANGUAGES.get(match[1].lower()) if match is not None else None
    if language_code is not None and (code := guess_language(answer)) != "und":
        return bool(code == language_code)
    for name, form in FORMS.items():
        head, _, kind = name.partition("_")
        if head == "kind" and form.fullmatch(criterion):
            return CHECKS[kind](answer) if kind in CHECKS else FORMS[f"sign_{kind}"].search(answer) is not None
    return None


class PreparedAnswer:
    """An answer made ready for criteria."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.said = [AnswerClaim(strip_marks(sentence.text)) for sentence in split_sentences(answer)[:MAX_SENTENCES]]

    def check_criterion(self, criterion: str) -> bool | None:
        """Whether the answer meets a criterion; None where that takes reading."""
        core = FORMS["subject"].sub("", criterion[:MAX_CRITERION_CHARS].strip()).strip(" .")
        neither = FORMS["neither"].search(core)
        if neither is not None:
            head = core[: neither.start()]
            return _combine_verdicts(
                [
                    self.check_criterion(f"does not {head} {conjunct}")
                    for conjunct in (neither[1], core[neither.end() :])
                ]
            )
        conjuncts = _split_conjuncts(core)
        if len(conjuncts) > 1:
            return _combine_verdicts([self.check_criterion(conjunct) for conjunct in conjuncts])
        denied = FORMS["denied"].match(core)
        if denied is None:
            return self._check_core(core)
        predicate = core[denied.end() :]
        outcome = self._check_core(
            f"mentions {predicate}" if denied["noun"] and not FORMS["mention"].match(predicate) else predicate
        )
        return None if outcome is None else not outcome

    def _check_core(self, core: str) -> bool | None:
        """Of a criterion without its subject and denial."""
        exact = check_exactly(core, self.answer)
        mention = FORMS["mention"].match(core)
        if exact is not None or mention is None:
            return exact
        content = FORMS["manner"].sub("", core[mention.end() :].strip(" .,"))
        if FORMS["told"].match(content):
            return None
        accepted = list_readings(content)
        if any(all(any(_names_part(claim, part) for claim in self.said) for part in each) for each in accepted):
            return True
        return None if any(map(self._is_partly_met, accepted)) else False

    def _is_partly_met(self, parts: Sequence[ReferencePart]) -> bool:
        """Whether something of it is there and no number is missing: the rest may be there in other words."""
        numbers = list(chain.from_iterable(part.numbers for part in parts))
        if numbers:
            return all(any(claim.counts(number) for claim in self.said) for number in numbers)
        units = set(chain.from_iterable(part.words for part in parts))
        return any(
            claim.where(unit) or (unit in KINDS and KINDS[unit](claim.text)) for claim in self.said for unit in units
        )


def _names_part(claim: AnswerClaim, part: ReferencePart) -> bool:
    """Whether a sentence names a part, or has a thing of the kind that a noun of it stands for."""
    kinds = [KINDS[word] for word in part.words if word in KINDS]
    return claim.says(part) or (
        bool(kinds)
        and all(map(claim.counts, part.numbers))
        and all(word in KINDS or claim.where(word) for word in part.words)
        and (bool(part.numbers) or all(has(claim.text) for has in kinds))
    )


def _combine_verdicts(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all hold; one that fails decides, one without a verdict leaves it open."""
    return False if False in verdicts else None if None in verdicts else True


def _split_conjuncts(core: str) -> list[str]:
    """Criteria joined by "and", where each begins with what the answer does."""
    conjuncts, start = [], 0
    for cut in FORMS["joined"].finditer(core) if check_exactly(core, "") is None else ():
        remaining = core[cut.end() :]
        if (
            FORMS["mention"].match(remaining)
            or FORMS["denied"].match(remaining)
            or check_exactly(remaining, "") is not None
        ):
            conjuncts.append(core[start : cut.start()])
            start = cut.end()
    return [*conjuncts, core[start:]]


MAX_COMPARED_SENTENCES = 200  # of an answer that are compared with each aspect
MIN_RELEVANCE = 0.35  # relevance that will do where the kind of thing asked for is there
MIN_SHARED_WORDS = 2  # words that two aspects of one thing have in common


def cover_aspects(inputs: CoverAspects, judge_repeat: int = 0) -> AskGenerator:
    """An aspect is met when some sentence of the answer is about it; a refusal meets none.

    About: relevant, as by rate_passages, with the kind of thing that the aspect asks for ("how long": an amount), and
    not about another aspect that differs in a word ("the price of plan B" beside "the price of plan A").
    """
    spoken = find_statements(inputs.answer)
    if not spoken.claims:
        return CoverFacts((False,) * len(inputs.aspects))
    texts = [strip_marks(sentence.text) for sentence in spoken.claims[:MAX_COMPARED_SENTENCES]]
    (reply,) = yield [build_embed_ask("cover_aspects", ASPECTS_VERSION, (*inputs.aspects, *texts), judge_repeat)]
    table = _build_about_table(inputs.aspects, texts, reply, detect_mode((inputs.query, inputs.answer)))
    return CoverFacts(tuple(map(any, table)))


def cover_criteria(inputs: CoverCriteria, judge_repeat: int = 0) -> AskGenerator:  # noqa: ARG001 - every question has it
    """Each criterion by what it asks for; one that takes reading, such as "is polite", has no verdict."""
    yield from ()
    return CoverFacts(tuple(map(PreparedAnswer(inputs.answer).check_criterion, inputs.criteria)))


CHECKED_REASON = "checked exactly, in the answer's own words"
READING_REASON = (
    "the local judge checks only criteria that can be checked exactly; this one needs a model: --judge PROVIDER:MODEL"
)


def meet_criteria(inputs: MeetCriteria, judge_repeat: int = 0) -> AskGenerator:  # noqa: ARG001 - every question has it
    """Statements about the answer, as `cover_criteria` has them; levels, and what takes reading, have no verdict."""
    yield from ()
    answer = PreparedAnswer(inputs.answer or "")
    verdicts = []
    for criterion in inputs.criteria:
        checkable = "answer" in criterion.sees and not criterion.levels
        is_met = answer.check_criterion(criterion.text) if checkable else None
        verdicts.append(CriterionVerdict.of(criterion, is_met, READING_REASON if is_met is None else CHECKED_REASON))
    return CriteriaFacts(tuple(verdicts))


def _build_about_table(aspects: Sequence[str], texts: Sequence[str], reply: Reply, mode: Mode) -> list[list[bool]]:
    """Of every aspect, which texts are about it."""
    scale = find_scale(detect_language(" ".join(aspects), " ".join(texts)))
    table = compute_standard_table(reply, len(aspects), [scale] * len(texts))
    rows = []
    for n, (aspect, angles) in enumerate(zip(aspects, table, strict=True)):
        question = PreparedQuestion(aspect, mode)
        rivals = _find_rivals(aspect, [*aspects[:n], *aspects[n + 1 :]])
        kind = None if FORMS["when_to"].match(aspect) else find_answer_kind(aspect)
        kinds = [KINDS[unit] for unit in list_plain_units(aspect) if unit in KINDS]
        row = []
        for text, angle in zip(texts, angles, strict=True):
            judge = select_scorer("relevance", angle, mode)
            enough = MIN_RELEVANCE if kinds or kind is not None else judge.threshold
            near = bool(question.distinct) and judge.p(question.compute_features(text, angle)) >= enough
            has_kind = near and has_answer_kind(kind, text) and all(has(text) for has in kinds)
            in_text = _list_content_words(text)
            row.append(has_kind and not any(not left & in_text and right & in_text for left, right in rivals))
        rows.append(row)
    return rows


def _find_rivals(aspect: str, others: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Of the other aspects that qualify the same thing otherwise: what only this one has, and what only they have."""
    own_words, qualifiers = _list_content_words(aspect), []
    head, of, _ = aspect.partition(" of ")  # the price of plan A
    for other in others:
        own_only, other_only = own_words - _list_content_words(other), _list_content_words(other) - own_words
        if (
            own_only
            and other_only
            and len(own_words & _list_content_words(other)) >= MIN_SHARED_WORDS
            and not (of and _list_content_words(head) & own_only)
        ):
            qualifiers.append((own_only, other_only))
    return qualifiers


def _list_content_words(text: str) -> frozenset[str]:
    """Words with content, and single capitals: plan A."""
    return frozenset(list_plain_units(text)) | frozenset(FORMS["capital"].findall(text))
