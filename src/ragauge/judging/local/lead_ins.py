"""Openings that say nothing of the matter: "Based on the provided context, the answer is ..."."""

from __future__ import annotations

import re

LONGEST = 200     # characters within which an opening ends

_SOURCES = r"(?:context|passages?|documents?|sources?|information|texts?|excerpts?|documentation|snippets?|materials?)"
_THE = r"(?:the|this|these|your|my|our|all|any|of|provided|given|available|retrieved|supplied|above|following|relevant)"
_AFTER = r"(?:\s+(?:provided|given|above|below|retrieved|supplied|available|you (?:provided|gave me)))?"
_BY = r"(?:based (?:up)?on|according to|as per|from|given|per|as stated in|as mentioned in|in)"
_OTHER_SOURCES = (
    r"(?:de acordo com|segundo|con base en|según|de acuerdo con|d['’]après|selon|secondo|in base a[il]?"
    r"|volgens|enligt|zgodnie z)\s+(?:[^\W\d_]{1,4}\s+){0,2}(?:contexte?o?s?|contesto|documentos?|documents?|documenten"
    r"|documenti|fornecido|texto?s?|passages?|fuentes|sources|kontekstem|dokumenten?|kontexten)(?:\s+(?:fornecidos?|proporcionados?"
    r"|fournis?|forniti?))?,\s+"
)
_ANSWER = (
    r"(?:the|my|a)\s+(?:(?:short|final|correct|right|direct|best)\s+)?answer(?:\s+to\s+(?:the|this|your)\s+question)?"
    r"\s+(?:is|would be)(?:\s+that)?(?:\s*:)?\s+"
    r"|(?:(?:short|final|direct)\s+)?answer\s*:\s*"
    r"|a resposta (?:é|seria)(?: que)?:?\s+|la respuesta es(?: que)?:?\s+|la réponse est(?: que)?(?:\s*:)?\s+"
    r"|la risposta è(?: che)?:?\s+|die antwort (?:ist|lautet):?\s+|het antwoord is(?: dat)?:?\s+"
    r"|svaret är(?: att)?:?\s+|odpowiedź (?:to|brzmi):?\s+"
    r"|(?:resposta|respuesta|réponse|risposta|antwort|antwoord|svar|odpowiedź|cevap)\s*:\s*"
)
LEAD = re.compile(
    rf"[\W_]*(?:{_BY}\s+(?:{_THE}\s+){{0,4}}{_SOURCES}{_AFTER},\s+|{_OTHER_SOURCES})?(?:{_ANSWER})?", re.IGNORECASE
)


def lead_in(sentence: str) -> int:
    """How many characters of a sentence are such an opening; 0 for none, and where nothing would be left.

    >>> text = "Based on the provided context, the answer is 1 August 1973."
    >>> text[lead_in(text):], lead_in("According to Ada Lovelace, it computes.")
    ('1 August 1973.', 0)
    """
    found = LEAD.match(sentence[:LONGEST])
    if found is None or not any(map(str.isalpha, found[0])):
        return 0
    rest = sentence[found.end() :]
    return found.end() if any(map(str.isalnum, rest)) else 0
