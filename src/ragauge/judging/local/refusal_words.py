"""English wordings by which an answer declines and what may stand beside them, in the notation of `wordings.py`."""

from __future__ import annotations

WORDS = {
    "THE": "(?:the|this|these|those|any|our|my|your|of|all|either|both|each|such|in)",
    "GIVEN": """
        provided|given|retrieved|available|supplied|search(?:ed)?|relevant|current|attached|presented|shared|cited
        listed
        above|uploaded|following|existing|mentioned|referenced|limited|specific|same|original|input|at hand
    """,
    # nouns that can only mean what the system was given ...
    "TEXT": """
        contexts?|passages?|excerpts?|extracts?|snippets?|documents?|documentation|docs|texts?|sources?
        (?:search )results|knowledge base
    """,
    # ... and those that can mean anything, unless they are said to be given
    "LOOSE": """
        articles?|materials?|information|info|data|references|manuals?|pages?|files?|content|reports?|filings?
        evidence
        statements?|exhibits?|results|tables?|paragraphs?|sections?|records?|transcripts?|pieces|input|notes?|details
    """,
    "SOURCE": """
        (?:{THE} ){1,4}(?:(?:{GIVEN}),? ){0,3}{TEXT}(?: (?:that )?(?:you |i )?(?:have |were |was |are )?{GIVEN})?
        (?:{THE} ){0,3}(?:{GIVEN} )(?:\\w+ )?{LOOSE}
        (?:{THE} ){1,3}(?:\\w+ )?{LOOSE} {BY}(?:{GIVEN}|have)
    """,
    "BY": "(?:that |which )?(?:you |i |we )?(?:have |'ve |has |were |was |are |is )?(?:been )?",
    "SAY": """
        contain\\w*|includ\\w*|provid\\w*|mention\\w*|specif\\w*|stat\\w*|say|giv\\w*|discuss\\w*|address\\w*
        cover\\w*
        answer\\w*|indicat\\w*|list\\w*|offer\\w*|describ\\w*|reveal\\w*|tell|explain\\w*|detail\\w*|hold
        clarif\\w*|have
        disclos\\w*|report|reference|refer|name|identify|show|elaborate|touch|allow|permit|talk|relate|make|break
        pertain
        outline|define|confirm|support|directly|explicitly|seem to
    """,
    "TOLD": """
        mentioned|specified|provided|stated|found|available|covered|addressed|given|included|discussed|described
        disclosed
        listed|present|contained|indicated|documented|disclosed|answered|determined|detailed|named|reported|shown
        defined
        explained|referenced|outlined|identified|supplied|clear|broken down|apparent
    """,
    # told by a text; rules can be "not clearly defined" in any answer
    "GAVE": """
        mentioned|stated|specified|provided|given|disclosed|listed|available|included|indicated|named|found|addressed
    """,
    "HOLDS": """
        contains?|provides?|includes?|gives?|offers?|makes?|mentions?|has|have|holds?|states?|answers?|specif\\w+
    """,
    "MATTER": """
        information|info|mention|answers?|details?|context|data|evidence|references?|specifics|indication|knowledge
    """,
    "CANNOT": """
        can ?not|can't|could ?not|couldn't|(?:am|are|was|were|'m|'re) (?:currently )?(?:not able|unable
        not in a position) to
        (?:was|were|is|are)n't (?:really |actually )?able to
        (?:won't|will not) be able to|(?:must|have to) (?:\\w+ )?(?:decline|refuse) to
    """,
    # what an answer is taken from, though the word may mean another; said to hold nothing about a matter
    "BOOK": "{TEXT}|manuals?|guides?|handbooks?|pages?|articles?|files?|reports?|instructions|leaflets?|faq",
    "ITS": "it|this|that|anything|any of (?:it|this|that)|a word|how|what|when|where|who|whether|why|which",
    # what is asked of an answer
    "FIND": """
        find|locate|answer|provide|determine|verify|help(?! but)|assist|give|offer|confirm|say|tell|identify|access
        comment
        respond|comply|see|calculate|compute|assess|estimate|evaluate|infer|conclude|deduce|ascertain|establish
        compare
        draw|derive|make|supply|retrieve|browse|perform|predict|speculate|state|specify|analy[sz]e|explain|list|name
        accurately|definitively|directly|conduct|view|look|extract|review|know
    """,
    # what a rule of conduct forbids
    "DO": """
        provide|help(?! but)|assist|give|offer|answer|comment|respond|comply|fulfill?|generate|create|write|share
        disclose
        discuss|engage|support|suggest|promote|encourage|advise|make|do (?:that|this|so)|diagnose|participate|complete
        accommodate|produce|condone|endorse|teach|guide|process|satisfy|instruct|facilitate|contribute|speculate
        recommend (?:or|ways?|methods?|how|any|that|objects|strategies|specific)|prescribe|use|spread
        tell|say|disseminate|tolerate|entertain|continue|express|reveal|describe|pretend|role ?play|ask|be able
        proceed|aid
    """,
    # what can be known from data only
    "KNOW": """
        determine|calculate|compute|answer|say|tell|assess|ascertain|estimate|evaluate|compare|conclude|infer
        verify|know
        draw|comment on|deduce|derive|judge|quantify|analy[sz]e|confirm|identify|establish|complete (?:the
        this) calculation
        (?:provide|give|make|offer) (?:\\w+ ){0,3}?(?:answer|figure|value|information|ratio|number|amount|percentage
        analysis
        assessment|calculation|response|comparison|estimate|conclusion|details|statement|determination|data)
    """,
    "KNOWN": """
        determined|calculated|computed|answered|ascertained|inferred|assessed|verified|derived|found|concluded
        evaluated
        estimated|deduced|provided|identified|compared|established|confirmed
    """,
    "ADV": "(?:(?:\\w+ly|also|even|therefore|still|yet|either|always|just|in good conscience|really) ){0,2}",
    "NO": "no|not enough|insufficient|not sufficient|not any|limited|not",
    "SOME": "(?:[\\w'-]+,? ){0,3}?",
    "MORE": "(?:[\\w'\"().&-]+,? ){0,9}?",
    "SO": """
        therefore|thus|so|hence|as such|as a result|consequently|in conclusion|accordingly|for this reason
        unfortunately
    """,
    "IS": "(?:is|are|was|were|has|have|'s)",
    "AI": "(?:an? )?(?:ai|artificial intelligence|(?:large )?language model|virtual assistant|chatbot|assistant)",
}

