"""Which sentences of an answer state something that evidence could bear out.

Openings that say nothing of the matter: "Based on the provided context, the answer is ...".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ragauge.judges.local.checks import TURNING_WORDS
from ragauge.judges.local.index import STOP_UNITS
from ragauge.judges.local.refusals import divide_sentence, is_only_wrapper, is_refusal, is_whole_refusal
from ragauge.text.clauses import split_clauses as cut_up
from ragauge.text.sentences import FENCE, PLACEHOLDER, Sentence, remove_markup, split_sentences
from ragauge.text.source_notes import find_footer, remove_marks
from ragauge.text.tokens import split_words, stem_word
from ragauge.text.word_files import compile_wordings, has_wording, read_patterns, read_words

WORDS = read_words(__file__, "talk")
TALK = compile_wordings(WORDS["talk"], WORDS["talk_words"])
MAX_OPENING_CHARS = 200  # characters within which an opening ends
FORMS = read_patterns(__file__, "statements")


def count_opening_chars(sentence: str) -> int:
    """How many characters of a sentence are such an opening; 0 for none, and where nothing would be left.

    >>> text = "Based on the provided context, the answer is 1 August 1973."
    >>> text[count_opening_chars(text):], count_opening_chars("According to Ada Lovelace, it computes.")
    ('1 August 1973.', 0)
    """
    match = FORMS["lead"].match(sentence[:MAX_OPENING_CHARS])
    if match is None or not any(map(str.isalpha, match[0])):
        return 0
    remaining = sentence[match.end() :]
    return match.end() if any(map(str.isalnum, remaining)) else 0


LEAD_IN_FORMS = [form for name, form in FORMS.items() if name.startswith("led_")]
OPEN_WORDS = TURNING_WORDS.union(read_words(__file__, "statements")["open"].split())
MIN_LED_WORDS = 3  # words behind such a lead-in


def count_lead_in_chars(sentence: str) -> int:
    """How many characters of a sentence lead in to what it says, and change nothing of it; 0 for none.

    By shape: yes or no; a source; who states "that"; a phrase before a colon. A lead-in has no number and no name,
    denies nothing and leaves nothing open.

    >>> [text[count_lead_in_chars(text):] for text in ("Yes, it is open.", "The manual states that it is open now.",
    ...     "It is open.")]
    ['it is open.', 'it is open now.', 'It is open.']
    """
    end = 0
    for form in LEAD_IN_FORMS:
        match = form.match(sentence[:MAX_OPENING_CHARS], end)
        lead = match[0] if match is not None else ""
        is_plain = form is FORMS["led_polar"] or OPEN_WORDS.isdisjoint(split_words(lead))
        if is_plain and FORMS["capitals"].search(lead) is None:
            end += len(lead)
    return end if len(split_words(sentence[end:])) >= MIN_LED_WORDS else 0


MAX_POINTER_WORDS = 14
MIN_ANSWER_WORDS = 3  # of the part that answers in a sentence that declines
MAX_SENTENCES = 400  # sentences in which declining is looked for: no refusal is as long
MAX_TALK_CHARS = 200  # characters: politeness is short
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


def split_claims(sentence: Sentence) -> tuple[ClaimPart, ...]:
    """The claims of a sentence that states something: its clauses; the whole where fewer than two of them state any.

    >>> [part.text for part in split_claims(Sentence(1, "The lid is green [1], and the box weighs 3 kg [2].", 0, 50))]
    ['The lid is green', 'the box weighs 3 kg']
    """
    span = (sentence.start, sentence.end)
    cut, offset = cut_up(sentence.text), sentence.start
    each = (
        ClaimPart(strip_marks(clause.text), strip_marks(clause.own), offset + clause.start, offset + clause.end, span)
        for clause in cut
    )
    stating = tuple(clause for clause in each if is_statement(clause.text)) if len(cut) > 1 else ()
    sentence_text = strip_marks(sentence.text)
    if len(stating) > 1:
        first = stating[0]
        return (first._replace(own=first.own[count_lead_in_chars(first.own) :]), *stating[1:])
    return (ClaimPart(sentence_text, sentence_text[count_lead_in_chars(sentence_text) :], *span),)


def find_statements(answer: str) -> Statements:
    """The sentences of an answer that make a claim, and whether it declines to answer.

    Of a sentence that declines in one part and answers in another ("It costs 49 euros, but taxes are not mentioned in
    the documents.") the part that answers is the claim. An opening that says nothing of the matter ("According to the
    passages, the answer is") is no part of one, and what only names sources (`find_footer`) makes none.
    """
    sentences = _mark_code(answer, split_sentences(answer[: find_footer(answer)]))
    declined = [sentence.n <= MAX_SENTENCES and is_refusal(sentence.text) for sentence in sentences]
    claims: list[Sentence | None] = []
    for sentence, declines in zip(sentences, declined, strict=True):
        size = 0 if declines else count_opening_chars(sentence.text)
        shorter = replace(sentence, text=sentence.text[size:], start=sentence.start + size)
        claims.append(_find_answering_part(sentence) if declines else shorter if is_statement(shorter.text) else None)
    stated = [claim.text if claim else None for claim in claims]
    if any(declined) and is_whole_refusal([sentence.text for sentence in sentences], declined, stated):
        return Statements((), True, False, "")
    return Statements(tuple(filter(None, claims)), False, any(declined), " ".join(filter(None, stated)))


def _mark_code(answer: str, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
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
    return [inside.get(original.n, original) for original in sentences]


def _find_answering_part(sentence: Sentence) -> Sentence | None:
    """The part of a declining sentence that answers, with its place in the answer; None where there is none."""
    for start, end in divide_sentence(sentence.text):
        text = sentence.text[start:end]
        if (
            is_statement(text)
            and not is_refusal(text)
            and not is_only_wrapper(text)
            and len(split_words(text)) >= MIN_ANSWER_WORDS
        ):
            return Sentence(sentence.n, text, sentence.start + start, sentence.start + end)
    return None


def strip_marks(sentence: str) -> str:
    """A sentence without citation marks, list markers and emphasis; code in it as it is written.

    >>> strip_marks("- **Ada** was born in 1815 [3].")
    'Ada was born in 1815.'
    """
    return remove_markup(sentence, remove_marks).strip()


def is_statement(sentence: str) -> bool:
    """Whether a sentence states something; greetings, headings, fences of code, pure questions and pointers do not.

    >>> [is_statement(text) for text in ("It weighs 3 kg.", "Here is the answer:", "Anything else?", "Yes.", "Hello!")]
    [True, False, False, False, False]
    """
    text = strip_marks(sentence)
    sentence_words = split_words(text)
    content = [word for word in sentence_words if stem_word(word) not in STOP_UNITS]
    mark = not any(
        len(word) > 1 or not word.isascii() or word.isdigit() for word in sentence_words
    )  # "a" before an item
    if not content or (len(sentence_words) == 1 and sentence_words[0] in CONTENTLESS) or mark:
        return False
    if FORMS["heading"].match(sentence) or FENCE.match(sentence):
        return False
    if _is_question(text) and not FORMS["code_alone"].match(sentence):
        return False
    if FORMS["pointer_end"].search(text) and len(sentence_words) <= MAX_POINTER_WORDS:
        return False
    return len(text) > MAX_TALK_CHARS or not has_wording(TALK, text)


def _is_question(text: str) -> bool:
    """Whether a sentence only asks; a statement may end with a quoted question."""
    if FORMS["question_end"].search(text[-8:]) is None or PLACEHOLDER.search(text):
        return False
    quoted = FORMS["opening_quote"].search(text)
    return quoted is None or not text[: quoted.start()].strip() or FORMS["asking"].match(text) is not None
