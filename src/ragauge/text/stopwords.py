"""English words that carry no content of their own."""

from __future__ import annotations

ENGLISH = frozenset(
    """
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
    """.split()
)
