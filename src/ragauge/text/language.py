"""Which language a text is in: a guess good enough to divide examples into segments."""

from __future__ import annotations

import re
from functools import cache, lru_cache

ENOUGH = 4_000      # characters read
WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2}(?![^\W\d_]))?")
ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]{1,2}(?![A-Za-z]))?")
FEWEST = 0.12       # share of words that must speak for a language written in Latin letters
EVIDENCE = 1.5      # words of one language alone: fewer may be names, titles and chance (a word of two counts half)
LEAD = 0.75         # words by which the best language has to lead, less of a short text's than of a long one's
NAMED = 0.5         # what a word counts that has a capital within a sentence, as in a name or a title
AHEAD = 0.25        # share of its own evidence by which it has to lead in a text of many words

# the most frequent words of each language
_COMMON = {
    "en": "the of and to in is was for that with are by be this from at which have has an were not it on as or does "
    "what how who",
    "de": "der die das und ist in den von zu mit ein eine nicht des im auf für sich dem wird sind auch es an als bei "
    "war wurde wie was wer er am im zum zur nach über wo sie wir",
    "fr": "le la les des de et est en un une du dans pour que qui sur par au pas ne sont avec il elle ce cette plus "
    "été quelle quel",
    "es": "el la los las de y en que es un una por con para del se al lo como su fue son más no está qué cuál quién",
    "it": "il la le di che è un una per in del della con non si dei sono gli lo nel alla da come più anche ha quale "
    "chi i",
    "pt": "o a os as de e que do da em um uma para com não por dos das no na se foi mais são é ao como qual quem",
    "nl": "de het een van en in is dat op te zijn voor met die niet aan er door was om ook naar bij werd wordt wat "
    "wie hoe",
    "sv": "och att det som en är av för på den till med ett inte har om var i från kan de vid eller hur vad vem",
    "pl": "w i na z że się do jest nie to o jak po od za przez są był była dla oraz które który jego co kto",
    "tr": "ve bir bu için ile de da olarak en çok daha olan ne gibi kadar sonra değil mi hangi nedir kim nasıl "
    "vardır oldu",
    "ro": "și în este de la care ce cu din pe pentru al ale fost sunt mai nu se au o un una lui câte câți când unde "
    "cine cum a prin sau într dintre după să cel",
    "vi": "là của và có được những các trong cho một không người đã với gì nào khi ở này bao nhiêu như đến từ tại "
    "về ai đâu năm để bị",
}
# others that tell short texts apart: what questions are made of, and English words that are words elsewhere too
_MORE = {
    "en": "a i you he she we they my your his her its our their me him them us am been being do did done can could "
    "will would shall should may might must had where when why whose whom many much more most than then there these "
    "those if but so no any all some one into out up down over about after before between during under through while "
    "because only also each other such same first last new name named called made make die died war men man son come "
    "came door hat list per get gets got take took long often old year years between both i'm it's don't isn't what's "
    "who's let's doesn't didn't can't i've give gave said see use used like mean means work between best need know "
    "forgot forget pay paid buy bought find found help please free safe eat keep try tell ask",
    "de": "januar februar märz dezember genau etwa "
    "bin bist seid warum wann welche welcher welches wem wen wessen woher wohin wieviel viele viel hat haben "
    "hatte kann können muss müssen soll werden wurden sein seine ihr ihre ich du man oder aber wenn dass daß vom beim "
    "durch gegen ohne um unter zwischen vor aus seit bis nur noch schon mehr sehr kein keine einen einem einer eines "
    "diese dieser dieses gibt heißt liegt darf mein meine unsere",
    "fr": "je tu nous vous ils elles on mon ma mes ton son sa ses leur leurs notre votre quels quelles quoi où quand "
    "comment pourquoi combien a ont avait était étaient être avoir fait peut peuvent sera si ou mais donc comme aux "
    "ces cet après avant entre sans sous depuis très aussi même tout tous toute y qu puis-je dois faut",
    "es": "yo tú él ella nosotros ellos mi tu sus nuestro qué quiénes cuáles cuándo dónde cómo cuánto cuánta cuántos "
    "cuántas donde cuando porque si pero o ni sin sobre entre hasta desde también muy ya hay ha han había era eran "
    "ser estar tiene tienen puede pueden puedo hace hizo este esta estos estas ese esa eso todo todos otra otro debo "
    "cual quien dos después antes durante están fueron me le les",
    "it": "io tu lui lei noi voi loro mio mia tuo suo sua suoi sue nostro cosa cos dove dov quando perché quanto "
    "quanta quanti quante quali com se ma o e ed né senza su sul sulla tra fra fino dal dalla dalle delle degli dello "
    "nella nelle negli al allo ai agli alle ho hai hanno era erano essere avere fa può possono posso questo questa "
    "questi queste quello molto già dell stato stata fu furono ogni tutti devo dopo prima",
    "pt": "eu tu ele ela nós eles elas meu minha seu sua seus suas nosso quais quando onde quanto quanta quantos "
    "quantas porque porquê mas ou nem sem sobre entre até desde também muito já há tem têm tinha era eram ser estar "
    "está estão pode podem posso faz fez este esta isto esse essa isso todo todos pelo pela nos nas num numa aos à às "
    "foram depois antes durante devo",
    "nl": "ik jij je u hij zij ze wij we jullie mijn jouw uw haar hun ons onze welke welk waar waarom wanneer hoeveel "
    "wiens heeft hebben had kan kunnen moet moeten mag zal zullen worden waren ben bent als maar of dan dus uit over "
    "onder tussen tot na sinds zonder nog al meer veel zeer geen deze dit dag jaar heet",
    "sv": "jag du han hon vi ni de dem min mitt din sin sitt sina hans hennes vår vilken vilket vilka vems när varför "
    "hade ha är vara varit blir blev ska skulle måste får men så än efter före mellan under utan över mot hos också "
    "mycket många mer mest ingen denna detta dessa finns heter man sig ut upp",
    "pl": "ja ty on ona my wy oni mój moja twój swój jaki jaka jakie gdzie kiedy dlaczego czemu czy ile ilu kogo komu "
    "czym mają ma miał może mogą mogę można być były będzie było lub albo ale więc jeśli gdy bez pod nad przed między "
    "oraz także już jeszcze bardzo tylko tym tego tej ten ta te tych jej ich nas która którzy ze we u roku",
    "tr": "ben sen o biz siz onlar benim senin onun bizim nerede nereye neden niçin niye zaman kaç kimin hangisi "
    "mı mu mü var yok ama veya ya ki her şey tüm az göre önce karşı üzere olur olduğu oldu edilir etti eder midir "
    "mıdır nelerdir kimdir nedeni hakkında tarafından arasında",
    "ro": "eu tu el ea noi voi ei ele mea meu mei mele nostru noastră vostru lor lui ei îi îmi își sunt era erau avea "
    "ai are avem au fi fie poate pot trebuie până luni vineri zile trei două dar dacă fără despre pentru doar foarte "
    "ora toate acest această aceste acestui unei unui din pe la cât ce vă ne",
}
VOTES: dict[str, tuple[str, ...]] = {}
for _code, _line in _COMMON.items():
    for _word in dict.fromkeys(f"{_line} {_MORE.get(_code, '')}".split()):
        VOTES[_word] = (*VOTES.get(_word, ()), _code)
