"""English words that cannot both hold of one thing: negations, antonyms, quantifiers, bounds, sets such as weekdays.

Compact and written by hand. A pair stands here only where the two exclude one another in otherwise equal sentences.

English words that say the same in nearly every sentence, so that a near-copy may use one for the other.

Few on purpose: a pair stands here only where the sentence stays true whichever is used, whatever it is about.

Irregular forms of English verbs, so that "went" and "did not go" are laid beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from ragauge.text.tokens import ENGLISH, stem

# base form, then its other forms; "be", "have" and "do" with all persons
_IRREGULAR = """
be am is are was were been being|have has had having|do does did done doing|go went gone|say said|get got
gotten|make made|know knew known|think thought|take took taken|see saw seen|come came|find found|
give gave given|tell told|become became|leave left|feel felt|put|bring brought|begin began begun|
keep kept|hold held|write wrote written|stand stood|hear heard|let|mean meant|set|meet met|run ran|
pay paid|sit sat|speak spoke spoken|lead led|read|grow grew grown|lose lost|fall fell fallen|send
sent|build built|understand understood|draw drew drawn|break broke broken|spend spent|cut|rise rose
risen|drive drove driven|buy bought|wear wore worn|choose chose chosen|seek sought|throw threw thrown|
catch caught|deal dealt|win won|fight fought|teach taught|eat ate eaten|sell sold|sing sang sung|
sleep slept|drink drank drunk|fly flew flown|forget forgot forgotten|hide hid hidden|lie lay lain|ride
rode ridden|shake shook shaken|shoot shot|show shown|sink sank sunk|steal stole stolen|stick stuck|
strike struck|swim swam swum|tear tore torn|wake woke woken|bear bore borne born|beat beaten|bend bent|
bind bound|bite bit bitten|blow blew blown|feed fed|freeze froze frozen|hang hung|lay laid|lend lent|
light lit|prove proven|ring rang rung|shrink shrank shrunk|spread|spring sprang sprung|swear swore sworn|
sweep swept|swing swung|undergo underwent undergone|withdraw withdrew withdrawn|arise arose arisen|awake
awoke|dig dug|forbid forbade forbidden|forgive forgave forgiven|overcome overcame|breed bred|bleed bled|
cling clung|creep crept|flee fled|grind ground|kneel knelt|leap leapt|mistake mistook mistaken|shed|
shine shone|slide slid|spin spun|split|tread trod trodden|weave wove woven|weep wept|wind wound|
burn burnt|learn learnt|dream dreamt|undertake undertook undertaken|oversee oversaw overseen|rebuild
rebuilt|foresee foresaw foreseen|outgrow outgrew|swell swollen|try tried tries|
apply applied applies|comply complied complies|supply supplied supplies|imply implied implies|rely relied relies|
reply replied replies|multiply multiplied multiplies|agree agreed agreeing|disagree disagreed|guarantee guaranteed|
free freed|die died dying|tie tied tying|deny denied denies
"""
IRREGULAR = {
    form: entry.split()[0]
    for entry in _IRREGULAR.replace("\n", " ").split("|")
    if entry.strip()
    for form in entry.split()[1:]
}
FUNCTION_WORDS = ENGLISH | {"not", "never", "none", "nobody", "nothing", "nowhere", "hardly", "scarcely"}
SHORTENED = {"ca": "can", "wo": "will", "sha": "shall", "ai": "be"}     # before n't


@lru_cache(maxsize=8_192)
def base(word: str) -> str:
    """The stem of a folded word, of its base form where the verb is irregular; a function word stays as it is.

    >>> base("went") == base("goes") == base("go"), base("was"), base("countries")
    (True, 'be', 'country')
    """
    if word.startswith("un") and word[2:] in IRREGULAR:     # unknown, unwritten
        return "un" + base(word[2:])
    plain = IRREGULAR.get(word, word)
    if plain in FUNCTION_WORDS:
        return plain
    stemmed = stem(plain)
    return stemmed + "e" if stemmed in FUNCTION_WORDS else stemmed     # "noted" is no form of "not"


Opposition = Literal["antonym", "quantifier", "comparative", "date", "number", "unit"]

_NEGATIONS = "not no never none nobody nothing nowhere neither nor without cannot hardly scarcely"
NEGATIONS = frozenset(_NEGATIONS.split())
# what follows them is asked, wanted or supposed, not said
_HEDGES = """
whether if unless unclear unknown uncertain hypothesis hypothesise hypothesize suppose supposedly should would may might
could perhaps possibly allegedly aim
"""
HEDGES = frozenset(map(base, _HEDGES.split()))
# read as one word, and what it is then; a number sign stands for a number that has to follow
_PHRASES = """
also: not only, not just, not merely, not simply, not solely, not to mention
whether: whether or not, or not
surely: no doubt
only: nothing but
just: none other
whatever: no matter
not: it is not true that, it is not the case that, it is false that, it is untrue that, it is wrong that,
    fail to, refuse to, neglect to
