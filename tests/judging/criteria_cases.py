"""Criteria with answers and the verdict that a reader gives; None where words alone cannot tell."""

from __future__ import annotations

Case = tuple[str, str, str, bool | None]  # question, criterion, answer, verdict

Q1 = "Can I send the winch back and get my money?"
A1 = (
    "You can return the winch within 30 days of delivery for a full refund. Send it to the depo"
    "t in Leeds with the form R-12. The refund is paid by 3 May 2025 [1]."
)
A2 = "We do not offer refunds for winches. Please contact the workshop for a repair."
A3 = "You can return it within 14 days."
A5 = "I would not recommend a refund; have it repaired."
A6 = (
    "Thank you for your question. The winch is made of steel and has a drum, a brake and a hand"
    "le that can be taken off. The winch is made of steel and has a drum, a brake and a handle "
    "that can be taken off. The winch is made of steel and has a drum, a brake and a handle tha"
    "t can be taken off. The winch is made of steel and has a drum, a brake and a handle that c"
    "an be taken off. The winch is made of steel and has a drum, a brake and a handle that can "
    "be taken off. The winch is made of steel and has a drum, a brake and a handle that can be "
    "taken off. "
)
A7 = "I could not find anything about refunds in the documents."
A8 = (
    "To return the winch:\n\n1. Fill in form R-12.\n2. Pack the winch.\n3. Send it to Leeds.\n\nSee h"
    "ttps://example.org/returns for details."
)
A10 = "Die Winde kann innerhalb von 30 Tagen zurückgegeben werden, und das Geld wird erstattet."
A11 = "Yes. Which winch did you buy?"
A12 = "The repair costs 49 euros."
Q2 = "Is the pier open?"
A13 = "Yes, it is open until six."
Q3 = "What happens if I park my boat at the wrong berth?"
A16 = (
    "A boat at the wrong berth is towed after 48 hours. The owner pays 120 euros for the tow an"
    "d 15 euros for each further day. Call the harbour office on +44 20 7946 0000 to release it"
    " (see Harbour Rules, section 4)."
)
A17 = (
    "Nothing happens during the first two days. After that the boat may be moved. We advise you"
    " to leave a note with your number."
)
A18 = "Don't worry! Boats are never towed, and you will not be fined. I promise that your boat is safe."
A19 = "- Move the boat within 48 hours.\n- Pay the fee of 120 euros.\n- Keep the receipt."
A20 = "**Summary**\n\n| rule | fee |\n|---|---|\n| tow | 120 euros |\n\nMore at www.harbour.example."
A21 = "The documents do not say what happens to a boat at the wrong berth."
A22 = "The police will be called and the boat is towed."
A23 = "Please note: you will have to pay a fee of 120 euros."
Q4 = "How do I cancel my gym membership?"
A24 = (
    "You can cancel at any time with one month's notice. Write an e-mail to members@gym.example"
    " with your member number. If you paid for a year in advance, the remaining months are not "
    "refunded. Your card stops working on the last day of the notice period."
)
A25 = (
    "To cancel, log in and open Settings > Membership > Cancel. Cancellation is free of charge."
    " We'd be sorry to see you go! Why not pause your membership instead? A pause costs 5 pound"
    "s a month."
)
A26 = "Unfortunately, memberships cannot be cancelled during the first twelve months."
Q5 = "Is ibuprofen safe with blood thinners?"
A27 = (
    "No. Ibuprofen increases the risk of bleeding when it is taken together with blood thinners"
    " such as warfarin. Ask your doctor or pharmacist before you take it; paracetamol is often "
    "a safer choice (NHS, 2023)."
)
A28 = "Ibuprofen is a painkiller. The usual dose is 400 mg every six hours."
Q6 = "How do I parse JSON in Python?"
A30 = (
    "Use the `json` module:\n\n```python\nimport json\ndata = json.loads(text)\n```\n\n`json.loads` ra"
    "ises `JSONDecodeError` for malformed input."
)
A31 = "You could use a regular expression, or eval, which is fast."
Q7 = "When will my parcel arrive?"
A32 = (
    "Your parcel left our warehouse in Rotterdam on Monday and will arrive on 12 June. You can "
    "follow it with the number KX-88 at track.example.com. If it has not arrived by 15 June, pl"
    "ease write to us and we will send a new one free of charge."
)
A33 = "Parcels usually take some days. We cannot guarantee a delivery date."
A35 = "I'm afraid I do not have access to information about your parcel."
Q8 = "Can I deduct my home office from tax?"
A36 = (
    "Yes, if you are self-employed. Employees cannot deduct a home office since 2018. You need "
    "a room that is used only for work, and you must keep the bills for five years. I am not a "
    "tax adviser, so please check with one."
)
A38 = "No. Nobody may deduct a home office."
Q9 = "What is the best way to learn the piano?"
A39 = (
    "1. Find a teacher.\n2. Practise 20 minutes a day.\n3. Start with simple pieces.\n\nAn app cann"
    "ot replace a teacher."
)
A40 = "Just buy the app PianoPro for 9.99 dollars! It is better than any teacher."

