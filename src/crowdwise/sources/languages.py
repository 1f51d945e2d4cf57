"""Names of columns in larger European languages, without accents and in small letters."""

import re
import unicodedata
from typing import Final

# By role; a name is taken only if no other column of the table may have the role. German, French, Spanish, Italian,
# Portuguese, Dutch, Polish, Czech, Swedish, Danish and Norwegian, and Russian.
_NAMES: Final = {
    "item": """
        aufgabe objekt beispiel frage bild
        element tache objet exemple
        elemento tarea objeto ejemplo pregunta
        compito oggetto esempio domanda
        tarefa exemplo pergunta
        taak voorbeeld vraag
        zadanie obiekt przyklad pytanie
        polozka uloha priklad otazka
        uppgift exempel fraga opgave oppgave eksempel
        задание объект пример вопрос
        """,
    "worker": """
        bearbeiter bearbeiterin bewerter annotierer mitarbeiter nutzer benutzer codierer kodierer
        annotateur evaluateur travailleur utilisateur codeur juge
        anotador evaluador trabajador usuario codificador juez
        annotatore valutatore lavoratore utente codificatore giudice
        avaliador trabalhador utilizador juiz
        beoordelaar medewerker gebruiker
        anotator oceniajacy pracownik uzytkownik sedzia
        hodnotitel pracovnik uzivatel
        annoterare bedomare arbetare anvandare bedommer bruger bruker
        разметчик аннотатор исполнитель пользователь
        """,
    "label": """
        kategorie klasse bewertung antwort etikett urteil
        etiquette reponse categorie classe jugement
        etiqueta respuesta categoria clase juicio
        etichetta risposta giudizio
        rotulo resposta
        etiket antwoord oordeel
        etykieta odpowiedz kategoria klasa ocena
        stitek odpoved trida hodnoceni
        kategori klass svar omdome
        метка ответ категория класс оценка
        """,
    "truth": """
        wahrheit goldstandard verite verdad verita verdade waarheid prawda pravda sanning facit sandhed fasit
        """,
    "time": """
        zeit zeitstempel datum horodatage fecha tijd tijdstempel czas cas tidpunkt tidspunkt время дата
        """,
}
_BY_ROLE: Final = {role: frozenset(names.split()) for role, names in _NAMES.items()}
# Letters that are not a letter and an accent.
_LETTERS: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})
# Words beside a name that say that it is a number or an id.
_IDS: Final = ("id", "nr", "no", "num", "numero", "nummer", "code", "name")


def means(column: str, role: str) -> bool:
    """Return whether a column has a usual name for a role in one of these languages, whatever its accents and case.

    >>> means("Bearbeiter-ID", "worker"), means("ÉTIQUETTE", "label"), means("réponse libre", "label")
    (True, True, False)
    """
    folded = unicodedata.normalize("NFKD", column.strip().lstrip("\ufeff").casefold().translate(_LETTERS))
    # Cyrillic letters such as й are a letter and an accent too, in the names above as well.
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = [word for word in re.split(r"[\s_.:/-]+", plain) if word and word not in _IDS]
    return len(words) == 1 and words[0] in _BY_ROLE.get(role, ())