twothirds: 2 thirds
threequarters: 3 quarters
third: 1 third
quarter: 1 quarter
half: 1 half
quite: nothing short of
perhaps: if not
>: at least, no less than, no fewer than, not less than, not fewer than, a minimum of, more than, upwards of,
    in excess of, over #, above #, exceeding #, well over #, greater than #, higher than #, larger than #, bigger than #
<: at most, no more than, not more than, a maximum of, less than, fewer than, not exceeding, up to #, under #, below #,
    just under #, lower than #, smaller than #
costlier: more expensive
cheaper: less expensive
before: no later than
some: a few, a number of, a couple of, some of, several of
many: a lot of, lots of, a great many, plenty of, many of
most: the majority of, a majority of, nearly all, almost all, almost every, nearly every, most of
usually: almost always
-: at all, after all, above all, first of all, manage to
throughout: all over
all: all the, each of, all of
no: none of
few: a minority of, the minority of, few of, only a few, very few
sometimes: from time to time
same: the same
or: and/or
and: as well as, together with
"""
PHRASES = {
    phrase: "" if meaning == "-" else meaning
    for entry in _PHRASES.strip().replace("\n    ", " ").splitlines()
    for meaning, _, phrases in [entry.partition(": ")]
    for phrase in phrases.split(", ")
}
# how much of a whole; how often
_STRENGTHS = """
no none never|few rarely seldom little|some several certain sometimes occasionally
many numerous much often frequently|most usually mostly generally typically normally|all every each always entirely
"""
STRENGTH = {
    base(word): n
    for n, line in enumerate(_STRENGTHS.replace("\n", "|").strip("|").split("|"))
    for word in line.split()
}
COMPARATIVE = """
more/less more/fewer higher/lower larger/smaller bigger/smaller greater/smaller greater/less greater/lesser
older/younger newer/older earlier/later better/worse longer/shorter taller/shorter faster/slower quicker/slower
stronger/weaker heavier/lighter richer/poorer wider/narrower warmer/cooler warmer/colder hotter/colder hotter/cooler
easier/harder cheaper/costlier closer/farther nearer/farther deeper/shallower brighter/darker thicker/thinner
louder/quieter softer/harder safer/riskier before/after above/below over/under most/least highest/lowest
largest/smallest biggest/smallest greatest/smallest greatest/least oldest/youngest oldest/newest earliest/latest
first/last best/worst longest/shortest tallest/shortest fastest/slowest strongest/weakest richest/poorest
heaviest/lightest closest/farthest easiest/hardest hottest/coldest warmest/coldest busiest/quietest cheapest/dearest
widest/narrowest upper/lower beforehand/afterwards maximum/minimum majority/minority superior/inferior outnumber/trail
exceed/trail
"""
ANTONYMS = """
increase/decrease increase/reduce increase/decline increase/fall raise/lower raise/reduce raise/cut grow/shrink
grow/decline rise/fall rise/drop rise/decline expand/contract gain/lose improve/worsen improve/deteriorate
widen/narrow strengthen/weaken lengthen/shorten accelerate/slow win/lose victory/defeat winner/loser succeed/fail
success/failure open/close open/shut opened/closed start/end start/stop start/finish begin/end begin/finish
beginning/end beginning/ending enter/leave arrive/depart arrive/leave arrival/departure add/remove add/subtract
add/delete create/destroy build/demolish buy/sell purchase/sell purchase/sale acquire/sell lend/borrow import/export
attack/defend allow/forbid allow/prohibit allow/prevent allow/ban permit/prohibit permit/forbid permit/ban
legalise/ban legalize/ban accept/reject accept/refuse accept/decline approve/reject approve/deny approve/veto
confirm/deny admit/deny grant/deny support/oppose support/reject favour/oppose favor/oppose agree/disagree
include/exclude encourage/discourage enable/disable enabled/disabled connect/disconnect appear/disappear love/hate
like/dislike praise/criticise praise/criticize remember/forget save/delete save/waste encrypt/decrypt upload/download
send/receive push/pull lock/unlock install/uninstall hire/fire promote/demote ascend/descend advance/retreat
attract/repel absorb/emit freeze/melt heat/cool inhale/exhale marry/divorce north/south northern/southern
northwest/southeast northeast/southwest east/west eastern/western left/right up/down inside/outside inner/outer
interior/exterior indoor/outdoor indoors/outdoors internal/external inward/outward top/bottom front/back front/rear
upstairs/downstairs upstream/downstream horizontal/vertical clockwise/anticlockwise ahead/behind male/female man/woman
men/women boy/girl boys/girls father/mother son/daughter brother/sister husband/wife king/queen prince/princess
uncle/aunt nephew/niece grandfather/grandmother grandson/granddaughter actor/actress he/she his/her him/her
himself/herself paternal/maternal hot/cold warm/cool warm/cold high/low large/small big/small great/small new/old
young/old early/late long/short tall/short deep/shallow thick/thin heavy/light wide/narrow fast/slow quick/slow
full/empty dry/wet hard/soft strong/weak rich/poor good/bad easy/difficult easy/hard simple/complex safe/dangerous
safe/unsafe cheap/expensive common/rare clean/dirty bright/dark day/night morning/evening sunrise/sunset summer/winter
ancient/modern past/future former/current former/latter previous/next temporary/permanent public/private
positive/negative true/false correct/wrong correct/incorrect right/wrong legal/illegal guilty/innocent alive/dead
living/dead natural/artificial domestic/foreign local/foreign urban/rural major/minor senior/junior active/passive
active/inactive optional/mandatory optional/required optional/compulsory voluntary/compulsory voluntary/mandatory
free/paid closed/open healthy/sick present/absent presence/absence similar/different same/different equal/unequal
fresh/stale raw/cooked sweet/sour acidic/alkaline acid/alkaline solid/liquid friend/enemy ally/enemy teacher/student
employer/employee buyer/seller parent/child predator/prey cause/effect question/answer supply/demand profit/loss
asset/liability debit/credit credit/debit birth/death born/die born/dead war/peace heaven/hell advantage/disadvantage
benefit/drawback pro/con optimistic/pessimistic liberal/conservative amateur/professional civilian/military
abstract/concrete singular/plural even/odd odd/even with/without synchronous/asynchronous static/dynamic
manual/automatic manually/automatically online/offline wired/wireless digital/analogue digital/analog
explicit/implicit relative/absolute lower/raise min/max together/apart able/unable used/unused paid/unpaid fit/unfit
partly/fully partial/complete partial/full partially/fully incomplete/complete both/neither either/neither
"""
_MONTHS = "january february march april may june july august september october november december"
MONTHS = _MONTHS.split()
EXCLUSIVE: tuple[tuple[Opposition, str], ...] = (
    ("date", "monday tuesday wednesday thursday friday saturday sunday"),
    ("date", " ".join(MONTHS)),
    ("date", "spring summer autumn winter"),
    ("number", "first second third fourth fifth sixth seventh eighth ninth tenth"),
    ("unit", "minute hour day week month year decade century"),
    ("unit", "thousand million billion trillion"),
    ("number", "once twice thrice"),
    ("number", "half third quarter twothirds threequarters"),
    ("antonym", "north south east west"),
)
PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
FEWEST_LETTERS = 4        # of a word that such a prefix turns round
POSITIVE_BOUND, NEGATIVE_BOUND = ">", "<"


def _table() -> dict[str, dict[str, Opposition]]:
    table: dict[str, dict[str, Opposition]] = {}

    def oppose(first: str, last: str, kind: Opposition) -> None:
        table.setdefault(first, {})[last] = kind
        table.setdefault(last, {})[first] = kind

    oppose(POSITIVE_BOUND, NEGATIVE_BOUND, "comparative")
    pairs: tuple[tuple[Opposition, str], ...] = (("comparative", COMPARATIVE), ("antonym", ANTONYMS))
    for kind, words in pairs:
        for pair in words.split():
            first, last = pair.split("/")
            oppose(base(first), base(last), kind)
    for kind, words in EXCLUSIVE:
        own = [base(word) for word in words.split()]
        for first in own:
            for last in own:
                if first != last:
                    oppose(first, last, kind)
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
            word: "quantifier" for word, strength in STRENGTH.items() if _overstated(STRENGTH[claim], strength)
        }
    if len(claim) >= FEWEST_LETTERS:
        for prefix in PREFIXES:
            oppositions[prefix + claim] = "antonym"
            if claim.startswith(prefix) and len(claim) >= len(prefix) + FEWEST_LETTERS:
                oppositions[claim.removeprefix(prefix)] = "antonym"
    return oppositions | OPPOSED.get(claim, {})


def _overstated(claim: int, passage: int) -> bool:
    """Strengths: 0 no, 1 few, 2 some, 3 many, 4 most, 5 all."""
    if claim == 5:
        return passage < 5
    if claim == 4:
        return passage < 3
    if claim == 3:
        return passage < 2
    if claim == 2:
        return passage == 0
    return passage > 1 if claim == 0 else passage > 2 or passage == 0


_GROUPS = """
big large|begin start commence|end finish conclude|located situated|main principal chief|film movie
nearly almost|approximately roughly|difficult hard|purchase buy|obtain get receive|show demonstrate
perform conduct|evaluate assess|examine investigate|create make|construct build erect|need require
entire whole|often frequently|rarely seldom|usually normally|mainly mostly primarily chiefly largely|important key
currently presently|later afterwards subsequently|earlier previously|now today nowadays|quick fast rapid|child kid
car automobile|physician doctor|illness disease sickness|firm company|ask inquire
help assist aid|try attempt|happen occur|choose select|permit allow|forbid prohibit|answer reply respond
vanish disappear|appear emerge|famous renowned|rich wealthy|sick ill|silent quiet|odd strange|huge enormous vast
error mistake|method approach|picture image
reside live|suggest indicate|use utilise utilize
maybe perhaps|since because|while whereas|however though|within inside|about around
""".replace("\n", "|")
SENSES = {
    base(word): f"={entry.split()[0]}" for entry in _GROUPS.strip("|").split("|") for word in entry.split()
}


def sense_of(key: str) -> str:
    """What words of one meaning share; "" where no other is known. The word as `forms.base` gives it.

    >>> sense_of(base("bought")) == sense_of(base("purchases")), sense_of(base("harbour"))
    (True, '')
    """
    return SENSES.get(key, "")
