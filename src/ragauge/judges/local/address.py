"""Whether an answer addresses the question: how likely fully, partly, or not at all.

One line of evidence (shared words, cosine, the asked-for slot) is turned into three probabilities by two calibrated
cuts: one between answers and what only is on the topic, one between what is on the topic and what is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragauge.core.facts import Address
from ragauge.judges.local.answer_type import Slot, find_answer_kind, find_slot, has_asked_thing, is_instruction_missing
from ragauge.judges.local.index import Mode, has_content, index_text, split_units
from ragauge.judges.local.relevance import LEXICAL as RELEVANCE
from ragauge.judges.local.relevance import PreparedQuestion
from ragauge.judges.local.signs import find_sign
from ragauge.judges.local.statements import Statements, strip_marks
from ragauge.judges.local.weights import LevelScorer, read_level_scorer
from ragauge.text.specifics import NAME_KINDS, find_specifics
from ragauge.text.tokens import split_words
from ragauge.text.word_files import read_patterns

Levels = tuple[float, float, float]  # P(fully), P(partly), P(no)

MAX_BRIEF_WORDS = 5  # words: too few to share any with the question
MAX_BRIEF_SENTENCE_WORDS = 2  # … of what ends as a sentence does, where a word may be what is a phrase in English
BEGINNING_CHARS = 200  # characters within which more words than that show
MAX_ANSWER_CHARS = 20_000  # characters of an answer; what it is about shows by then
MAX_QUERY_CHARS = 2_000
MAX_PARTS = 6
PLAIN_SLOTS: frozenset[Slot | None] = frozenset(
    ("number", "time", "name", "place", "reason")
)  # by which a part is read
# What stays of P(fully), and becomes "partly" and "no", where something asked for is not there: unclear, since what is
# not seen may be there. On public sets people's own answers lack it in 3 to 15 %, texts on the topic in 8 to 60 %.
OPEN_SHARES = (0.25, 0.375, 0.375)
EMPTY_SHARE = 0.75  # share of P(fully) that becomes "no" where the answer says nothing
CUTS = (0.25, 0.75)  # expected values that part "no" from "partly" and "partly" from "fully": nearest of 0, 0.5 and 1

LEXICAL = (
    "coverage",
    "first",
    "bigrams",
    "grams",
    "beside_names",
    "new",
    "query_length",
    "lacks_exact",
    "lacks_name",
    "lacks_manner",
    "lacks_choice",
    "holds_manner",
    "yes_no",
    "not_yes_no",
)
LACKING_FEATURES = {
    "number": "lacks_exact",
    "time": "lacks_exact",
    "name": "lacks_name",
    "place": "lacks_name",
    "reason": "lacks_manner",
    "manner": "lacks_manner",
    "comparison": "lacks_choice",
    "choice": "lacks_choice",
}

FORMS = read_patterns(__file__, "address")


class AddressVerdict(NamedTuple):
    """Whether an answer addresses the question; `p` sums to 1."""

    label: Address
    p: Levels


def judge_address(query: str, stated: Statements, answer: str, cosine: float | None, mode: Mode) -> AddressVerdict:
    """Whether the answer addresses the question fully, partly, or not.

    The label is the level nearest to the expected value P(fully) + P(partly) / 2. A refusal, and an answer that states
    nothing, do not address it, surely; to a question without a word of content anything does.

    `cosine` is that of question and answer, as `similarity.compute_standard_table` has it; None where there is none.
    """
    if stated.refuses:
        return AddressVerdict("no", (0.0, 0.0, 1.0))
    if not stated.claims:
        says = find_answer_kind(query) in ("yes or no", None) and FORMS["yes_no"].match(strip_marks(answer)) is not None
        if find_sign(answer):
            says = says or answer.strip()[:1] in "`'\"" or FORMS["sign"].search(query) is not None
        return AddressVerdict("fully", (1.0, 0.0, 0.0)) if says else AddressVerdict("no", (0.0, 0.0, 1.0))
    query, claims_text = query[:MAX_QUERY_CHARS], stated.shown[:MAX_ANSWER_CHARS]
    if FORMS["task"].match(query):
        return AddressVerdict("fully", (1.0, 0.0, 0.0))
    if not any(has_content(unit, mode) for unit in split_units(query, mode)):
        return AddressVerdict("fully", (1.0, 0.0, 0.0))
    scorer = select_level_scorer(claims_text, cosine is not None, mode)
    evidence_found = collect_evidence(query, claims_text, answer, mode)
    evidence_found["cosine"] = 0.0 if cosine is None else cosine
    levels = scorer.levels([evidence_found[name] for name in scorer.names])
    if mode == "words" and _is_empty_answer(query, claims_text, evidence_found):  # most likely none
        stays = round((1 - EMPTY_SHARE) * levels[0], 6)
        levels = stays, 0.0, round(1 - stays, 6)
    elif stated.declined or (mode == "words" and _is_open(query, claims_text, evidence_found)):
        stays, half, none = (round(share * levels[0], 6) for share in OPEN_SHARES)  # maybe a partial one, or none
        levels = stays, round(levels[1] + half, 6), round(levels[2] + none, 6)
    return AddressVerdict(select_level(levels), levels)


def select_level_scorer(claims_text: str, vectors: bool, mode: Mode) -> LevelScorer:
    """The scorer for an answer, by its length, whether there are vectors, and how texts are compared."""
    return read_level_scorer(
        "_".join(("brief" if is_brief(claims_text, mode) else "long", mode, *(() if vectors else ("lexical",))))
    )


def is_brief(claims_text: str, mode: Mode) -> bool:
    """Whether an answer is of a few words ("Paris"), that need share none with the question.

    >>> (is_brief("Sie wurde 1871 eröffnet.", "grams"), is_brief("1871 eröffnet", "grams"),
    ...     is_brief("It opened.", "words"))
    (False, True, True)
    """
    count = len(split_words(claims_text[:BEGINNING_CHARS]))
    return count <= (
        MAX_BRIEF_SENTENCE_WORDS
        if mode == "grams" and FORMS["ends"].search(claims_text[-BEGINNING_CHARS:])
        else MAX_BRIEF_WORDS
    )


def select_level(levels: Levels) -> Address:
    """The level nearest to the expected value."""
    expected = levels[0] + levels[1] / 2
    return "no" if expected < CUTS[0] else "partly" if expected < CUTS[1] else "fully"


def collect_evidence(query: str, claims_text: str, answer: str, mode: Mode) -> dict[str, float]:
    """What speaks for and against the answer, by name: shares in [0, 1], marks of 0 or 1, and a logarithm."""
    question = PreparedQuestion(query, mode)
    shared = dict(zip(RELEVANCE, question.compute_features(claims_text, None), strict=True))
    indexed_text = index_text(claims_text, mode)
    first = frozenset(indexed_text.segments[0].units) if indexed_text.segments else frozenset()
    content = [unit for unit in indexed_text.places if has_content(unit, mode)]
    marks = find_specifics(query, NAME_KINDS) if mode == "words" else ()
    name_units = {unit for mark in marks for unit in split_units(mark.text, "words")}
    other_units = [unit for unit in question.distinct if unit not in name_units]
    shares = dict.fromkeys(LEXICAL, 0.0) | {
        "coverage": shared["coverage"],
        "first": sum(unit in first for unit in question.distinct) / (len(question.distinct) or 1),
        "bigrams": shared["bigrams"],
        "grams": shared["grams"],
        "beside_names": sum(unit in indexed_text.places for unit in other_units) / len(other_units)
        if other_units
        else 1.0,
        "new": len(set(content).difference(question.distinct)) / (len(content) or 1),
        "query_length": shared["query_length"],
    }
    return shares | (_collect_slot_evidence(query, claims_text, answer) if mode == "words" else {})


def _collect_slot_evidence(query: str, claims_text: str, answer: str) -> dict[str, float]:
    asked_slot = find_slot(query)
    if asked_slot is None:
        return {}
    if asked_slot == "yes or no":
        return {"yes_no" if FORMS["yes_no"].match(strip_marks(answer[:200])) else "not_yes_no": 1.0}
    if not has_asked_thing(asked_slot, query, claims_text, few=is_brief(claims_text, "words")):
        return {LACKING_FEATURES[asked_slot]: 1.0}
    return {"holds_manner": 1.0} if asked_slot in ("reason", "manner", "comparison") else {}


def _lacks_asked_thing(shares: Mapping[str, float]) -> bool:
    return any(shares[name] for name in ("lacks_exact", "lacks_name", "lacks_choice"))


def _is_open(query: str, claims_text: str, shares: Mapping[str, float]) -> bool:
    """Whether something asked for is not seen: a kind of thing, one of several, or what to do."""
    if _lacks_asked_thing(shares) or not _answers_every_part(query, claims_text):
        return True
    return not is_brief(claims_text, "words") and is_instruction_missing(query, claims_text)


def _is_empty_answer(query: str, claims_text: str, shares: Mapping[str, float]) -> bool:
    """A few words without the thing asked for, or only words of the question."""
    if is_brief(claims_text, "words") and _lacks_asked_thing(shares):
        return True
    return not shares["new"] and find_slot(query) not in ("yes or no", "choice")


def _answers_every_part(query: str, answer: str) -> bool:
    """Whether each of several questions in one is answered.

    By the kind of thing that it asks for, where that is plain and no other part asks for the same, else by a word of
    its own.
    """
    questions = FORMS["part"].split(query)[:MAX_PARTS]
    questions = [question for question in questions if question and FORMS["asks"].match(question)]  # "…? I heard so."
    if len(questions) < 2:
        return True
    units = [{unit for unit in split_units(question, "words") if has_content(unit, "words")} for question in questions]
    answer_units, kinds = set(split_units(answer, "words")), [find_slot(question) for question in questions]
    for n, kind in enumerate(kinds):
        own_units = units[n].difference(*units[:n], *units[n + 1 :])
        if kind is not None and kind in PLAIN_SLOTS and not has_asked_thing(kind, query, answer):
            return False
        alone = kind in PLAIN_SLOTS and kinds.count(kind) == 1
        if (
            own_units
            and not alone
            and own_units.isdisjoint(answer_units)
            and not (kind == "yes or no" and FORMS["yes_no"].match(answer))
        ):
            return False
    return True
