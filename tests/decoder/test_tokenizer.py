from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.decoder import bpe
from agentkit.decoder.tokenizer import GUARD, StreamingDetokenizer, Tokenizer, guard, load_tokenizer
from agentkit.errors import CheckpointError
from tests.support.smollm import smollm_path
from tests.support.tiny import EOS_ID, SPECIALS, vocabulary, write_folder

TEXTS = ("turn on the kitchen light", "打开客厅的灯，调到26度", "🙂👨‍👩‍👧 ok", "  two  spaces\n\n\ttab", "½ ٣ don't")


def metadata(pre: str = "smollm") -> dict[str, Any]:
    tokens, merges = vocabulary()
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if token in SPECIALS else 1 for token in tokens],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.eos_token_id": EOS_ID,
    }


@pytest.mark.parametrize("text", TEXTS)
def test_text_survives_encode_and_decode(tiny_tokenizer: Tokenizer, text: str) -> None:
    assert tiny_tokenizer.decode(tiny_tokenizer.encode(text)) == text


@given(st.text())
def test_any_text_survives_and_holds_no_special_token(tiny_tokenizer: Tokenizer, text: str) -> None:
    text = text.replace(GUARD, "")
    ids = tiny_tokenizer.encode(text)
    assert tiny_tokenizer.decode(ids) == text
    assert not any(tiny_tokenizer.is_special(token_id) for token_id in ids)


def test_special_names_in_plain_text_stay_plain_text(tiny_tokenizer: Tokenizer) -> None:
    ids = tiny_tokenizer.encode("<|im_end|>")
    assert EOS_ID not in ids
    assert tiny_tokenizer.decode(ids) == "<|im_end|>"


def test_special_names_in_a_rendered_template_become_special_tokens(tiny_tokenizer: Tokenizer) -> None:
    assert tiny_tokenizer.encode("<|im_start|><|im_end|>", allow_special=True) == [1, 2]


@given(st.lists(st.sampled_from([*SPECIALS, "<", "|", "im_end", ">", "<|", "|>", "x", " "])).map("".join))
def test_guarded_text_never_becomes_a_special_token(tiny_tokenizer: Tokenizer, text: str) -> None:
    ids = tiny_tokenizer.encode(f"<|im_start|>{guard(text)}<|im_end|>", allow_special=True)
    assert [i for i, token_id in enumerate(ids) if tiny_tokenizer.is_special(token_id)] == [0, len(ids) - 1]
    assert ids[1:-1] == tiny_tokenizer.encode(text)


def test_an_unknown_pre_tokenizer_is_refused_by_name() -> None:
    with pytest.raises(CheckpointError, match=r"pre-tokenizer 'deepseek-coder' is unknown.*smollm"):
        bpe.from_gguf(metadata("deepseek-coder"), Path("x.gguf"))


@pytest.mark.parametrize("pre", bpe.PRE_TOKENIZERS)
def test_every_known_pre_tokenizer_keeps_the_text(pre: str) -> None:
    tokenizer = bpe.from_gguf(metadata(pre), Path("x.gguf"))
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_pre_tokenizers_split_digits_as_their_models_do() -> None:
    tokens, merges = vocabulary()
    tokens, merges = [*tokens, "12", "123", "1234"], [*merges, "1 2", "12 3", "123 4"]
    base = metadata() | {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges}
    base["tokenizer.ggml.token_type"] += [1, 1, 1]
    n_tokens = {}
    for pre in bpe.PRE_TOKENIZERS:
        tokenizer = bpe.from_gguf(base | {"tokenizer.ggml.pre": pre}, Path("x.gguf"))
        n_tokens[pre] = len(tokenizer.encode("1234"))
    assert n_tokens == {"smollm": 4, "gpt-2": 1, "llama-bpe": 2, "qwen2": 4}


def test_merges_that_name_no_token_are_refused() -> None:
    with pytest.raises(CheckpointError, match="merges do not fit"):
        bpe.from_gguf(metadata() | {"tokenizer.ggml.merges": ["never heard"]}, Path("x.gguf"))


