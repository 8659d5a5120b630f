"""Wordings by which an answer declines, in the notation of `wordings.py`."""

from __future__ import annotations

WORDS = {
    "THE": """
        (?:(?:the|this|these|those|any|our|my|your|of|all|either|cited|listed|following|above) )
        (?:(?:provided|given|retrieved|available|supplied|search(?:ed)?|relevant|current|attached) )
    """,
    "DOCS": """
        contexts?|documents?|documentation|passages?|sources?|texts?|articles?|excerpts?|snippets?
        (?:search )?results|references|materials?|information|knowledge base|manuals?|pages?|files|content
    """,
    "SOURCE": "{THE}{1,4}{DOCS}",
    "SAY": """
        contain\\w*|includ\\w*|provid\\w*|mention\\w*|specif\\w*|stat\\w*|say|giv\\w*|discuss\\w*|address\\w*|cover\\w*
        answer\\w*|indicat\\w*|list\\w*|offer\\w*|describ\\w*|reveal\\w*|tell|explain\\w*|detail\\w*|hold|clarif\\w*|have
    """,
    "TOLD": """
        mentioned|specified|provided|stated|found|available|covered|addressed|given|included|discussed|described
        listed|present|contained|indicated|documented|disclosed|answered|determined
    """,
    "HOLDS": "contains?|provides?|includes?|gives?|offers?|makes?|mentions?|has|have|holds?",
    "MATTER": "information|mention|answers?|details?|context|data|evidence|reference",
    "CANNOT": "can ?not|can't|could ?not|couldn't|(?:am|are|was|were|'m|'re) (?:not able|unable) to",
    "FIND": """
        find|locate|answer|provide|determine|verify|help|assist|give|offer|confirm|say|tell|identify|access|comment
        respond|comply|see
    """,
    "ADV": "(?:(?:\\w+ly|also|even|therefore|still|yet) )?",
    "NO": "no|not enough|insufficient|not sufficient",
    "SOME": "(?:\\w+ ){0,3}?",
}

# no English refusal does without one of these, no other one without one of the second
HINT = r"n['’]t|\bnot?\b|cannot|unable|nothing|insufficient|never|nowhere|unknown|unanswerable|\bn/?a\b|outside|beyond"
OTHER_HINT = r"nicht|kein|\bne\b|\bn['’]|aucun|pas d['’]|\bnon?\b|não|[\u3040-\u30ff\u4e00-\u9fff]"

# where a sentence turns: "it costs 49 euros, but ...", "although ..., it ..."
TURN = (
    r"\s?[,;:–—]\s{0,3}(?:but|however|though|although|yet|aber|jedoch|doch|pero|aunque|mais|cependant|ma|però|mas|porém)"
    r"\b[,\s]{0,3}|[,;，；、]\s?(?:但是|但|不过|不過|然而|ただし|しかし)[,，、]?|が、"
)
LEAD = (
    r"^(\W*(?:although|though|even though|while|whereas|obwohl|auch wenn|aunque|bien que|sebbene|embora|虽然|雖然)"
    r"[^,，]{0,300})[,，]\s*"
)

