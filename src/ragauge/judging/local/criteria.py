"""Whether an answer meets a pass or fail statement about it, such as "mentions the 30-day limit".

A criterion is taken apart: its subject is left out ("The answer should …"), a denial is remembered ("does not …"), and
the rest is checked exactly where it can be, else by what it wants to be mentioned, stated, explained or recommended.

cover_aspects and cover_criteria: which aspects of the question the answer addresses, which criteria it meets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from ragauge.data.ask import Reply
from ragauge.data.facts import CoverFacts
from ragauge.judging.inputs import CoverAspects, CoverCriteria
from ragauge.judging.judge import Asking
from ragauge.judging.local.checkable import checked, holds, names_money
from ragauge.judging.local.english import NEGATIONS
from ragauge.judging.local.index import STOPS, Mode, mode_of
from ragauge.judging.local.refusals import is_refusal
from ragauge.judging.local.relevance import PreparedQuestion, chosen, embed, language_of
from ragauge.judging.local.short_answers import EACH, EITHER, AnswerClaim, plain_units, readings
from ragauge.judging.local.slots import POLAR, carries, wanted_kind
from ragauge.judging.local.statements import bare, statements
from ragauge.judging.local.stating import YES_NO
from ragauge.judging.similarity import cosine_scale, standard_table
from ragauge.text.sentences import split
from ragauge.text.specifics import DATE, EXACT, NAME, PERCENT, find
from ragauge.text.tokens import stem, words
from ragauge.text.word_files import read_patterns, read_words

WORDS, FORMS = read_words(__file__, "criteria"), read_patterns(__file__, "criteria")

LONGEST = 500            # characters of a criterion that are read
MOST_SENTENCES = 200     # of an answer that are looked at
MOST_ALL = 3             # words of a statement of which none may be missing
ENOUGH = 0.75            # share of more words that has to be there
FEWEST_LETTERS = 4       # of what words of one family are made of

ACTS = [(key.split("_")[1], form) for key, form in FORMS.items() if key.startswith("act_")]
CUED = ("urge", "promise", "warn")     # acts that show in certain words
DENIALS = NEGATIONS.union(WORDS["denials"].split())
POSSIBLE, META = (frozenset(plain_units(WORDS[kind])) for kind in ("possible", "meta"))
_KINDS: dict[str, Callable[[str], bool]] = {
    "money": lambda text: names_money(text) or holds(text, PERCENT),
    "date": lambda text: holds(text, DATE) or FORMS["day"].search(text) is not None,
    "year": lambda text: FORMS["year"].search(text) is not None,
    "amount": lambda text: holds(text, EXACT),
    "name": lambda text: holds(text, NAME),
}
KINDS = {unit: _KINDS[kind] for kind, nouns in WORDS["kinds"].items() for unit in plain_units(nouns)}


class PreparedAnswer:
    """An answer made ready for criteria.

    `relevant` gives the numbers, from 0, of the sentences that are about a topic; for what is explained or only named
    by its kind.
    """

    def __init__(self, query: str, answer: str, relevant: Callable[[str], Collection[int]]) -> None:
        self.query = query
        self.answer = answer
        self.relevant = relevant
        self.asked = frozenset(plain_units(query))
        self.sentences = [FORMS["one"].sub("1", bare(sentence.text)) for sentence in split(answer)[:MOST_SENTENCES]]
        clauses = [part.strip() for sentence in self.sentences for part in FORMS["turns"].split(sentence)]
        self.clauses = [AnswerClaim(clause) for clause in clauses if clause]
        self.said = [AnswerClaim(sentence) for sentence in self.sentences]

    def all(self, criteria: Sequence[str]) -> tuple[bool | None, ...]:
        """Of every criterion, in order."""
        return tuple(self.meets(criterion) for criterion in criteria)

    def meets(self, criterion: str) -> bool | None:
        """Whether the answer meets a criterion; None where that takes reading."""
        core = FORMS["one"].sub("1", FORMS["subject"].sub("", criterion[:LONGEST].strip()).strip(" ."))
        neither = FORMS["neither"].search(core)
        if neither is not None:
            head, last = core[: neither.start()], core[neither.end() :]
            return _every([self.meets(f"does not {head} {part}") for part in (neither[1], last)])
        parts = _conjuncts(core) if checked(core, "") is None else [core]
        if len(parts) > 1:
            return _every([self.meets(part) for part in parts])
        denied = FORMS["denied"].match(core)
        if denied is None:
            return self._does(core)
        rest = core[denied.end() :]
        if not _opens(rest) and denied["noun"]:
            rest = f"mentions {rest}"
        elif not _opens(rest) and checked(rest, self.answer) is None and not FORMS["polar"].match(rest):
            return None
        done = self._does(rest)
        return None if done is None else not done

    def _does(self, core: str) -> bool | None:
        """Of a criterion without its subject and denial."""
        exact = checked(core, self.answer)
        if exact is not None:
            return exact
        polar = FORMS["polar"].match(core)
        if polar is not None:
            return self._polar() == ("yes" if polar[1].lower() in ("yes", "affirmative") else "no")
        act, content = (None, "") if FORMS["tone"].match(core) else _taken(core)
        if act is None or FORMS["counted"].match(content):
            return None
        if FORMS["empty"].match(content):
            return any(_cued(act, clause.text) for clause in self.clauses) if act in CUED else None
        return self._acts(act, content)

    def _acts(self, act: str, content: str) -> bool | None:
        if act == "explain":
            return self._explains(content)
        stating = FORMS["clause"].search(content) and not FORMS["relative"].search(content)
        if act == "state" or (act == "mention" and stating):
            return self._states(content)
        if act == "mention":
            return self._mentions(content) or (None if FORMS["described"].search(content) else False)
        return any(
            _cued(act, clause.text) and self._holds(clause, content, ()) for clause in [*self.clauses, *self.said]
        )

    def _polar(self) -> str:
        match = YES_NO.match(self.answer)
        if match is not None:
            return match[1].lower()
        if POLAR.match(self.query) is None or not self.said or is_refusal(self.answer):
            return ""
        return "no" if _denies(self.said[0].text) else "yes"

    def _mentions(self, content: str) -> bool:
        """Any of the alternatives, with all of its parts, each within one sentence."""
        if any(all(any(claim.says(part) for claim in self.said) for part in each) for each in readings(content)):
            return True
        text = FORMS["both"].sub("", content)
        return any(
            all(self._named(part) for part in EACH.split(sentence) if part.strip())
            for sentence in EITHER.split(text)
        )

    def _named(self, part: str) -> bool:
        about = self.relevant(part) if any(unit in KINDS for unit in _core(part)) else ()
        return any(self._holds(claim, part, about, n) for n, claim in enumerate(self.said))

    def _holds(self, claim: AnswerClaim, part: str, about: Collection[int], n: int = 0) -> bool:
        """Whether a sentence names what a noun phrase speaks of: its words, or a thing of the kind that it names."""
        numbers = find(part, EXACT)
        if not all(claim.counts(number) for number in numbers):
            return False
        units, every = _core(FORMS["relative"].sub("", part)), _core(part)
        kinds = [unit for unit in units if unit in KINDS]
        others = [unit for unit in every if unit not in KINDS and unit not in META]
        if all(_where(claim, unit) for unit in units) and (len(kinds) < len(units) or not others):
            return bool(units or numbers)
        if any(unit not in KINDS and not _where(claim, unit) for unit in units) and not kinds:
            return False
        if not numbers and not all(KINDS[unit](claim.text) for unit in kinds):
            return False
        held = sum(bool(_where(claim, unit)) for unit in others)
        return 2 * held >= len(others) or n in about

    def _states(self, content: str) -> bool:
        """Whether a clause says it, with the same numbers and names, denied where it is denied and only there."""
        denied = _denies(content)
        numbers, named = find(content, EXACT), find(content, NAME)
        units = [unit for unit in _core(content) if unit not in POSSIBLE]
        if numbers:
            units = [unit for unit in units if unit not in KINDS]
        units = [unit for unit in units if unit not in self.asked] or units
        for claim in [*self.clauses, *self.said]:
            if _denies(claim.text) != denied or not all(claim.counts(number) for number in numbers):
                continue
            if not all(_where(claim, unit) for unit_named in named for unit in plain_units(unit_named.text)):
                continue
            held = sum(bool(_where(claim, unit)) for unit in units)
            if held >= (len(units) if len(units) <= MOST_ALL else ENOUGH * len(units)) and (units or numbers):
                return True
        return False

    def _explains(self, content: str) -> bool:
        kind = wanted_kind(content)
        numbers = find(content, EXACT)
        units, about = _core(content), self.relevant(content)
        for n, claim in enumerate(self.said):
            if (
                is_refusal(claim.text)
                or not all(claim.counts(number) for number in numbers)
                or not carries(kind, claim.text)
            ):
                continue
            if FORMS["how_to"].match(content) and _denies(claim.text):
                continue
            if n in about or (units and sum(bool(_where(claim, unit)) for unit in units) >= ENOUGH * len(units)):
                return True
        return False


def _every(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all hold; one that fails decides, one without a verdict leaves it open."""
    return False if False in verdicts else None if None in verdicts else True