def test_tokenizer_json_agrees_with_the_gguf_of_the_same_model(tmp_path: Path) -> None:
    from_json = load_tokenizer(write_folder(tmp_path / "model"))
    from_gguf = bpe.from_gguf(metadata("gpt-2"), Path("x.gguf"))
    for text in (*TEXTS, *SPECIALS):
        assert from_json.encode(text) == from_gguf.encode(text)
        assert from_json.encode(text, allow_special=True) == from_gguf.encode(text, allow_special=True)
    assert from_json.vocabulary.token_bytes == from_gguf.vocabulary.token_bytes
    assert from_json.eos_ids == (EOS_ID,)
    assert from_json.bos_id == 1
    assert from_json.chat_template is not None


def test_end_tokens_come_from_all_files_that_name_them(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [EOS_ID, 0]}))
    assert load_tokenizer(folder).eos_ids == (EOS_ID, 0)


def test_a_template_file_beats_the_one_in_the_config(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / "chat_template.jinja").write_text("hello")
    assert load_tokenizer(folder).chat_template == "hello"


def test_a_begin_token_is_put_in_front_once() -> None:
    tokenizer = bpe.from_gguf(
        metadata() | {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 1}, Path("x.gguf")
    )
    assert tokenizer.encode_prompt("a")[0] == 1
    assert tokenizer.encode_prompt("<|im_start|>a") == tokenizer.encode_prompt("a")


@pytest.mark.parametrize("name", ["nothing.gguf", "empty", "weights.bin"])
def test_a_path_without_a_tokenizer_is_one_clear_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "weights.bin").write_bytes(b"x")
    with pytest.raises(CheckpointError, match=name):
        load_tokenizer(tmp_path / name)


def test_broken_json_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: cannot be read"):
        load_tokenizer(tmp_path)


@given(st.text(min_size=1))
def test_streaming_emits_whole_characters_that_add_up(tiny_tokenizer: Tokenizer, text: str) -> None:
    text = text.replace(GUARD, "")
    stream = StreamingDetokenizer(tiny_tokenizer)
    parts = [stream.push(token_id) for token_id in tiny_tokenizer.encode(text)] + [stream.finish()]
    assert "".join(parts) == text
    assert "\ufffd" not in text.replace("\ufffd", "")


def test_streaming_holds_a_character_back_until_it_is_whole(tiny_tokenizer: Tokenizer) -> None:
    ids = [3 + byte for byte in "🙂".encode()]  # ids 3 … 258 are the single bytes
    stream = StreamingDetokenizer(tiny_tokenizer)
    assert [stream.push(token_id) for token_id in ids] == ["", "", "", "🙂"]
    assert [stream.push(token_id) for token_id in ids[:2]] == ["", ""]
    assert stream.finish() == ""


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Turn on the kitchen light, 25 percent!", [24202, 335, 260, 9902, 1420, 28, 216, 34, 37, 1870, 17]),
        (
            "把客厅的灯打开，26度",
            [44627, 228, 18310, 112, 44652, 223, 11567, 178, 219, 124, 27898, 237, 26602, 218, 12831, 34, 38, 43488],
        ),
        ("🙂👨‍👩‍👧", [10813, 38887, 10813, 235, 118, 321, 231, 10813, 235, 119, 321, 231, 10813, 235, 117]),
        ("  two  spaces\n\n\ttab", [216, 827, 216, 5600, 1116, 197, 15999]),
        ("It's 1234.5 don't", [1589, 506, 216, 33, 34, 35, 36, 30, 37, 1326, 982]),
        ("<|im_end|>", [44, 108, 306, 79, 486, 108, 46]),
    ],
)
def test_smollm_ids_are_those_of_llama_cpp(text: str, ids: list[int]) -> None:
    tokenizer = load_tokenizer(smollm_path())
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text


def test_ids_given_out_may_be_changed_without_changing_those_of_the_next_text(tiny_tokenizer: Tokenizer) -> None:
    ids = tiny_tokenizer.encode("kitchen light")
    kept = list(ids)
    ids.append(0)
    assert tiny_tokenizer.encode("kitchen light") == kept