# no English refusal does without one of these
HINT = (
    r"n['’]t\b|\bnot?\b|cannot|unable|nothing|insufficient|never|nowhere|unknown|unanswerable|\bn/?a\b|outside|beyond"
    r"|without|none|neither|impossible|declin|refus|refrain|lack|against|limited|sorry|missing|unclear|adhere|comply"
)

DECLINING = """
    ^\\W*(?:sorry,? |unfortunately,? )?no (?:\\w+ )?(?:results?|match(?:es)?|answers?
        |information)(?: (?:were |was )?(?:found|available))?(?: for (?:this|that|your
        |the) (?:query|question|search))?\\W*$
    ^\\W*(?:sorry,? |unfortunately,? )?(?:not|nothing|nowhere) (?:\\w+ ){0,2}?in (?:the|this|these
        |your|our) (?:\\w+ )?(?:{TEXT}|{BOOK})(?: (?:about|on) (?:this|that|it))?\\W*$
    ^\\W*(?:sorry,? )?no idea\\W*$
    (?:the|these|your|our) \\w+ docs (?:do(?:n't| not)|never) (?:\\w+ly )?(?:{SAY})
    (?:the|this|these|your|our) (?:\\w+ )?(?:{BOOK}) (?:says?|mentions?|contains?|ha(?:s|ve)|gives?|holds?
        |tells? (?:me |us )?) (?:nothing|not a word) (?:about|on|of|regarding|concerning|to)
    (?:the|this|these|your|our) (?:\\w+ )?(?:{BOOK}) (?:do(?:es)?(?:n't| not)|never) (?:\\w+ly )?(?:mention|say
        |address|cover|discuss|explain|touch on|speak of) (?:{ITS})
    (?:nothing|no mention|not a word) (?:about|on|of|regarding) (?:this|that|it|the \\w+|such)…in (?:the|this|these
        |your|our) (?:\\w+ )?(?:{BOOK})
    (?:in|from) (?:the|this|these|your|our) (?:\\w+ )?(?:{BOOK}),? there(?:'s| is| was) (?:nothing|no mention
        |not a word) (?:about|on|of)
    (?:this|that|it)(?: is|'s| was) (?:not|never|nowhere) (?:\\w+ly )?(?:{GAVE}|covered) (?:anywhere )?(?:in|by) (?:the
        |this|these|your|our) (?:\\w+ )?(?:{BOOK})
    (?:this|that|it) (?:is|was)n't (?:\\w+ly )?(?:{GAVE}|covered) (?:anywhere )?(?:in|by) (?:the|this|these|your
        |our) (?:\\w+ )?(?:{BOOK})
    {SOURCE}…(?:but|yet|though|however,?) (?:could|can|did)(?:n't| not) (?:find|locate|identify|see)
    there(?:'s| is| was) (?:really )?(?:nothing|not a word) (?:about|on|regarding) (?:\\w+ ){1,3}?in {SOURCE}
    (?:outside|beyond) (?:of )?what {MORE}{SOURCE} (?:covers?|contains?|says?|knows?)
    ^\\W*insufficient[_ ](?:context|information|data|evidence)\\W*$
    it (?:is|remains) (?:unclear|unknown) from {SOURCE}
    i ?{ADV}{CANNOT} {ADV}{FIND}
    i ?{ADV}{CANNOT} {ADV}{DO}
    we ?{ADV}{CANNOT} {ADV}{FIND}…{SOURCE}
    (?:{SO}),? we {ADV}{CANNOT} {ADV}{KNOW}
    ^\\W*(?:sorry,? )?(?:can ?not|can't|unable to|not able to) (?:be )?(?:{FIND}|answered|determined|generate|help)
    i (?:found|see|find|have|could find|had) (?:no|nothing|not enough|insufficient|neither)…(?:{MATTER}|{TEXT}|idea
        |record|access)
    i (?:did not|didn't|could not|couldn't|was unable to) find (?:any|anything|the|an|a|where|what|who)\\b
    i (?:honestly |really |just |simply )?(?:do not|don't) (?:currently |actually |yet |really )?know(?! that)
    ^\\W*(?:sorry,? |unfortunately,? )?i (?:do not|don't) know
    i(?:'m| am) (?:sorry,? )?(?:but )?(?:not (?:\\w+ )?(?:familiar with|aware of|sure (?:what|which|who|how|where
        |when|if|of|about)))
    (?:am|'m) not aware of (?:them|it|that|this|any)
    i (?:{ADV}(?:do not|don't)|did not|didn't|neither|never|no longer|also lack
        |lack) {ADV}(?:have )?{MORE}(?:{MATTER}|access|knowledge|ability|capability|capabilities|recommendations?
        |list|names?|numbers|figures|availability|amount|means|insight|visibility)
    i (?:do not|don't) have (?:that|this|it|those|these|one|any|such|enough|sufficient|the|a specific|real-time
        |personal)
    (?:i|we|it|and|capabilities) {ADV}(?:do not|don't|does not|not) have (?:real-time |direct |current )?access to
    (?:the|this) assistant (?:can ?not|can't|is unable to|does not have|doesn't have)
    you (?:have not|haven't|did not|didn't) (?:actually )?(?:provided?|given?|specif\\w+|mentioned?|included?
        |suppl\\w+|share\\w*)
    no (?:\\w+ )?(?:conclusion|determination|answer|assessment) can be (?:drawn|made|given|provided)
    as {AI}…(?:cannot|can't|not able|unable|don't|do not|not have|isn't|is not|won't|must|not programmed|not designed)
    i(?:'m| am) (?:just |only )?{AI}…(?:cannot|can't|don't|do not|not have|not able|unable|not within|not condone)
    (?:i'?m|i am) (?:\\w+ ){0,2}?(?:sorry|afraid)…(?:can ?not|can't|could ?not|couldn't|don't (?:have|know|see)
        |do not (?:have|know|see)|unable|not able)
    (?:sorry|afraid|apologi[sz]e|unfortunately)…(?:no|not) (?:\\w+ ){0,2}?information
    {SOURCE} {MORE}(?:do|does|did)(?:n't| not) {ADV}(?:(?:appear|seem) to )?{SAY}
    (?:do|does|did)(?:n't| not) {ADV}(?:provide|contain|include|mention|give|offer|specify|have
        |disclose) {ADV}(?:any |enough |sufficient |the |us |me |with )*(?:\\w+,? ){0,4}?(?:information|details?
        |data|mention|figures?|specifics|reference)
    (?:none|neither|nothing|nowhere) (?:of |in |from )?{SOURCE} {MORE}(?:{HOLDS}|{SAY}|{TOLD}|indicat\\w+
        |suggest\\w*|refer\\w*|talk|discuss|is|are|does)
    {SOURCE} {MORE}(?:{HOLDS}) (?:no|nothing|insufficient|not enough|neither|only limited)
    (?:not|\\w+n't|never|nowhere) {ADV}(?:be |been )?{ADV}(?:\\w+ or )?{TOLD} (?:anywhere |directly |to me )?(?:in
        |by|within|from|on|or) {MORE}{SOURCE}
    (?:can|could|is|are|was|were)(?:n't| ?not) (?:be |possible to )?{ADV}(?:answer|determin|infer|known|clear
        |calculat|ascertain|conclu|deduc|assess)\\w*…{SOURCE}
    {SOURCE}…(?:can|could)(?:n't| ?not) {ADV}be {ADV}{KNOWN}
    {SOURCE},? (?:it is|it's|it was|i am|i'm|we are) {ADV}(?:not (?:\\w+ )?possible|impossible|unable|not able
        |unclear|difficult|not clear|hard)
    (?:can|could)(?:n't| ?not) {ADV}be {ADV}{KNOWN} (?:based|with(?:out)?|from|using|as the|because the|since the
        |due to|given)
    {SOURCE},? there(?:'s| is| are| was| were)(?:n't| {NO}) {SOME}(?:{MATTER}|evidence|reference|indication)
    (?:there(?:'s| is| are| was| were)|contains?|makes?|has|have) no (?:direct|specific|explicit|clear) (?:reference
        |mention|indication|answer) (?:to|of|for|as to)
    (?:it|they|this|these|which|that) (?:do|does|did)(?:n't| not) (?:directly|explicitly|specifically|clearly) {SAY}
    {NO} {SOME}(?:{MATTER})…(?:in|from|within|by) {MORE}{SOURCE}
    there(?:'s| is| are| was| were)(?:n't| {NO}) {SOME}(?:information|info|mention|details)(?: (?:about|on|regarding
        |available|provided|given|to answer|related|concerning|in|of|for|that)\\b|\\W*$)
    there(?:'s| is| are| was| were)(?:n't| {NO}) {SOME}(?:data|indication|reference)(?: (?:about|on|regarding
        |available|provided|given|to answer|concerning)\\b|\\W*$)
    {NO} {SOME}(?:information|details?|mention|answer|data) {MORE}(?:is|was|were|are|could be|can be
        |has been) {ADV}{TOLD}(?! (?:to|with) (?!me\\b|us\\b|{FIND}))
    (?:not|n't) (?:enough|sufficient|adequate) (?:\\w+ ){0,3}?(?:information|context|details|evidence
        |data)(?: {MORE}to (?:{FIND}|give|form)|\\W*$)
    (?:no|insufficient|not enough) (?:\\w+ ){0,2}?(?:information|context|details|data) (?:is (?:available|given
        |provided) )?to {FIND}
    {SOURCE}…(?:and|but|so|which) (?:do|does)(?:n't| not) {ADV}{SAY}
    ^.{0,120}{IS}(?:n't| not) {ADV}(?:mentioned|specified|stated)\\W*$
    {IS}(?:n't| not) (?:been )?(?:explicitly|specifically|directly|clearly|readily|separately) (?:{GAVE})
    (?:the|this|that|such|specific|necessary|required|requested|needed|relevant|exact
        |actual) (?:\\w+ ){0,2}?(?:information|data|details?|figures?|answer|values?) {MORE}(?:is|was|are
        |were)(?:n't| not) {ADV}(?:{TOLD})
    (?:the|this|that|your) question {SOME}(?:can ?not|can't|could not|is not) {ADV}(?:be )?(?:answered|answerable)
    (?:outside|beyond) (?:the scope of )?(?:my|our|the (?:provided|given|available)) (?:knowledge|scope
        |capabilit\\w+|abilit\\w+|{TEXT})
    without .{2,240}?,? (?:it is|it's|it would be|it remains|it is still|i am|i'm|we are|i
        |we),? {ADV}(?:not (?:\\w+ )?possible|impossible|unable|cannot|can't|not able|difficult|challenging
        |could not|couldn't) (?:for me |for us )?(?:to )?{ADV}{KNOW}
    (?:not (?:\\w+ )?possible|impossible|unable) (?:for me )?to {ADV}{KNOW}…(?:without|{SOURCE})
    (?:{SO}),? (?:it is|it's|it was|i am|i'm|i|we) {ADV}(?:not (?:\\w+ )?possible|impossible
        |unable) (?:for me )?to {ADV}{KNOW}
    (?:since|as|because) .{0,160}?(?:not|n't) {ADV}(?:{TOLD}).{0,80}?(?:we|i|one|it is|it's) {ADV}(?:cannot|can't
        |can not|not possible to|impossible to) {ADV}{KNOW}
    {SOURCE} (?:\\w+ ){0,2}?(?:is|are) (?:not (?:enough|sufficient)|insufficient|missing|inadequate|unclear|limited)
    (?:data|information|figures?|details|values?) (?:[\\w'()-]+ ){0,6}?(?:is|are) (?:missing|unavailable|lacking)
    (?:we|i) (?:do not|don't|would not) have {MORE}(?:information|data|figures?|details|access|values?)…(?:to {FIND}
        |provided|given|in|needed|necessary|required)
    ^\\W*(?:unanswerable|not answerable|no answer|can(?:no|')t answer|unknown|n/?a|(?:i )?don't know|not found
        |no (?:idea|clue))\\W*$
    ^\\W*(?:unable to (?:generate|answer|provide|find|determine)|no,? (?:the )?answer is not (?:present|available
        |given|in))
    ^\\W*not (?:specified|mentioned|stated|available|provided|given|answerable|enough information
        |in the)(?: in .{0,60})?\\W*$
    ^\\W*{NO} (?:\\w+ )?(?:information|context|data|answer)(?: (?:found|available|provided|given))?\\W*$
"""

