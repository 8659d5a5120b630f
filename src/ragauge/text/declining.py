"""Whether a text as a whole says that there is no answer: "The documents do not say.", "N/A", "I don't know.".

It is meant for reference answers, which decide what a question is taken for: only wordings that leave no doubt count. A
name or a plain word that may be an answer ("Unknown", "None", "Nothing") never does.
"""

from __future__ import annotations

import re
from functools import cache

from ragauge.text.sentences import split

LONGEST = 600           # characters: a longer text says more than that there is no answer
MOST_SENTENCES = 4
# what people put where there is no answer; "-" in a code span is a hyphen
PLACEHOLDER = re.compile(
    r"[-–—]{1,3}|[(\[<{](?:none|null|nil|empty|blank|nothing|unknown|na|-)[)\]>}]|#?n/a!?", re.IGNORECASE
)
ENDS = " \t\n.!?…。！？\"'“”‘’«»()[]<>*_-"

_DOCS = (
    r"(?:(?:the|this|these|those|any|our|your|provided|given|retrieved|available|supplied|relevant|current"
    r"|search) ){0,4}"
    r"(?:contexts?|documents?|documentation|passages?|sources?|texts?|excerpts?|snippets?|search results|corpus|"
    r"docs|data ?set|knowledge base|information|materials?|references)"
    r"(?: (?:provided|given|above|here|retrieved|available))?"
)
_SAY = (
    r"(?:contain|include|provide|mention|specify|state|say|give|discuss|address|cover|answer|indicate|describe"
    r"|tell|have|"
    r"hold|explain|disclose|reveal|offer|clarify|list)"
)
_TOLD = (
    r"(?:mentioned|specified|provided|stated|given|available|covered|included|discussed|described|addressed"
    r"|disclosed|"
    r"indicated|contained|documented|found|present|answered|known|clear|answerable)"
)
_LITTLE = r"(?:not enough|insufficient|no(?: (?:relevant|sufficient|such|further|specific))?|not sufficient|too little)"
_MATTER = r"(?:information|context|data|details?|mention|answers?)"
_NOT = r"(?:not|n't|never)"
_ENOUGH = r"(?:enough|sufficient|the|any)"
_CANNOT = (
    r"(?:can ?not|can't|could ?not|couldn't|(?:is|am|are|was|were) (?:unable|not able) to"
    r"|(?:'m|'re) (?:unable|not able) to)"
)
_ANSWER = (
    r"(?:(?:answer|tell|say|determine|know|infer|respond|help)|(?:find|provide|give) (?:any |the |an |this "
    r"|that |enough )?"
    r"(?:relevant |specific )?(?:answer|information|mention|reference|details?))"
)
_OPEN = r"(?:mentioned|specified|stated|given|provided|disclosed|answerable|answered)"
_END = r"(?!.{0,200}\b(?:but|however|though|although|except|until|because|unless|instead|yet)\b)(?:(?![.!?;] ).){0,200}"

