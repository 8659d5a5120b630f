"""English wordings under which a sentence holds a statement without saying that it is so.

Each is a regular expression of what stands before the statement, after it, within it or around its sentence. Two
strengths: what denies it, and what doubts, asks, supposes or conditions it.
"""

from __future__ import annotations

import re


def compiled(*patterns: str) -> re.Pattern[str]:
    """One pattern of several alternatives, capitals aside; a space stands for any white space."""
    joined = "|".join(f"(?:{one})" for one in patterns)
    return re.compile(joined.replace(" ", r"\s+"), re.IGNORECASE)


NOUN = (
    r"(?:hypothes[ie]s|claims?|reports?|rumou?rs?|allegations?|suggestions?|ideas?|notions?|views?|theor(?:y|ies)|"
    r"beliefs?|opinions?|assertions?|accusations?|arguments?|possibility|assumptions?|statements?|contentions?|"
    r"charges?|stor(?:y|ies)|speculations?|propositions?|conclusions?|thes[ie]s|impression|perception|legend|news)"
)
_SAID = (
    r"(?:report|claim|sa[iy]|stat|assert|believ|thought|think|assum|alleg|suggest|announc|writ|wrote|told|tell|suppos|"
    r"conclu|rumou?r|argu|quot|taught|assur|maintain|insist)\w*"
)
_WRONGLY = r"(?:falsely|wrongly|wrongfully|erroneously|mistakenly|incorrectly|inaccurately|untruthfully)"
_FEW = r"(?: (?!and\b|but\b|or\b|said\b|says\b|that\b)[\w'’-]+)"      # a word on the way to "that"
_NOT = r"(?:not|never|cannot|n[o'’]t|\w+n['’]t)"
FALSE = (
    r"(?:false|untrue|wrong|incorrect|inaccurate|mistaken|untenable|unfounded|baseless|nonsense|fiction|fake|refuted|"
    r"debunked|disprove[dn]|discredited|fabricated|invented|made up|misleading|a (?:\w+ )?(?:myth|hoax|lie|fallacy|"
    r"fabrication|misconception|falsehood|mistake|error)|not (?:\w+ )?(?:true|correct|accurate|so|the case|right))"
)
_LATER = (
    r"(?:(?: (?:simply|plainly|demonstrably|clearly|later|now|since|been|subsequently|in fact|of course|known to be|"
    r"however|also|thus|therefore|completely|entirely|quite|soon|to be|out|shown))*)"
)

