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
accepts achieves acts adds admits adopts affects agrees aims allows appears applies argues arises asks assumes attracts
avoids becomes begins believes belongs binds breaks brings builds buys calls carries causes charges chooses claims
combines comes comprises confirms connects considers consists contains continues contributes controls converts covers
creates decides decreases defines delivers denies depends derives describes develops dies differs directs discusses
displays drives earns eats employs enables encourages ends enjoys ensures enters establishes estimates examines exceeds
excludes exists expects explains expresses extends faces falls feeds feels fills finds finishes flows follows forces
forms gains gets gives goes governs grows happens helps holds identifies illustrates implies improves includes
increases indicates influences informs introduces invites involves joins keeps kills knows lacks lasts launches leads
learns leaves lets lies links lists lives locates loses loves maintains makes manages means measures meets mentions
moves names needs notes obtains occupies occurs offers opens operates opposes owns passes pays performs permits plays
points possesses predicts prefers presents prevents produces promotes proposes protects proves provides publishes
purchases pushes puts raises ranges reaches reads receives recognizes recommends records reduces refers reflects
regulates rejects relates relies remains removes replaces reports represents requires resembles responds rests results
retains returns reveals rises runs says seeks seems sees sells sends separates serves sets shares shows sits solves
speaks spends spreads stands starts states stays stops strikes suffers suggests supplies supports surrounds takes
teaches tells tends thinks travels treats tries turns understands uses varies visits wants weighs wins wishes works
writes
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
_LOOSE = "also later then subsequently eventually finally soon once thus thereby often now still"
DETERMINERS, PREPOSITIONS = frozenset(_DETERMINERS.split()), frozenset(_PREPOSITIONS.split())
PRONOUNS = frozenset(["he", "she", "it", "they", "we", "i", "you", "this", "there", "these", "those"])
LOOSE = frozenset(_LOOSE.split())     # adverbs that stand before a verb
JOINING = frozenset(["and", "but", "so", "yet"])
ADVERBIAL = frozenset(["because", "although", "though", "whereas", "while", "after", "before", "since"])
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
    if word in AUXILIARIES:
        return True
    if before in BEFORE_NOUN and before not in PRONOUNS and before not in ("and", "or"):
        return False
    if word in PAST or word in THIRD:
        return True
    if word in BASE:
        return before.endswith("s") or before in ("they", "we", "you", "i", "which", "who", "that")
    return regular_past(word) and before != "" and not (before in AUXILIARIES or before in ("and", "or", "by"))
