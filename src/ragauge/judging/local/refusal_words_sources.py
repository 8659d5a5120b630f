"""English wordings by which an answer says that a review, an email, a table ... does not tell, and more advice.

In the notation of `wordings.py`. What the system was given may be called by any name. A word that can only be a text is
believed with every verb of saying; any other subject only where it is the matter itself that it does not tell ("this",
"the answer").
"""

from __future__ import annotations

from ragauge.judging.local import refusal_words as english

WORDS = {
    **english.WORDS,
    # texts and other things that tell
    "SHEET": """
        reviews?|e-?mails?|messages?|tickets?|transcripts?|conversations?|chats?|threads?|replies|letters?|memos?
        minutes|(?:web|home|land)?pages?|(?:web)?sites?|guidelines?|guidance|polic(?:y|ies)|policy text|handbooks?
        wikis?
        tables?|faqs?|records?|reports?|filings?|contracts?|agreements?|logs?|changelogs?|(?:release )?notes?|papers?
        stud(?:y|ies)|abstracts?|sections?|paragraphs?|chapters?|clauses?|append(?:ix|ices)|(?:search )?results
        knowledge base|data(?:sets?|sheets?|base)?|files?|listings?|descriptions?|posts?|comments?|tweets?|feedback
        entry|entries|articles?|blogs?|brochures?|leaflets?|flyers?|manuals?|guides?|books?|story|stories|novel|poem
        lyrics|recipes?|statements?|invoices?|receipts?|spreadsheets?|charts?|graphs?|figures?|slides?|presentations?
        catalog(?:ue)?s?|menus?|resumes?|cvs?|profiles?|biograph(?:y|ies)|bios?|interviews?|podcasts?|videos?
        speech(?:es)?|testimon(?:y|ies)|press releases?|announcements?|newsletters?|schedules?|timetables?|calendars?
        glossary|index|summary|summaries|specifications?|spec sheets?|readmes?|instructions|labels?|captions?
        headlines?|surveys?|responses?|metadata|(?:job )?ads?|adverts?|advertisements?|screenshots?|images?|photos?
        pictures?|diagrams?|maps?|timeline|history|cards?|certificates?|forms?|quotes?|packaging|posters?|prospectus
        syllabus|{TEXT}
    """,
    # those that hold facts rather than rights
    "HOLDER": """
        reviews?|e-?mails?|messages?|transcripts?|conversations?|chats?|threads?|letters?|memos?|minutes|(?:web)?pages?
        websites?|handbooks?|wikis?|tables?|faqs?|records?|reports?|filings?|logs?|(?:release )?notes?|papers?
        abstracts?|sections?|paragraphs?|chapters?|(?:search )?results|knowledge base|data(?:sets?|sheets?)|listings?
        descriptions?|posts?|comments?|entry|entries|articles?|brochures?|leaflets?|manuals?|books?|spreadsheets?
        charts?|invoices?|profiles?|biograph(?:y|ies)|recipes?|specifications?|spec sheets?|summary|timetables?
        schedules?|interviews?|statements?|stud(?:y|ies)|stories|story|{TEXT}
    """,
    "OUR": """
        the|this|these|those|our|your|my|its|his|her|their|any|either|each|both|all|given|provided|available
        [\\w-]{1,20}'s
    """,
    "BESIDE": "(?:(?!(?:if|when|where|that|which|who|says?|people|users)\\b)[\\w'-]+ ){0,3}?",
    "WIDE": "{OUR} {BESIDE}(?:{SHEET})",
    "WITHIN": "(?:in|on|by|from|within|across|part of|among) (?:any of |all of |either of )?{WIDE}",
    # what may stand before: no condition, and nobody who tells
    "FREE": """
        (?!\\W*(?:yes|no)\\b[,.;])(?:(?!\\b(?:if|when|whenever|where|wherever|unless|until|because|who|which|whose|said
        says?|claim\\w*|told
        wrote|writes|noted|complain\\w*|states?|stated)\\b).){0,100}?
    """,
    # what may stand between a noun and its verb
    "OF": """
        (?:(?!(?:that|which|who|says?|stat\\w+|if|when|claims?|shows?|people|users)\\b)[\\w'-]+,? ){0,6}?
    """,
    "NOUN": "(?:(?!(?:that|which|who|says?)\\b)[\\w'-]+ ){1,5}?",
    "NOT": "(?:do|does)(?:n't| not)(?: (?:appear|seem) to)?|never|fails? to",
    "TELL": """
        mention|say|specify|state|indicate|tell|disclose|discuss|describe|explain|clarify|reveal|address|list|name
        elaborate|touch (?:up)?on|refer to|talk about|comment on|speak (?:of|about|to)|identify|define|outline
        give (?:a|an|any|the|us|me|details)|go into|make (?:any )?(?:mention|reference)
    """,
    "TELLS": """
        {TELL}|mentions|says|specifies|states|indicates|tells|discloses|discusses|describes|explains|clarifies
        reveals|addresses|lists|names
    """,
    "TOPIC": "information|info|details?|topic|matter|point|question|issue|subject|aspect",
    # the matter itself
    "ANA": """
        this|that|it|them|these|those|so|any of (?:this|that|it|these|those)
        (?:this|that|such|the|your|my) (?:[\\w'-]+ )?(?:{TOPIC})
        (?:an|the) answer(?: to (?:this|that|the|your) (?:\\w+ )?question)?
    """,
    "END": """
        (?: (?:anywhere|at all|explicitly|directly|specifically|clearly|in (?:any |more )?detail|either|further|here
        itself|exactly|to you|for you)){0,2}(?=\\W*$|[,;:.(]| (?:and|so|or|but|as|because|since|in the|to answer)\\b)
    """,
    "ASKED": "whether|how|what|when|where|who|whom|whose|why|which|if",
    "ASKING": "(?:{ANA}){END}|(?:{ASKED})\\b|anything|answers?\\b",
    "DIM": """
        unclear|unknown|uncertain|not (?:\\w+ )?(?:clear|known|possible|obvious|certain|apparent)|impossible|hard
        difficult
    """,
    "PLAIN": """
        mentioned|stated|specified|indicated|disclosed|discussed|described|answered|explained|clarified|detailed
        addressed|referenced|documented|named|touched (?:up)?on|referred to|talked about|revealed|spelled out
    """,
    # what is asked for; such a thing is not to be found in a text
    "ITEM": """
        answers?|information|info|names?|dates?|prices?|numbers?|figures?|values?|amounts?|details?|reasons?|age|costs?
        year|time|length|weight|height|size|location|total|data|topic|question
    """,
    "ABSENT": """
        (?:is|are|was|were|can|could)(?:n't| not|not) {ADV}(?:be )?{ADV}(?:(?:{TOLD}|recorded) )?(?:anywhere )?{WITHIN}
        (?:do|does|did)(?:n't| not) {ADV}(?:appear|occur|show up|come up) (?:anywhere )?{WITHIN}
    """,
    "ABOUT": "about|on|of|regarding|concerning|as to|to|for|relating to|related to",
    "MEET": "appropriate|ethical|safe|legal|acceptable|responsible|accurate|fair|respectful",
    "WORD": "mention|information|info|details?|answers?|reference|indication|specifics|word|clue|hint|data|evidence",
    # what a text does that does not tell
    "KEEPS": """
        (?:{NOT}) {ADV}(?:{TELLS})(?! that (?!is\\b|{TOPIC})\\w)
        (?:{NOT}) {ADV}(?:{TELL}|record|report|note|show|answer) (?:{ASKING})
        did(?:n't| not) {ADV}(?:mention|specify|say|disclose|indicate|address)(?! that (?!is\\b|{TOPIC})\\w)
        (?:is|are|remains?|stays?) (?:\\w+ )?silent
        leaves? (?:{ANA}) (?:open|unanswered|unclear|unsaid)
        (?:makes?|contains?|ha(?:s|ve)|gives?|offers?|provides?|includes?|holds?) (?:no|not enough|insufficient
        little) (?:\\w+ ){0,2}?(?:mention|reference|indication|(?:{WORD}) (?:{ABOUT}))
        (?:says?|mentions?|contains?|tells?(?: us| me)?|reveals?|gives?) (?:nothing|not a word) (?:{ABOUT})
    """,
}

