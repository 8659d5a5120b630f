"""Forms of English verbs that tell without a parser where a clause has its verb."""

from __future__ import annotations

from collections.abc import Sequence

_AUXILIARIES = """
am is are was were has have had do does did can could will would shall should may might must cannot can't couldn't
won't wouldn't isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't shouldn't mustn't
"""
# irregular past forms that are seldom anything else
_PAST = """
arose ate awoke became began bent bled blew bore bought broke brought built burnt came caught chose clung crept dealt
drank drew drove fed fell felt fled flew forbade forgave forgot fought found froze gave gained got grew heard held hid
hung kept knew knelt laid lasted led left lent lit lost made meant met oversaw overcame overtook paid quit ran rang
rebuilt rode rose said sang sank sat saw sent shook shone shot shrank slept slid sold sought sped spent spoke sprang
spun stole stood strode strove struck stuck swam swept swore swung taught thought threw told took tore underwent
understood undertook upheld wept went withdrew withstood woke won wore wove wrote
"""
# third persons that are seldom nouns, and such as are nouns too but mostly verbs between a subject and an object
_THIRD = """
absorbs accepts achieves acts adds admires admits adopts advises advocates affects agrees aims allows alters amends
announces appears applies approaches argues arises arrives asks assumes attains attends attracts avoids awakens beats
becomes begins believes belongs binds boasts boils bolsters breaks brings builds buys calculates calls captures
carries caters causes charges chooses claims combines comes complains complements comprises concludes confirms
connects considers consists contains continues contributes controls converts correlates covers creates decides
declines decreases deems defies defines delivers demonstrates denies depends depicts derives describes develops dies
differs directs discovers discusses displays divides dominates draws drives drops earns eats embodies emerges emits
emphasizes employs empowers enables encompasses encourages endorses ends enforces enjoys ensures entails enters
entitles escapes establishes estimates examines exceeds excludes exerts exists expects explains exposes expresses
extends faces fails falls feeds feels fills finds finishes flows follows forces forms freezes gains gets gives goes
governs grabs graduates grants grows handles happens helps hires holds identifies ignores illustrates imagines
implements implies improves includes incorporates increases incurs indicates influences informs inherits inspires
intends introduces invests invites involves joins keeps kicks kills knows lacks lasts launches leads learns leaves
lends lengthens lets lies links lists lives locates loses loves lowers maintains makes manages manufactures marries
means measures meets melts mentions moves names needs notes observes obtains occupies occurs offers omits opens
operates opposes organises organizes owns passes pays perceives performs permits persists plays points possesses
predicts prefers prepares presents prevents produces prohibits promotes proposes protects proves provides publishes
pulls purchases pushes puts raises ranges reaches reads recalls receives recognises recognizes recommends records
reduces refers reflects refuses regulates rejects relates relies remains remembers removes replaces reports represents
requires resembles resides resists responds rests results retains retires returns reveals rises runs says seeks seems
sees sells sends separates serves sets shares shows sits solves speaks specialises specializes spends spreads stands
starts states stays stops stores strengthens strikes succeeds suffers suggests summarizes supervises supplies supports
surrounds symbolizes takes teaches tells tends terminates thinks threatens transfers translates travels treats tries
turns understands unites uses utilizes vanishes varies visits waits wants warns weakens weighs widens wins wishes
works worsens writes
"""
_BASE = """
accept achieve affect allow appear apply arise avoid become begin believe belong bring build buy carry choose combine
come comprise confirm connect consider consist contain continue contribute create decide deliver depend derive describe
develop differ enable ensure establish exist expect explain extend follow form gain get give go govern grow happen hold
identify include increase indicate involve keep know lack lead learn lie live lose maintain make mean meet move obtain
occupy occur offer operate own pay perform play possess prevent produce provide range reach receive reduce refer reflect
rely remain remove replace represent require reveal run seek seem sell send serve share show speak stand stay suffer
suggest support surround take tell tend understand use vary want win work write
"""
_PARTICIPLES = """
awarded based begun beaten born borne bound broken brought built bought called caught chosen known drawn driven fed
founded found forgotten fought frozen given grown held hidden kept laid led lit located lost made meant named paid
proven run seen sent set shot shown sold spoken spent spread stolen struck sung sworn taken taught thrown told torn
understood won worn woven written
"""
_NOT_ED = """
bed bleed breed creed deed embed exceed feed greed heed hundred indeed kindred naked need proceed red reed sacred seed
shed sled speed steed succeed united weed wed wicked biped moped infrared so-called
"""
_NOT_ING = """
anything bring building ceiling clothing during everything evening feeling king meaning morning nothing offspring
painting ring setting sing something spring sting string swing thing training wing wing according beijing including
regarding concerning excluding interesting pending notwithstanding
"""

