"""Writes tiny random checkpoints of the Llama family, with a small byte-level BPE tokenizer that really works."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from agentkit.compiler.checkpoint import tensor_shapes
from agentkit.decoder.backend import DecoderSpec

Weights = dict[str, NDArray[np.float32]]

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
EOS_ID = 2
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEXT = (
    "turn on the kitchen light turn off the living room lamp open the curtain set the air conditioner to twenty six "
    "degrees <|im_start|>user assistant system what is the state of the door 打开客厅的灯 关闭空调 "
)
_GGUF_NAMES = {
    "attn_norm": "attn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
    "ffn_norm": "ffn_norm", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
    "q_norm": "attn_q_norm", "k_norm": "attn_k_norm",
}  # fmt: skip
_HF_NAMES = {
    "attn_norm": "input_layernorm", "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj",
    "o": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
    "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm",
}  # fmt: skip


def byte_symbols() -> list[str]:
    """Return the printable character that stands for each of the 256 bytes in GPT-2's vocabulary."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    symbols = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [symbols[byte] for byte in range(256)]


def vocabulary(n_merges: int = 61) -> tuple[list[str], list[str]]:
    """Return tokens (specials, bytes, merges: 320 in all) and the merges, learnt from a fixed text."""
    symbols = byte_symbols()
    words = [[symbols[byte] for byte in f" {word}".encode()] for word in _TEXT.split()]
    merges: list[str] = []
    tokens = [*SPECIALS, *symbols]
    for _ in range(n_merges):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        first, second = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(f"{first} {second}")
        tokens.append(first + second)
        words = [_merge(word, first, second) for word in words]
    return tokens, merges


def _merge(word: list[str], first: str, second: str) -> list[str]:
    merged: list[str] = []
    for symbol in word:
        if merged and merged[-1] == first and symbol == second:
            merged[-1] = first + second
        else:
            merged.append(symbol)
    return merged


def tiny_spec(*, is_head_tied: bool = True, **changes: Any) -> DecoderSpec:
    """Return the shape of the tiny model; two layers, grouped heads."""
    values = asdict(TINY) | changes | {"is_head_tied": is_head_tied}
    return DecoderSpec(**values)


TINY = DecoderSpec(
    architecture="llama", n_layers=2, hidden_size=64, n_heads=4, n_kv_heads=2, head_dim=16, ffn_size=96,
    vocab_size=len(SPECIALS) + 256 + 61, max_seq_len=512, rope_theta=10000.0, rms_norm_eps=1e-5, is_head_tied=True,
)  # fmt: skip


FAMILIES = {
    "qwen2": {"has_qkv_bias": True},
    "qwen3": {"has_qk_norm": True},
    "gemma": {"activation": "gelu", "embed_scale": 8.0},
}
"""What each family has that Llama has not."""


def family_spec(architecture: str, **changes: Any) -> DecoderSpec:
    """Return the tiny shape of another family."""
    return tiny_spec(architecture=architecture, **{**FAMILIES[architecture], **changes})


def random_weights(spec: DecoderSpec = TINY, *, seed: int = 0) -> Weights:
    """Draw weights that keep activations near 1, so that logits differ clearly."""
    rng = np.random.default_rng(seed)
    weights: Weights = {}
    for name, shape in tensor_shapes(spec).items():
        if name.endswith("_bias"):
            weights[name] = (0.5 * rng.standard_normal(shape)).astype(np.float32)
        elif len(shape) == 1:
            weights[name] = (1 + 0.1 * rng.standard_normal(shape)).astype(np.float32)
        else:
            weights[name] = (rng.standard_normal(shape) / np.sqrt(shape[1])).astype(np.float32)
    return weights