# declining by a rule of conduct: whatever follows that is no "however" is reason and redirection
CONDUCT = """
    i ?{ADV}(?:can ?not|can't|won't|will not|would not|refuse to|decline to|must not|should not|may not
        |shall not) {ADV}{DO}
    i ?(?:am|'m) {ADV}(?:not able|unable|not going|not willing|not allowed|not permitted|not authori[sz]ed
        |not in a position) to {ADV}{DO}
    i(?:'m| am) not (?:programmed|designed|built|intended|capable|comfortable|equipped|trained|able|at liberty
        |qualified|going|here to)
    i (?:do not|don't) feel (?:comfortable|right|able|safe)
    i (?:must|have to|need to|should|will|would like to|kindly|respectfully|politely) ?(?:\\w+ly )?(?:decline|refuse
        |refrain|adhere|comply with)
    i (?:do not|don't|can ?not|can't|will not|won't) (?:\\w+ or )?(?:condone|promote|support|engage|encourage
        |participate|tolerate|endorse|discriminate)
    (?:not|n't) (?:with)?in my (?:programming|guidelines|capabilit\\w+|abilit\\w+|power|nature|ethical)
    (?:against|violat\\w+|contrary to|prevents? me|prohibits? me) {SOME}(?:my|our|ethical|me
        |the) {SOME}(?:programming|guidelines|principles|polic\\w+|values|purpose|from|standards|use)
    (?:is|would be|'s|are) (?:not|never|n't|un(?:ethical|acceptable)|illegal|inappropriate|wrong) ?(?:appropriate
        |ethical|legal|acceptable|okay|ok|right|respectful)?(?:,? (?:or|and|nor) \\w+)? (?:for me |for an? (?:ai
        |language model) )?to {ADV}(?:provide (?:instructions|guidance|advice|assistance|information on how)
        |answer (?:this|that|your|such)|ask about|(?:provide|ask for|discuss|share|give) (?:instructions|details
        |a list|methods|how to|such|this)|ask such|discuss or promote|speculate|engage in (?:this|such)|assist)
    (?:is|would be|'s) (?:not|n't|un|in|il)?(?:appropriate|ethical|unethical|inappropriate|illegal|wrong
        |right)?(?:,? (?:or|and|nor) \\w+)? for (?:me|an? ai) to {DO}
    as {AI},? {MORE}(?:i )?(?:won't|will not|cannot|can't|am not (?!sure|certain)|(?:must|should|have to) (?:decline
        |refuse|adhere|refrain|comply)|do not (?:condone|promote|support|engage))
    i(?:'m| am) (?:just |only )?{AI}…(?:(?:do not|don't|cannot|can't) (?:condone|promote)|not within|not able)
    i (?:won't|will not|cannot|can't) be able to
    i (?:would|'d) (?:prefer|rather) not
    (?:the|this|your) (?:question|request)(?: itself)?(?: that)?(?: you(?:'ve| have)? (?:asked|made))? (?:is (?:not
        |in)|contains|promotes|may not be) ?…(?:appropriate|ethical|harmful|offensive|meaningful)
    asking such a question is not
    i must (?:politely |respectfully )?(?:point out|clarify|challenge|emphasi[sz]e) that (?:the|this|your|asking
        |it is) …(?:question|request|not)
    i (?:do not|don't) (?:generate|share|create|provide|produce|write)\\b
"""

