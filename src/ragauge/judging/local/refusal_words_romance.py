"""French, Spanish, Italian and Portuguese wordings by which an answer declines, in the notation of `wordings.py`."""

from __future__ import annotations

WORDS = {
    "FDOCS": """
        documents?|contextes?|textes?|sources?|passages?|extraits?|articles? fournis?|informations? fournies?
        éléments fournis
    """,
    "FALL": "{FDOCS}|manuels?|notices?|guides?|documentation",
    "FSAY": """
        mentionn|précis|indiqu|contien|fourni|donn|permett|spécifi|répond|dit|dis|évoqu|abord|compor|inclu|révèl
        parl|décri|nomm|figur
    """,
    "FTOLD": "(?:mention|précis|indiqu|fourni|donn|spécifi|évoqu|abord|trouv|inclu|expliqu|décri|nomm|détaill)\\w*",
    "FINFO": "informations?|mentions?|réponses?|détails?|données?|indications?|précisions?|éléments?",
    "FKNOW": """
        répondre|déterminer|dire|savoir|calculer|trouver|fournir|donner|préciser|établir|connaître|identifier
        conclure|aider|confirmer|accéder|évaluer
    """,
    "SDOCS": """
        documentos?|contexto|textos?|fuentes?|pasajes?|fragmentos?|extractos?|información (?:proporcionada
        disponible|dada)|artículos proporcionados
    """,
    "SALL": "{SDOCS}|manual(?:es)?|guías?|documentación",
    "SSAY": """
        (?:contien|contener|mencion|proporcion|incluy|indic|especific|dic|ofrec|respond|habl|aport|brind|detall
        señal|revel|permit|aparec|abord|menciona|da\\b|dan\\b|facilit)\\w*
    """,
    "SKNOW": """
        determinar|responder|saber|calcular|decir|encontrar|proporcionar|confirmar|conocer|establecer|identificar
        precisar|concluir|inferir|ayudar|ofrecer|dar|acceder|evaluar
    """,
    "IDOCS": """
        document[oi]|contesto|test[oi]|font[ei]|passaggi|passaggio|brani|brano|estratti|informazioni fornite
        articoli forniti
    """,
    "IALL": "{IDOCS}|manual[ei]|guida|documentazione",
    "ISAY": """
        (?:conten|contien|menzion|forni|includ|indic|specific|dic|riport|parl|risp|precis|offr|tratt|chiar|cit
        permett|consent|fa|fanno|danno|dà)\\w*
    """,
    "IINFO": "informazion\\w+|dettagli|dati|menzione|risposta|riferiment\\w+|indicazion\\w+|accenn\\w+",
    "IKNOW": """
        determinare|rispondere|sapere|stabilire|calcolare|dire|trovare|fornire|confermare|conoscere|identificare
        dare|aiutar\\w+|assister\\w+|concludere|dedurre|accedere|valutare|soddisfare
    """,
    "PDOCS": """
        documentos?|contexto|textos?|fontes?|passagens|passagem|trechos?|excertos?|informaç(?:ão
        ões) (?:fornecidas?|disponíve\\w+|dadas?)|artigos fornecidos
    """,
    "PALL": "{PDOCS}|manua(?:l|is)|guias?|documentação",
    "PSAY": """
        (?:cont[eéê]|mencion|fornec|inclu|indic|especific|diz|dizem|apresent|oferec|respond|refer|abord|fal
        esclarec|inform|cit|permit|traz|revel)\\w*
    """,
    "PINFO": "informaç\\w+|detalhes|dados|menção|resposta|referências?|indicaç\\w+",
    "PKNOW": """
        determinar|responder|saber|calcular|dizer|encontrar|fornecer|confirmar|identificar|estabelecer|dar|ajudar
        oferecer|concluir|inferir|acessar|aceder|auxiliar|atender|avaliar
    """,
    # reviews, emails, pages, tables ...: believed with verbs of saying only
    "FWIDE": """
        avis|commentaires?|critiques?|courriels?|e-?mails?|mails?|messages?|tickets?|transcriptions?|conversations?
        discussions?|chats?|pages?|sites?(?: web)?|directives?|recommandations?|tableaux?|faq|registres?|dossiers?
        rapports?|contrats?|journa(?:l|ux)|notes?|études?|sections?|paragraphes?|chapitres?|fichiers?|descriptions?
        annonces?|fiches?|factures?|recettes?|lettres?|procès-verba(?:l|ux)|comptes? rendus?|résumés?|résultats
        base de connaissances|publications?
    """,
    "FTELL": "(?:mentionn|précis|indiqu|spécifi|répond|dit|dis|évoqu|abord|révèl|parl|décri|nomm)\\w*",
    "SWIDE": """
        reseñas?|opiniones|valoraciones|comentarios?|correos?(?: electrónicos?)?|e-?mails?|mensajes?|tickets?
        transcripci(?:ón|ones)|conversaci(?:ón|ones)|chats?|páginas?|sitios?(?: web)?|directrices|tablas?|registros?
        informes?|reportes?|contratos?|notas?|estudios?|secci(?:ón|ones)|párrafos?|capítulos?|archivos?
        descripci(?:ón|ones)|anuncios?|facturas?|recetas?|cartas?|actas?|resultados|publicaci(?:ón|ones)
        preguntas frecuentes|base de conocimientos?
    """,
    "STELL": "(?:mencion|indic|especific|dic|habl|aclar|detall|señal|revel|abord|explic|describ|nombr)\\w*",
    "IWIDE": """
        recension[ei]|opinion[ei]|e-?mail|messaggio?|ticket|trascrizion[ei]|conversazion[ei]|chat|pagin[ae]|linee guida
        sit[oi](?: web)?|tabell[ae]|faq|registr[oi]|rapport[oi]|relazion[ei]|contratt[oi]|not[ae]|studi[o]?|sezion[ei]
        paragraf[oi]|capitol[oi]|file|descrizion[ei]|annuncio?|fattur[ae]|ricett[ae]|letter[ae]|verbal[ei]|risultati
        comment[oi]|sched[ae]
    """,
    "ITELL": "(?:menzion|indic|specific|dic|riport|parl|precis|tratt|chiar|cit|spieg|descriv|accenn|rivel)\\w*",
    "PWIDE": """
        avaliaç(?:ão|ões)|resenhas?|opiniões|comentários?|e-?mails?|mensage(?:m|ns)|tickets?|chamados?|conversas?|chats?
        transcriç(?:ão|ões)|páginas?|sites?|diretrizes|tabelas?|registr?os?|relatórios?|contratos?|notas?|estudos?
        seç(?:ão|ões)|parágrafos?|capítulos?|arquivos?|ficheiros?|descriç(?:ão|ões)|anúncios?|faturas?|receitas?
        cartas?|atas?|resultados|publicaç(?:ão|ões)|perguntas frequentes|base de conhecimento
    """,
    "PTELL": "(?:mencion|indic|especific|diz|refer|abord|fal|esclarec|inform|cit|explic|descrev|revel|detalh)\\w*",
    # the matter itself, or what is told of it
    "ITSELF": """
        (?:cela|ça|cette|ces|ce|es[ao]s?|est[aeo]s?|dicha|quest\\w+|ciò|tale|ess[ae]s?|isso|isto|nada|nulla|niente|rien
        aucune?
        información|datos|detalles|informations?|détails|informaç\\w+|informazion\\w+|dettagli|detalhes)
    """,
    "AFTER": "(?: (?!(?:que|qui|che|quien)\\b)[\\w'-]+){0,4}?",
}

