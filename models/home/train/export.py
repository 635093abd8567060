"""Writes a checkpoint of the training as one GGUF file: int8 weights in blocks of 32, the vocabulary inside."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import sentencepiece as spm
import torch
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quants
from net import Config
from numpy.typing import NDArray

_PARTS = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
          "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
          "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}  # fmt: skip


def main() -> None:
    """Export last.pt of a training folder and print what the manifest needs to know."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="folder with last.pt")
    parser.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.model")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "home.Q8_0.gguf")
    o = parser.parse_args()
    held = torch.load(o.run / "last.pt", weights_only=True)
    weights = {name: w.float().numpy() for name, w in held["model"].items()}
    write_gguf(o.out, weights, spm.SentencePieceProcessor(model_file=str(o.tokenizer)), Config())
    data = o.out.read_bytes()
    print(f"step {held['step']}\nsize: {len(data)}\nsha256: {hashlib.sha256(data).hexdigest()}")


def write_gguf(
    path: Path, weights: dict[str, NDArray[np.float32]], pieces: spm.SentencePieceProcessor, c: Config
) -> None:
    """Write weights under the names of HomeModel, matrices as Q8_0."""
    writer = GGUFWriter(path, "llama")
    writer.add_name("agentkit home")
    writer.add_license("Apache-2.0")
    writer.add_block_count(c.num_hidden_layers)
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_rope_freq_base(c.rope_theta)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    _add_vocabulary(writer, pieces)
    for name, weight in weights.items():
        gguf_name = _name(name)
        if weight.ndim == 1:
            writer.add_tensor(gguf_name, weight)
            continue
        n_heads = {"attn_q": c.num_attention_heads, "attn_k": c.num_key_value_heads}.get(gguf_name.split(".")[-2])
        rows = weight if n_heads is None else _interleave(weight, n_heads)
        packed = quants.quantize(rows, GGMLQuantizationType.Q8_0)
        writer.add_tensor(gguf_name, packed, raw_dtype=GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _name(name: str) -> str:
    if name == "embed_tokens.weight":
        return "token_embd.weight"
    if name == "norm.weight":
        return "output_norm.weight"
    _, layer, part = name.removesuffix(".weight").split(".", 2)
    return f"blk.{layer}.{_PARTS[part]}.weight"


def _interleave(weight: NDArray[np.float32], n_heads: int) -> NDArray[np.float32]:
    """Bring the two rotary halves of each head into the order of GGUF."""
    rows, columns = weight.shape
    halves = weight.reshape(n_heads, 2, rows // n_heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(rows, columns)


def _add_vocabulary(writer: GGUFWriter, pieces: spm.SentencePieceProcessor) -> None:
    ids = range(pieces.vocab_size())
    names = [pieces.id_to_piece(i) for i in ids]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(names)
    writer.add_token_scores([pieces.get_score(i) for i in ids])
    writer.add_token_types([int(_kind(pieces, i, name)) for i, name in zip(ids, names, strict=True)])
    writer.add_eos_token_id(pieces.eos_id())
    writer.add_pad_token_id(pieces.pad_id())
    writer.add_unk_token_id(pieces.unk_id())
    writer.add_add_space_prefix(False)
    writer.add_add_bos_token(False)


def _kind(pieces: spm.SentencePieceProcessor, index: int, name: str) -> TokenType:
    if pieces.is_control(index):
        return TokenType.CONTROL
    if pieces.is_unknown(index):
        return TokenType.UNKNOWN
    if pieces.is_byte(index):
        return TokenType.BYTE
    return TokenType.USER_DEFINED if name.startswith("[") and name.endswith("]") else TokenType.NORMAL


if __name__ == "__main__":
    main()
