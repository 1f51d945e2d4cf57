"""Names of columns in larger European languages, without accents and in small letters."""

import re
import unicodedata
from typing import Final

# By role; a name is taken only if no other column of the table may have the role. German, French, Spanish, Italian,
# Portuguese, Dutch, Polish, Czech, Swedish, Danish and Norwegian, and Russian.
_NAMES: Final = {
    "item": """
        aufgabe aufgaben objekt beispiel frage bild dokument
        element tache objet exemple
        elemento tarea objeto ejemplo pregunta documento
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
        annotatorin prufer pruferin gutachter gutachterin teilnehmer teilnehmerin experte
        annotateur evaluateur travailleur utilisateur codeur juge relecteur correcteur participant
        anotador evaluador trabajador usuario codificador juez revisor experto participante
        annotatore valutatore lavoratore utente codificatore giudice revisore esperto partecipante
        avaliador trabalhador utilizador juiz
        beoordelaar medewerker gebruiker deelnemer
        anotator oceniajacy pracownik uzytkownik sedzia recenzent ekspert uczestnik
        hodnotitel pracovnik uzivatel
        annoterare bedomare arbetare anvandare bedommer bruger bruker
        разметчик аннотатор исполнитель пользователь
        """,
    "label": """
        kategorie klasse bewertung antwort etikett urteil einstufung klassifikation klassifizierung
        etiquette reponse categorie classe jugement choix avis
        etiqueta respuesta categoria clase juicio calificacion clasificacion
        etichetta risposta giudizio valutazione classificazione scelta
        rotulo resposta avaliacao classificacao
        etiket antwoord oordeel beoordeling classificatie
        etykieta odpowiedz kategoria klasa ocena klasyfikacja wybor
        stitek odpoved trida hodnoceni
        kategori klass svar omdome
        метка ответ категория класс оценка
        """,
    # If no other column may be the label.
    "value": """
        wert valeur valor valore waarde wartosc hodnota varde vaerdi verdi
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
# The same without a space before it, as in "BearbeiterID".
_ID_AT_THE_END: Final = re.compile(r"(?<=[^\W\d_])(?<![A-ZÀ-Þ])(?:ID|Id|Nr|No)$")


def means(column: str, role: str) -> bool:
    """Return whether a column has a usual name for a role in one of these languages, whatever its accents and case.

    >>> means("Bearbeiter-ID", "worker"), means("ÉTIQUETTE", "label"), means("réponse libre", "label")
    (True, True, False)
    """
    column = _ID_AT_THE_END.sub("", column.strip())
    folded = unicodedata.normalize("NFKD", column.lstrip("\ufeff").casefold().translate(_LETTERS))
    # Cyrillic letters such as й are a letter and an accent too, in the names above as well.
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = [word for word in re.split(r"[\s_.:/-]+", plain) if word and word not in _IDS]
    return len(words) == 1 and words[0] in _BY_ROLE.get(role, ())