# one whole sentence, in small letters, without the marks at its ends
_SENTENCES = (
    r"(?:unanswerable|not answerable|cannot ?answer|can't answer|no ?answer(?: (?:present|available|found"
    r"|given|possible))?"
    r"|n/a|not applicable|no answer in (?:%(D)s)|idk)",
    r"(?:sorry|apologies|unfortunately|regrettably|(?:i'm|i am|we're|we are) (?:very )?sorry)",
    r"(?:i|we) (?:do not|don't|really don't|did not|didn't) (?:actually |really )?know(?: (?:the|that|this|it"
    r"|any) ?answer.{0,40}"
    r"|(?: (?:that|this|it|either|yet|for sure))?)",
    r"(?:i|we) (?:do not|don't) have (?:%(E)s )?(?:%(M)s)%(Z)s",
    r"(?:i|we) %(C)s (?:\w+ ){0,2}?%(A)s%(Z)s",
    r"(?:it is|it's|the answer is|this is|that is|this|that|it)? ?(?:impossible|not possible) to %(A)s%(Z)s",
    r"%(D)s (?:do|does|did)(?: not|n't) (?:\w+ly |appear to |seem to |even )?%(S)s%(Z)s",
    r"%(D)s (?:contains?|provides?|includes?|gives?|offers?|has|have|makes?|holds?) (?:no|nothing|insufficient"
    r"|not enough)\b%(Z)s",
    r"%(D)s (?:is|are) (?:silent|insufficient|not sufficient|not enough)%(Z)s",
    r"(?:there (?:is|was|'s) |there's )?%(L)s (?:\w+ )?%(M)s(?: (?:is|was|are|were|has been))?(?: (?:%(T)s))?"
    r"(?: (?:(?:(?:of|on|about) (?:it|this|that|them|these) )?(?:in|from|within|by) %(D)s%(Z)s|(?:about|on"
    r"|regarding)\b%(Z)s"
    r"|(?:of|on|about) (?:it|this|that)|to (?:%(A)s|the question|this question)%(Z)s))?",
    r"(?:the answer|the information|this information|such information|the question)(?: is| was| are"
    r"|'s) %(N)s (?:\w+ly )?%(T)s"
    r"(?: (?:in|by|within|from) %(D)s)?",
    r"(?:(?:this|that|it)(?: is|'s| was) )?%(N)s (?:\w+ly )?%(T)s (?:in|by|within|from) %(D)s",
    r"(?:(?:this|that|it|the answer|the information|this information) (?:isn't|wasn't) (?:\w+ly )?%(T)s"
    r" (?:in|by|within|from) %(D)s)",
    r"not %(O)s",
    r"(?:(?:this|that|it|the answer) is |answer )?(?:not|nowhere) "
    r"(?:in|part of|within|among|found in|covered (?:in|by)) %(D)s",
    r"out[ -]of[ -](?:scope|corpus|context)",
    r"the (?:answer|information) (?:is not|isn't|was not) (?:to be found )?(?:in|within|part of) %(D)s",
    r"(?:(?:this|the|that|your) question|the answer|this|that|it) (?:can ?not|can't|could not) be "
    r"(?:answered|determined|inferred|found|derived)(?: (?:from|by|with|in|on the basis of|based on) %(D)s%(Z)s)?",
    r"(?:this|the|that) question is (?:unanswerable|not answerable)%(Z)s",
)
_NAMES = {
    "D": _DOCS, "S": _SAY, "T": _TOLD, "L": _LITTLE, "M": _MATTER, "N": _NOT, "E": _ENOUGH, "C": _CANNOT, "A": _ANSWER,
    "Z": _END, "O": _OPEN,
}     # fmt: skip
# before the sentence proper
_LEAD = re.compile(
    r"^(?:(?:sorry|unfortunately|apologies|regrettably|therefore|thus|so|hence|i(?:'m| am) (?:very )?(?:sorry"
    r"|afraid)|"
    r"based on [^,]{1,60}|according to [^,]{1,60}|from [^,]{1,60})\b,?\s*(?:but\s+|that\s+)?){1,3}"
)
_OTHERS = (
    # German
    r"(?:das )?(?:weiß|weiss) ich (?:leider )?nicht",
    r"ich (?:weiß|weiss) (?:es|das) (?:leider )?nicht",
    r"(?:nicht beantwortbar|keine antwort(?: möglich| vorhanden)?|keine angabe)",
    r"(?:das|dies|es) (?:steht|wird|geht|ist) (?:\w+ ){0,2}?nicht (?:in|aus) (?:den|dem|der) (?:\w+ )?"
    r"(?:dokumenten?|kontext|texten?|quellen?|unterlagen|passagen?)(?: \w+)?",
    r"(?:die|der|das) (?:\w+ )?(?:dokumente?|kontext|texte?|quellen?|unterlagen) (?:sagen|sagt|enthalten"
    r"|enthält|nennen|nennt|"
    r"geben|gibt) (?:\w+ ){0,4}?(?:nicht|nichts|keine?)\b.{0,80}",
    r"(?:es gibt )?(?:nicht genügend|nicht genug|keine) (?:informationen|angaben)(?: (?:dazu|darüber|vorhanden"
    r"|verfügbar))?",
    # French
    r"je (?:ne )?sais pas|je l'ignore|sans réponse|pas de réponse",
    r"(?:les|le|ces|ce) (?:documents?|contexte|textes?|sources?|passages?) (?:ne |n')(?:\w+ ){1,3}?(?:pas|rien"
    r"|aucune?)\b.{0,80}",
    r"(?:il n'y a )?(?:pas assez d'informations?|informations? insuffisantes?|aucune information(?: disponible)?)",
    # Spanish
    r"no (?:lo )?sé|sin respuesta|no hay respuesta",
    r"(?:los|el|estos|este) (?:documentos?|contexto|textos?|pasajes?) no (?:lo )?\w+\b.{0,80}",
    r"(?:no hay )?(?:información insuficiente|suficiente información|información suficiente)",
    # Italian
    r"non (?:lo )?so|nessuna risposta|senza risposta",
    r"(?:i|il|questi|questo) (?:documenti|documento|contesto|testi|testo|brani|brano) non (?:lo )?\w+\b.{0,80}",
    r"(?:non ci sono )?(?:informazioni insufficienti|abbastanza informazioni|informazioni sufficienti)",
    # Portuguese
    r"não sei|sem resposta|não há resposta",
    r"(?:os|o|estes|este) (?:documentos?|contexto|textos?|trechos?) não (?:o )?\w+\b.{0,80}",
    r"(?:não há )?(?:informação insuficiente|informações insuficientes|informação suficiente"
    r"|informações suficientes)",
    # Dutch
    r"(?:dat |ik )?weet (?:ik )?(?:het )?niet|geen antwoord",
    r"(?:de|het) (?:documenten|document|context|tekst|teksten|bronnen) (?:\w+ ){1,4}?(?:niet|niets|geen)\b.{0,80}",
    # Swedish
    r"(?:det )?vet (?:jag )?(?:ej|inte)|jag vet inte|inget svar",
    r"(?:dokumenten|dokumentet|texten|texterna|källorna) \w+ (?:\w+ )?(?:inte|inget|ingen)\b.{0,80}",
    # Polish
    r"nie wiem|brak odpowiedzi|brak informacji|brak danych",
    r"(?:dokumenty|dokument|kontekst|tekst|teksty|źródła) (?:tego )?nie \w+\b.{0,80}",
    # Turkish
    r"bilmiyorum|cevap yok|bilgi yok|yeterli bilgi (?:yok|bulunmuyor)|belgelerde (?:\w+ ){0,3}?(?:yok"
    r"|bulunmuyor|geçmiyor|belirtilmemiş)",
    # Chinese and Japanese
    r"(?:我)?不知道|无法回答|無法回答|没有答案|沒有答案|信息不足|資訊不足|(?:文档|文檔|资料|資料|上下文|文中)(?:中|里|裡)?(?:没有|沒有|未)(?:提到|提及|说明|說明|包含).{0,20}",
    r"(?:わかりません|分かりません|回答できません|回答不能|情報が(?:不足|足り).{0,8}|(?:文書|資料|文脈|本文)には?.{0,20}"
    r"(?:書かれていません|記載されていません|記載がありません|含まれていません|ありません))",
)


