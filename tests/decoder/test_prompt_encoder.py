from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.decoder.chat import Prompt
from agentkit.decoder.prompt_encoder import PromptEncoder
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import DecoderError

PIECES = st.lists(st.sampled_from(["<|im_start|>", "<|im_end|>", "\n", " kit", "chen", " light", "灯", "a"])).map(
    "".join
)


@given(PIECES, PIECES)
def test_a_split_prompt_has_the_ids_of_the_whole(tiny_tokenizer: Tokenizer, prefix: str, tail: str) -> None:
    encoder = PromptEncoder(tiny_tokenizer)
    if not prefix + tail:
        with pytest.raises(DecoderError, match="prompt is empty"):
            encoder.encode(Prompt(prefix, tail))
        return
    first, again = encoder.encode(Prompt(prefix, tail)), encoder.encode(Prompt(prefix, tail))
    ids, n_prefix = first
    assert first == again
    assert ids == tiny_tokenizer.encode_prompt(prefix + tail)
    assert n_prefix < len(ids)
    assert ids[:n_prefix] == tiny_tokenizer.encode_prompt(prefix)[:n_prefix]


def test_a_prefix_that_ends_before_a_special_token_counts_whole(tiny_tokenizer: Tokenizer) -> None:
    prefix = "<|im_start|>system\nhome<|im_end|>\n"
    _, n_prefix = PromptEncoder(tiny_tokenizer).encode(Prompt(prefix, "<|im_start|>user\nhi"))
    assert n_prefix == len(tiny_tokenizer.encode_prompt(prefix))


def test_a_prefix_that_merges_with_the_tail_counts_up_to_the_merge(tiny_tokenizer: Tokenizer) -> None:
    ids, n_prefix = PromptEncoder(tiny_tokenizer).encode(Prompt("turn on t", "he light"))
    assert ids == tiny_tokenizer.encode("turn on the light")
    assert n_prefix < len(tiny_tokenizer.encode("turn on t"))


def test_only_recent_prefixes_are_remembered(tiny_tokenizer: Tokenizer) -> None:
    encoder = PromptEncoder(tiny_tokenizer)
    for number in range(100):
        encoder.encode(Prompt(f"prefix {number}", "<|im_start|>"))
    assert len(encoder._prefixes) == 8
