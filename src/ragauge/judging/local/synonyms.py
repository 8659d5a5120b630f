"""English words that say the same in nearly every sentence, so that a near-copy may use one for the other.

Few on purpose: a pair stands here only where the sentence stays true whichever is used, whatever it is about.
"""

from __future__ import annotations

from ragauge.judging.local.forms import base

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