def _cued(act: str, text: str) -> bool:
    """Whether a clause recommends, promises or warns, and does not do the opposite."""
    match = FORMS[act].search(text)
    if match is None:
        return act == "urge" and FORMS["imperative"].match(text) is not None
    beside = [*words(text[: match.start()])[-3:], *words(text[match.end() :])[:1]]
    return act == "warn" or not any(word in DENIALS or word.endswith("n't") for word in beside)


def _opens(text: str) -> bool:
    return any(pattern.match(text) for _, pattern in ACTS)


def _taken(core: str) -> tuple[str | None, str]:
    """What a criterion asks to be done, and with what; None where it begins with a verb that is not known."""
    for act, pattern in ACTS:
        match = pattern.match(core)
        if match is not None:
            return act, FORMS["manner"].sub("", core[match.end() :].strip(" .,"))
    if FORMS["clause"].search(core):
        return "state", core
    return (None, core) if FORMS["unknown"].match(core) else ("mention", core)


def _conjuncts(core: str) -> list[str]:
    """Criteria joined by "and", where each begins with what the answer does."""
    parts, start = [], 0
    for cut in FORMS["joined"].finditer(core):
        rest = core[cut.end() :]
        if not _opens(rest) and FORMS["denied"].match(rest) is None and checked(rest, "") is None:
            continue
        parts.append(core[start : cut.start()])
        start = cut.end()
    return [*parts, core[start:]]


