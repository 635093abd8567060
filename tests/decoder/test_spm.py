from __future__ import annotations

import io
from pathlib import Path

import gguf
import pytest
import sentencepiece

from agentkit.decoder.tokenizer import StreamingDetokenizer, Tokenizer, load_tokenizer
from agentkit.errors import CheckpointError

CORPUS = ["turn on the kitchen light", "turn off the living room lamp", "what is the state of the door"] * 20
TEXTS = ("turn on the light", "打开灯 🙂", " spaces  kept ", "new\nline", "<s> </s> [x]")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=330, model_type="bpe", byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("spm") / "tokenizer.model"
    path.write_bytes(model.getvalue())
    return path


@pytest.fixture(scope="module")
def from_model(model_file: Path) -> Tokenizer:
    return load_tokenizer(model_file)


@pytest.fixture(scope="module")
def from_gguf(model_file: Path) -> Tokenizer:
    core = sentencepiece.SentencePieceProcessor(model_file=str(model_file))
    ids = range(core.get_piece_size())
    path = model_file.with_name("spm.gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([core.id_to_piece(i) for i in ids])
    writer.add_token_scores([core.get_score(i) for i in ids])
    writer.add_token_types([2 if core.is_unknown(i) else 3 if core.is_control(i) else 6 if core.is_byte(i) else 1
                            for i in ids])  # fmt: skip
    writer.add_bos_token_id(core.bos_id())
    writer.add_eos_token_id(core.eos_id())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return load_tokenizer(path)


@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_those_of_sentencepiece(from_model: Tokenizer, model_file: Path, text: str) -> None:
    core = sentencepiece.SentencePieceProcessor(model_file=str(model_file))
    assert from_model.encode(text) == core.encode(text)
    assert from_model.decode(from_model.encode(text)) == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_gguf_vocabulary_tokenises_like_its_model_file(
    from_gguf: Tokenizer, from_model: Tokenizer, text: str
) -> None:
    assert from_gguf.encode(text) == from_model.encode(text)
    assert from_gguf.vocabulary.token_bytes == from_model.vocabulary.token_bytes


def test_begin_and_end_tokens_are_found(from_gguf: Tokenizer) -> None:
    assert (from_gguf.bos_id, from_gguf.eos_ids) == (1, (2,))
    assert from_gguf.encode_prompt("turn")[0] == 1
    assert from_gguf.encode("</s>", allow_special=True) == [2]
    assert 2 not in from_gguf.encode("</s>")


def test_a_continuation_gets_no_space_in_front(from_gguf: Tokenizer) -> None:
    ids = from_gguf.encode_continuation("turn")
    assert b"".join(map(from_gguf.token_bytes, ids)) == b"turn"


def test_byte_fallback_tokens_stream_as_whole_characters(from_gguf: Tokenizer) -> None:
    stream = StreamingDetokenizer(from_gguf)
    parts = [stream.push(token_id) for token_id in from_gguf.encode("打 🙂")]
    assert "".join(parts) == "打 🙂"
    assert parts.count("") >= 5
    assert not any("\ufffd" in part for part in parts)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.model").write_bytes(b"not a protobuf")
    with pytest.raises(CheckpointError, match=r"bad\.model: holds no SentencePiece model"):
        load_tokenizer(tmp_path / "bad.model")
