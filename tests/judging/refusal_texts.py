"""Refusals, and answers that look like them, in the ten languages of Latin letters that are guessed, Chinese, Japanese.

Written before the wordings were tuned, and not changed since.
"""

from __future__ import annotations

REFUSED = {
    "en": [
        "I apologize, but the passages you gave me do not say how much the tram pass costs.",
        "Based on the excerpts, it is not possible to say who designed the lighthouse. The texts talk about its lamps.",
        "I don't have access to the harbour's live schedule. To work this out you would need:\n- the tide tables\n"
        "- the ferry company's timetable\n- the date of travel",
        "Unfortunately, the document provided does not specify the width of the gate, so a comparison cannot be made.",
        "I'm sorry, but I can't help with that. Breaking into a building is against the law and may hurt people.",
    ],
    "de": [
        "Leider enthält der bereitgestellte Text keine Angaben dazu, wie hoch der Turm ist.",
        "Dazu kann ich auf Grundlage der vorliegenden Dokumente keine Aussage treffen.",
        "Es tut mir leid, aber ich habe keinen Zugriff auf aktuelle Fahrpläne. Bitte wenden Sie sich an den Betreiber.",
        "Im Kontext wird nicht erwähnt, wer die Mühle gebaut hat. Es geht dort nur um den Müller.",
        "Dabei kann ich dir nicht helfen.",
    ],
    "fr": [
        "Je suis désolé, mais le contexte fourni ne précise pas la hauteur de la tour.",
        "Les extraits ne permettent pas de répondre à cette question.",
        "Je n'ai pas accès aux horaires en temps réel. Veuillez consulter le site de la compagnie.",
        "Aucune information sur le prix du billet ne figure dans les documents.",
        "Désolé, je ne peux pas vous aider avec cette demande.",
    ],
    "es": [
        "Lo siento, pero el texto proporcionado no especifica la altura de la torre.",
        "No dispongo de información suficiente para responder a esta pregunta.",
        "Según los fragmentos, no es posible determinar quién construyó el molino.",
        "Los documentos no indican el precio del billete. Le recomiendo que consulte la página de la compañía.",
        "Lamentablemente no puedo ayudarte con eso.",
    ],
    "it": [
        "Mi dispiace, ma il testo fornito non specifica l'altezza della torre.",
        "Nei documenti non c'è alcuna informazione sul prezzo del biglietto.",
        "Non è possibile rispondere alla domanda in base al contesto.",
        "Non ho accesso agli orari in tempo reale. Ti consiglio di consultare il sito della compagnia.",
        "Purtroppo non posso aiutarti con questa richiesta.",
    ],
    "pt": [
        "Desculpe, mas o texto fornecido não especifica a altura da torre.",
        "Não há informações suficientes nos documentos para responder à pergunta.",
        "Com base no contexto, não é possível determinar quem construiu o moinho.",
        "Infelizmente, não tenho acesso aos horários em tempo real.",
        "Não posso ajudar com esse pedido.",
    ],
    "nl": [
        "Het spijt me, maar de tekst vermeldt niet hoe hoog de toren is.",
        "Op basis van de documenten kan ik deze vraag niet beantwoorden.",
        "Er is geen informatie over de prijs van het kaartje in de context.",
        "Ik heb geen toegang tot actuele dienstregelingen. Neem contact op met de vervoerder.",
        "Sorry, daar kan ik je niet mee helpen.",
    ],
    "sv": [
        "Tyvärr framgår det inte av texten hur högt tornet är.",
        "Jag kan inte svara på frågan utifrån dokumenten.",
        "Det finns ingen information om biljettens pris i sammanhanget.",
        "Jag har inte tillgång till aktuella tidtabeller. Kontakta trafikbolaget.",
        "Jag är ledsen, men jag kan inte hjälpa till med det.",
    ],
    "pl": [
        "Przepraszam, ale podany tekst nie zawiera informacji o wysokości wieży.",
        "Na podstawie dokumentów nie mogę odpowiedzieć na to pytanie.",
        "W kontekście nie ma informacji o cenie biletu.",
        "Nie mam dostępu do aktualnych rozkładów jazdy. Proszę skontaktować się z przewoźnikiem.",
        "Niestety nie mogę w tym pomóc.",
    ],
    "tr": [
        "Üzgünüm, ancak verilen metinde kulenin yüksekliği belirtilmemiştir.",
        "Belgelere dayanarak bu soruyu yanıtlayamıyorum.",
        "Bağlamda bilet fiyatı hakkında bilgi bulunmamaktadır.",
        "Güncel tarifelere erişimim yok. Lütfen şirketle iletişime geçin.",
        "Maalesef bu konuda yardımcı olamam.",
    ],
    "zh": [
        "很抱歉，所提供的文本没有说明塔的高度。",
        "根据这些文档，无法确定是谁建造了磨坊。",
        "上下文中没有关于票价的信息。建议您查询公司的官方网站。",
        "作为人工智能助手，我无法访问实时时刻表。",
        "对不起，我不能协助您完成这个请求。",
    ],
    "ja": [
        "申し訳ありませんが、提供された文章には塔の高さが記載されていません。",
        "この資料だけでは、誰が水車を建てたのか判断できません。",
        "切符の値段に関する情報は見つかりませんでした。公式サイトをご確認ください。",
        "リアルタイムの時刻表にはアクセスできません。",
        "恐れ入りますが、そのご依頼にはお応えできません。",
    ],
}

