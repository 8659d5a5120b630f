"""English words that carry no content of their own."""

from __future__ import annotations

_ENGLISH = """
a about above after again against all also although am among an and any are as at
be because been before being below between both but by
can cannot could did do does doing down during each either
few for from further had has have having he her here hers herself him himself his how however
i if in into is it its itself just let may me might more most must my myself
neither nor now of off on once only or other ought our ours ourselves out over own
per rather same shall she should since so some such than that the their theirs them themselves then there
therefore these they this those though through thus to too under until up upon us
very was we were what when where whether which while who whom whose why will with within would
yet you your yours yourself yourselves
it's that's there's he's she's i'm you're we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd
i'll you'll he'll she'll we'll they'll let's what's who's where's here's
"""

# capitalised because a sentence begins, though not in the list above
_OPENERS = """
according accordingly actually additionally afterwards ago allegedly almost already always another answer anyone
approximately around aside based basically beyond born briefly clearly common consequently context conversely
currently dear despite despite document documents due earlier especially even eventually every everyone example
examples excerpt eq figure fig table section chapter appendix step page part except false finally first firstly
five following former fortunately four founded frequently
furthermore generally given hello hence here hi historically i'd ideally importantly including indeed initially
instead interestingly key known last lastly later like likewise located made mainly many meanwhile moreover much
named nevertheless new next nine no nobody none nonetheless note nothing notably often ok okay one originally
others otherwise overall passage passages per perhaps please possibly presumably previously question rarely
recently regarding regardless relevant second secondly see seldom several seven similarly six sometimes soon sorry
source sources specifically starting still summary ten thanks thankfully third three today together tomorrow
true two typically ultimately unclear under unfortunately unlike unknown use using usually various via well yes
yesterday
"""
_PARTICLES = "de del della di da do dos das du des la le van von der den ter ten bin ibn al el y zu zur"
_TITLES = "mr mrs ms miss dr prof professor sir madam"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun"

ENGLISH = frozenset(_ENGLISH.split())
OPENERS = frozenset(_OPENERS.split())
PARTICLES = frozenset(_PARTICLES.split())
TITLES = frozenset(_TITLES.split())
WEEKDAYS = frozenset(_WEEKDAYS.split())
