"""The peer ONNX Runtime GenAI: the same checkpoint, written as a folder that its own generator loop opens."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from onnx import TensorProto, helper

from agentkit.bench.engines import GENAI
from agentkit.compiler.bundle import GRAPH, positions_for, write_graph
from agentkit.compiler.checkpoint import load_checkpoint
from agentkit.compiler.decoder_graph import build_graph
from agentkit.compiler.graph import Graph
from agentkit.compiler.quantise import check_precision
from agentkit.decoder.backend import DecoderSpec, SessionOptions
from agentkit.errors import BackendUnavailable

_MASK: Final = "attention_mask"


class GenAi:
    """Greedy decoding in GenAI's own loop, which keeps what it chose itself."""

    def __init__(self, checkpoint: Path, options: SessionOptions, cache_dir: Path):
        try:
            import onnxruntime_genai as genai
        except ImportError as err:
            raise BackendUnavailable(
                f"{GENAI}: cannot be imported ({err}); run: pip install onnxruntime-genai"
            ) from err
        genai.disable_telemetry_events()
        cache_dir.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="genai-", dir=cache_dir)
        self._genai: Any = genai
        self._generator: Any = None
        self._max_length = options.max_seq_len
        try:
            self._model: Any = genai.Model(str(write_model(checkpoint, options, Path(self._folder.name))))
        except RuntimeError as err:
            self._folder.cleanup()
            raise BackendUnavailable(f"{GENAI}: {checkpoint} does not open ({err}); take another peer") from err

    def prefill(self, token_ids: list[int]) -> int:
        """Start a sequence; see Engine."""
        params = self._genai.GeneratorParams(self._model)
        params.set_search_options(max_length=self._max_length, do_sample=False)
        self._generator = self._genai.Generator(self._model, params)
        self._generator.append_tokens(token_ids)
        return self._next()

    def decode(self, token_id: int) -> int:
        """Append the token that it gave last; see Engine."""
        if self._generator.is_done():  # it chose the end token; from there on it would give padding without a step
            self._generator.append_tokens([token_id])
        return self._next()

    def _next(self) -> int:
        self._generator.generate_next_token()
        return int(self._generator.get_next_tokens()[0])

    def close(self) -> None:
        """Free the model and delete its folder."""
        self._generator = self._model = None
        self._folder.cleanup()


def write_model(checkpoint: Path, options: SessionOptions, folder: Path) -> Path:
    """Write graph, weights and genai_config.json; returns the folder to open. Raises CheckpointError."""
    loaded = load_checkpoint(checkpoint)
    precision = check_precision(loaded, options.precision)
    graph = build_graph(loaded, precision, positions_for(options.max_seq_len, loaded.spec.max_seq_len))
    model = folder / "model"
    write_graph(model, _in_its_layout(graph, loaded.spec))
    (model / "genai_config.json").write_text(json.dumps(_config(loaded.spec, options), indent=2), "utf-8")
    return model


def _in_its_layout(graph: Graph, spec: DecoderSpec) -> Graph:
    """Derive from an attention mask what our runtime writes into three inputs; return logits as [1, 1, vocab_size]."""
    inner, graph.nodes = graph.nodes, []
    graph.inputs = [i for i in graph.inputs if i.name not in ("last_row", "seqlens_k", "total_sequence_length")]
    graph.inputs.append(helper.make_tensor_value_info(_MASK, TensorProto.INT64, [1, "total"]))
    graph.node("Constant", [], "last_row", value_int=-1)
    graph.node("Constant", [], "one", value_ints=[1])
    graph.node("ReduceSum", [_MASK, "one"], "total_each", keepdims=0)  # [1]: there is one sequence
    graph.node("Sub", ["total_each", "one"], "seqlens_wide")
    graph.node("Cast", ["seqlens_wide"], "seqlens_k", to=TensorProto.INT32)
    graph.node("Shape", [_MASK], "total_wide", start=1, end=2)
    graph.node("Cast", ["total_wide"], "total_sequence_length", to=TensorProto.INT32)
    for node in inner:
        node.output[:] = ["logits_of_last_row" if name == "logits" else name for name in node.output]
    graph.nodes += inner
    graph.node("Unsqueeze", ["logits_of_last_row", "one"], "logits")
    shape = [1, 1, spec.vocab_size]
    graph.outputs = [out for out in graph.outputs if out.name != "logits"]
    graph.outputs.insert(0, helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape))
    return graph


def _config(spec: DecoderSpec, options: SessionOptions) -> dict[str, Any]:
    n_threads = options.n_threads or len(os.sched_getaffinity(0))
    decoder = {
        "session_options": {"intra_op_num_threads": n_threads, "log_severity_level": 3, "provider_options": []},
        "filename": GRAPH,
        "head_size": spec.head_dim,
        "hidden_size": spec.hidden_size,
        "inputs": {
            "input_ids": "token_ids",
            "attention_mask": _MASK,
            "past_key_names": "past_key.%d",
            "past_value_names": "past_value.%d",
        },
        "outputs": {
            "logits": "logits", "present_key_names": "present_key.%d", "present_value_names": "present_value.%d",
        },
        "num_attention_heads": spec.n_heads,
        "num_hidden_layers": spec.n_layers,
        "num_key_value_heads": spec.n_kv_heads,
    }  # fmt: skip
    last = spec.vocab_size - 1  # it wants an end token that exists
    model = {
        "type": "llama", "vocab_size": spec.vocab_size, "context_length": spec.max_seq_len, "decoder": decoder,
        "bos_token_id": last, "eos_token_id": last, "pad_token_id": last,
    }  # fmt: skip
    search = {"max_length": options.max_seq_len, "do_sample": False, "past_present_share_buffer": True}
    return {"model": model, "search": search}