HINT = (
    r"\bne\b|\bn['’]|aucun|pas d['’e]|désolé|malheureusement|\bnon\b|impossible|\bno\b"
    r"|ningun|ningún|imposible|impossibil"
    r"|\brien\b|\bnulla\b|\bniente\b|\bnada\b|muets?\b"
    r"|não|nenhum|impossível|nessun|alcun|\bsans\b|purtroppo|lamentable"
)

DECLINING = """
    je (?:ne |n')(?:peux|pourrais?|sais|trouve|dispose|suis|connais|parviens|vois|ai|possède|pourrai)…(?:pas|aucune?
        |rien)
    {FDOCS}…(?:ne |n')(?:\\w+ ){0,2}?(?:{FSAY})\\w*…(?:pas|aucune?|rien)
    {FDOCS}…(?:ne |n')(?:\\w+ ){0,3}?(?:pas|aucune?|rien) (?:\\w+ )?(?:{FSAY})\\w*
    (?:n'est|n'a|n'ont|ne sont|n'était|n'y est|n'en est)…(?:pas|aucune?ment) (?:\\w+ ){0,2}?{FTOLD}…(?:{FDOCS})
    (?:n'est|ne sont) pas (?:explicitement|spécifiquement|clairement|directement|précisément|expressément) {FTOLD}
    (?:n'est|ne sont) pas (?:mentionn\\w+|précisé\\w*|spécifié\\w*|indiqué\\w*)\\W*$
    (?:aucune?|pas d'|pas de|pas assez d'|pas suffisamment d')(?: ?(?:\\w+ ){0,2}?)(?:{FINFO})…(?:dans|sur
        |disponible|ne figure|concernant|pour répondre|n'(?:est|a été) (?:{FTOLD}|disponible))
    (?:il n'y a|il n'existe|on ne trouve)…(?:pas|aucune?)…(?:dans|par) (?:les|le|l'|ces|ce) ?{FDOCS}
    il (?:n'est|est) (?:pas possible|impossible) de {FKNOW}…(?:{FDOCS}|question|sans|sur la base|en se basant)
    (?:sur la base|d'après|selon|à partir)…{FDOCS}…(?:il (?:n'est pas possible|est impossible)|je ne peux|on ne peut)
    (?:ne peut|ne peux|ne pouvons|ne permet\\w*|ne permettent)…(?:pas )?(?:de |être )?(?:répondre à|répondue
        |déterminée? (?:à partir|avec|sur la base|dans|d'après))
    (?:n'ai|n'avons|ne dispose|ne disposons) pas (?:\\w+ )?(?:accès|d'accès)
    (?:{FALL}) (?:ne |n')(?:en |le |l'|la |y )?(?:parl|di[st]|mentionn|évoqu|précis|indiqu)\\w* (?:pas|rien|nulle part
        |aucun)
    (?:dans|selon|d'après) (?:le|les|ce|ces|la|cette) (?:{FALL}),? (?:rien|pas un mot|aucune mention)
    (?:rien|pas un mot|aucune mention) (?:à ce (?:sujet|propos)|là-dessus|de cela|de ça|sur ce point|n'(?:est|y est)
        |sur cela)…dans (?:le|les|ce|ces|la|cette) (?:{FALL})
    (?:n'en|ne le|ne l'|n'y) ?(?:parl|di[st]|mentionn|trouv|est)\\w*…(?:pas|rien)…dans (?:le|les|ce|ces|la
        |cette) (?:{FALL})
    dans (?:le|les|ce|ces|la|cette) (?:{FALL}),? (?:on |il |cela )(?:ne |n')(?:en |le |y )?…(?:pas|rien|aucun)
    (?:{FALL}) (?:reste|restent|est|sont) muets?
    (?:{SALL}) no (?:lo|la|los|las|nos|me) {SSAY}
    (?:{SALL}) no {SSAY} (?:nada|eso|esto|ello|tal)
    no (?:lo|la|los|las) {SSAY} (?:el|la|los|las|este|esta) (?:{SALL})
    no (?:aparece|consta|figura|viene|se (?:dice|habla|menciona|explica))n?…en (?:el|la|los|las|este|esta) (?:{SALL})
    en (?:el|la|los|las|este|esta) (?:{SALL}) no (?:aparece|consta|figura|viene|pone|se (?:dice|habla|menciona))
    nada…(?:en|dice) (?:el|la|los|las|este|esta) (?:{SALL})…(?:sobre|acerca|al respecto)
    (?:{SALL}) (?:no )?(?:dice|dicen|menciona|mencionan|contiene|contienen) nada
    (?:nada|ni una palabra) (?:de|sobre) (?:eso|esto|ello|este tema) en (?:el|la|los|las) (?:{SALL})
    no (?:puedo|pude|he podido|encuentro|encontré|he encontrado|sé|tengo|dispongo|cuento con|estoy segur\\w|conozco)
    no (?:podemos|pudimos|encontramos|sabemos|tenemos)…(?:{SDOCS}|información)
    {SDOCS}…no (?:se )?{SSAY}
    (?:ningun[oa]|ningún)…(?:{SDOCS})…{SSAY}
    no (?:hay|existe|se (?:menciona|encuentra|encontr|especifica|indica|proporciona|ofrece|detalla|brinda|da|habla
        |describe)\\w*)…(?:(?:en|por|de) (?:los|el|las|la|estos|este|esta) (?:\\w+ )?{SDOCS}|información (?:sobre
        |acerca|suficiente|en|de|disponible|específica|directa|relevante))
    no se (?:menciona|especifica|indica|proporciona|detalla|describe)n? (?:explícitamente|específicamente
        |directamente|claramente|en ningún)
    no se (?:menciona|especifica|indica|proporciona|encontr|encuentra)\\w* (?:\\w+ ){0,2}?(?:información|ninguna
        |una respuesta)
    no (?:es|fue|resulta) posible {SKNOW}…(?:{SDOCS}|sin|pregunta|con la información|quién|qué|cuánt\\w+|cuándo
        |dónde|cómo|si)
    {SDOCS}…no (?:es|resulta) posible {SKNOW}
    no se puede {SKNOW}…(?:{SDOCS}|información|pregunta|base)
    (?:información|datos) (?:\\w+ ){0,3}?(?:insuficientes?|no (?:es|son) suficientes?)
    (?:lo siento|lamentablemente|desafortunadamente|disculp\\w+|me temo)…no (?:puedo|se|hay|tengo|contien|proporcion
        |es posible|cuento|dispongo|encuentr|encontr|teng|especific|mencion)\\w*
    (?:{IALL}) non (?:lo|la|li|le|ne|se ne|ci|si) {ISAY}
    (?:{IALL}) non {ISAY} (?:nulla|niente|questo|ciò)
    non (?:lo|la|ne|se ne|viene|è) (?:\\w+ )?{ISAY}…(?:il|nel|nella|nei|nelle|dal|dalla) (?:\\w+ )?(?:{IALL})
    (?:nulla|niente|nessun accenno) (?:al riguardo|in proposito|su questo|di questo|su ciò)…(?:nel|nella|nei) (?:{IALL})
    (?:nel|nella|nei|nelle) (?:{IALL}) (?:non|nulla|niente)…(?:se ne|lo|ne|al riguardo|in proposito|di questo|su questo)
    di questo…non (?:si |c'è |ne )?{ISAY}…(?:{IALL})
    non (?:posso|sono (?:in grado|riuscit\\w|a conoscenza)|riesco|so|ho (?:trovato|informazioni|abbastanza|accesso
        |alcun\\w*|sufficient\\w+)|dispongo|trovo|possiedo|mi è possibile)
    {IDOCS}…non (?:si )?{ISAY}
    non (?:ci sono|c'è|esistono|si trova\\w*)…(?:(?:nel|nei|nella|nelle|negli|dai|in|tra) (?:\\w+ )?{IDOCS}
        |{IINFO} (?:su|sul|sulla|sui|sugli|sulle|nel|riguard|disponibil|fornit|in)\\w*)
    non (?:è|viene|sono|vengono) (?:stat\\w )?(?:menzionat|indicat|specificat|riportat|fornit|trovat|descritt
        |present)\\w…{IDOCS}
    (?:{IDOCS})…non (?:c'è|ci sono|viene|vengono|è|sono)…(?:{IINFO}|indicat\\w|menzionat\\w|specificat\\w
        |riportat\\w|fornit\\w)
    (?:nessun\\w*|alcun\\w*) (?:\\w+ )?(?:{IINFO})…(?:{IDOCS}|disponibil|fornit|trovat)
    nessun\\w* (?:dei |delle |di )?(?:\\w+ )?(?:{IDOCS})…(?:{ISAY})
    non (?:è|viene|sono|vengono) (?:esplicitamente|specificamente|chiaramente|direttamente) (?:menzionat|specificat
        |indicat|riportat)\\w
    non è possibile {IKNOW}…(?:{IDOCS}|domanda|senza|informazioni|chi|cosa|quando|dove|quanto|quale|se)
    {IDOCS}…(?:non è possibile|impossibile) {IKNOW}
    (?:mi dispiace|purtroppo|spiacente|temo)…non (?:posso|c'è|ci sono|ho|viene|è possibile|forni|specific|conten
        |contien|menzion|riesco|trovo|dispongo)\\w*
    (?:{PALL}) não (?:o|a|os|as|nos|se) {PSAY}
    (?:{PALL}) não {PSAY} (?:nada|isso|isto|disso|tal)
    (?:{PALL}) nada (?:diz|dizem|menciona\\w*|refere\\w*)
    não (?:o|a|se) {PSAY} (?:o|a|os|as|este|no|na) (?:{PALL})
    (?:isso|isto|tal|nada|disso|disto)…(?:não )?(?:aparece|consta|figura|é mencionad[oa]|é referid[oa]|está|se fala
        |vem|é dito)…n[oa]s? (?:{PALL})…(?:sobre|a respeito|disso|\\W*$)
    n[oa]s? (?:{PALL}) não (?:aparece|consta|figura|se (?:diz|fala|menciona)|há nada|diz)
    (?:nada|nem uma palavra) (?:sobre|a respeito)…n[oa]s? (?:{PALL})
    não (?:posso|consigo|consegui|pude|encontrei|encontro|sei|tenho|disponho|foi possível|conheço|possuo|estou ciente)
    {PDOCS}…não {PSAY}
    (?:nenhum|nenhuma)…(?:{PDOCS})…{PSAY}
    não (?:há|existe\\w*|é mencionad\\w|são mencionad\\w+|é especificad\\w|consta\\w*|se encontra\\w*
        |foi encontrad\\w|foram encontrad\\w+)…(?:(?:n[oa]s?|em|nestes?|pel[oa]s?|d[oa]s) (?:\\w+ )?{PDOCS}
        |{PINFO}(?: (?:sobre|suficient|disponíve|nos|no|a respeito)\\w*))
    (?:{PDOCS})…não (?:há|existe\\w*|é|são|consta\\w*|foi)…(?:{PINFO}|mencionad\\w+|especificad\\w+|indicad\\w+
        |informad\\w+|fornecid\\w+)
    não (?:é|foi|são) (?:explicitamente|especificamente|claramente|diretamente) (?:mencionad|especificad|indicad
        |informad|fornecid)\\w+
    não é possível {PKNOW}…(?:{PDOCS}|pergunta|sem|informaç|quem|quando|onde|quant\\w+|qual|se|com)\\w*
    {PDOCS}…(?:não é possível|impossível|não (?:se )?pode) {PKNOW}
    (?:desculpe|infelizmente|lamento|lamentavelmente|sinto muito)…não (?:posso|há|tenho|é possível|fornec|especific
        |cont[eé]m|mencion|consigo|encontr|disponho|sei)\\w*
    (?:{FWIDE}){AFTER} (?:ne |n')(?:en |le |l'|la |y |nous |me )?{FTELL} (?:\\w+ )?(?:pas|rien|aucune?|nulle part
        |jamais)
    (?:{FWIDE}){AFTER} ne (?:contien|fourni|donn|compor)\\w* (?:pas|rien|aucune?) ?(?:\\w+ )?(?:cette|ces|{FINFO})
    n'(?:est|était|y est|a été) (?:\\w+ )?(?:pas|nulle part) (?:\\w+ ){0,2}?{FTELL}…(?:dans|sur|par) (?:l'|(?:les?|la
        |ces?
        |cette|nos|vos) )(?:\\w+ )?(?:{FWIDE})
    ne (?:sont|figurent?) (?:\\w+ )?(?:pas|nulle part) (?:\\w+ ){0,2}?{FTELL}…(?:dans|sur|par) (?:l'|(?:les?|la|ces?
        |cette|nos|vos) )(?:\\w+ )?(?:{FWIDE})
    (?:dans|sur|d'après|selon) (?:l'|(?:les?|la|ces?|cette) )(?:{FWIDE}),? (?:rien|pas un mot|on n'en parle pas)
    (?:{FWIDE}) (?:reste|restent|est|sont) muets?
    (?:{SWIDE}){AFTER} no (?:se )?(?:lo |la |los |las |nos |me )?{STELL}
    (?:{SWIDE}){AFTER} no (?:contien|incluy|proporcion|ofrec|aport|da|dan)\\w* (?:\\w+ )?{ITSELF}(?: (?:información
        |dato|detalle|respuesta)s?|\\W*$| (?:sobre|acerca|al respecto))
    no (?:se |lo |la |los |las )?(?:{STELL}|constan?|figuran?)…en (?:el|la|los|las|est[aeo]s?
        |nuestr[ao]s) (?:\\w+ )?(?:{SWIDE})
    (?:{IWIDE}){AFTER} non (?:si |lo |la |li |le |ne |ci ){0,2}{ITELL}
    (?:{IWIDE}){AFTER} non (?:conten|contien|forni|includ|offr|danno|dà)\\w* (?:\\w+ )?{ITSELF} (?:informazion\\w+
        |dat[oi]
        |dettagl\\w+|rispost\\w+|su|sul\\w*|riguard\\w*)
    non (?:è|viene|sono|vengono|si) (?:stat\\w )?{ITELL}…(?:ne(?:l|lla|lle|i|gli)|da(?:l|lla|lle|i)|nell'
        |dall') ?(?:\\w+ )?(?:{IWIDE})
    (?:{PWIDE}){AFTER} não (?:se )?(?:o |a |os |as |nos |me )?{PTELL}
    (?:{PWIDE}){AFTER} não (?:cont[eéê]m|contêm|inclu\\w+|fornec\\w*|oferec\\w*
        |traz\\w*) (?:\\w+ )?{ITSELF}(?: (?:informaç\\w+
        |dados?|detalhes?|resposta)|\\W*$| (?:sobre|a respeito))
    não (?:é|são|foi|foram|está|estão) (?:\\w+mente )?{PTELL}…(?:n|pel)[oa]s? (?:\\w+ )?(?:{PWIDE})
    (?:isso|isto|tal) não (?:aparece|consta|figura|está) n[oa]s? (?:\\w+ )?(?:{PWIDE})
"""