ANSWERED = {
    "en": [
        "The study did not find any effect of the tides on the gulls.",
        "No refunds are possible once the tram pass has been activated.",
        "The document does not require a signature; initials on each page are enough.",
        "The excerpts do not give the width of the gate. However, based on the carts that used it, it was about "
        "3 metres.",
        "I'm not sure about the exact day, but the lighthouse was lit for the first time in March 1871.",
    ],
    "de": [
        "Nein, Hunde sind auf der Fähre nicht erlaubt.",
        "In dem Text wird der Müller nicht als Dieb, sondern als Retter des Dorfes beschrieben.",
        "Die Versicherung enthält keine Deckung für Schäden durch Hochwasser.",
        "Der genaue Tag ist nicht bekannt, aber der Turm wurde im Jahr 1871 fertig.",
        "Ohne Ausweis können Sie das Archiv nicht betreten.",
    ],
    "fr": [
        "Non, les chiens ne sont pas admis sur le ferry.",
        "Le contrat ne prévoit pas de remboursement après le départ.",
        "L'étude n'a trouvé aucun effet des marées sur les mouettes.",
        "Je ne connais pas le jour exact, mais la tour a été achevée en 1871.",
        "Les voyageurs sans billet ne peuvent pas accéder au quai.",
    ],
    "es": [
        "No, los perros no pueden viajar en el ferry.",
        "El seguro no cubre los daños por inundación.",
        "El estudio no encontró ningún efecto de las mareas sobre las gaviotas.",
        "No sé el día exacto, pero la torre se terminó en 1871.",
        "No hay peaje en el puente desde 1998.",
    ],
    "it": [
        "No, i cani non sono ammessi sul traghetto.",
        "L'assicurazione non copre i danni da alluvione.",
        "Lo studio non ha trovato alcun effetto delle maree sui gabbiani.",
        "Non conosco il giorno esatto, ma la torre fu terminata nel 1871.",
        "Non è possibile entrare nell'archivio senza un documento d'identità.",
    ],
    "pt": [
        "Não, os cães não podem viajar no ferry.",
        "O seguro não cobre danos causados por cheias.",
        "O estudo não encontrou nenhum efeito das marés nas gaivotas.",
        "Não sei o dia exato, mas a torre ficou pronta em 1871.",
        "Não há portagem na ponte desde 1998.",
    ],
    "nl": [
        "Nee, honden mogen niet mee op de veerboot.",
        "De verzekering dekt geen schade door overstroming.",
        "Het onderzoek vond geen effect van het getij op de meeuwen.",
        "Ik weet de precieze dag niet, maar de toren was in 1871 klaar.",
        "Zonder legitimatie kunt u het archief niet binnen.",
    ],
    "sv": [
        "Nej, hundar får inte följa med på färjan.",
        "Försäkringen täcker inte skador av översvämning.",
        "Studien fann ingen effekt av tidvattnet på måsarna.",
        "Jag vet inte exakt vilken dag, men tornet stod klart 1871.",
        "Utan legitimation kan du inte besöka arkivet.",
    ],
    "pl": [
        "Nie, psy nie mogą podróżować promem.",
        "Ubezpieczenie nie obejmuje szkód spowodowanych przez powódź.",
        "Badanie nie wykazało żadnego wpływu pływów na mewy.",
        "Nie znam dokładnego dnia, ale wieżę ukończono w 1871 roku.",
        "Bez dokumentu nie można wejść do archiwum.",
    ],
    "tr": [
        "Hayır, köpekler feribota alınmaz.",
        "Sigorta sel hasarlarını kapsamaz.",
        "Çalışma, gelgitin martılar üzerinde hiçbir etkisi olmadığını gösterdi.",
        "Kesin gününü bilmiyorum ama kule 1871'de tamamlandı.",
        "Kimliğiniz yoksa arşive giremezsiniz.",
    ],
    "zh": [
        "不可以，狗不能乘坐渡轮。",
        "该保险不包括洪水造成的损失。",
        "研究没有发现潮汐对海鸥有任何影响。",
        "我不知道确切的日期，但塔是在1871年完工的。",
        "没有证件的人无法进入档案馆。",
    ],
    "ja": [
        "いいえ、犬はフェリーに乗れません。",
        "この保険は洪水による損害を補償しません。",
        "調査では、潮の満ち引きがカモメに与える影響は認められませんでした。",
        "正確な日はわかりませんが、塔は1871年に完成しました。",
        "身分証がなければ資料室には入れません。",
    ],
}