# letters that few other languages of the list use
_LETTERS = {
    "de": "ßäöü", "fr": "êèàçùœîûô", "es": "ñ¿¡áíóú", "it": "òìùàè", "pt": "ãõçâêá", "sv": "åäö", "pl": "łąęśżźćń",
    "tr": "ışğçöü", "ro": "ăâîșț", "vi": "đơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}     # fmt: skip
LETTERS: dict[str, tuple[str, ...]] = {}
for _code, _line in _LETTERS.items():
    for _letter in _line:
        LETTERS[_letter] = (*LETTERS.get(_letter, ()), _code)

SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("bn", re.compile(r"[\u0980-\u09ff]")),
    ("ta", re.compile(r"[\u0b80-\u0bff]")),
    ("te", re.compile(r"[\u0c00-\u0c7f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ka", re.compile(r"[\u10a0-\u10ff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
    ("am", re.compile(r"[\u1200-\u137f]")),
)
LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f]")
# letters that the second language of a script has and the first has not
SECOND = (
    ("ru", "uk", re.compile(r"[іїєґІЇЄҐ]")),
    ("ar", "ur", re.compile(r"[ٹڈڑںےہھ]")),
    ("ar", "fa", re.compile(r"[پچژگک]")),
)


@lru_cache(maxsize=256)     # the questions about the responses of one batch guess the same texts
def guess(text: str) -> str:
    """ISO 639-1 code of the language, or "und" where nothing tells.

    The script decides first; Latin letters are told apart by frequent words and by letters, for English, German,
    French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Turkish, Romanian and Vietnamese. A word or a name of
    another language is no evidence: a text of which little speaks for one language, or nearly as much for a second,
    is "und", unless English leads or ties: its short words are words of many languages. The same text gives the same
    code.

    >>> guess("Where is the station?"), guess("Wo ist der Bahnhof?"), guess("車站在哪裡？"), guess("42")
    ('en', 'de', 'zh', 'und')
    """
    text = text[:ENOUGH]
    if text.isascii():
        return _latin(text)
    counts = {code: len(pattern.findall(text)) for code, pattern in SCRIPTS}
    counts["zh"] += counts["ja"] if 0 < counts["ja"] < 0.05 * counts["zh"] else 0     # a stray kana in Chinese
    code = max(counts, key=lambda known: counts[known])
    if counts["ja"] and code == "zh" and counts["ja"] >= 0.05 * counts["zh"]:
        code = "ja"
    if counts[code] * 2 < len(LATIN.findall(text)) or not counts[code]:
        return _latin(text)
    for first, second, pattern in SECOND:
        if code == first and pattern.search(text):
            return second
    return code


@cache
def frequent(language: str) -> frozenset[str]:
    """The most frequent words of a language, in small letters; none of one that is not known."""
    return frozenset(_COMMON.get(language, "").split())


def _latin(text: str) -> str:
    words = (ASCII_WORD if text.isascii() else WORD).findall(text.replace("’", "'"))
    if not words:
        return "und"
    votes = dict.fromkeys(_COMMON, 0.0)
    for index, word in enumerate(words):
        if word == "I" if index else word.lower() == "do" and "?" in text:
            votes["en"] += 1
        else:
            _vote(votes, word, inside=index > 0)
    second, most = sorted(votes.values())[-2:]
    best = max(votes, key=lambda code: (votes[code], code == "en"))
    if most < max(EVIDENCE, FEWEST * len(words)):
        return "und"
    return best if best == "en" or most - second >= max(LEAD, AHEAD * most) else "und"


def _vote(votes: dict[str, float], word: str, *, inside: bool) -> None:
    """Counts a word for the languages that it belongs to, shared out among them; else its letters, unless it is a name.

    Args:
        votes: language -> words.
        word: as written.
        inside: whether another word stands before it, so that a capital makes it part of a name.
    """
    small = word.lower()
    named = inside and small != word
    known = VOTES.get(small)
    if known is not None:
        for code in known:
            votes[code] += (NAMED if named else 1) / len(known)
    elif not word.isascii() and not named:
        letters = {*small} & LETTERS.keys()
        for letter in letters:
            for code in LETTERS[letter]:
                votes[code] += 1 / len(LETTERS[letter]) / len(letters)
