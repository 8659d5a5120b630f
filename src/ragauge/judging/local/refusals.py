"""Whether an answer declines to answer.

Where an answer that declines turns, lists and concludes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ragauge.judging.local import refusal_words as english
from ragauge.judging.local import refusal_words_east as east
from ragauge.judging.local import refusal_words_germanic as germanic
from ragauge.judging.local import refusal_words_romance as romance
from ragauge.judging.local import refusal_words_slavic as slavic
from ragauge.judging.local import refusal_words_sources as sources
from ragauge.judging.local import refusal_words_south as south
from ragauge.judging.local.wordings import LOOKED_AT, compiled
from ragauge.text.language import LATIN, guess

# where a sentence turns: "it costs 49 euros, but ...", "although ..., it ..."
TURN = (
    r"\s?[,;:–—،]\s{0,3}(?:но|однако|хотя|зато|але|однак|проте|хоча|و?لكن\w*|إلا أن|लेकिन|परंतु|परन्तु|किंतु|मगर"
    r"|but|however|though|although|yet|while|whereas|aber|jedoch|doch|während|wobei|pero|aunque"
    r"|mientras que|sin embargo|mais|cependant|tandis que|alors que|ma|però|mentre|tuttavia|mas|porém|enquanto"
    r"|maar|echter"
    r"|terwijl|men|dock|medan|ale|jednak|lecz|natomiast|ancak|fakat)\b[,\s]{0,3}"
    r"|\s(?:ama|fakat|ancak|و?لكن\w*|लेकिन|परंतु|मगर)\s|(?<=지만),?\s|[,;，；、]\s?(?:但是|但|不过|不過|然而|而|ただし|しかし)[,，、]?|が、"
)
# after which a "but" goes on in the same sense
NOT_ONLY = r"\bnot (?:only|just|merely)\b"
LEAD = (
    r"^(\W*(?:although|though|even though|while|whereas|despite|obwohl|auch wenn|während|aunque|si bien|bien que"
    r"|même si"
    r"|sebbene|anche se|embora|hoewel|även om|choć|chociaż|mimo że|虽然|雖然|尽管|儘管)[^,，]{0,300})[,，]\s*"
)
# how a sentence goes on to answer after a refusal
BACK = (
    r"^\W*(?:however|but|nevertheless|nonetheless|that said|having said that|with that said|still|yet|jedoch"
    r"|allerdings|dennoch|aber|cependant|toutefois|néanmoins|mais|sin embargo|no obstante|pero"
    r"|tuttavia|però|ma|no entanto|porém"
    r"|contudo|mas|echter|maar|toch|men|dock|däremot|jednak|ale|ancak|fakat|yine de"
    r"|однако|но|тем не менее|всё же|але|однак|проте|و?لكن\w*|लेकिन|हालांकि|हालाँकि|परंतु|하지만|그러나|다만"
    r"|但是|但|不过|然而|ただし|しかし|でも)\b"
)
# the end of a line that a list of what would be needed, or how it is worked out, follows
NEEDING = (
    r"here's how|here is how|as follows|need|requir|necessary|steps?\b|formula|guide|how to|calculat|would be"
    r"|you (?:can|could|may|should)|typically"
    r"|benötig|brauch|nécessaire|besoin|necesit|servir|precis|potrzeb|nodig|behöv|gerek|需要|必要"
)
# an answer that ends so rests on what it said before
CONCLUSION = (
    r"^\W*(?:(?:however|nonetheless|nevertheless|but|yet|still|jedoch|allerdings|cependant|sin embargo|tuttavia"
    r"|no entanto),? )?"
    r"(?:therefore|thus|so|hence|as such|as a result|consequently|in conclusion|without|accordingly|daher|deshalb"
    r"|somit|folglich|ohne|donc|par conséquent|ainsi|sans|por lo tanto"
    r"|por tanto|sin|quindi|pertanto|dunque|senza|portanto|logo|sem|daarom|dus|zonder|därför|utan|dlatego|zatem"
    r"|więc|bez"
    r"|bu nedenle|dolayısıyla|因此|所以|したがって|そのため)\b"
)
# a conclusion that only declines to be exact
EXACT = (
    r"\b(?:exact|exactly|precise|precisely|definitive|definitively|certain|certainty|full|fully|complete picture"
    r"|inferr?e?d?|likely|suggests?|appears?|assume)\b"
)
# what is concluded is no advice and no mere remark
CONCLUDED = (
    r"(?:can be|could be|may be|might be) (?:inferred|concluded|assumed|estimated)|\b(?:we|i|one) can (?:infer"
    r"|conclude|see|estimate|assume)"
    r"|\bit (?:appears|seems|is (?:un)?likely|is reasonable)|\bsuggest(?:s|ing) that|se puede inferir"
    r"|se pueden inferir|on peut (?:en )?déduire"
    r"|(?:lässt sich|kann man) (?:\w+ )?(?:schließen|folgern|ableiten)|si può dedurre|pode-se inferir"
    r"|można wnioskować|可以推断|推測"
)
# what a refusal by a rule of conduct speaks of
CONDUCT = (
    r"legal|unlawful|\bethic|harm|appropriate|respect|privacy|private|confidential|\bsafe|guidelines|danger"
    r"|against the law"
    r"|violen|abus|consent|offensive|\bhat(?:e|red)|discriminat|moral|malicious|sensitive|responsib|mental health"
    r"|helpline"
    r"|\bprogram|polic(?:y|ies)|polite|\bcrim|gesetz|ethi|schädlich|gefähr|éthique|dangereu|nuisible|ilegal|ético"
    r"|dañin|peligros"
    r"|etic[oi]|dannos|pericol|prejudic|perigos|illegaal|schadelijk|gevaarlijk|olaglig|skadlig|farlig|nielegaln"
    r"|etyczn"
    r"|szkodliw|niebezpieczn|yasa dışı|zararlı|tehlikeli|违法|非法|道德|有害|危险|違法|倫理|危険"
    r"|незакон|опасн|этич|конфиденц|закон|незаконн|небезпечн|етичн|قانون|خطير|غير أخلاقي|कानून|अवैध|खतरनाक|불법|위험|윤리"
)
# characters of an answer in which it is looked for
CONDUCT_LOOKED_AT = 1_000
# an amount that can answer a question; a mere year, "2 of them" and "* 100" are none
VALUE = r"[$€£¥]\s?\d|\d\s?(?:%|percent|million|billion|thousand|euros?|dollars?)|\d{2,}"
NO_VALUE = r"\b(?:FY\s?|Q[1-4]\s?)?(?:19|20)\d\d\b|\bFY\s?\d\d\b|\b(?:100|365)\b ?%?"
# what was so in a year
PAST = r"\b(?:was|were|has|had|became|began|opened|born|founded|died|built)\b.{0,80}\b(?:1\d|20)\d\d\b"
EQUATION = r"\s[=≈÷×]\s|[)\]]\s?/\s|\s/\s?[(\[]"
# a sentence that says what would be needed
NEED = (
    r"\b(?:you|we|one|i)(?:'d| would| will|'ll)? (?:typically |also |still |then |first |likely )?(?:need|have to"
    r"|require)\b"
    r"|\b(?:required|necessary|needed) (?:to|for|in order)|\bif you (?:can|could) (?:provide|share|give)"
    r"|\byou (?:can|could|would|should|may|might) (?:typically |usually |also |then )?(?:find|look at|refer to"
    r"|calculate|determine)"
)
# a calculation with made-up amounts
SUPPOSING = (
    r"\b(?:let's (?:say|assume)|(?:for example|for instance),? (?:if|suppose|assuming)|hypothetical(?:ly)?,? "
    r"|suppose (?:that )?)\b"
)
# a condition at the start of a sentence
CONDITION = r"^\W*(?:(?:however|but|and),? )?(?:if|when|once|si|wenn|falls|se|als|om|jeśli|如果)\b"


# those with wordings
LANGUAGES = frozenset(
    ["en", "de", "nl", "sv", "fr", "es", "it", "pt", "pl", "tr", "zh", "ja", "ko", "ru", "uk", "ar", "hi"]
)
MOST_SENTENCES = 150      # of a refusal; what is longer says something
LONGEST_DIVIDED = 600     # characters of a sentence within which a "but" is looked for
QUOTED = re.compile(r"(?<=\S )(?:“[^”]{1,200}”|\"[^\"]{1,200}\"|«[^»]{1,200}»|„[^“”]{1,200}[“”]|「[^」]{1,200}」)")
ITEM = re.compile(r"^\s*(?:[-*+•‣◦·–]\s|\(?\d{1,2}[.)]\s|\*\*)")
CHARACTER_SET = re.compile(r"\[[^\]]*\]")
CUT_OFF_WORDS = 6         # of a last sentence that breaks off
STOP = re.compile(r"[.!?。！？…:]\W{0,3}$")
LEAD_END = re.compile(r"[:：]\W{0,3}$")
VOWEL_SIGNS = re.compile("[\u0640\u064b-\u0652]")     # of Arabic, with the stroke that lengthens a word


@dataclass(frozen=True, slots=True)
class Declining:
    """The wordings of some languages.

    Attributes:
        hint: what every refusal in them has somewhere; without it none is looked for.
        plain_hint: the same for a sentence of ASCII in small letters, at a fifth of the time; None where none fits.
        lacking: declining for want of knowledge.
        conduct: declining by a rule of conduct.
        wrapping: what may stand beside.
    """

    hint: re.Pattern[str]
    plain_hint: re.Pattern[str] | None
    lacking: re.Pattern[str]
    conduct: re.Pattern[str]
    wrapping: re.Pattern[str]


def is_refusal(sentence: str) -> bool:
    """Whether a sentence declines to answer.

    >>> is_refusal("I could not find the price in the documents."), is_refusal("We could not find any effect.")
    (True, False)
    """
    start = _unquoted(sentence)
    return any(
        declining.lacking.search(start) is not None or declining.conduct.search(start) is not None
        for declining in _hinted(start)
    )


def unread(answer: str) -> str:
    """The code of an answer's language where no wordings of it are known, "und" where its script has none; else "".

    Latin letters that speak for no language count as English.

    >>> unread("Die Karte gilt nur im Hafen."), unread("Το κείμενο δεν το αναφέρει."), unread("42")
    ('', 'el', '')
    """
    code = guess(answer)
    if code == "und":
        letters = [one for one in answer[:LOOKED_AT] if one.isalpha()]
        return "und" if letters and not any(LATIN.match(letter) for letter in letters) else ""
    return "" if code in LANGUAGES else code


def only_wraps(sentence: str) -> bool:
    """Whether a sentence may stand beside a refusal without answering: apology, advice, what there is instead.

    What is concluded, and a condition that an amount follows, may not.
    """
    start = ITEM.sub("", _plain(sentence))
    if not any(declining.wrapping.search(start) is not None for declining in _languages()) or _matches(
        CONCLUDED, start
    ):
        return False
    return not (_matches(CONDITION, start) and _amounts(start))


def refuses(texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None]) -> bool:
    """Whether an answer as a whole declines: one sentence does, and no other one answers.

    An answer that opens by declining for a rule of conduct answers only where it turns ("However, ..."). One that
    closes by saying that what came before does not suffice for an answer declines, whatever it listed.

    Args:
        texts: the sentences.
        declined: which of them decline.
        told: what each states; of a declining one, what its other part states; None where nothing.
    """
    if not any(declined) or len(texts) > MOST_SENTENCES:
        return False
    if _by_conduct(texts, declined):
        return not _answers_after_all(texts, declined, told)
    answering = _answering(texts, told)
    if _gives_up(texts, declined, answering):
        after_all = (text for answers, text in zip(answering, texts, strict=True) if answers)
        return not any(_amounts(text) or _matches(BACK, text) for text in after_all)
    return not any(answering) or _concludes(texts, declined, told, answering)


def clauses(sentence: str) -> list[tuple[int, int]]:
    """Where a sentence that says one thing but another divides: characters [start, end) of its parts.

    >>> text = "It costs 49 euros, but the documents do not mention taxes."
    >>> [text[start:end] for start, end in clauses(text)]
    ['It costs 49 euros', 'the documents do not mention taxes.']
    """
    head = sentence[:LONGEST_DIVIDED]
    cuts = [
        match.span()
        for match in _pattern(TURN).finditer(head)
        if _pattern(NOT_ONLY).search(head, 0, match.start()) is None
    ]
    lead = _pattern(LEAD).match(head)
    if lead is not None:
        cuts.append((lead.end(1), lead.end()))
    spans, start = [], 0
    for end, following in sorted(cuts):
        if end > start:
            spans.append((start, end))
            start = following
    return [*spans, (start, len(sentence))]


def _answering(texts: Sequence[str], told: Sequence[str | None]) -> list[bool]:
    """Which sentences answer; the items of a list of what would be needed, or how it is worked out, do not."""
    listing = supposing = False
    answers: list[bool] = []
    for text, verdict in zip(texts, told, strict=True):
        wraps = verdict is None or only_wraps(verdict) or _is_formula(verdict)
        wraps = wraps or (0 < len(answers) == len(texts) - 1 and _cut_off(text))
        if LEAD_END.search(text):
            listing = _matches(NEEDING, text)
        elif not ITEM.match(text):
            listing = listing and not _amounts(text) and not _matches(BACK, text)
        supposing = supposing or _matches(SUPPOSING, text)
        answers.append(not (wraps or listing or supposing))
    return answers


def _cut_off(text: str) -> bool:
    """Whether a last sentence breaks off before it says anything."""
    return text.isascii() and STOP.search(text) is None and len(text.split()) <= CUT_OFF_WORDS and not _amounts(text)


def _gives_up(texts: Sequence[str], declined: Sequence[bool], answering: Sequence[bool]) -> bool:
    """Whether an answer declines before it says anything, and says what would be needed."""
    before = next((n for n, no in enumerate(declined) if no), 0)
    return not any(answering[: before + 1]) and any(_matches(NEED, text) for text in texts)


def _by_conduct(texts: Sequence[str], declined: Sequence[bool]) -> bool:
    """Whether the first sentence that is no mere apology declines by a rule of conduct, and the answer names one."""
    for text, no in zip(texts, declined, strict=True):
        if no:
            start = _unquoted(text)
            by_rule = any(declining.conduct.search(start) is not None for declining in _hinted(start))
            return by_rule and _matches(CONDUCT, " ".join(texts)[: CONDUCT_LOOKED_AT])
        if not only_wraps(text):
            return False
    return False


def _answers_after_all(texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None]) -> bool:
    """Whether an answer that declined by a rule of conduct turns, and answers there or later.

    "However, I cannot ..." is no turn.
    """
    turned = False
    for text, no, verdict, answers in zip(texts, declined, told, _answering(texts, told), strict=True):
        turned = turned or (_matches(BACK, text) and not no) or (verdict is not None and verdict != text)
        if turned and answers:
            return True
    return False


def _concludes(
    texts: Sequence[str], declined: Sequence[bool], told: Sequence[str | None], answering: Sequence[bool]
) -> bool:
    """Whether an answer that did not open with an answer ends by declining because of what it said.

    Where it opened by declining, remarks without amounts may follow.
    """
    opened = declined[0] and told[0] is None
    for n in range(len(texts) - 1, 0, -1):
        if declined[n] and told[n] is None and _matches(CONCLUSION, texts[n]):
            led = opened or only_wraps(texts[0]) or _matches(NEED, texts[0])
            return led and not answering[0] and not _matches(EXACT, texts[n])
        if answering[n] and (not opened or _amounts(texts[n])):
            return False
    return False


def _is_formula(text: str) -> bool:
    """Whether a line names a quantity by others, without their values."""
    return _matches(EQUATION, text) and not _amounts(text)


def _amounts(text: str) -> bool:
    """Whether a sentence holds an amount that could answer."""
    start = text[:LOOKED_AT]
    return (
        _pattern(VALUE).search(_pattern(NO_VALUE).sub("", start)) is not None
        or _pattern(PAST).search(start) is not None
    )


def _plain(sentence: str) -> str:
    return " ".join(VOWEL_SIGNS.sub("", sentence[:LOOKED_AT]).replace("’", "'").replace("**", "").split())


def _unquoted(sentence: str) -> str:
    """The start of a sentence without what it quotes after its first word."""
    return QUOTED.sub("it", _plain(sentence))


def _matches(pattern: str, text: str) -> bool:
    return _pattern(pattern).search(_plain(text)) is not None


@cache
def _pattern(wording: str) -> re.Pattern[str]:
    return re.compile(wording, re.IGNORECASE)


def _hinted(start: str) -> list[Declining]:
    """The wordings worth looking for in a sentence."""
    if not start.isascii():
        return [declining for declining in _languages() if declining.hint.search(start)]
    small = start.lower()
    return [
        declining
        for declining in _languages()
        if declining.plain_hint is not None and declining.plain_hint.search(small)
    ]


def _plain_hint(hint: str) -> re.Pattern[str] | None:
    """The alternatives of a hint that a text of small ASCII letters can match.

    Where case is not regarded, a dotless i matches i.
    """
    parts = hint.replace("ı", "i").split("|")
    kept = [part for part in parts if CHARACTER_SET.sub("", part).isascii()]
    return re.compile("|".join(kept)) if kept else None


@cache
def _languages() -> tuple[Declining, ...]:
    return tuple(
        Declining(
            re.compile(words.HINT, re.IGNORECASE),
            _plain_hint(words.HINT),
            compiled(words.DECLINING, words.WORDS),
            compiled(words.CONDUCT, words.WORDS),
            compiled(words.WRAPPING, {**words.WORDS, **words.WRAP_WORDS}),
        )
        for words in (english, sources, germanic, romance, slavic, south, east)
    )