ENGLISH = """
    i ?{ADV}{CANNOT} {ADV}{FIND}
    we ?{ADV}{CANNOT} {ADV}{FIND}…{SOURCE}
    i (?:found|see|find|have) (?:no|nothing|not enough|insufficient)…(?:{MATTER}|{DOCS})
    i (?:did not|didn't|could not|couldn't) find (?:any|anything|the answer)…(?:{MATTER}|{DOCS})
    i (?:do not|don't) (?:currently |actually )?know(?! that)
    i (?:do not|don't) (?:currently |actually )?have {SOME}(?:{MATTER}|access|knowledge)
    as an (?:ai|artificial|language model|assistant)…(?:cannot|can't|not able|unable|don't|do not)
    (?:i'?m|i am) (?:\\w+ )?(?:sorry|afraid)…(?:can ?not|can't|could ?not|couldn't|don't|do not|unable)
    {SOURCE} {SOME}(?:do|does|did)(?:n't| not) {ADV}(?:(?:appear|seem) to )?{SAY}
    {SOURCE} {SOME}{HOLDS} (?:no|nothing|insufficient|not enough)
    (?:not|\\w+n't|never|nowhere) {ADV}(?:be |been )?{ADV}{TOLD} (?:anywhere )?(?:in|by|within|from) {SOURCE}
    (?:can|could|is|are|was|were)(?:n't| ?not) (?:be |possible to )?(?:answer|determin|infer|known|clear)\\w*…{SOURCE}
    {NO} (?:\\w+ ){0,2}?{MATTER}…(?:in|from|within|by) {SOURCE}
    there(?:'s| is| was) {NO} (?:\\w+ ){0,2}?information (?:about|on|regarding|available|provided|given|to answer)
    {NO} (?:\\w+ ){0,2}?(?:information|details?|mention|answer) (?:\\w+ ){0,5}?(?:is|was|were|are) (?:\\w+ )?{TOLD}
    {NO} (?:\\w+ ){0,2}?(?:information|context|details|evidence|data) (?:is (?:available|given|provided) )?to {FIND}
    {SOURCE}…(?:and|but) (?:do|does)(?:n't| not) {ADV}{SAY}
    ^.{0,80}(?:is|are|was|were)(?:n't| not) {ADV}(?:mentioned|specified|stated)\\W*$
    (?:the|this|that|such|specific) information (?:\\w+ ){0,5}?(?:is|was)(?:n't| not) {TOLD}
    (?:the|this|that|your) question (?:can ?not|can't|could not) be answered
    (?:outside|beyond) (?:the scope of )?(?:my|our|the (?:provided|given|available)) (?:knowledge|scope|{DOCS})
    ^\\W*(?:unanswerable|not answerable|no answer|can(?:no|')t answer|unknown|n/?a|(?:i )?don't know|not found)\\W*$
    ^\\W*not (?:specified|mentioned|stated|available|provided)\\W*$
    ^\\W*{NO} (?:\\w+ )?(?:information|context|data|answer)(?: (?:found|available|provided|given))?\\W*$
"""

_GERMAN_DOCS = "dokument\\w*|kontext\\w*|texte?n?|quellen?|unterlagen|passagen?|abschnitte?n?"
_SPANISH_DOCS = "documentos?|contexto|textos?|fuentes?|pasajes?|fragmentos?"
_ITALIAN_DOCS = "document[oi]|contesto|test[oi]|font[ei]|passaggi|brani"
_PORTUGUESE_DOCS = "documentos?|contexto|textos?|fontes?|passagens|trechos?"
OTHER_WORDS = {
    "DDOCS": _GERMAN_DOCS,
    "DSAY": "enth\\w+|geben|gibt|erw[aä]hn\\w*|nenn\\w*|liefer\\w*|mach\\w*|steht|stehen|sagen|sagt",
    "FDOCS": "documents?|contexte|textes?|sources?|passages?|extraits?",
    "SDOCS": _SPANISH_DOCS,
    "SSAY": "(?:contien|mencion|proporcion|incluy|indic|especific|dic|ofrec|respond|habl)\\w*",
    "IDOCS": _ITALIAN_DOCS,
    "ISAY": "(?:conten|menzion|forni|includ|indic|specific|dic|riport|parl|risp)\\w*",
    "PDOCS": _PORTUGUESE_DOCS,
    "CDOCS": "文档|文檔|资料|資料|上下文|文中|文件|段落|材料|信息|資訊",
    "CNOT": "没有|沒有|未|不包含",
    "CSAY": "提|包含|说明|找到|相关|相關|記載|答案|信息|資訊",
    "JDOCS": "文書|資料|文脈|コンテキスト|情報|本文|ドキュメント|文章",
    "JSAY": "ありません|(?:含まれ|記載され|書かれ|述べられ|言及され)ていません|見当たりません",
    "JNOT": "見つかりません|見つけられません|わかりません|分かりません|お答えできません|回答できません|答えられません",
    "PSAY": "(?:cont|mencion|fornec|inclu|indic|especific|diz|apresent|oferec|respond)\\w*",
}