def write_gguf(
    path: Path, spec: DecoderSpec = TINY, *, weights: Weights | None = None, kind: str = "F32", embed_kind: str = "",
    metadata: dict[str, Any] | None = None,
) -> Path:  # fmt: skip
    """Write the model as GGUF; `kind` is the GGML type of the matrices (F32, F16, Q4_0, Q4_1, Q8_0)."""
    weights = weights or random_weights(spec)
    writer = gguf.GGUFWriter(path, spec.architecture)
    writer.add_context_length(spec.max_seq_len)
    writer.add_embedding_length(spec.hidden_size)
    writer.add_block_count(spec.n_layers)
    writer.add_feed_forward_length(spec.ffn_size)
    writer.add_head_count(spec.n_heads)
    writer.add_head_count_kv(spec.n_kv_heads)
    writer.add_rope_dimension_count(spec.head_dim)
    writer.add_rope_freq_base(spec.rope_theta)
    writer.add_layer_norm_rms_eps(spec.rms_norm_eps)
    for key, value in (metadata or {}).items():
        writer.add_key_value(key, value, gguf.GGUFValueType.get_type(value))
    _add_tokenizer(writer)
    for name, weight in weights.items():
        stored = _interleave(name, weight, spec)
        chosen = embed_kind if name in ("embed", "head") and embed_kind else kind
        quantised = gguf.GGMLQuantizationType[chosen if stored.ndim > 1 else "F32"]
        writer.add_tensor(_gguf_name(name), gguf.quants.quantize(stored, quantised), raw_dtype=quantised)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    tokens, merges = vocabulary()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in SPECIALS else 1 for token in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(EOS_ID)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def _interleave(name: str, weight: NDArray[np.float32], spec: DecoderSpec) -> NDArray[np.float32]:
    n_heads = {"q": spec.n_heads, "k": spec.n_kv_heads}.get(name.rsplit(".", 1)[-1])
    if n_heads is None or spec.architecture in FAMILIES:
        return weight
    rows, columns = weight.shape
    halves = weight.reshape(n_heads, 2, rows // n_heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows, columns))


def _gguf_name(name: str) -> str:
    top = {"embed": "token_embd.weight", "final_norm": "output_norm.weight", "head": "output.weight"}
    if name in top:
        return top[name]
    _, layer, part = name.split(".")
    if part.endswith("_bias"):
        return f"blk.{layer}.{_GGUF_NAMES[part[0]]}.bias"
    return f"blk.{layer}.{_GGUF_NAMES[part]}.weight"


def write_folder(
    folder: Path, spec: DecoderSpec = TINY, *, weights: Weights | None = None, n_shards: int = 1,
    config: dict[str, Any] | None = None,
) -> Path:  # fmt: skip
    """Write the model as a Hugging Face folder with tokenizer.json; several shards get an index."""
    from safetensors.numpy import save_file

    weights = weights or random_weights(spec)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(_hf_config(spec) | (config or {})), encoding="utf-8")
    left_out = np.float32(spec.architecture == "gemma")  # of the weights of its norms
    named = {_hf_name(name): weight - left_out if name.endswith("norm") else weight for name, weight in weights.items()}
    if n_shards == 1:
        save_file(named, folder / "model.safetensors")
    else:
        weight_map: dict[str, str] = {}
        for shard in range(n_shards):
            part = dict(list(named.items())[shard::n_shards])
            file = f"model-{shard + 1:05}-of-{n_shards:05}.safetensors"
            save_file(part, folder / file)
            weight_map |= dict.fromkeys(part, file)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}), encoding="utf-8")
    write_tokenizer(folder)
    return folder


def _hf_config(spec: DecoderSpec) -> dict[str, Any]:
    return {
        "model_type": spec.architecture,
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": spec.n_layers,
        "hidden_size": spec.hidden_size,
        "num_attention_heads": spec.n_heads,
        "num_key_value_heads": spec.n_kv_heads,
        "head_dim": spec.head_dim,
        "intermediate_size": spec.ffn_size,
        "vocab_size": spec.vocab_size,
        "max_position_embeddings": spec.max_seq_len,
        "rope_theta": spec.rope_theta,
        "rms_norm_eps": spec.rms_norm_eps,
        "tie_word_embeddings": spec.is_head_tied,
    }


def _hf_name(name: str) -> str:
    top = {"embed": "model.embed_tokens.weight", "final_norm": "model.norm.weight", "head": "lm_head.weight"}
    if name in top:
        return top[name]
    _, layer, part = name.split(".")
    if part.endswith("_bias"):
        return f"model.layers.{layer}.{_HF_NAMES[part[0]]}.bias"
    return f"model.layers.{layer}.{_HF_NAMES[part]}.weight"


def write_tokenizer(folder: Path) -> Path:
    """Write tokenizer.json and tokenizer_config.json of the same vocabulary as the GGUF's."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens, merges = vocabulary()
    pairs = [(first, second) for first, second in (merge.split(" ") for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIALS])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"bos_token": SPECIALS[1], "eos_token": SPECIALS[EOS_ID], "chat_template": CHAT_TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
