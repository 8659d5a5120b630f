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

from ragauge.text.tokens import ENGLISH, stem
from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "english")

IRREGULAR: dict[str, str] = {
    form: entry.split()[0]
    for entry in WORDS["irregular"].replace("\n", " ").split("|")
    if entry.strip()
    for form in entry.split()[1:]
}
FUNCTION_WORDS = ENGLISH | {"not", "never", "none", "nobody", "nothing", "nowhere", "hardly", "scarcely"}
SHORTENED = {"ca": "can", "wo": "will", "sha": "shall", "ai": "be"}  # before n't


@lru_cache(maxsize=8_192)
def base(word: str) -> str:
    """The stem of a folded word, of its base form where the verb is irregular; a function word stays as it is.

    >>> base("went") == base("goes") == base("go"), base("was"), base("countries")
    (True, 'be', 'country')
    """
    if word.startswith("un") and word[2:] in IRREGULAR:  # unknown, unwritten
        return "un" + base(word[2:])
    plain = IRREGULAR.get(word, word)
    if plain in FUNCTION_WORDS:
        return plain
    stemmed = stem(plain)
    return stemmed + "e" if stemmed in FUNCTION_WORDS else stemmed  # "noted" is no form of "not"


Opposition = Literal["antonym", "quantifier", "comparative", "date", "number", "unit"]

NEGATIONS = frozenset(WORDS["negations"].split())
HEDGES = frozenset(map(base, WORDS["hedges"].split()))
PHRASES = {
    phrase: "" if meaning == "-" else meaning
    for meaning, phrases in WORDS["phrases"].items()
    for phrase in phrases.split(", ")
}
STRENGTH = {
    base(word): n
    for n, line in enumerate(WORDS["strengths"].strip().replace("\n", "|").split("|"))
    for word in line.split()
}
OVERSTATED = ((2, 3, 4, 5), (0, 3, 4, 5), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4))  # by no, few, some … all
MONTHS = WORDS["months"].split()
PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
FEWEST_LETTERS = 4  # of a word that such a prefix turns round
POSITIVE_BOUND, NEGATIVE_BOUND = ">", "<"


def _table() -> dict[str, dict[str, Opposition]]:
    table: dict[str, dict[str, Opposition]] = {}

    def oppose(first: str, last: str, kind: Opposition) -> None:
        table.setdefault(first, {})[last] = kind
        table.setdefault(last, {})[first] = kind

    oppose(POSITIVE_BOUND, NEGATIVE_BOUND, "comparative")
    pairs: tuple[tuple[Opposition, str], ...] = (("comparative", WORDS["comparative"]), ("antonym", WORDS["antonyms"]))
    for kind, words in pairs:
        for pair in words.split():
            first, last = pair.split("/")
            oppose(base(first), base(last), kind)
    for entry in WORDS["exclusive"].split("|"):
        name, *own = entry.split()
        for first, last in permutations(map(base, own), 2):
            oppose(first, last, cast("Opposition", name))
    return table


OPPOSED = _table()


@lru_cache(maxsize=4_096)
def opposed(claim: str) -> Mapping[str, Opposition]:
    """The words of a passage that the claim's word excludes, and how; all as `forms.base` gives them.

    A quantifier excludes a weaker one that it overstates ("all" for "some"), not one that implies it.

    >>> opposed(base("rise"))[base("fall")], opposed("all")["some"], "all" in opposed("some")
    ('antonym', 'quantifier', False)
    >>> opposed(base("possible"))[base("impossible")]
    'antonym'
    """
    oppositions: dict[str, Opposition] = {}
    if claim in STRENGTH:
        oppositions = {
            word: "quantifier" for word, strength in STRENGTH.items() if strength in OVERSTATED[STRENGTH[claim]]
        }
    if len(claim) >= FEWEST_LETTERS:
        for prefix in PREFIXES:
            oppositions[prefix + claim] = "antonym"
            if claim.startswith(prefix) and len(claim) >= len(prefix) + FEWEST_LETTERS:
                oppositions[claim.removeprefix(prefix)] = "antonym"
    return oppositions | OPPOSED.get(claim, {})


SENSES: dict[str, str] = {
    base(word): f"={entry.split()[0]}"
    for entry in WORDS["groups"].strip().replace("\n", "|").split("|")
    for word in entry.split()
}


def sense_of(key: str) -> str:
    """What words of one meaning share; "" where no other is known. The word as `forms.base` gives it.

    >>> sense_of(base("bought")) == sense_of(base("purchases")), sense_of(base("harbour"))
    (True, '')
    """
    return SENSES.get(key, "")
