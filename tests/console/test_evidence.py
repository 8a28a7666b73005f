"""Evidence in words that everybody understands, marked where it counts."""

from lycosa.console.evidence import bars, marked


def marks(text: str, effects: dict[str, float], *why: str) -> list[str]:
    return [part.text for part in marked(text, effects, why) if part.effect]


def test_words_of_a_phrase_are_marked_only_in_it() -> None:
    effects = {"oral": 0.2, "health": 0.2, "dental": 0.1}
    text = "Oral health for all: UI Health, an oral exam, oral-health workers; dental health."
    assert marks(text, effects, "oral health", "dental", "(other words)") == [
        "Oral",
        "health",
        "oral",
        "health",
        "dental",
    ]
    assert "".join(part.text for part in marked(text, effects, ["oral health"])) == text


def test_a_word_that_counts_by_itself_is_marked_everywhere() -> None:
    assert marks("health and oral health", {"oral": 0.2, "health": 0.2}, "oral health", "health") == [
        "health",
        "oral",
        "health",
    ]


def test_reasons_without_a_word_of_the_page_are_explained() -> None:
    named = {bar.name: bar.value for bar in bars({"comet": 0.5, "(calibration)": 0.25, "(other words)": -0.1})}
    assert named == {
        "comet": 0.5,
        "how much these words mean in this crawl": 0.25,
        "the other words of the page": -0.1,
    }
