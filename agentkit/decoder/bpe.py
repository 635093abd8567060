"""Byte-level BPE tokenizers, from GGUF metadata or a tokenizer.json, run by the `tokenizers` package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers

from agentkit.decoder.tokenizer import Tokenizer, Vocabulary
from agentkit.decoder.vocab import TokenType, gguf_list, gguf_vocabulary, sort_names
from agentkit.errors import CheckpointError

_WORDS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_REST: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3: Final = rf"{_WORDS}|\p{{N}}{{1,3}}|{_REST}"
_QWEN2: Final = rf"{_WORDS}|\p{{N}}|{_REST}"

PRE_TOKENIZERS: Final = ("smollm", "gpt-2", "llama-bpe", "qwen2")
"""Values of `tokenizer.ggml.pre` that are known; a wrong guess here costs accuracy silently, so others are refused."""


def from_gguf(metadata: Mapping[str, Any], path: Path) -> Tokenizer:
    """Build the tokenizer of GGUF metadata. Raises CheckpointError naming an unknown pre-tokenizer."""
    pre = metadata.get("tokenizer.ggml.pre", "gpt-2")
    if pre not in PRE_TOKENIZERS:
        known = ", ".join(PRE_TOKENIZERS)
        raise CheckpointError(f"{path}: pre-tokenizer '{pre}' is unknown, known are {known}; use a known model family")
    names = gguf_list(metadata, "tokens", path)
    types = gguf_list(metadata, "token_type", path, n_items=len(names))
    merges = gguf_list(metadata, "merges", path)
    plain = {name: i for i, name in enumerate(names) if types[i] == TokenType.NORMAL}
    try:
        model = models.BPE(
            vocab=plain,
            merges=[(left, right) for left, _, right in (merge.partition(" ") for merge in merges)],
            ignore_merges=pre == "llama-bpe",
        )
    except Exception as err:  # the package raises bare Exception
        raise CheckpointError(f"{path}: its BPE merges do not fit its tokens ({err}); convert the file again") from err
    core = tokenizers.Tokenizer(model)
    core.pre_tokenizer = _pre_tokenizer(pre)
    if pre == "qwen2":
        core.normalizer = normalizers.NFC()
    vocabulary = gguf_vocabulary(
        metadata, path, to_bytes=partial(_gguf_bytes, alphabet=_byte_alphabet(), path=path), has_space_prefix=False
    )
    return Tokenizer(vocabulary, partial(_encode, core))


def from_tokenizer_json(path: Path) -> Tokenizer:
    """Build the tokenizer of a tokenizer.json; its neighbours tell the end tokens and the chat template."""
    config = _read_json(path)
    added = config.pop("added_tokens", None) or []
    template_config = _read_json(path.with_name("tokenizer_config.json"), is_optional=True)
    is_byte_level = "ByteLevel" in json.dumps([config.get("pre_tokenizer"), config.get("decoder")])
    has_space_prefix = not is_byte_level and _drop_space_prefix(config)
    core = _core(config, added, path)
    size = max([*core.get_vocab().values(), *(token["id"] for token in added)]) + 1
    alphabet = _byte_alphabet() if is_byte_level else None
    table = [b""] * size
    for name, index in core.get_vocab().items():
        table[index] = _json_bytes(name, alphabet, path)
    for token in added:
        table[token["id"]] = token["content"].encode()
    special, plain = sort_names((token["content"], token["id"], token.get("special", False)) for token in added)
    ids = {**special, **plain}
    bos = _token_name(template_config.get("bos_token"))
    vocabulary = Vocabulary(
        token_bytes=tuple(table),
        special_ids=special,
        added_ids=plain,
        bos_id=ids.get(bos),
        eos_ids=_end_ids(path, template_config, ids),
        has_bos=bool(template_config.get("add_bos_token", has_space_prefix)),
        has_space_prefix=has_space_prefix,
        chat_template=_chat_template(path, template_config),
    )
    return Tokenizer(vocabulary, partial(_encode, core))


def _core(config: dict[str, Any], added: list[dict[str, Any]], path: Path) -> tokenizers.Tokenizer:
    """Build the model for plain text only: special tokens are taken out of it, the post-processor too."""
    if config.get("model", {}).get("type", "BPE") != "BPE":
        raise CheckpointError(f"{path}: model type '{config['model'].get('type')}' is not supported, only BPE")
    for token in added:
        config["model"].get("vocab", {}).pop(token["content"], None)
    config["post_processor"] = None
    try:
        return tokenizers.Tokenizer.from_str(json.dumps(config))
    except Exception as err:  # the package raises bare Exception
        raise CheckpointError(f"{path}: cannot be read ({err}); copy the checkpoint's tokenizer.json again") from err


def _encode(core: tokenizers.Tokenizer, text: str) -> list[int]:
    ids: list[int] = core.encode(text, add_special_tokens=False).ids
    return ids


def _pre_tokenizer(pre: str) -> Any:
    if pre == "gpt-2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if pre == "smollm":
        return pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    pattern = Regex(_LLAMA3 if pre == "llama-bpe" else _QWEN2)
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(pattern, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _byte_alphabet() -> dict[str, int]:
    """Map each character of byte-level vocabularies to its byte: printable ones are themselves, others follow 255."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