DENIED = compiled(
    rf"\b(?:no|not any|without(?: any)?|lack of|absence of|zero)(?: [\w-]+){{0,3}} (?:evidence|proof|indications?|"
    rf"signs?|"
    rf"support|basis|data|reason to (?:believe|think|suppose|assume)|grounds?){_FEW}{{0,7}} that\b",
    rf"\bnothing{_FEW}{{0,3}} (?:suggests?|indicates?|shows?|proves?|supports?|implies){_FEW}{{0,3}} that\b",
    rf"\b(?:no|neither) (?:stud(?:y|ies)|experiments?|trials?|documents?|records?|sources?|researchers?|papers?)"
    rf"{_FEW}{{0,4}} (?:show|prov|demonstrat|f[io]und?|suggest|confirm|indicat|sa[iy]|claim)\w* that\b",
    rf"\b{_NOT}(?: \w+){{0,2}} (?:true|correct|the case|a fact|accurate|right) that\b",
    r"\b(?:false|untrue|incorrect|inaccurate|nonsense)(?: to (?:say|claim|think|believe|assume|suggest|state))? that\b",
    r"\b(?:wrong|mistaken|a mistake|an error) to (?:say|claim|think|believe|assume|suggest|state) that\b",
    r"\b(?:myths?|misconceptions?|fallac(?:y|ies)|falsehoods?|hoax(?:es)?|lies?|fabrications?|misbeliefs?|"
    r"old wives['’] "
    r"tales?)(?:,| (?:is|was|says|holds|has it|claims|persists))? that\b",
    rf"\b(?:false|wrong|mistaken|erroneous|incorrect|untrue|debunked|discredited|refuted)(?: \w+)? {NOUN}"
    r"(?: (?:is|was|says|holds|went))? that\b",
    rf"\b{_WRONGLY}(?: \w+)? {_SAID}{_FEW}{{0,4}} that\b",
    rf"\b{_SAID}{_FEW}{{0,2}} {_WRONGLY} that\b",
    rf"\b(?:den(?:y|ies|ied|ying)|refut(?:e[sd]?|ing)|reject(?:s|ed|ing)?|dismiss(?:es|ed|ing)?|disprov(?:e[sdn]?|ing)|"
    rf"debunk(?:s|ed|ing)?|disput(?:e[sd]?|ing)|contradict(?:s|ed|ing)?|rebut(?:s|ted)?|repudiat(?:e[sd]?|ing)|"
    rf"rul(?:e[sd]?|ing) out|discredit(?:s|ed)?|disagree[sd]?|retract(?:s|ed)?|withdrew|disavow(?:s|ed)?|against)"
    rf"(?:(?: [\w'’-]+){{0,4}} {NOUN})? that\b",
    rf"\bcontrary to(?: [\w'’-]+){{0,4}} {NOUN} that\b",
    r"\b(?:myth|misconception|falsehood|hoax|fake|false(?: \w+)?|untrue|debunked|refuted)(?: (?:no\.? )?#?\d+)?:",
)
DOUBTED = compiled(
    r"\b(?:unlikely|improbable|doubtful|questionable|uncertain|unclear|debatable|unproven|unproved|unconfirmed|"
    r"implausible|far from (?:certain|clear|sure|proven)) that\b",
    rf"\b{_NOT}(?: \w+)? (?:clear|certain|proven|proved|confirmed|sure|established|likely|plausible|convinced|shown|"
    r"demonstrated|believed|thought) that\b",
    rf"\b(?:{_NOT}|fail(?:s|ed)? to|unable to)(?: \w+)? (?:show|prove|demonstrate|find|establish|confirm|conclude|mean|"
    rf"imply|suggest|indicate|believe|think|say|claim|agree|support(?: \w+)? {NOUN})(?: \w+ evidence)? that\b",
    rf"\b(?:little|insufficient|limited|weak|inconclusive|scant|conflicting|not enough) (?:\w+ )?"
    rf"(?:evidence|proof|support){_FEW}{{0,5}} that\b",
    r"\b(?:doubt(?:s|ed|ing)?|sceptical|skeptical) that\b",
    r"\b(?:hypothesi[sz](?:e[sd]?|ing)|hypothes[ie]s(?:,| (?:is|was|were|being))?|speculat(?:e[sd]?|ing|ions?)|"
    r"postulat(?:e[sd]?|ing)|conjectur(?:e[sd]?|ing)|theori[sz]ed|assum(?:e[sd]?|ing)|assumptions?(?: (?:is|was))?|"
    r"suppos(?:e|ed|ing)|imagin(?:e[sd]?|ing)|pretend(?:s|ed|ing)?|hop(?:e[sd]?|ing)|fear(?:s|ed|ing)?|wish(?:es|ed)?|"
    r"suspect(?:s|ed)?|alleg(?:e[sd]?|ing|ations?)|possible|conceivable|possibility) that\b",
    r"\brumou?rs?(?: (?!that\b)\w+){0,2} (?:say|said|claim(?:ed)?|has it|had it|have it|suggest(?:ed)?|circulat\w+|"
    r"spread|"
    r"persist(?:ed)?)(?: that)?\b",
    r"\brumou?r(?:s|ed)? that\b|\b(?:gossip|legend) (?:has|had) it that\b",
    rf"\b(?:unconfirmed|unverified|unsubstantiated|unproven|unsupported) {NOUN}{_FEW}{{0,3}}(?: that\b|,)",
    r"\bconspiracy theor(?:y|ies|ists?)(?: (?:say|says|claim|claims|hold|holds|believe|that))+\b",
    r"\bwhether\b",
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|test(?:s|ed)?|know|see|check(?:s|ed)?|determined?|investigate[sd]?|"
    r"examine[sd]?|unclear|unknown|uncertain|clear|sure|certain|find out|learn|tell|evaluate[sd]?|doubt(?:s|ed)?) if\b",
    rf"\b(?:could|would|might|should) have(?: been)? {_SAID} that\b",
    r"\b(?:one|you|some|people|it|readers?) (?:might|may|could|would) (?:\w+ )?(?:think|believe|assume|argue|suppose|"
    r"seem|appear|object|guess|expect) that\b",
    r"\b(?:hypothesis|question|research question|conjecture|rumou?r|unconfirmed|unverified|assumption)"
    r"(?: (?:no\.? )?#?\d+)?:",
)
CONDITION = compiled(
    r"\b(?:only |even |as |what )?if\b", r"\bunless\b", r"\b(?:provided|providing|assuming|supposing)(?: that)?\b",
    r"\b(?:in the event|on (?:the )?condition|in case) (?:that )?", r"\bas though\b", r"\bsuppose(?: that)?\b",
)  # fmt: skip
# what a named statement turns out to be, behind it: "The claim that X is false"
NAMED = compiled(rf"\b{NOUN} that\b")
ENDED = compiled(
    rf"^[\s,]*(?:is|was|were|are|has|have|had|turned|proved|proves){_LATER} (?:{FALSE}|rejected|retracted|withdrawn|"
    r"dismissed|denied|disputed|contested|unproven|unlikely|doubtful|abandoned|ruled out)\b",
)
AFTER_DENIED = compiled(
    rf"^[^.;:?!]{{0,30}}[,(–—-]\s*(?:(?:but|though|although|and|yet|however),? )?(?:which|this|that|it|all of which|"
    rf"a (?:claim|statement|report) that)(?: (?:is|was|has|were|turned|proved|proves)|['’]s){_LATER} {FALSE}"
    r"(?=\s*(?:[.,;:)!–—-]|$))",
    rf"^[\s,(–—-]+(?:a|another|one more) (?:\w+ )?(?:myth|lie|hoax|falsehood|fallacy|misconception|"
    rf"false (?:\w+ )?{NOUN})\b",
    r"^ (?:was|were|is|has been|have been)(?: later| since| subsequently)? (?:retracted|withdrawn|exposed|dismissed|"
    r"rejected|debunked|refuted) as (?:\w+ )?(?:false|untrue|wrong|fraudulent|fake|incorrect|a (?:hoax|myth|lie))\b",
)
AFTER_DOUBTED = compiled(
    r"^[^.;:?!]{0,30}[,(–—-]\s*(?:(?:but|though|although|and|yet) )?(?:(?:which|this|that|it|none(?: of (?:them|it|"
    r"this|"
    r"these|which))?)(?: (?:is|was|has|were|have|been))* )?(?:(?:never|not|un)(?: yet| been)*[ -]?(?:confirmed|proven|"
    r"verified|substantiated|established)|none(?: of them| of which)? (?:was |were |is |are )?(?:confirmed|"
    r"verified))\b",
)
NEXT_DENIED = compiled(
    rf"^\W*(?:(?:but|however|yet|in fact),? )?(?:this|that|these|the|both|all(?: of)?(?: this| these)?)(?: \w+)? "
    rf"(?:statements?|{NOUN}|finding|information|results?)(?: (?:is|was|were|are|has|have|turned|proved)){_LATER} "
    rf"(?:{FALSE}|retracted|withdrawn|denied|rejected|dismissed)\b",
    rf"^\W*(?:(?:but|however|yet|in fact),? )?(?:this|that)(?: (?:is|was|turned|proved)|['’]s|['’]?s? not|n['’]t)"
    rf"{_LATER} {FALSE}(?=\s*(?:[.,;:)!]|$))",
    r"^\W*(?:(?:fact check|verdict|answer|a|rating):\s*)?(?:not true|false|wrong|untrue|incorrect|"
    r"no)(?=\s*(?:[.!,]|$))",
    r"^\W*none of (?:this|these|it|them|that)(?: \w+)? (?:is|was|were|are|has been) (?:true|correct|so)\b",
)
HEADED_DENIED = compiled(r"\b(?:myths?|misconceptions?|hoax(?:es)?|fake news|falsehoods?|debunked|untrue|"
                         rf"(?:false|wrong|refuted) (?:\w+ )?(?:{NOUN}|answers?))\b")  # fmt: skip