OTHERS = """
    ich…(?:kann|konnte|weiß|weiss|habe|finde|verfüge)…(?:nicht|nichts|kein\\w*)
    (?:kann|konnte|weiß|weiss|habe|finde) ich…(?:nicht|nichts|kein\\w*)
    {DDOCS}…{DSAY}…(?:kein\\w*|nicht\\w?)
    (?:kein\\w*|nicht\\w?)…(?:in|aus) (?:den|dem|der|diesen|diesem) (?:\\w+en )?{DDOCS}
    (?:keine|nicht genügend|nicht genug) (?:\\w+ )?(?:informationen|angaben|information)
    je (?:ne |n')(?:peux|pourrais?|sais|trouve|dispose|suis|connais|parviens|vois|ai)…(?:pas|aucune?|rien)
    {FDOCS}…(?:ne |n')\\w+…(?:pas|aucune?|rien)
    (?:aucune? |pas d')(?:information|mention|réponse)
    no (?:puedo|pude|he podido|encuentro|encontré|sé|tengo|dispongo)
    no (?:podemos|pudimos|encontramos|sabemos|tenemos)…(?:{SDOCS}|información)
    {SDOCS}…no (?:se )?{SSAY}
    no (?:hay|existe|se (?:menciona|encuentra|especifica|indica|proporciona|encontró))…(?:{SDOCS}|información)
    non (?:posso|sono (?:in grado|riuscit\\w)|riesco|so|ho (?:trovato|informazioni|abbastanza)|dispongo|trovo)
    {IDOCS}…non {ISAY}
    non (?:ci sono|c'è|esistono|viene|è)…(?:{IDOCS}|informazioni)
    não (?:posso|consigo|consegui|encontrei|encontro|sei|tenho|disponho|foi possível)
    {PDOCS}…não {PSAY}
    não (?:há|existe\\w*|é mencionad\\w|consta)…(?:{PDOCS}|informaç\\w+)
    (?:无法|無法|不能|没法)(?:从.{0,20})?(?:回答|找到|确定|確定|提供|确认|回覆|得知|判断)
    (?:抱歉|对不起|對不起|很遗憾).{0,30}(?:没有|沒有|无法|無法|不能|未能|不知道)
    (?:{CDOCS}).{0,12}(?:{CNOT}).{0,12}(?:{CSAY})
    (?:没有找到|沒有找到|未找到|找不到|我不知道)
    (?:{JNOT}|回答することはできません)
    (?:{JDOCS}).{0,40}(?:{JSAY})
"""

# what may stand beside a refusal without turning it into an answer: apology, advice, what the documents hold instead
WRAPPING = """
    ^\\W*(?:please|you (?:may|might|can|could|should)|i (?:recommend|suggest|would)|if you|feel free|let me know)
    ^\\W*(?:try|consider|contact|for (?:more|further|accurate|up-to-date|additional)|perhaps you)
    ^\\W*(?:to (?:find|get|answer|learn)|(?:could|can|would) you|(?:more|additional|further) (?:information|context))
    ^\\W*(?:instead,? |rather,? |however,? )?(?:{SOURCE}|they|it) {ONLY}?{ABOUT}
    ^\\W*(?:i'?m |i am )?(?:very |so |really )?(?:sorry|unfortunately|apologies|i apologi[sz]e)\\W*(?:for .{0,40})?$
    ^\\W*(?:(?:al)?though |while )?i(?:'ve| have)? (?:searched|looked|checked|reviewed|read|examined|understand|see)
    ^\\W*(?:bitte|wenden sie sich|veuillez|n'hésitez|por favor|consulte|per favore|si prega)
    ^\\W*(?:entschuldigung|désolée?|je suis désolée?|lo siento|mi dispiace|desculpe)\\W*$
    ^\\W*(?:申し訳|すみません|抱歉|对不起|很遗憾|很抱歉).{0,20}$
    ^\\W*(?:请|請|如需|ご了承|お問い合わせ|詳しくは).{0,80}
"""
ONLY = "(?:only |mainly |primarily |mostly |just |rather |instead )"
ABOUT = "(?:discuss|focus|mention|describ|cover|contain|provid|talk|deal|refer|address|relat)\\w*|(?:are|is) about"
