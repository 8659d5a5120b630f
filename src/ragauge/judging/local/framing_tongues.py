"""Wordings under which a sentence holds a statement without saying that it is so, in six languages: the commonest.

Per language what denies, what doubts or asks, and what conditions, before the statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragauge.judging.local.framing_words import compiled

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