def declines(text: str) -> bool:
    """Whether every sentence of a text says that the answer is not known or not there, and nothing else is said.

    >>> [declines(one) for one in ("The documents do not say.", "N/A", "I don't know", "Not enough information")]
    [True, True, True, True]
    >>> [declines(one) for one in ("NOT IN DOCS", "NO_ANSWER", "-", "(none)")]
    [True, True, True, True]
    >>> [declines(one) for one in ("Unknown", "None", "No.", "The manual does not contain a plan.", "")]
    [False, False, False, False, False]
    """
    text = " ".join(text[: LONGEST + 1].replace("’", "'").split())
    if PLACEHOLDER.fullmatch(text):
        return True
    if not text.strip(ENDS) or len(text) > LONGEST:
        return False
    sentences = split(text)
    return len(sentences) <= MOST_SENTENCES and all(_declines(sentence.text) for sentence in sentences)


def _declines(sentence: str) -> bool:
    plain = sentence.strip(ENDS).lower().replace("_", " ")
    rest = _LEAD.sub("", plain).strip(ENDS)
    return any(_pattern().fullmatch(form) for form in dict.fromkeys((plain, rest)))


@cache
def _pattern() -> re.Pattern[str]:
    """Every wording in one expression: most references match none, and one call says so."""
    wordings = [*(sentence % _NAMES for sentence in _SENTENCES), *_OTHERS]
    return re.compile("|".join(f"(?:{one})" for one in wordings))