AUXILIARIES = frozenset(_AUXILIARIES.split())
PAST, THIRD, BASE = frozenset(_PAST.split()), frozenset(_THIRD.split()), frozenset(_BASE.split())
PARTICIPLES = frozenset(_PARTICIPLES.split())
NOT_ED, NOT_ING = frozenset(_NOT_ED.split()), frozenset(_NOT_ING.split())
_DETERMINERS = "a an the this that these those its his her their our my your no some any each every another both all"
_PREPOSITIONS = """
about above across after against along among amid around as at before behind below beneath beside between beyond by
despite during except for from in inside into like near of off on onto out outside over past per since than through
throughout to toward towards under until up upon via with within without
"""
_LOOSE = """
also so well too meanwhile however instead later then subsequently eventually finally soon once thus thereby often now
still
"""
DETERMINERS, PREPOSITIONS = frozenset(_DETERMINERS.split()), frozenset(_PREPOSITIONS.split())
PRONOUNS = frozenset(["he", "she", "it", "they", "we", "i", "you", "this", "there", "these", "those"])
LOOSE = frozenset(_LOOSE.split())     # adverbs that stand before a verb
JOINING = frozenset(["and", "but", "so", "yet"])
ADVERBIAL = frozenset(["because", "although", "though", "whereas", "while", "after", "before", "since"])
NOT_THIRD = frozenset(["always", "perhaps", "towards", "afterwards", "besides", "across", "whereas", "years", "days"])
SUBJECT_OF_THIRD = frozenset(["it", "he", "she", "which", "who"])
BEHIND_VERB = frozenset(["a", "an", "the", "its", "his", "her", "their"])     # seldom behind a noun in the plural
BEFORE_NOUN = DETERMINERS | PREPOSITIONS | {"and", "or"}


def regular_past(word: str) -> bool:
    """Whether a word in small letters ends as a regular past form does.

    >>> regular_past("moved"), regular_past("hundred"), regular_past("moves")
    (True, False, False)
    """
    return len(word) >= 4 and word.endswith("ed") and word not in NOT_ED and not word.endswith("eed")


def participle(word: str) -> bool:
    """Whether a word may be a past participle."""
    return word in PARTICIPLES or regular_past(word)


def third(word: str) -> bool:
    """Whether a word in small letters ends as a third person does; most nouns in the plural do too."""
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return len(word) >= 4 and ends and word not in NOT_THIRD


def gerund(word: str) -> bool:
    """Whether a word may be a present participle.

    >>> gerund("leaving"), gerund("morning")
    (True, False)
    """
    return len(word) >= 5 and word.endswith("ing") and word not in NOT_ING and not word.endswith("thing")


def finite(words: Sequence[str], at: int) -> bool:
    """Whether the word at a place is plainly a finite verb, by its form and its neighbours.

    Args:
        words: of the sentence, in small letters.
        at: the place, from 0.

    >>> finite("the old port closed in 1990".split(), 3), finite("the closed port".split(), 1)
    (True, False)
    """
    word, before = words[at], words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in AUXILIARIES:
        return True
    if before in BEFORE_NOUN and before not in PRONOUNS and before not in ("and", "or"):
        return False
    if word in PAST or word in THIRD:
        return True
    if before in SUBJECT_OF_THIRD and word.islower() and third(word):
        return True
    if third(word) and after in BEHIND_VERB and before and before not in ("and", "or"):
        return True
    if word in BASE:
        return before.endswith("s") or before in ("they", "we", "you", "i", "which", "who", "that")
    return regular_past(word) and before != "" and not (before in AUXILIARIES or before in ("and", "or", "by"))