HINT = english.HINT + r"|silent|\bnor\b|fails? to|leaves?\b"

DECLINING = """
    ^{FREE}(?:{WIDE}|^\\W*{BESIDE}(?:{SHEET})),? {OF}(?:{KEEPS})
    ^{FREE}{OUR} {BESIDE}(?:{HOLDER}),? {OF}(?:{NOT}) {ADV}(?:provide|include|contain|cover|offer
        |give) (?:{ASKING})
    ^{FREE}{OUR} (?:papers?|study|studies|abstracts?|articles?|authors?|sections?|summary) {OF}(?:{NOT}) {ADV}report
    ^{FREE}{OUR} (?:\\w+ ){0,2}?(?:reviews?|faqs?|wikis?|articles?|transcripts?|e-?mails?|threads?|abstracts?
        |podcasts?) (?:{NOT}) {ADV}cover
    ^{FREE}{OUR} {NOUN}(?:{NOT}) {ADV}(?:mention|specify|state|say|disclose|discuss|address|indicate|clarify|reveal
        |explain|answer|touch (?:up)?on|talk about|refer to|describe|list|contain|tell (?:us|me|you)) (?:{ANA}){END}
    ^{FREE}{OUR} {NOUN}(?:{NOT}) (?:\\w+ly )?(?:say|specify|elaborate)\\W*$
    ^{FREE}{OUR} {NOUN}(?:is|are|remains?) (?:\\w+ )?silent (?:{ABOUT}) (?:{ANA}|{ASKED})
    ^{FREE}(?:they|it|he|she)(?: all)? (?:{NOT}) {ADV}(?:say|mention|specify|state|address|discuss|clarify
        |indicate|tell) (?:{ASKING})
    ^{FREE}(?:they|it) (?:{NOT}) (?:say|specify)\\W*$
    ^{FREE}did(?:n't| not) (?:mention|say|specify|state|disclose) .{1,60}? {WITHIN}
    ^{FREE}(?:not|\\w+n't|never|nowhere) (?:be |been )?{ADV}(?:{PLAIN})(?: or \\w+)?(?: anywhere)? {WITHIN}
    ^{FREE}(?:the|this|that|an?|any|such|those|these|no) (?:[\\w'-]+ ){0,2}?(?:{ITEM})(?: .{1,60}?)? (?:{ABSENT})
    ^\\W*(?:(?:{SO}|sorry|however),? )?(?:this|that|it) (?:{ABSENT})
    (?:it|that|this)(?:'s| is| was| remains) {ADV}(?:{DIM}) (?:to \\w+ )?(?:from|based on|given|in) {WIDE}
    (?:from|based on|given) {WIDE}(?: \\w+){0,2},? (?:it|this|that)(?:'s| is| remains) {ADV}(?:{DIM})
    ^{FREE}(?:there(?:'s| is| are| was)|i (?:see|saw|find|found)) (?:nothing|not a word
        |no (?:\\w+ ){0,2}?(?:{WORD})) (?:{ABOUT})…{WITHIN}
    ^{FREE}(?:nothing|not a word|no (?:\\w+ )?(?:mention|word)) (?:{ABOUT})…{WITHIN}\\W*$
    ^{FREE}(?:none|nothing|nowhere|neither|not one) (?:of |in |on |from )?(?:any of )?{WIDE} {OF}(?:{TELLS}|answers?
        |gives?)
    ^\\W*(?:\\w+,? )?no (?:[\\w'-]+ ){0,2}?(?:{SHEET}) (?:{TELLS}|answers?|gives?)
"""

