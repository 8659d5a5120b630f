"""German, Dutch and Swedish wordings by which an answer declines, in the notation of `wordings.py`."""

from __future__ import annotations

WORDS = {
    "DDOCS": """
        dokument\\w*|kontext\\w*|text(?:e|en|es|auszüge\\w*|abschnitt\\w*|passage\\w*)?|quellen?|unterlagen
        passagen?|abschnitte?n?|auszüge?n?
        artikeln?|(?:bereitgestellt|vorliegend|gegeben|verfügbar|angegeben)\\w+ (?:\\w+ )?\\w+|materialien
    """,
    "DALL": "{DDOCS}|handbuch|handbüchern?|anleitung|dokumentation|bedienungsanleitung",
    "DSAY": """
        enth\\w+|geben|gibt|erwähn\\w*|nenn\\w*|liefer\\w*|mach\\w*|steht|stehen|sagen|sagt|beinhalt\\w*
        spezifizier\\w*
        beantwort\\w*|bieten|bietet|finde\\w*|beschreib\\w*
    """,
    "DINFO": """
        informationen|information|angaben?|auskunft|aussagen?|details|daten|hinweise?|antwort|erwähnung
        beschreibung|passagen?
        textstellen?|zahlen|einzelheiten
    """,
    "DTOLD": """
        erwähnt|genannt|angegeben|spezifiziert|beschrieben|aufgeführt|thematisiert|behandelt|definiert|beantwortet
        benannt
    """,
    "DKNOW": """
        beantworten|bestimmen|sagen|ermitteln|berechnen|feststellen|beurteilen|angeben|nennen|entnehmen|ableiten
        erkennen
    """,
    "NDOCS": """
        documenten|document|context|teksten|tekst|bronnen|bron|passages?|fragmenten|fragment|artikel(?:en)?
        gegeven informatie|verstrekte informatie
    """,
    "NALL": "{NDOCS}|handleiding|gebruiksaanwijzing|documentatie",
    "NSAY": """
        vermeld\\w*|bevat\\w*|noem\\w*|ge(?:ef|v)\\w*|zeg\\w*|specificeer\\w*|specificer\\w*|sta\\w*|beschrij\\w*
        bied\\w*|beantwoord\\w*
    """,
    "NINFO": "informatie|gegevens|details|vermelding|antwoord|aanwijzing\\w*",
    "NTOLD": "vermeld|genoemd|gespecificeerd|aangegeven|beschreven|gegeven|besproken|gevonden",
    "NKNOW": "beantwoorden|bepalen|zeggen|vaststellen|berekenen|vinden|afleiden|geven|helpen|assisteren|achterhalen",
    "VDOCS": """
        dokumenten?|kontexten|sammanhanget|texten|texterna|källorna|källan|passage\\w*|avsnitten|utdragen|artikeln
        informationen
    """,
    "VALL": "{VDOCS}|manualen|handboken|bruksanvisningen|texterna|dokumentet|underlaget",
    "VSAY": "nämn\\w*|innehåll\\w*|ange\\w*|ger|säger|beskriv\\w*|specific\\w*|uppge\\w*|besvara\\w*|framgå\\w*|tar",
    "VINFO": "information|uppgift(?:er)?|detaljer|data|svar|omnämnande",
    "VKNOW": "svara|besvara|avgöra|säga|fastställa|beräkna|hitta|ge|hjälpa|bestämma|utläsa|assistera|tillhandahålla",
    # reviews, emails, pages, tables ...: believed with verbs of saying only
    "DWIDE": """
        \\w{0,16}(?:bewertung(?:en)?|rezension(?:en)?|e-?mails?|mails?|nachricht(?:en)?|tickets?|protokolle?n?
        transkripte?n?
        gespräche?n?|chats?|chatverlauf|unterhaltung(?:en)?|seiten?|websites?|richtlinien?|tabellen?|faqs?
        bericht(?:en?|s)?
        aufzeichnung(?:en)?|vertrag|verträgen?|notiz(?:en)?|studien?|kapiteln?|absatz|absätzen?|beitrag|beiträgen?
        kommentare?n?|dateien?|beschreibung(?:en)?|anzeigen?|eintrag|einträgen?|rezepte?n?|rechnung(?:en)?|hinweise?n?
        wissensdatenbank|ergebnisse?n?|leitfaden|broschüren?)
    """,
    "DTELL": """
        erwähn\\w*|nenn\\w*|sag\\w*|beschreib\\w*|verr[aä]t\\w*|spezifizier\\w*|erklär\\w*|erläuter\\w*|äußer\\w*
        beantwort\\w*
    """,
    "DTHERE": "dazu|darüber|davon|hierzu|hierüber|hiervon|das|dies|es",
    "DIN": "(?:im|am|vom|(?:in|auf|von|durch) (?:den|der|dem|diese\\w+|unsere\\w+|ihre\\w+)) (?:\\w+ )?{DWIDE}",
    "DUNTOLD": "(?:(?!\\b(?:dass|daß|wer|wenn|falls)\\b).){0,60}?",
    "NWIDE": """
        recensies?|beoordeling(?:en)?|reviews?|e-?mails?|mails?|bericht(?:en)?|tickets?|transcript(?:ie|ies|s)?
        gesprek(?:ken)?|chats?|pagina(?:'s)?|websites?|richtlijn(?:en)?|tabel(?:len)?|faq|verslag(?:en)?|rapport(?:en)?
        contract(?:en)?|logboek(?:en)?|notities?|studies?|onderzoek|hoofdstuk(?:ken)?|reacties?|bestand(?:en)?
        beschrijving(?:en)?|advertenties?|recept(?:en)?|factu(?:ur|ren)|kennisbank|zoekresultaten|handboek
    """,
    "NTELL": "vermeld\\w*|noem\\w*|zeg\\w*|specificeer\\w*|beschrij\\w*|beantwoord\\w*|meld\\w*",
    "NUNTOLD": "(?:(?!\\b(?:dat|wie|als)\\b).){0,60}?",
    "VWIDE": """
        \\w{0,12}(?:recension(?:en|er|erna)|omdömena?|e-?post(?:en|meddelandet)?|mejl(?:et|en)?|meddelande(?:t|na)?
        ärendet
        samtalet|chatten|sidan|sidorna|webbplatsen|riktlinjerna|tabell(?:en|erna)|rapport(?:en|erna)|avtalet|loggen
        anteckningarna|studien|kapitlet|stycket|avsnittet|inlägg(?:et|en)|kommentarer(?:na)?|filen|beskrivningen
        annonsen|receptet|fakturan|kunskapsbasen|sökresultaten|protokollet)
    """,
    "VTELL": "nämn\\w*|ange\\w*|säger|beskriv\\w*|specific\\w*|uppge\\w*|besvara\\w*|avslöja\\w*|berätta\\w*",
    "VUNTOLD": "(?:(?!\\b(?:att|vem|om du)\\b).){0,60}?",
}