def _gguf_bytes(name: str, kind: int, *, alphabet: Mapping[str, int], path: Path) -> bytes:
    return _json_bytes(name, alphabet, path) if kind == TokenType.NORMAL else name.encode()


def _json_bytes(name: str, alphabet: Mapping[str, int] | None, path: Path) -> bytes:
    if alphabet is None:
        return spm_bytes(name)
    try:
        return bytes(alphabet[char] for char in name)
    except KeyError as err:
        raise CheckpointError(f"{path}: token {name!r} is not byte-level BPE; the vocabulary is damaged") from err


def spm_bytes(name: str) -> bytes:
    """Return the bytes of a SentencePiece-style token: '▁' is a space, '<0x0A>' one byte."""
    if len(name) == 6 and name.startswith("<0x") and name.endswith(">"):
        return bytes([int(name[3:5], 16)])
    return name.replace("▁", " ").encode()


def _drop_space_prefix(config: dict[str, Any]) -> bool:
    """Take the step that puts a space in front out of a SentencePiece-style tokenizer.json; tell if there was one."""
    text = json.dumps(config)
    had_prefix = '"Prepend"' in text or '"prepend_scheme": "first"' in text or '"prepend_scheme": "always"' in text
    normalizer = config.get("normalizer") or {}
    steps = normalizer.get("normalizers")
    if steps:
        normalizer["normalizers"] = [step for step in steps if step.get("type") != "Prepend"]
    pre = config.get("pre_tokenizer") or {}
    if pre.get("type") == "Metaspace":
        pre["prepend_scheme"] = "never"
    return had_prefix


def _token_name(value: Any) -> str:
    return str(value.get("content", "")) if isinstance(value, dict) else str(value or "")


def _end_ids(path: Path, template_config: Mapping[str, Any], ids: Mapping[str, int]) -> tuple[int, ...]:
    found = [ids[name] for name in [_token_name(template_config.get("eos_token"))] if name in ids]
    for name in ("generation_config.json", "config.json"):
        ends = _read_json(path.with_name(name), is_optional=True).get("eos_token_id")
        found += ends if isinstance(ends, list) else [ends] if isinstance(ends, int) else []
    return tuple(dict.fromkeys(found))


def _chat_template(path: Path, template_config: Mapping[str, Any]) -> str | None:
    file = path.with_name("chat_template.jinja")
    if file.is_file():
        return file.read_text(encoding="utf-8")
    template = template_config.get("chat_template")
    if isinstance(template, list):  # several named ones
        template = next((entry["template"] for entry in template if entry.get("name") == "default"), None)
    return template


def _read_json(path: Path, *, is_optional: bool = False) -> dict[str, Any]:
    if is_optional and not path.is_file():
        return {}
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise CheckpointError(f"{path}: cannot be read as JSON ({err}); copy it from the checkpoint again") from err
    if not isinstance(config, dict):
        raise CheckpointError(f"{path}: holds a {type(config).__name__}, wanted an object; copy it again")
    return config