# what may stand beside a refusal without answering: apology, advice, offers, what would be needed, how it is worked out
WRAPPING = """
    ^\\W*{THEN}(?:please|kindly|you (?:may|might|can|could|should|would|will|'d|'ll|must|need|are (?:welcome
        |encouraged|advised)))
    ^\\W*{THEN}i (?:would |'d |strongly |highly |can only )?(?:recommend|suggest|encourage|advise|urge)
    ^\\W*{THEN}i(?:'d| would) be (?:happy|glad|able|more than)
    ^\\W*{THEN}i (?:am|'m) (?:here|happy|glad|more than|always|designed|programmed|only|sorry|just|{AI})
    ^\\W*{THEN}i (?:can|could|will|'ll) (?:only |try to |certainly |still |definitely |also |do my best to )?(?:help
        |assist|guide|explain how|offer|suggest|try|walk|outline|point|direct|search|answer|show you how)
    ^\\W*{THEN}i can (?:provide|give) (?:you )?(?:with )?(?:\\w+ )?(?:guidance|steps|formula|some general|general
        |a general|information on how|instructions)
    ^\\W*{THEN}(?:if|should|once|when|after) you(?:'re| have| (?:\\w+ )?(?:need|want|would|could|can|provide|are
        |locate|get|share|like|know|prefer|require|do|still|wish|believe|suspect|or someone|obtain|find|give|let
        |tell|meant|mean|specify|clarify|feel))
    ^\\W*{THEN}if (?:someone|anyone|there(?:'s| is| are) (?:any|some|other))
    ^\\W*{THEN}if …(?:would|could|might|may|can) (?:indicate|suggest|mean|imply|be)
    ^\\W*(?:feel free|let me know|let us|let's|don't hesitate|do not hesitate|thank you|thanks|remember|instead,
        |is there)
    ^\\W*{THEN}(?:try|consider|contact|consult|check|refer|look|visit|ensure|make sure|keep in mind|be sure
        |reach out|perhaps you|see the|review|search|ask)
    ^\\W*{THEN}for (?:more|further|accurate|the most|up-to-date|additional|specific|detailed|precise|this|any
        |current|the latest) .{0,220}(?:,|please|refer|visit|check|consult|contact|recommend)
    ^\\W*{THEN}(?:in order )?to (?:\\w+ly )?{TASK}\\b.{0,300}\\b{NEED}
    ^\\W*{THEN}(?:in order )?to (?:\\w+ly )?(?:help|assist)
    ^\\W*{THEN}(?:i|we|you|one|it)(?:'d| would| will|'ll)? (?:also |typically |usually |still |generally |then\\s
        |only )?(?:need|require)
    ^\\W*{THEN}(?:i|we|you|one|this|it|that|an? \\w+ answer) (?:would|'d) (?:also |typically |usually |normally\\s
        |generally |ordinarily |likely )?(?:need|require|have to|be (?:found|available|listed|necessary|needed
        |helpful|best|able|in))
    ^\\W*(?:could|can|would|do|are|did) you\\b
    ^\\W*{THEN}(?:more|additional|further|other|specific|access to|the necessary|this) (?:\\w+ )?(?:information
        |context|data|details?|figures)
    ^\\W*{THEN}(?:(?:they|it|this|some|several|all|both|most|many|others?|each|one|the (?:first|second|other|rest
        |remaining|latter|former))(?: of)?(?: (?:them|these|those|the|other|provided|given|all|relevant
        |others?))*(?: {TEXT})?) {ONLY}?{TALKS}
    ^\\W*{THEN}(?:in )?{TEXT} [\\[(]?\\d.{0,60}? {ONLY}?{ABOUT}
    ^\\W*{THEN}(?:{SOURCE}(?: in the \\w+)?|the (?:passages?|contexts?|documents?|texts?|excerpts?|sources?
        |information|data)(?: \\w+)?) {ONLY}?{ABOUT}
    ^\\W*{THEN}(?:al)?(?:though |while |even though )(?:{SOURCE}|it|they|we|i|there|some)\\b
    ^\\W*{THEN}(?:al)?(?:though|while) .{0,200}\\b(?:is|are|was|were) (?:\\w+ly )?(?:provided|given|available
        |mentioned|discussed|included|listed)
    ^\\W*{THEN}(?:mentions?|discuss\\w*|describ\\w*|talks?|refers?) (?:of|about|to)?
    ^\\W*(?:instead|rather),? (?:{SOURCE}|it|they|the|focus|let|try|i|we|you|consider)
    ^\\W*(?:i'?m |i am |my )?(?:very |so |really |deeply |truly |sincere )*(?:sorry|unfortunately|apologies
        |i apologi[sz]e)\\W*(?:(?:for|to hear|that you|if) .{0,160})?$
    ^\\W*i (?:sincerely |do )?apologi[sz]e(?: for| if)?\\b.{0,100}$
    ^\\W*(?:sorry|unfortunately|apologies|my apologies)\\b.{0,30}$
    ^\\W*(?:(?:al)?though |while )?i(?:'ve| have)? (?:searched|looked|checked|reviewed|read|examined|understand|see
        |apologi[sz]e|appreciate|hope)
    ^\\W*as {AI}
    ^\\W*my (?:purpose|training|knowledge|goal|primary|responses|last|role|main|function|aim|capabilities|design|data)
    ^\\W*{THEN}(?:it|this|that)(?:'s| is| would be| may be| might be) (?:also |always |generally |usually )?(?:best
        |advisable|recommended|better|necessary|helpful|crucial to (?:consult|check|use|have|refer|verify)
        |important to (?:consult|check|verify|use|seek|refer|review|reach|look|have|consider|understand|remember
        |respect|always|approach|prioriti[sz]e|treat|recogni[sz]e))
    ^\\W*(?:the|this|that|your) (?:given )?question (?:\\w+ )?(?:asks|is about|seems|is|was|appears|specifically
        |requires|refers|pertains|concerns|mentions|contains|assumes|may)
    ^.{0,160}\\b(?:is|are|was|were|be) (?:\\w+ly |generally |then )?(?:calculated|computed|defined|derived
        |obtained) (?:by|as|using|from|with|through)
    ^.{0,120}(?:\\b(?:is|are|can be|might be|may be|isn't)|'s) (?:not )?(?:an? |the )?(?:\\w+ ){0,4}?(?:metrics?
        |measures?|ratios?|indicators?)\\b
    ^.{0,60}\\bformula\\b
    ^.{0,120}\\bwould (?:typically|usually|normally|likely|generally|also|include|list|provide|need|indicate|suggest
        |require|show|give|help|allow|involve|have|look|result|mean|imply)\\b
    ^\\W*(?:for example|for instance|let's|suppose|assum\\w+|hypothetically),? (?:if|that|we|the|you|there
        |\\w+ (?:had|has|was|were))\\b
    ^\\W*(?:the )?(?:only|latest|closest|most recent) (?:\\w+ ){0,4}?(?:available|provided|given|mentioned
        |information|data)
    ^\\W*(?:this|that) is because|^\\W*the reason (?:for this |why )?(?:is|being)
    ^.{0,120}\\b(?:would|could|can|may|will) (?:\\w+ly )?(?:depend|vary|change|be (?:influenced|affected|driven
        |considered))\\b
    ^\\W*as an? .{0,240}\\b(?:i|we) (?:would|'d|need)\\b
    ^.{0,80}\\bonly (?:provid|stat|mention|cover|discuss|describ|giv|list|contain|includ|refer|show|address|relat
        |detail)\\w*
    ^\\W*by \\w+ing\\b.{0,160}\\byou (?:can|could|would|will)
    ^\\W*(?:visit|navigate|look|locate|find|obtain|divide|add|subtract|multiply|calculate|compare|review|check
        |search|identify|round|plug|determine|gather|sum|consult|use the|compute|retrieve)\\b
    ^\\W*{THEN}(?:this|that|such|these|those) (?:specific |necessary )?(?:information|data|details|figures|numbers
        |items|values|ratio|metric|calculation|documents|reports|would|can (?:usually|typically|be found
        |be calculated)|could be|is (?:typically|usually|necessary|required|needed|essential|because))
    ^.{0,120}\\b(?:can|could|would|should|may|are|is) (?:\\w+ly )?(?:be )?(?:usually |typically |normally )?(?:found
        |located|listed|available|obtained) (?:in|on|from|through|at|by)\\b
"""
WRAP_WORDS = {
    "THEN": (
        "(?:(?:however|instead|rather|additionally|also|but|and|therefore|thus|so|alternatively|in addition|furthermore"
        "|moreover|that said|nevertheless|as such|otherwise|meanwhile|nonetheless|in general"
        "|generally|for now|then|next"
        "|finally|first|second|third|lastly|in the meantime|in this case|in such cases?|with that said|as a result"
        "|consequently|hence|overall|regardless|once again|again|as always|still|or|typically|usually|for example"
        "|for instance|as of (?:the |my )?(?:time of my )?(?:last |latest )?(?:knowledge )?(?:update|cutoff)),? )?"
    ),
    "TASK": """
        calculate|compute|determine|find|get|answer|learn|assess|evaluate|obtain|provide|do|verify|derive
        understand|analy[sz]e
        give|make|know|perform|compare|accurately|estimate|identify|complete|proceed|gain|figure|conduct|see|access
        confirm
        work|arrive|measure|address|ascertain|establish|gauge
    """,
    "NEED": """
        need|needs|needed|requires?|required|would|must|have to|should|can|could|typically|usually|formula|refer
        consult
        look|check|necessary|essential|follow|divide|use|please|recommend
    """,
    "ONLY": (
        "(?:only |mainly |primarily |mostly |just |rather |instead |do |does |also |merely |simply |briefly "
        "|mention\\w* )"
    ),
    # what a pronoun must do to mean the documents
    "TALKS": """
        (?:discuss|focus|mention|describ|talk|deal|refer|address|relat|pertain|concern|touch|cover|explain|outline)\\w*
        only \\w+|do (?:not )?\\w+
        (?:provid|contain|giv|offer|includ)\\w* (?:\\w+ ){0,2}?(?:information|details?|data|context|general
        background)|(?:are|is) (?:about|from)
    """,
    "ABOUT": """
        (?:discuss|focus|mention|describ|cover|contain|provid|talk|deal|refer|address|relat|includ|pertain|list|concern
        explain|outline|offer|detail|center|seem|appear|touch|present|give|range)\\w*|(?:are|is) (?:about|from
        limited|not)
    """,
}