def _core(text: str) -> list[str]:
    """The words of a phrase that have to be there: with content, numbers and their units left out."""
    rest = list(text)
    for specific in find(text, EXACT):
        rest[specific.start : specific.end] = " " * (specific.end - specific.start)
    plain = [WORDS["periods"].get(unit, unit) for unit in plain_units("".join(rest))]
    units = {stem(word) for mark in find(text, EXACT) for word in (mark.unit, mark.unit.removesuffix("s"))}
    return [unit for unit in dict.fromkeys(plain) if unit not in units and unit not in STOPS and unit not in DENIALS]


def _where(claim: AnswerClaim, unit: str) -> bool:
    """Whether a clause has a word, or another that is made of the same: cancel, cancellation."""
    if claim.where(unit):
        return True
    root = _root(unit)
    return len(root) >= FEWEST_LETTERS and any(_root(word) == root for word in claim.places)


@lru_cache(maxsize=8_192)
def _root(word: str) -> str:
    left = FORMS["endings"].sub("", word)
    return left[:-1] if len(left) > FEWEST_LETTERS and left[-1:] == left[-2:-1] else left


def _denies(text: str) -> bool:
    return any(word in DENIALS or word.endswith(("n't", "n’t")) for word in words(text))


VERSION = 1
MOST_COMPARED = 200     # of an answer that are compared with each aspect
NEAR = 0.35              # relevance that will do where the kind of thing asked for is there
SHARED = 2               # words that two aspects of one thing have in common
WHEN_TO = re.compile(r"^\W*when (?:to|should|must|do|does)\b", re.IGNORECASE)     # asks for a condition
CAPITAL = re.compile(r"(?<!\w)[A-Z](?!\w)")