CONDUCT = """
    je ne (?:peux|pourrai|suis|veux|dois)…pas…(?:aider|assister|accéder à cette demande|répondre à (?:cette|ce|votre))
    no (?:puedo|podré|debo)…(?:ayudar|asistir|cumplir|atender|satisfacer)\\w*
    non (?:posso|potrò|sono in grado di|devo)…(?:aiutar|assister|soddisfar|esaudir)\\w*
    não (?:posso|poderei|devo|consigo)…(?:ajudar|auxiliar|atender|cumprir)\\w*
"""

WRAPPING = """
    ^\\W*(?:{RTHEN})(?:veuillez|n'hésitez|je vous (?:recommande|conseille|suggère|invite)|vous (?:pouvez|pourriez
        |devriez|devez)|si vous|pour (?:plus|obtenir|toute|en savoir|davantage)|il (?:est|serait) (?:conseillé
        |recommandé|préférable|nécessaire)|consultez|contactez|merci de)
    ^\\W*(?:{RTHEN})(?:les|le|ces|ce|ils|elles|il est mentionné|l'|la) ?(?:{FDOCS})? ?(?:{RONLY}){0,2}(?:mentionn
        |parl|trait|décri|port|évoqu|concern|abord|discut|indiqu|contien|se concentr|fourni|donn)\\w*
    ^\\W*(?:(?:je suis |sincèrement )?(?:vraiment |sincèrement )?désolée?|malheureusement|excusez-moi
        |je m'excuse)\\W*$
    ^\\W*(?:{RTHEN})(?:por favor|consulte|le (?:recomiendo|sugiero|recomendamos)|te (?:recomiendo|sugiero)
        |recomiendo|se recomienda|puede[ns]?|podría|si (?:necesita|desea|quiere|tiene|necesitas|deseas|quieres|me)
        |para (?:más|obtener|mayor)|contacte|póngase)
    ^\\W*(?:{RTHEN})(?:se (?:mencion|habl|describ|inform|indic)\\w*|(?:los|el|las|la|estos|este|solo|sólo
        |ellos) ?(?:{SDOCS}|información)? ?(?:{RONLY}){0,2}(?:sobre [^,]{0,60} )?(?:habla|mencion|trata|describ
        |se refier|se centr|se enfoc|discut|abord|contien|proporcion|sobre)\\w*)
    ^\\W*(?:lo siento|lamentablemente|desafortunadamente|disculpe|disculpa|perdón|mis disculpas|lo lamento)\\W*$
    ^\\W*(?:{RTHEN})(?:per favore|si prega|ti consiglio|le consiglio|vi consiglio|consiglio|ti suggerisco
        |le suggerisco|puoi|può|potresti|potrebbe|se (?:hai|ha|vuoi|vuole|desideri|desidera|hai bisogno|mi)
        |per (?:maggiori|ulteriori|ottenere|saperne)|consulta|consulti|contatta|contatti|si consiglia)
    ^\\W*(?:{RTHEN})(?:i|il|gli|questi|essi|la|le|si) ?(?:{IDOCS}|informazioni)? ?(?:{RONLY}){0,2}(?:parla|menzion
        |descriv|tratt|riguard|discut|si riferisc|si concentr|conten|forni)\\w*
    ^\\W*(?:{RTHEN})(?:hablan|mencionan|describen|tratan|discuten|se centran|parlano|descrivono|trattano|menzionano
        |falam|tratam|descrevem|mencionam|discutem)\\b
    ^\\W*(?:mi dispiace|purtroppo|spiacente|mi scuso|chiedo scusa|scusa|scusi)\\W*$
    ^\\W*(?:{RTHEN})(?:por favor|consulte|recomendo|sugiro|recomenda-se|você (?:pode|poderia|deve|precisa)
        |pode(?:ria)?|se (?:precisar|quiser|desejar|tiver|você|puder)|para (?:mais|obter|maiores)|entre em contato
        |entre em contacto|contacte|verifique)
    ^\\W*(?:{RTHEN})(?:os|o|as|a|estes|esses|eles|apenas) ?(?:{PDOCS}|informaç\\w+)? ?(?:{RONLY}){0,2}(?:fala
        |mencion|trata|descrev|discut|refer|aborda|cont[eéê]m|fornec|apresent|concentra)\\w*
    ^\\W*(?:desculpe|desculpa|infelizmente|lamento|sinto muito|peço desculpas?)\\W*$
"""
WRAP_WORDS = {
    "RTHEN": (
        "(?:(?:cependant|toutefois|néanmoins|en revanche|sin embargo|no obstante|en cambio|además|tuttavia|però|invece"
        "|inoltre|no entanto|porém|contudo|além disso|mais|pero|ma|mas|je|y|e|et|solo|sólo),? )?"
    ),
    "RONLY": (
        "(?:proporcionad[oa]s |dad[oa]s |fournis? |donnés |forniti |fornecid[oa]s |seulement |uniquement |solo |sólo "
        "|solamente "
        "|únicamente |soltanto |apenas |somente |ne |plutôt |piuttosto )"
    ),
}
