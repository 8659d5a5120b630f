"""Which sentences of an answer state something that evidence could bear out.

Openings that say nothing of the matter: "Based on the provided context, the answer is ...".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ragauge.judges.local.checks import TURNING
from ragauge.judges.local.index import STOPS
from ragauge.judges.local.refusals import clauses, is_refusal, only_wraps, refuses
from ragauge.text.clauses import clauses as cut_up
from ragauge.text.sentences import FENCE, PLACEHOLDER, Sentence, split, unmarked
from ragauge.text.source_notes import drop_marks, footer
from ragauge.text.tokens import stem, words
from ragauge.text.word_files import compiled, found, read_patterns, read_words

WORDS = read_words(__file__, "talk")
TALK = compiled(WORDS["talk"], WORDS["talk_words"])
LONGEST = 200  # characters within which an opening ends
FORMS = read_patterns(__file__, "statements")


def lead_in(sentence: str) -> int:
    """How many characters of a sentence are such an opening; 0 for none, and where nothing would be left.

    >>> text = "Based on the provided context, the answer is 1 August 1973."
    >>> text[lead_in(text):], lead_in("According to Ada Lovelace, it computes.")
    ('1 August 1973.', 0)
    """
    match = FORMS["lead"].match(sentence[:LONGEST])
    if match is None or not any(map(str.isalpha, match[0])):
        return 0
    rest = sentence[match.end() :]
    return match.end() if any(map(str.isalnum, rest)) else 0


LED_IN = [form for name, form in FORMS.items() if name.startswith("led_")]
OPEN_WORDS = TURNING.union(read_words(__file__, "statements")["open"].split())
FEWEST_LED = 3  # words behind such a lead-in


def led_in(sentence: str) -> int:
    """How many characters of a sentence lead in to what it says, and change nothing of it; 0 for none.

    By shape: yes or no; a source; who states "that"; a phrase before a colon. A lead-in has no number and no name,
    denies nothing and leaves nothing open.

    >>> [text[led_in(text):] for text in ("Yes, it is open.", "The manual states that it is open now.", "It is open.")]
    ['it is open.', 'it is open now.', 'It is open.']
    """
    end = 0
    for form in LED_IN:
        match = form.match(sentence[:LONGEST], end)
        lead = match[0] if match is not None else ""
        plain = form is FORMS["led_polar"] or OPEN_WORDS.isdisjoint(words(lead))
        if plain and FORMS["capitals"].search(lead) is None:
            end += len(lead)
    return end if len(words(sentence[end:])) >= FEWEST_LED else 0


MOST_POINTER_WORDS = 14
FEWEST_WORDS = 3  # of the part that answers in a sentence that declines
MOST_LOOKED_AT = 400  # sentences in which declining is looked for: no refusal is as long
LONGEST_TALK = 200  # characters: politeness is short
CONTENTLESS = frozenset({"yes", "no", "ok", "okay", "sure", "true", "false", "none"})


class Statements(NamedTuple):
    """An answer by sentence."""

    claims: tuple[Sentence, ...]  # the sentences that state something, in order; none when the answer declines
    refuses: bool  # whether the answer as a whole declines to answer
    declined: bool  # whether some sentence declines, though others answer
    shown: str  # the claims as one text: what the answer says about the question


class ClaimPart(NamedTuple):
    """One claim of a sentence."""

    text: str  # a statement of its own
    own: str  # the same without the subject that was put back, and without a lead-in
    start: int  # first character of the answer that makes it
    end: int  # one past the last
    within: tuple[int, int] | None = None  # of the whole sentence, where this is one part of it; else None


def parts(sentence: Sentence) -> tuple[ClaimPart, ...]:
    """The claims of a sentence that states something: its clauses; the whole where fewer than two of them state any.

    >>> [part.text for part in parts(Sentence(1, "The lid is green [1], and the box weighs 3 kg [2].", 0, 50))]
    ['The lid is green', 'the box weighs 3 kg']
    """
    span = (sentence.start, sentence.end)
    cut, at = cut_up(sentence.text), sentence.start
    each = (ClaimPart(bare(part.text), bare(part.own), at + part.start, at + part.end, span) for part in cut)
    stating = tuple(part for part in each if states(part.text)) if len(cut) > 1 else ()
    whole = bare(sentence.text)
    if len(stating) > 1:
        first = stating[0]
        return (first._replace(own=first.own[led_in(first.own) :]), *stating[1:])
    return (ClaimPart(whole, whole[led_in(whole) :], *span),)


def statements(answer: str) -> Statements:
    """The sentences of an answer that make a claim, and whether it declines to answer.

    Of a sentence that declines in one part and answers in another ("It costs 49 euros, but taxes are not mentioned in
    the documents.") the part that answers is the claim. An opening that says nothing of the matter ("According to the
    passages, the answer is") is no part of one, and what only names sources (`footer`) makes none.
    """
    sentences = _fenced(answer, split(answer[: footer(answer)]))
    declined = [sentence.n <= MOST_LOOKED_AT and is_refusal(sentence.text) for sentence in sentences]
    claims: list[Sentence | None] = []
    for sentence, declines in zip(sentences, declined, strict=True):
        size = 0 if declines else lead_in(sentence.text)
        shorter = replace(sentence, text=sentence.text[size:], start=sentence.start + size)
        claims.append(_answering_part(sentence) if declines else shorter if states(shorter.text) else None)
    stated = [claim.text if claim else None for claim in claims]
    if any(declined) and refuses([sentence.text for sentence in sentences], declined, stated):
        return Statements((), True, False, "")
    return Statements(tuple(filter(None, claims)), False, any(declined), " ".join(filter(None, stated)))


def _fenced(answer: str, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """The sentences, those within a fence of code as code spans: nothing in them is markup."""
    blocks = [block.span(2) for block in FORMS["fenced"].finditer(answer)] if "```" in answer or "~~~" in answer else []
    if not blocks:
        return sentences
    inside = {}
    for sentence in sentences:
        for start, end in blocks:
            code = answer[max(start, sentence.start) : min(end, sentence.end)].strip()
            if code and "`" not in code and "\n" not in code:
                inside[sentence.n] = replace(sentence, text=f"`{code}`")
    return [inside.get(given.n, given) for given in sentences]


def _answering_part(sentence: Sentence) -> Sentence | None:
    """The part of a declining sentence that answers, with its place in the answer; None where there is none."""
    for start, end in clauses(sentence.text):
        text = sentence.text[start:end]
        if states(text) and not is_refusal(text) and not only_wraps(text) and len(words(text)) >= FEWEST_WORDS:
            return Sentence(sentence.n, text, sentence.start + start, sentence.start + end)
    return None


def bare(sentence: str) -> str:
    """A sentence without citation marks, list markers and emphasis; code in it as it is written.

    >>> bare("- **Ada** was born in 1815 [3].")
    'Ada was born in 1815.'
    """
    return unmarked(sentence, drop_marks).strip()


def states(sentence: str) -> bool:
    """Whether a sentence states something; greetings, headings, fences of code, pure questions and pointers do not.

    >>> [states(text) for text in ("It weighs 3 kg.", "Here is the answer:", "Anything else?", "Yes.", "Hello!")]
    [True, False, False, False, False]
    """
    plain = bare(sentence)
    own = words(plain)
    content = [word for word in own if stem(word) not in STOPS]
    mark = not any(len(word) > 1 or not word.isascii() or word.isdigit() for word in own)  # "a" before an item
    if not content or (len(own) == 1 and own[0] in CONTENTLESS) or mark:
        return False
    if FORMS["heading"].match(sentence) or FENCE.match(sentence):
        return False
    if _asks(plain) and not FORMS["code_alone"].match(sentence):
        return False
    if FORMS["pointer_end"].search(plain) and len(own) <= MOST_POINTER_WORDS:
        return False
    return len(plain) > LONGEST_TALK or not found(TALK, plain)


def _asks(plain: str) -> bool:
    """Whether a sentence only asks; a statement may end with a quoted question."""
    if FORMS["question_end"].search(plain[-8:]) is None or PLACEHOLDER.search(plain):
        return False
    quoted = FORMS["opening_quote"].search(plain)
    return quoted is None or not plain[: quoted.start()].strip() or FORMS["asking"].match(plain) is not None