def cover_aspects(inputs: CoverAspects, judge_repeat: int = 0) -> Asking:
    """An aspect is met when some sentence of the answer is about it; a refusal meets none.

    About: relevant, as by rate_passages, with the kind of thing that the aspect asks for ("how long": an amount), and
    not about another aspect that differs in a word ("the price of plan B" beside "the price of plan A").
    """
    spoken = statements(inputs.answer)
    if not spoken.claims:
        return CoverFacts((False,) * len(inputs.aspects))
    texts = [bare(sentence.text) for sentence in spoken.claims[:MOST_COMPARED]]
    (reply,) = yield [embed("cover_aspects", VERSION, (*inputs.aspects, *texts), judge_repeat)]
    table = _about(inputs.aspects, texts, reply, mode_of((inputs.query, inputs.answer)))
    return CoverFacts(tuple(map(any, table)))


def cover_criteria(inputs: CoverCriteria, judge_repeat: int = 0) -> Asking:
    """Each criterion by what it asks for: exactly where it can be checked, else by words; see `criteria.py`.

    A criterion that takes reading, such as "is polite", has no verdict.
    """
    topics: list[str] = []

    def note(topic: str) -> tuple[int, ...]:
        topics.append(topic)
        return ()

    asking = PreparedAnswer(inputs.query, inputs.answer, note)
    asking.all(inputs.criteria)
    about: dict[str, list[int]] = {}
    if topics and asking.sentences:
        (reply,) = yield [embed("cover_criteria", VERSION, (*topics, *asking.sentences), judge_repeat)]
        table = _about(topics, asking.sentences, reply, mode_of((inputs.query, inputs.answer)))
        about = {topic: [n for n, yes in enumerate(row) if yes] for topic, row in zip(topics, table, strict=True)}
    told = PreparedAnswer(inputs.query, inputs.answer, lambda topic: about.get(topic, ()))
    return CoverFacts(told.all(inputs.criteria))


def _about(aspects: Sequence[str], texts: Sequence[str], reply: Reply, mode: Mode) -> list[list[bool]]:
    """Of every aspect, which texts are about it."""
    scale = cosine_scale(language_of(" ".join(aspects), " ".join(texts)))
    table = standard_table(reply, len(aspects), [scale] * len(texts))
    rows = []
    for n, (aspect, angles) in enumerate(zip(aspects, table, strict=True)):
        asked = PreparedQuestion(aspect, mode)
        rivals = _rivals(aspect, [*aspects[:n], *aspects[n + 1 :]])
        kind = None if WHEN_TO.match(aspect) else wanted_kind(aspect)
        kinds = [KINDS[unit] for unit in plain_units(aspect) if unit in KINDS]
        row = []
        for text, angle in zip(texts, angles, strict=True):
            judge = chosen("relevance", angle, mode)
            enough = NEAR if kinds or kind is not None else judge.threshold
            near = bool(asked.distinct) and judge.p(asked.features(text, angle)) >= enough
            there = near and carries(kind, text) and all(has(text) for has in kinds)
            row.append(there and not _of_another(text, rivals))
        rows.append(row)
    return rows


def _rivals(aspect: str, others: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Of the other aspects that qualify the same thing otherwise: what only this one has, and what only they have."""
    own, qualifiers = _words(aspect), []
    for other in others:
        mine, theirs = own - _words(other), _words(other) - own
        if mine and theirs and len(own & _words(other)) >= SHARED and not (_heads(aspect) & mine):
            qualifiers.append((mine, theirs))
    return qualifiers


def _heads(aspect: str) -> frozenset[str]:
    """What the aspect is "of" something else: the price of plan A."""
    head, of, _ = aspect.partition(" of ")
    return _words(head) if of else frozenset()


def _of_another(text: str, rivals: Sequence[tuple[frozenset[str], frozenset[str]]]) -> bool:
    there = _words(text)
    return any(not mine & there and theirs & there for mine, theirs in rivals)


def _words(text: str) -> frozenset[str]:
    """Words with content, and single capitals: plan A."""
    return frozenset(plain_units(text)) | frozenset(CAPITAL.findall(text))