HEADED_DOUBTED = compiled(r"\b(?:rumou?rs?|unconfirmed|unverified|none of (?:them|these|"
                          r"which) (?:\w+ )?(?:confirmed|proven|"
                          r"verified|true)|hypotheses|conspiracy theories|allegations|open questions)\b")  # fmt: skip
PLAIN_HEAD = compiled(r"\b(?:facts?|truths?|answers?|debunk(?:s|ing))\b")
WITHIN_DENIED = compiled(
    rf"\b{_WRONGLY} {_SAID}(?: to| as)?\b",
    rf"\b{_NOT} (?:known|proven|proved|shown|thought|believed|found|demonstrated|confirmed) to\b",
)
WITHIN_DOUBTED = compiled(
    r"\b(?:unlikely|rumou?red|alleged|doubtful|hypothesi[sz]ed|speculated|supposed) to\b",
    r"\b(?:allegedly|supposedly|purportedly|hypothetically)\b",
    r"\b(?:would|could|might) have\b",
)
YES = compiled(r"^\W*(?:(?:a|answer|reply):\s*)?(?:yes|indeed|correct|right|true|of course|it (?:does|is|can|has|"
               r"was|did)|"
               r"they (?:do|are|can|have))\b")  # fmt: skip
OPEN_QUESTION = compiled(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b")
# before a frame they undo it: "nobody denied that", "little doubt that"
UNDONE = compiled(
    rf"\b(?:{_NOT}|no|nobody|none|nor|hardly|without|beyond|little|no longer|no one|far from|dispel\w*|remov\w+)"
    r"(?: (?:be|been|the|any|a|an|in|have|has|seriously|\w+ly)){0,3}\s*$",
)
# words of a claim that speak of the same frame; of what doubts, all of them do
_DENYING = """
no not never none nobody nothing neither nor without cannot hardly false falsely untrue wrong wrongly incorrect
incorrectly erroneous erroneously mistaken mistakenly myth misconception hoax lie rumour rumor deny denies denied
reject rejects rejected refute refuted dismiss dismissed disprove disproved debunked disputed dispute contrary fail
failed lack unlikely retracted withdrawn unproven unfounded fake discredited contradict contradicts
nein nicht kein keine falsch bestreitet bestritt pas aucun aucune ne faux nie ningún ninguna falso nega negó negou
nessuna non não geen niet onjuist ontkent ontkende mito mythe mythos
"""
DENYING = frozenset(_DENYING.split())
_DOUBTING = """
if whether unless may might could would should possibly perhaps possible possibility maybe probably likely doubt
doubts doubtful uncertain unclear unknown unconfirmed question questions asked ask asks investigated examined
studied tested determine evaluate evaluated assess assessed explore hypothesis hypothesised hypothesized hypotheses
assume assumed assuming assumption suppose supposed speculated speculate suspected suspect alleged allegedly
suggest suggests suggested propose proposed believed believe believes hope hoped hopes fear feared wish rumored
rumoured rumours rumors claimed supposedly reportedly potential potentially provided when whenever where once until
ob falls wenn könnte vielleicht unklar si peut-être pourrait podría quizás se forse potrebbe talvez poderia als
indien misschien zou wellicht
"""
DOUBTING = DENYING | frozenset(_DOUBTING.split())
