"""English words that cannot both hold of one thing: negations, antonyms, quantifiers, bounds, sets such as weekdays.

Compact and written by hand. A pair stands here only where the two exclude one another in otherwise equal sentences.

English words that say the same in nearly every sentence, so that a near-copy may use one for the other.

Few on purpose: a pair stands here only where the sentence stays true whichever is used, whatever it is about.

Irregular forms of English verbs, so that "went" and "did not go" are laid beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import permutations
from typing import Literal, cast

from ragauge.text.tokens import ENGLISH, stem_word
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "english")

IRREGULAR: dict[str, str] = {
    form: entry.split()[0]
    for entry in WORDS["irregular"].replace("\n", " ").split("|")
    if entry.strip()
    for form in entry.split()[1:]
}
FUNCTION_WORDS = ENGLISH | {"not", "never", "none", "nobody", "nothing", "nowhere", "hardly", "scarcely"}
CONTRACTED_FORMS = {"ca": "can", "wo": "will", "sha": "shall", "ai": "be"}  # before n't


@lru_cache(maxsize=8_192)
def find_base_form(word: str) -> str:
    """The stem of a folded word, of its base form where the verb is irregular; a function word stays as it is.

    >>> (find_base_form("went") == find_base_form("goes") == find_base_form("go"), find_base_form("was"),
    ...     find_base_form("countries"))
    (True, 'be', 'country')
    """
    if word.startswith("un") and word[2:] in IRREGULAR:  # unknown, unwritten
        return "un" + find_base_form(word[2:])
    base_form = IRREGULAR.get(word, word)
    if base_form in FUNCTION_WORDS:
        return base_form
    stemmed = stem_word(base_form)
    return stemmed + "e" if stemmed in FUNCTION_WORDS else stemmed  # "noted" is no form of "not"


Opposition = Literal["antonym", "quantifier", "comparative", "date", "number", "unit"]

NEGATIONS = frozenset(WORDS["negations"].split())
HEDGES = frozenset(map(find_base_form, WORDS["hedges"].split()))
PHRASES = {
    phrase: "" if meaning == "-" else meaning
    for meaning, phrases in WORDS["phrases"].items()
    for phrase in phrases.split(", ")
}
STRENGTHS = {
    find_base_form(word): n
    for n, line in enumerate(WORDS["strengths"].strip().replace("\n", "|").split("|"))
    for word in line.split()
}
OVERSTATED_STRENGTHS = ((2, 3, 4, 5), (0, 3, 4, 5), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4))  # by no, few, some … all
MONTHS = WORDS["months"].split()
PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
MIN_PREFIXED_LETTERS = 4  # of a word that such a prefix turns round
POSITIVE_BOUND, NEGATIVE_BOUND = ">", "<"


def _build_oppositions() -> dict[str, dict[str, Opposition]]:
    table: dict[str, dict[str, Opposition]] = {}

    def add_opposition(first: str, last: str, kind: Opposition) -> None:
        table.setdefault(first, {})[last] = kind
        table.setdefault(last, {})[first] = kind

    add_opposition(POSITIVE_BOUND, NEGATIVE_BOUND, "comparative")
    pairs: tuple[tuple[Opposition, str], ...] = (("comparative", WORDS["comparative"]), ("antonym", WORDS["antonyms"]))
    for kind, words in pairs:
        for pair in words.split():
            first, last = pair.split("/")
            add_opposition(find_base_form(first), find_base_form(last), kind)
    for entry in WORDS["exclusive"].split("|"):
        name, *members = entry.split()
        for first, last in permutations(map(find_base_form, members), 2):
            add_opposition(first, last, cast("Opposition", name))
    return table


OPPOSITIONS = _build_oppositions()


@lru_cache(maxsize=4_096)
def find_opposed(claim: str) -> Mapping[str, Opposition]:
    """The words of a passage that the claim's word excludes, and how; all as `forms.base` gives them.

    A quantifier excludes a weaker one that it overstates ("all" for "some"), not one that implies it.

    >>> (find_opposed(find_base_form("rise"))[find_base_form("fall")], find_opposed("all")["some"],
    ...     "all" in find_opposed("some"))
    ('antonym', 'quantifier', False)
    >>> find_opposed(find_base_form("possible"))[find_base_form("impossible")]
    'antonym'
    """
    oppositions: dict[str, Opposition] = {}
    if claim in STRENGTHS:
        oppositions = {
            word: "quantifier"
            for word, strength in STRENGTHS.items()
            if strength in OVERSTATED_STRENGTHS[STRENGTHS[claim]]
        }
    if len(claim) >= MIN_PREFIXED_LETTERS:
        for prefix in PREFIXES:
            oppositions[prefix + claim] = "antonym"
            if claim.startswith(prefix) and len(claim) >= len(prefix) + MIN_PREFIXED_LETTERS:
                oppositions[claim.removeprefix(prefix)] = "antonym"
    return oppositions | OPPOSITIONS.get(claim, {})


SENSES: dict[str, str] = {
    find_base_form(word): f"={entry.split()[0]}"
    for entry in WORDS["groups"].strip().replace("\n", "|").split("|")
    for word in entry.split()
}


def find_sense(key: str) -> str:
    """What words of one meaning share; "" where no other is known. The word as `forms.base` gives it.

    >>> (find_sense(find_base_form("bought")) == find_sense(find_base_form("purchases")),
    ...     find_sense(find_base_form("harbour")))
    (True, '')
    """
    return SENSES.get(key, "")