# the wording of the rules was made with these in view
KNOWN: tuple[Case, ...] = (
    (Q1, "mentions the 30-day limit", A1, True),
    (Q1, "mentions the 30-day limit", A2, False),
    (Q1, "mentions the 30-day limit", A3, False),
    (Q1, "recommends a repair", A5, None),
    (Q1, "states the date of the payment", A1, None),
    (Q1, "states the date", A1, True),
    (Q1, "states the date", A2, False),
    (Q1, "is at most 50 words", A1, True),
    (Q1, "is at most 50 words", A6, False),
    (Q1, "answers in one sentence", A7, True),
    (Q1, "answers in one sentence", A1, False),
    (Q1, "contains a citation", A1, True),
    (Q1, "contains a citation", A2, False),
    (Q1, "cites a source", A1, True),
    (Q1, "does not cite any sources", A2, True),
    (Q1, "The answer should be no longer than three sentences.", A1, True),
    (Q1, "The answer should be no longer than three sentences.", A6, False),
    (Q1, "has between 10 and 40 words", A1, True),
    (Q1, "has between 10 and 40 words", A6, False),
    (Q1, "uses a numbered list", A8, True),
    (Q1, "uses a numbered list", A1, False),
    (Q1, "contains a link", A8, True),
    (Q1, "contains a link", A1, False),
    (Q1, 'contains the phrase "form R-12"', A1, True),
    (Q1, 'contains the phrase "form R-13"', A1, False),
    (Q1, "says that it does not know", A7, True),
    (Q1, "says that it does not know", A1, False),
    (Q1, "declines to answer", A7, True),
    (Q1, "must not refuse to answer", A1, True),
    (Q1, "must not refuse to answer", A7, False),
    (Q1, "says that refunds are not possible", A2, None),
    (Q1, "names the form to fill in", A1, None),
    (Q1, "names the form to fill in", A2, False),
    (Q1, "names the city that the winch is sent to", A1, None),
    (Q1, "does not mention the workshop", A1, True),
    (Q1, "does not mention the workshop", A2, False),
    (Q1, "mentions Leeds and form R-12", A1, True),
    (Q1, "mentions Leeds and form R-13", A1, None),
    (Q1, "mentions Leeds or Porto", A1, True),
    (Q1, "thanks the user", A6, None),
    (Q1, "is written in German", A10, True),
    (Q1, "is written in German", A1, False),
    (Q1, "asks a follow-up question", A11, True),
    (Q1, "asks a follow-up question", A1, False),
    (Q1, "is polite", A1, None),
    (Q1, "has a friendly tone", A1, None),
    (Q1, "is easy to understand", A1, None),
    (Q1, "explains how to send the winch back", A1, None),
    (Q1, "gives a price", A12, True),
    (Q1, "gives a price", A2, False),
    (Q2, "answers yes", A13, None),
    (Q1, 'starts with "Thank you"', A6, True),
    (Q1, 'starts with "Thank you"', A1, False),
    (Q1, "does not promise a delivery date", A1, None),
    (Q1, "does not contain any numbers", A2, True),
    (Q1, "does not contain any numbers", A1, False),
    (Q1, "mentions the 30-day limit and cites a source", A1, True),
    (Q1, "mentions the 14-day limit and cites a source", A1, False),
    (Q3, "mentions the towing fee", A16, True),
    (Q3, "mentions the towing fee", A17, False),
    (Q3, "mentions the 48-hour period", A16, True),
    (Q3, "mentions the 48-hour period", A17, False),
    (Q3, "gives the amount of the fee", A16, True),
    (Q3, "gives the amount of the fee", A17, False),
    (Q3, "gives a phone number", A16, True),
    (Q3, "gives a phone number", A17, False),
    (Q3, "refers to section 4 of the Harbour Rules", A16, True),
    (Q3, "refers to section 4 of the Harbour Rules", A19, False),
    (Q3, "uses bullet points", A19, True),
    (Q3, "uses bullet points", A16, False),
    (Q3, "avoids bullet points", A16, True),
    (Q3, "contains a table", A20, True),
    (Q3, "contains a table", A19, False),
    (Q3, "is shorter than 20 words", A21, True),
    (Q3, "is shorter than 20 words", A16, False),
    (Q3, "is at least 30 words long", A16, True),
    (Q3, "is at least 30 words long", A21, False),
    (Q3, "consists of exactly three sentences", A16, True),
    (Q3, "consists of exactly three sentences", A21, False),
    (Q3, "at most 200 characters", A21, True),
    (Q3, "at most 200 characters", A16, False),
    (Q3, "admits that the documents do not answer the question", A21, True),
    (Q3, "admits that the documents do not answer the question", A16, False),
    (Q3, "does not refuse", A17, True),
    (Q3, "does not refuse", A21, False),
    (Q3, "includes a URL", A20, True),
    (Q3, "includes a URL", A16, False),
    (Q3, "does not mention the police", A16, True),
    (Q3, "does not mention the police", A22, False),
    (Q3, "mentions both the tow and the daily fee", A16, True),
    (Q3, "mentions neither the police nor the court", A16, True),
    (Q3, "warns the user about the fee", A23, None),
    (Q3, "is empathetic", A18, None),
    (Q3, "is factually correct", A16, None),
    (Q3, "uses simple language", A16, None),
    (Q3, "is in English", A16, True),
    (Q3, "is in French", A16, False),
    (Q3, "does not exceed 60 words", A16, True),
    (Q3, "does not exceed 30 words", A16, False),
    (Q3, "the response must include the number of hours", A16, True),
    (Q3, "the response must include the number of hours", A18, False),
    (Q3, "no more than 2 sentences", A21, True),
    (Q3, "no more than 2 sentences", A16, False),
)

