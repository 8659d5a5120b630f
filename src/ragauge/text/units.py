"""Units, currencies and number words."""

from __future__ import annotations

import re

_UNITS = """
days: day days tag tage tagen jour jours día días dia dias giorni 天 일
hours: hour hours hr hrs h stunde stunden heure heures hora horas ore 小时 時間 시간
minutes: minute minutes min mins minuten minuti minutos 分钟 分間 분
seconds: second seconds sec secs s sekunde sekunden secondes segundos secondi 秒
ms: ms millisecond milliseconds
weeks: week weeks woche wochen semaine semaines semana semanas
months: month months monat monate monaten mois meses mesi 个月 か月
years: year years yr yrs jahr jahre jahren ans année années año años ano anos anni 岁 歳
decades: decade decades
centuries: century centuries
km: km kilometer kilometers kilometre kilometres 公里
m: m meter meters metre metres 米
cm: cm centimeter centimeters centimetre centimetres
mm: mm millimeter millimeters millimetre millimetres
mi: mile miles mi
ft: ft foot feet
in: inch inches
kg: kg kilogram kilograms kilo kilos 公斤
g: g gram grams gramm
mg: mg milligram milligrams
t: ton tons tonne tonnes
lb: lb lbs
oz: oz ounce ounces
l: l liter liters litre litres
ml: ml milliliter milliliters millilitre millilitres
km/h: km/h kph
mph: mph
°C: °c ℃
°F: °f ℉
K: kelvin
bits: bit bits
B: byte bytes
KB: kb kilobyte kilobytes
MB: mb megabyte megabytes
GB: gb gigabyte gigabytes
TB: tb terabyte terabytes
PB: pb petabyte petabytes
KiB: kib
MiB: mib
GiB: gib
TiB: tib
Mbps: mbps mbit/s
Gbps: gbps gbit/s
Hz: hz
kHz: khz
MHz: mhz
GHz: ghz
W: w watt watts
kW: kw kilowatt kilowatts
MW: mw megawatt megawatts
kWh: kwh
V: v volt volts
A: amp amps ampere amperes
mAh: mah
px: px pixel pixels
am: am a.m.
pm: pm p.m.
BC: bc bce
AD: ad ce
$: dollar dollars usd 美元
€: € euro euros eur 欧元 ユーロ
£: £ pounds gbp
¥: ¥ yen yuan jpy cny 元 円
₹: ₹ rupee rupees inr
CHF: chf francs
cents: cent cents
times: times x 次
people: people persons 人
"""
UNITS = {
    name: unit
    for line in _UNITS.strip().splitlines()
    for unit, _, names in [line.partition(": ")]
    for name in names.split()
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
