from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentkit.config import App, load_app
from agentkit.types import Understanding
from agentkit.understanding.home_view import HomeView
from agentkit.understanding.normalise import detect_language, normalise
from agentkit.understanding.template_map import TemplateMap, load_templates
from agentkit.understanding.time_words import load_time_words
from agentkit.understanding.timer_words import load_timer_words
from agentkit.understanding.understand import Understander
from agentkit.understanding.words import Words, read_words

FOLDER = Path(__file__).parents[2] / "apps" / "smart_home"

Ask = Callable[..., Understanding]


@pytest.fixture(scope="session")
def app() -> App:
    return load_app(FOLDER)


@pytest.fixture(scope="session")
def words(app: App) -> dict[str, Words]:
    return {language: all_words(app, language) for language in app.words}


def all_words(app: App, language: str) -> Words:
    """The words of a language with those for time, as the agent reads them."""
    folder = app.path / "words"
    return replace(
        read_words(app.words[language], language=language),
        time=load_time_words(folder / f"when_{language}.yaml"),
        timers=load_timer_words(folder / f"timers_{language}.yaml"),
    )


@pytest.fixture(scope="session")
def templates() -> TemplateMap:
    return load_templates(FOLDER / "templates.yaml")


@pytest.fixture(scope="session")
def home(app: App) -> HomeView:
    return HomeView.of(app.home, speaker_area="living_room")


@pytest.fixture(scope="session")
def understander(app: App, words: dict[str, Words], templates: TemplateMap) -> Understander:
    return Understander(words=words, templates=templates, tools=app.tools)


@pytest.fixture(scope="session")
def ask(understander: Understander, words: dict[str, Words], home: HomeView) -> Ask:
    """Understand a sentence in the app's home, without a model."""

    def understand(text: str, view: HomeView = home) -> Understanding:
        language = detect_language(text)
        return understander.understand(normalise(text, language, words[language]), view)

    return understand
