"""Units, currencies and number words."""

from __future__ import annotations

import re

from ragauge.text.word_files import read_words

WORDS = read_words(__file__, "units")

UNITS: dict[str, str] = {
    name: unit for unit, names in WORDS["units"].items() for name in names.split()
}
CJK_UNITS = {name: unit for name, unit in UNITS.items() if ord(name[0]) > 0x2E80}
# with capitals these are codes (5G, 4K), in small letters words ("5 ad campaigns")
SMALL_ONLY = frozenset(["g", "h", "l", "m", "s", "t", "x"])
CAPITAL_ONLY = frozenset(["ad", "bc", "bce", "ce", "v", "w"])
CURRENCIES = {"$": "$", "€": "€", "£": "£", "¥": "¥", "₹": "₹", "₩": "₩", "₽": "₽", "usd": "$", "eur": "€", "gbp": "£"}
CURRENCIES |= {"jpy": "¥", "cny": "¥", "chf": "CHF", "inr": "₹", "rs": "₹"}
CURRENCY_BEFORE = re.compile(r"([$€£¥₹₩₽])\s?$|\b(USD|EUR|GBP|JPY|CNY|CHF|INR|Rs)\.?\s?$")

# powers of ten
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "millions": 6, "billion": 9, "trillion": 12, "lakh": 5, "crore": 7}
SCALES |= {"lakhs": 5, "crores": 7, "tsd": 3, "mio": 6, "mrd": 9, "millionen": 6, "milliarden": 9}
SCALES |= {"milliard": 9, "milliards": 9, "millones": 6, "milioni": 6, "miliardi": 9, "milhões": 6, "mil": 3}
SCALES |= {"miljoen": 6, "miljard": 9}
SHORT_SCALES = {"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "tn": 12}

CERTAIN_SCALES = ("k", "bn", "mn", "tn")     # "5m" may be metres and "5b" a label
CJK_SCALES = {"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8, "兆": 12, "만": 4, "억": 8, "조": 12}

PERCENT = frozenset(["%", "percent", "pct", "prozent", "procent"])
# first word -> the rest
PERCENT_PHRASES = {"per": " cent", "pour": " cent", "por": " ciento", "percentage": " points"}

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth
"""
ONES = {name: n for n, name in enumerate(_ONES.split())}
TENS = {name: 10 * n for n, name in enumerate(_TENS.split(), 2)}
WORD_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9, "trillion": 10**12}
ORDINALS = {name: n for n, name in enumerate(_ORDINALS.split(), 1)}
