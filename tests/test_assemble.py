"""One agent from an app and a home; the model opens only when a sentence needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit.assemble import Assembly, build_agent
from agentkit.config import App, load_app
from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.decoder import Decoder
from agentkit.decoder.open import open_decoder
from agentkit.errors import NoTarget
from agentkit.fetch import pull
from agentkit.manifest import find_manifest, find_model, load_manifest
from agentkit.types import Outcome, Utterance

APP = Path(__file__).parents[1] / "apps" / "smart_home"


@pytest.fixture(scope="module")
def app() -> App:
    return load_app(APP)


def no_target() -> Decoder:
    raise NoTarget("nothing planned can run here")


def test_a_sentence_that_templates_know_does_not_open_the_model(app: App) -> None:
    live = build_agent(app, app.home, decoder=no_target)
    assert live.agent.handle(Utterance("turn on the desk lamp")).outcome is Outcome.DONE


def test_a_sentence_that_needs_the_model_opens_it(app: App) -> None:
    live = build_agent(app, app.home, decoder=no_target)
    with pytest.raises(NoTarget, match="nothing planned"):
        live.agent.handle(Utterance("granny wants the floor lamp on"))


def test_larger_model_opens_only_after_the_home_model_has_refused(app: App, tmp_path: Path) -> None:
    opened: list[str] = []
    weights = find_model(load_manifest(find_manifest(app.manifest)), app.model).artifacts[0]
    decoder = open_decoder(
        [("cpu_onnx", None)], pull(weights, home=tmp_path), SessionOptions(max_seq_len=512), tmp_path / "compiled"
    )

    def larger() -> Decoder:
        opened.append("larger")
        return no_target()

    live = build_agent(app, app.home, decoder=lambda: decoder, larger=larger)
    live.agent.handle(Utterance("turn on the desk lamp"))
    assert opened == []
    with pytest.raises(NoTarget):
        live.agent.handle(Utterance("what is the tallest mountain in peru"))
    assert opened == ["larger"]


def test_states_survive_a_restart(app: App, tmp_path: Path) -> None:
    first = build_agent(app, app.home, state_dir=tmp_path)
    first.agent.handle(Utterance("turn on the desk lamp"))
    first.close()
    again = build_agent(app, app.home, state_dir=tmp_path)
    assert again.registry.get("light.desk").state == "on"
    again.close()


def test_rules_can_be_replaced(app: App) -> None:
    assembly = Assembly(app)
    unlock = Utterance("unlock the front door")
    assert assembly.open(app.home).agent.handle(unlock).outcome is Outcome.ASK
    assert assembly.open(app.home, policy=()).agent.handle(unlock).outcome is Outcome.DONE


def test_homes_of_one_assembly_do_not_share_states(app: App) -> None:
    assembly = Assembly(app)
    first, second = assembly.open(app.home), assembly.open(app.home)
    first.agent.handle(Utterance("turn on the desk lamp"))
    assert second.registry.get("light.desk").state == "off"