HINT = r"nicht|kein|schweig|leider|\bniet|\bgeen|\binte\b|\bingen|inget|inga\b|tyvärr|\bej\b|helaas"

DECLINING = """
    ich…(?:kann|konnte|habe|finde|fand|verfüge|darf|werde|könnte|sehe|besitze)…(?:nicht|nichts|kein\\w*)
    (?:kann|konnte|habe|finde|verfüge|darf|werde|könnte) ich…(?:nicht|nichts|kein\\w*)
    ich weiß (?!,? dass)…(?:nicht|nichts)
    weiß ich…(?:nicht|nichts)
    {DDOCS}…{DSAY}…(?:kein\\w*|nicht\\w?)
    (?:dazu|darüber|davon|hierzu|hierüber|hiervon)…(?:{DALL})…(?:nicht|nichts|kein\\w*)
    (?:{DALL})…(?:dazu|darüber|davon|hierzu|hierüber|hiervon)…(?:nicht|nichts|kein\\w*)
    (?:nichts|kein wort|keine silbe) (?:dazu|darüber|davon|hierzu|hierüber|hiervon)…(?:{DALL})
    (?:das|dies|es) (?:steht|findet sich|geht|wird|ist) (?:\\w+ ){0,2}?(?:im|in der|in den|aus dem|aus der|aus den
        |vom|von der) (?:\\w+ )?(?:{DALL}) (?:\\w+ )?nicht (?:{DTOLD}|drin|hervor|zu finden|\\W*$)
    (?:das|dies|es) (?:steht|findet sich|geht) nicht (?:im|in der|in den|aus dem|aus der|aus den) (?:\\w+ )?(?:{DALL})
    (?:das|dies|es) (?:erwähnt|nennt|sagt|verrät|erklärt) (?:der|die|das) (?:\\w+ )?(?:{DALL}) nicht
    (?:{DALL}) (?:erwähn|nenn|sag|verr[aä]t|erklär|schweig)\\w* (?:das|dies|es|sich)…nicht
    (?:{DALL}) (?:sag|schreib|steht|verr)\\w*…nichts
    (?:{DALL}) schweig\\w*
    (?:liegen|liegt) (?:mir|uns)…kein\\w* (?:{DINFO})
    {DSAY} {DDOCS}…(?:kein\\w*|nicht\\w?)
    {DSAY} (?:der|die|das|den|diese\\w?) (?:\\w+ )?{DDOCS}…(?:kein\\w*|nicht\\w?)
    {DDOCS}…(?:wird|werden|ist|sind|wurden?)…(?:nicht(?! als\\b)|kein\\w*)…(?:{DTOLD}|enthalten|ersichtlich|gegeben
        |vorhanden|zu finden)
    (?:nicht|kein\\w*)…(?:in|aus|anhand|auf grundlage|auf basis|durch|mit) (?:den|dem|der|diesen|diesem|des)…{DDOCS}
    (?:nicht|kein\\w*) (?:explizit|ausdrücklich|genau|direkt|spezifisch|eindeutig|konkret|näher) (?:\\w+ )?(?:{DTOLD})
    (?:wird|werden|ist|sind|wurden?) …nicht (?:erwähnt|genannt|angegeben|spezifiziert)\\W*$
    (?:keine|keinerlei|nicht genügend|nicht genug|nicht ausreichend\\w*
        |unzureichende) (?:\\w+ ){0,2}?(?:informationen|angaben|information|auskunft|aussage|hinweise|erwähnung)
    es gibt (?:keine|keinen|nicht) (?:passage|textstelle|beschreibung|erwähnung|(?:spezifische|explizite|direkte
        |konkrete|genaue)\\w* {DINFO})
    (?:es ist|ist es)…nicht möglich…(?:frage|{DDOCS}|zu {DKNOW})
    frage…nicht (?:\\w+ )?(?:beantwortet werden|beantworten)
    (?:lässt|lassen) sich…nicht (?:\\w+ )?{DKNOW}
    kein\\w* (?:zugriff|zugang) (?:auf|zu)
    tut mir leid…(?:nicht|kein\\w*)
    ik (?:kan|kon|weet|heb|vind|beschik|mag|zie|zal)…(?:niet|niets|geen)
    (?:kan|kon|weet|heb|vind|mag|zal) ik…(?:niet|niets|geen)
    {NDOCS}…(?:{NSAY})…(?:niet|niets|geen)
    (?:{NSAY}) (?:de|het|deze) {NDOCS}…(?:niet|niets|geen)
    (?:wordt|worden|is|zijn|werd) …niet (?:\\w+ )?(?:{NTOLD})…(?:in|door) (?:de|het|deze) {NDOCS}
    {NDOCS}…(?:wordt|worden|is|zijn)…(?:niet|geen)…(?:{NTOLD}|{NINFO})
    (?:daar|daarover|hierover|hier|dat|dit) (?:\\w+ ){1,3}?(?:niets|niet|geen)…in (?:de|het|deze) (?:\\w+ )?(?:{NALL})
    in (?:de|het|deze) (?:\\w+ )?(?:{NALL}) (?:\\w+ ){0,3}?(?:hier|daar|dit|dat|hierover|daarover) (?:\\w+ )?(?:niets
        |niet|geen)
    (?:{NALL}) (?:\\w+ ){1,2}?(?:hier|daar|dit|dat|hierover|daarover|het) (?:\\w+ )?(?:niets|niet)
    (?:niets|geen woord) (?:hierover|daarover|over)…in (?:de|het|deze) (?:\\w+ )?(?:{NALL})
    (?:{NALL}) (?:zeg|vermeld|noem|zwijg)\\w*…(?:niets|niet|hierover|daarover)
    (?:geen|niet genoeg|onvoldoende) (?:\\w+ )?(?:{NINFO})…(?:over|in|beschikbaar|gevonden|om)
    (?:het is|is het) niet mogelijk…(?:vraag|{NDOCS}|te {NKNOW})
    (?:vraag|dit) kan niet (?:\\w+ ){0,4}?worden beantwoord
    geen toegang tot
    jag (?:kan|kunde|vet|har|hittar|hittade|saknar|får)…(?:inte|inget|ingen|inga|tillgång)
    (?:kan|kunde|vet|har|hittar|hittade) jag…(?:inte|inget|ingen|inga)
    {VDOCS}…(?:{VSAY})…(?:inte|inget|ingen|inga)
    (?:framgår|nämns|anges|står|finns)…(?:inte|inget|ingen|inga)…(?:i|av|från|om)…(?:{VDOCS})
    (?:inte|inget|ingen|inga)…(?:{VINFO})…(?:om|i) …(?:{VDOCS})
    (?:det|detta) (?:står|nämns|finns|framgår|sägs|tas) (?:inte|inget|ingenting|ingen)…(?:i|av) (?:{VALL})
    (?:i|av) (?:{VALL}) (?:\\w+ ){1,3}?(?:inte|inget|ingenting|ingen)…(?:om (?:det|detta)|det|detta|\\W*$)
    (?:om (?:det|detta)) (?:\\w+ ){1,2}?(?:inte|inget|ingenting)…(?:{VALL})
    (?:{VALL}) (?:säger|nämner|berättar|tar)…(?:inget|ingenting|inte)
    (?:inget|ingenting|inte ett ord) om (?:det|detta|saken) i (?:{VALL})
    det finns (?:inte|ingen|inga) (?:\\w+ ){0,2}?(?:{VINFO}) (?:om|i|tillgänglig)
    (?:nämns|anges|framgår|specificeras) (?:inte|ej)…(?:{VDOCS})
    {VDOCS}…(?:nämns|anges|framgår|finns)…(?:inte|ej|ingen|inget|inga)
    det går inte att {VKNOW}
    inte möjligt att {VKNOW}
    {DWIDE}{DUNTOLD}{DTELL}[^,]{0,60}?(?:nicht|nichts|kein\\w*)
    {DWIDE}{DUNTOLD}(?:enth[aä]l\\w*|mach\\w*|gibt|geben
        |liefer\\w*)[^,]{0,60}?kein\\w* (?:\\w+ )?{DINFO}(?:\\W*$| (?:dazu|darüber
        |zu[mr]?|über|für|ob|wie|was|wann|wer))
    {DIN}{DUNTOLD}(?:nicht|kein\\w*) (?:\\w+ ){0,2}?{DTOLD}
    {DIN} (?:steht|stehen|findet sich) (?:\\w+ )?(?:nicht|nichts|kein\\w*)
    nicht (?:in|auf) (?:den|der|dem|diese\\w+|unsere\\w+) (?:\\w+ )?{DWIDE} {DTOLD}
    aus (?:den|der|dem|diese\\w+) (?:\\w+ )?{DWIDE} geht…nicht (?:\\w+ )?hervor
    geht (?:\\w+ ){0,2}?nicht aus (?:den|der|dem|diese\\w+) (?:\\w+ )?{DWIDE} hervor
    {DWIDE}{DUNTOLD}(?:nichts|kein wort|nicht) (?:dazu|darüber|davon|hierzu|hierüber|hiervon)
    {DWIDE}{DUNTOLD}(?:dazu|darüber|davon|hierzu|hierüber|hiervon) (?:\\w+ )?(?:nichts|kein wort)
    {DWIDE} schweig\\w*
    (?:der|die|das|diese\\w?|unsere?) \\w+ (?:erwähn|nenn|sag|erklär|beantwort)\\w* (?:{DTHERE}) (?:\\w+ )?nichts?\\W*$
    (?:de|het|deze|onze) (?:\\w+ )?{NWIDE}{NUNTOLD}{NTELL}{NUNTOLD}(?:niet|niets|geen|nergens)
    (?:wordt|worden|is|zijn|staat|staan){NUNTOLD}(?:niet|nergens) (?:\\w+ )?{NTOLD} (?:in|op|door) (?:de|het
        |deze) (?:\\w+ )?{NWIDE}
    (?:in|op) (?:de|het|deze) (?:\\w+ )?{NWIDE} (?:staat|wordt|is|vind)…(?:hier|daar|hierover|daarover|dit
        |dat) (?:\\w+ )?(?:niets|niet|geen)
    (?:in|op) (?:de|het|deze) (?:\\w+ )?{NWIDE} (?:wordt|worden|is|zijn){NUNTOLD}niet (?:\\w+ )?{NTOLD}
    {VWIDE}{VUNTOLD}{VTELL}{VUNTOLD}(?:inte|inget|ingen|inga|ingenting|ej)
    (?:framgår|nämns|anges|står|sägs)…(?:inte|inget|ingenting|ingen|inga)…(?:i|av|från|på) {VWIDE}
    (?:i|av|på) {VWIDE} (?:framgår|nämns|anges|står|sägs)…(?:inte|inget|ingenting|ingen|inga)
"""