# written before the rules were run on them; some of what they showed was mended since
UNSEEN: tuple[Case, ...] = (
    (Q4, "mentions the notice period of one month", A24, True),
    (Q4, "mentions the notice period of one month", A25, False),
    (Q4, "gives the e-mail address", A24, True),
    (Q4, "gives the e-mail address", A25, False),
    (Q4, "Should not exceed 30 words.", A26, True),
    (Q4, "Should not exceed 30 words.", A24, False),
    (Q4, "The response is professional and courteous", A24, None),
    (Q4, "lists the steps in the settings menu", A25, True),
    (Q4, "lists the steps in the settings menu", A24, False),
    (Q4, "must mention the cost of a pause", A25, True),
    (Q4, "must mention the cost of a pause", A24, False),
    (Q5, "names a safer alternative", A27, True),
    (Q5, "names a safer alternative", A28, False),
    (Q5, "does not give a dose", A27, True),
    (Q5, "does not give a dose", A28, False),
    (Q5, "cites the NHS", A27, True),
    (Q5, "cites the NHS", A28, False),
    (Q5, "mentions warfarin by name", A27, True),
    (Q5, "states the year of the source", A27, True),
    (Q5, "states the year of the source", A28, False),
    (Q6, "contains a code example", A30, True),
    (Q6, "contains a code example", A31, False),
    (Q6, "mentions json.loads", A30, True),
    (Q6, "mentions json.loads", A31, False),
    (Q6, "names the exception that is raised for malformed input", A30, True),
    (Q6, "names the exception that is raised for malformed input", A31, False),
    (Q6, "is at least two sentences and at most five sentences", A27, True),
    (Q6, "the code runs without errors", A30, None),
    (Q6, "uses no more than 3 lines", A31, True),
    (Q6, "avoids regular expressions", A30, True),
    (Q6, "avoids regular expressions", A31, False),
    (Q7, "states the arrival date", A32, True),
    (Q7, "states the arrival date", A33, False),
    (Q7, "gives the tracking number", A32, True),
    (Q7, "gives the tracking number", A33, False),
    (Q7, "mentions 15 June as the last day to wait", A32, True),
    (Q7, "mentions 15 June", A33, False),
    (Q7, "is no longer than 20 words", A33, True),
    (Q7, "is no longer than 20 words", A32, False),
    (Q7, "includes a link to the tracking page", A32, True),
    (Q7, "includes a link", A35, False),
    (Q8, "mentions the year 2018", A36, True),
    (Q8, "mentions the year 2018", A38, False),
    (Q8, "has a neutral tone", A36, None),
    (Q8, "is legally correct", A38, None),
    (Q8, "must not be longer than 4 sentences", A36, True),
    (Q8, "must not be longer than 1 sentence", A36, False),
    (Q9, "uses numbered steps", A39, True),
    (Q9, "uses numbered steps", A40, False),
    (Q9, "does not advertise a product", A39, None),
    (Q9, "mentions daily practice of 20 minutes", A39, True),
    (Q9, "mentions daily practice of 20 minutes", A40, False),
    (Q9, "does not mention a price", A39, True),
    (Q9, "does not mention a price", A40, False),
    (Q9, "contains between 2 and 5 bullet points", A39, True),
    (Q9, "contains between 2 and 5 bullet points", A40, False),
    (Q9, "contains no exclamation marks", A39, True),
    (Q9, "contains no exclamation marks", A40, False),
    (Q9, 'mentions "PianoPro"', A40, True),
    (Q9, 'does not mention "PianoPro"', A40, False),
    (Q9, "names at least two steps", A39, None),
)
