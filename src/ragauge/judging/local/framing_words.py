"""English wordings under which a sentence holds a statement without saying that it is so.

Each is a regular expression of what stands before the statement, after it, within it or around its sentence. Two
strengths: what denies it, and what doubts, asks, supposes or conditions it.

Wordings under which a sentence holds a statement without saying that it is so, in six languages: the commonest.

Per language what denies, what doubts or asks, and what conditions, before the statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def compiled(*patterns: str) -> re.Pattern[str]:
    """One pattern of several alternatives, capitals aside; a space stands for any white space."""
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
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


_DASS = r",? da(?:ss|ß)\b"
_QUE = r" qu(?:e\b|['’])"

GERMAN = (
    compiled(
        rf"\b(?:kein\w*|nicht den geringsten)(?: \w+){{0,2}} (?:beleg\w*|beweis\w*|hinweis\w*|anzeichen|"
        rf"anhaltspunkt\w*|"
        rf"grund zur annahme)(?: (?:dafür|darauf|gibt es|zu der annahme))*{_DASS}",
        rf"\b(?:stimmt|trifft)(?: \w+)? nicht(?: zu)?{_DASS}",
        rf"\b(?:nicht (?:wahr|richtig|der fall)|falsch|unwahr|unrichtig|ein (?:\w+ )?(?:mythos|irrtum|märchen)|"
        rf"eine lüge|"
        rf"eine legende|irrtum|mythos|irrglaube\w*){_DASS}",
        rf"\b(?:bestreitet|bestritt|bestreiten|bestritten|dementiert\w*|leugnet\w*|leugnen|widerspr\w+|"
        rf"wies\b[^,]{{0,40}}zurück|"
        rf"verwirft|verwerfen|verwarf\w*|widerleg\w+|lehn\w+)(?: [\w-]+){{0,4}}{_DASS}",
        rf"\b(?:fälschlich(?:erweise)?|zu unrecht|irrtümlich(?:erweise)?)(?: \w+){{0,3}}{_DASS}",
        rf"\b(?:entgegen|anders als)(?: \w+){{0,5}}{_DASS}",
        r"\bmythos:",
    ),
    compiled(
        rf"\b(?:unwahrscheinlich|zweifelhaft|fraglich|unklar|ungewiss|unbestätigt|umstritten|möglich|denkbar){_DASS}",
        rf"\b(?:bezweifel\w+|vermut\w+|hypothese|annahme|gerüchte?\w*|spekul\w+|nehmen wir an|angenommen|hoff\w+|"
        rf"befürcht\w+)(?: \w+){{0,2}}{_DASS}",
        r",? ob\b", r"^\W*ob\b",
        r"\bgerüchten zufolge\b",
    ),
    compiled(r"\b(?:falls|sofern|wenn|es sei denn,(?: dass)?|vorausgesetzt,(?: dass)?)(?= )"),
)  # fmt: skip
FRENCH = (
    compiled(
        rf"\b(?:pas de|pas d['’]|aucune?|nulle|sans) (?:preuves?|indices?|indications?|éléments?)(?: \w+){{0,4}}{_QUE}",
        rf"\brien (?:ne prouve|n['’]indique|ne montre|ne suggère){_QUE}",
        rf"\b(?:faux|inexact|pas (?:vrai|exact)|un (?:\w+ )?mythe|une (?:\w+ )?(?:légende|erreur|idée reçue))"
        rf"(?: de (?:dire|croire|penser))?{_QUE}",
        rf"\b(?:ni(?:e|é|ent|er|ait)|dément(?:i|ent)?|réfut\w+|conteste\w*|rejet\w+)(?: (?:l['’])?[\w'’]+){{0,3}}"
        rf"(?:{_QUE}| selon (?:laquelle|lequel|lesquelles))",
        rf"\b(?:à tort|faussement|par erreur)(?: \w+){{0,3}}{_QUE}",
        rf"\bcontrairement à (?:l['’])?[\w'’]+(?: \w+){{0,3}}(?:{_QUE}| selon laquelle)",
        r"\bmythe\s*:",
    ),
    compiled(
        rf"\b(?:peu probable|improbable|douteux|pas (?:certain|sûr|clair|prouvé)|incertain|possible){_QUE}",
        rf"\b(?:dout\w+|suppos\w+|hypothèse|rumeurs?|espèr\w+|crain\w+)(?: \w+){{0,3}}(?:{_QUE}| selon (?:laquelle|"
        rf"lesquelles))",
        r"\b(?:sait pas|savoir|demand\w+|ignore|clair|déterminer|vérifier|examiné|étudié|décider) s(?:i\b|['’])",
    ),
    compiled(r"(?:^|(?<=,\s))s(?:i\b|['’](?=il))", r"\bà (?:condition|moins)" + _QUE, r"\bau cas où\b"),
)  # fmt: skip
SPANISH = (
    compiled(
        r"\b(?:no (?:hay|existen?|se (?:han )?encontr\w+)|ningun[ao]?|sin|falta de)(?: \w+){0,2} (?:pruebas?|"
        r"evidencias?|"
        r"indicios?)(?: \w+){0,3} que\b",
        r"\b(?:falso|no es (?:cierto|verdad|correcto)|un (?:\w+ )?(?:mito|error|bulo)|una (?:\w+ )?(?:mentira|"
        r"falsedad)) que\b",
        r"\b(?:neg[óoa]|niegan?|negaron|desmint\w+|desmiente\w*|rechaz\w+|refut\w+)(?: \w+){0,4} que\b",
        r"\b(?:falsamente|erróneamente|por error)(?: \w+){0,3} que\b",
        r"\b(?:contrari\w+ a|al contrario de|en contra de)(?: \w+){1,4} que\b",
        r"\bmito:",
    ),
    compiled(
        r"\b(?:poco probable|improbable|dudoso|incierto|no está (?:claro|probado)|posible) que\b",
        r"\b(?:dud\w+|supon\w+|hipótesis|rumores|especul\w+|esper\w+ que|tem\w+ que)(?: \w+){0,2} (?:de )?que\b",
        r"\b(?:claro|sabe|saber|preguntó|preguntamos|preguntaron|determinar|comprobar|investigó) si\b",
    ),
    compiled(r"(?:^|(?<=,\s))si\b", r"\b(?:a menos|siempre y cuando|en caso de|con tal de) que\b"),
)
ITALIAN = (
    compiled(
        r"\b(?:non (?:ci sono|c['’]è|vi è|vi sono|esistono)|nessun[ao]?|senza)(?: \w+){0,2} (?:prov[ae]|evidenz[ae]|"
        r"indizi)(?: \w+){0,3} che\b",
        r"\b(?:falso|non è (?:vero|corretto)|un (?:\w+ )?(?:mito|errore)|una (?:\w+ )?(?:bugia|bufala|leggenda)) che\b",
        r"\b(?:neg(?:a|ato|ò|ano|ava)|smenti\w+|respin\w+|rifiut\w+|confuta\w*|"
        r"contesta\w*)(?: (?:l['’])?[\w'’]+){0,3} che\b",
        r"\b(?:falsamente|erroneamente|per errore)(?: \w+){0,3} che\b",
        r"\bcontrariamente al(?:la|l['’]|lo)?\s*\w+(?: \w+){0,3} che\b",
        r"\bmito:",
    ),
    compiled(
        r"\b(?:improbabile|poco probabile|dubbio|incerto|non è (?:chiaro|certo|provato)|possibile) che\b",
        r"\b(?:dubit\w+|suppon\w+|ipotesi|ipotizz\w+|voci|sper\w+|tem\w+)(?: \w+){0,2} che\b",
        r"\b(?:chiaro|sa|sapere|chiest\w+|chiede|verificare|determinare|studiato) se\b",
    ),
    compiled(r"(?:^|(?<=,\s))se\b", r"\b(?:a meno|a condizione|nel caso in cui)(?: che)?\b"),
)
PORTUGUESE = (
    compiled(
        r"\b(?:não (?:há|existem?)|nenhuma?|sem)(?: \w+){0,2} (?:provas?|evidências?|indícios?)(?: \w+){0,3} que\b",
        r"\b(?:falso|não é (?:verdade|correto|certo)|um (?:\w+ )?(?:mito|erro|boato)|uma (?:\w+ )?mentira) que\b",
        r"\b(?:neg(?:ou|a|am|aram)|desment\w+|rejeit\w+|refut\w+|contest\w+)(?: \w+){0,4} que\b",
        r"\b(?:falsamente|erroneamente|por engano)(?: \w+){0,3} que\b",
        r"\b(?:ao contrário d[aeo]|contrariamente a[o]?|à)(?: \w+){1,4} (?:de )que\b",
        r"\bmito:",
    ),
    compiled(
        r"\b(?:improvável|pouco provável|duvidoso|incerto|não está (?:claro|provado)|possível) que\b",
        r"\b(?:duvid\w+|sup[õo]\w+|hipótese|rumores|boatos|especul\w+|tem\w+)(?: \w+){0,2} (?:de )?que\b",
        r"\b(?:claro|sabe|saber|perguntou|perguntamos|perguntaram|determinar|verificar) se\b",
    ),
    compiled(r"(?:^|(?<=,\s))se\b", r"\b(?:a menos|desde|no caso de|caso)(?: que)?\b"),
)
DUTCH = (
    compiled(
        r"\b(?:geen|zonder)(?: \w+){0,2} (?:bewijs|bewijzen|aanwijzing(?:en)?|"
        r"reden om aan te nemen)(?: \w+){0,2},? dat\b",
        r"\b(?:niet (?:waar|juist|correct)|onwaar|onjuist|klopt niet|een (?:\w+ )?(?:mythe|misverstand|leugen|"
        r"fabel)),? dat\b",
        r"\b(?:ontken(?:t|de|den|nen|d)|weersprak\w*|weerspre\w+|verwerp(?:t|en)|verwierp\w*|weerleg\w+|betwist\w*)"
        r"(?: \w+){0,3},? dat\b",
        r"\b(?:ten onrechte|onterecht|foutief|abusievelijk)(?: \w+){0,3},? dat\b",
        r"\bin (?:tegenstelling tot|strijd met)(?: \w+){1,4},? dat\b",
        r"\bmythe:",
    ),
    compiled(
        r"\b(?:onwaarschijnlijk|twijfelachtig|onzeker|onduidelijk|niet (?:zeker|bewezen|duidelijk)|mogelijk),? dat\b",
        r"\b(?:betwijfel\w*|veronderstel\w*|hypothese|geruchten?|vermoed\w*|hop\w+|vrez\w+|"
        r"vrees\w*)(?: \w+){0,2},? dat\b",
        r"\b(?:onduidelijk|onbekend|vraag|vroeg(?:en)?|weten|weet|onderzocht(?:en)?|nagaan|zeker|duidelijk),? of\b",
    ),
    compiled(r"(?:^|(?<=,\s))als\b", r"\b(?:indien|tenzij|mits|in geval dat|op voorwaarde dat)\b"),
)
Wordings = tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]
TONGUES: Mapping[str, Wordings] = {
    "de": GERMAN, "fr": FRENCH, "es": SPANISH, "it": ITALIAN, "pt": PORTUGUESE, "nl": DUTCH,
}  # fmt: skip