CONDUCT = """
    (?:is|would be|'s) (?:not|never) (?:{MEET})(?:,? (?:or|and) \\w+)? to (?:\\w+ or )?(?:provide|offer|give|share
        |discuss) (?:information|explanations?|advice|instructions|guidance|details|ways|methods|assistance)
    (?:is|would be|'s) (?:not|never) (?:{MEET})(?:,? (?:or|and) \\w+)? to (?:say or )?(?:suggest (?:that|or)
        |(?:encourage
        |promote|provide) or|make (?:assumptions|jokes|blanket|a blanket|such a|generali[sz]ations)|ask (?:a question
        |for advice)|try to convince|generali[sz]e)
"""

WRAPPING = """
    ^\\W*{THEN}{WIDE} {ONLY}{ABOUTS}
    ^\\W*i ?(?:am|'m) (?:so |very |really |deeply |truly |sincerely )*sorry (?:to hear |that you|you|if|for|about)
    ^\\W*{THEN}it(?:'s| is) (?:really |very |so |also |always |extremely )*(?:important|essential|crucial
        |vital) (?:to|that you) (?:talk|speak|reach out|seek|consult|contact|get help|ask)
    ^\\W*{THEN}it(?:'s| is) (?:\\w+ )?(?:important|essential|crucial) (?:to|that) .{0,160}?(?:{MORAL})
"""
WRAP_WORDS = english.WRAP_WORDS | {
    "ABOUTS": english.WRAP_WORDS["ABOUT"],
    # what an admonition speaks of
    "MORAL": """
        (?:il)?legal\\w*|(?:un)?ethical\\w*|harm\\w*|respect\\w*|dignity|privacy|consent|offensive|violen\\w+
        discriminat\\w+
        (?:in)?appropriate
    """,
}