CONDUCT = """
    (?:dabei|damit|hierbei|bei dieser anfrage) (?:kann|darf|werde) ich…nicht (?:\\w+ )?(?:helfen|weiterhelfen
        |behilflich|unterstützen|dienen)
    ich (?:kann|darf|werde|möchte)…nicht (?:\\w+ )?(?:helfen|weiterhelfen|unterstützen|behilflich|nachkommen|erfüllen)
    (?:daar|daarmee|hiermee|hier) (?:kan|mag) ik…niet…(?:helpen|assisteren)
    ik (?:kan|mag|zal|wil)…niet (?:\\w+ ){0,3}?(?:helpen|assisteren|voldoen)
    jag (?:kan|får|vill) (?:tyvärr )?inte (?:hjälpa|bistå|assistera|uppfylla)
"""

WRAPPING = """
    ^\\W*(?:bitte|wenden sie|kontaktieren|sie (?:können|sollten|könnten|müssten|finden)|du (?:kannst|solltest
        |könntest)|konsultieren)
    ^\\W*(?:ich (?:empfehle|rate|schlage|würde|helfe|stehe|bin)|wenn (?:sie|du)|falls|für (?:weitere|genauere
        |aktuelle|mehr)|weitere (?:{DINFO}))
    ^\\W*(?:(?:jedoch|allerdings|aber|stattdessen|vielmehr),? )?es (?:geht|handelt sich|wird|werden|gibt)…(?:dort
        |darin|hier|nur|lediglich|stattdessen|erwähnt|beschrieben|behandelt|passagen|text)
    ^\\W*(?:stattdessen|vielmehr)
    ^\\W*(?:die|der|das|diese|sie)(?: \\w+)? (?:{DDOCS}|informationen|angaben)?…(?:beschreib|bezieh|behandel
        |konzentrier|beschäftig|diskutier|handel|erwähn|enth[aä]l|bespr)\\w*
    ^\\W*(?:sie|er|es) (?:beschreib|bezieh|behandel|konzentrier|handel|erwähn)\\w*
    ^\\W*um …zu (?:beantworten|berechnen|bestimmen|ermitteln)…(?:benötig|brauch|müss|wäre)\\w*
    ^\\W*(?:entschuldigung|leider|es tut mir (?:sehr )?leid|tut mir leid|ich bitte um entschuldigung|verzeihung)\\W*$
    ^\\W*(?:neem contact|raadpleeg|u kunt|je kunt|ik raad|ik adviseer|als u|als je|voor meer|kijk op|controleer
        |bezoek|gelieve)
    ^\\W*(?:het spijt me|sorry|helaas|excuses|mijn excuses)\\W*$
    ^\\W*(?:(?:de|het|deze) {NDOCS}|ze|die|er wordt|er worden)…(?:gaa?n?|beschrijv|besprek|bespre|noem|vermeld|bevat
        |alleen)\\w*
    ^\\W*(?:kontakta|vänligen|du kan|ni kan|jag rekommenderar|jag föreslår|om du|för mer|se (?:även|till|deras)
        |besök|kontrollera)\\b
    ^\\W*(?:tyvärr|förlåt|jag är ledsen|ursäkta|jag beklagar|beklagar)\\W*$
    ^\\W*(?:{VDOCS}|de|den) (?:handlar|beskriver|nämner|tar bara|innehåller|diskuterar|tar upp)
"""
WRAP_WORDS: dict[str, str] = {}
