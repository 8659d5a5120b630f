"""Irregular forms of English verbs, so that "went" and "did not go" are laid beside each other."""

from __future__ import annotations

from functools import lru_cache

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
    found = stem(plain)
    return found + "e" if found in FUNCTION_WORDS else found     # "noted" is no form of "not"
