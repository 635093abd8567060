"""Text ↔ token ids. Text of people never becomes a special token; only rendered templates may hold them.

`load_tokenizer` picks byte-level BPE (`bpe.py`) or SentencePiece (`spm.py`); both end in the same `Tokenizer`, which
cuts special tokens out itself, so that the model underneath only ever sees plain text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from agentkit.errors import CheckpointError

GUARD: Final = "\ufdd0"
"""A Unicode noncharacter that breaks up special tokens in guarded text; no text may hold it, encode drops it."""
_SHORT: Final = 40
"""Characters of a text between special tokens whose ids are remembered: the names of a home come with every prompt."""
_N_KEPT: Final = 1024


@dataclass(frozen=True)
class Vocabulary:
    """What a checkpoint says about its tokens."""

    token_bytes: tuple[bytes, ...]
    """Bytes that each id adds to the text; for special tokens their name."""
    special_ids: Mapping[str, int]
    """Control tokens by name: never made from text of people, never shown."""
    added_ids: Mapping[str, int] = field(default_factory=dict)
    """Tokens that the checkpoint wants to be cut out of any text before it is split."""
    bos_id: int | None = None
    eos_ids: tuple[int, ...] = ()
    has_bos: bool = False
    """True if a prompt must begin with bos_id."""
    has_space_prefix: bool = False
    """True if plain text gets one space in front, as SentencePiece models of the Llama 2 kind want."""
    chat_template: str | None = None


class Tokenizer:
    """One checkpoint's tokenizer; threads may share it."""

    def __init__(self, vocabulary: Vocabulary, encode_plain: Callable[[str], list[int]]):
        """`encode_plain` tokenises text without special tokens and without any prefix."""
        self.vocabulary = vocabulary
        self.vocab_size = len(vocabulary.token_bytes)
        self.bos_id, self.eos_ids = vocabulary.bos_id, vocabulary.eos_ids
        self.chat_template = vocabulary.chat_template
        self._encode_plain = encode_plain
        self._encode_short = lru_cache(_N_KEPT)(encode_plain)
        self._ids = {**vocabulary.added_ids, **vocabulary.special_ids}
        self._hidden = frozenset(vocabulary.special_ids.values())
        self._splitter = _splitter(self._ids)
        self._added_splitter = _splitter(vocabulary.added_ids)

    def encode(self, text: str, *, allow_special: bool = False) -> list[int]:
        """Tokenise text; allow_special is for rendered templates, whose texts of people must be guarded."""
        splitter = self._splitter if allow_special else self._added_splitter
        if not allow_special:
            text = text.replace(GUARD, "")
        return self._encode_parts(text, splitter, prefix=" " if self.vocabulary.has_space_prefix else "")

    def encode_prompt(self, rendered: str) -> list[int]:
        """Tokenise a whole rendered prompt, beginning with bos_id where the checkpoint wants it."""
        ids = self.encode(rendered, allow_special=True)
        if self.vocabulary.has_bos and self.bos_id is not None and ids[:1] != [self.bos_id]:
            ids.insert(0, self.bos_id)
        return ids

    def begins_special(self, rendered: str) -> bool:
        """Tell whether a rendered text begins with a special token, so that nothing before it can merge with it."""
        return bool(self._splitter and self._splitter.match(rendered))

    def encode_continuation(self, text: str) -> list[int]:
        """Tokenise plain text that follows other text directly: no special tokens, no space in front."""
        return self._encode_parts(text, self._added_splitter, prefix="")

    def _encode_parts(self, text: str, splitter: re.Pattern[str] | None, *, prefix: str) -> list[int]:
        ids: list[int] = []
        for index, part in enumerate(splitter.split(text) if splitter else [text]):
            if index % 2:  # a captured token that is cut out
                ids.append(self._ids[part])
            elif plain := part.replace(GUARD, ""):
                ids += (self._encode_short if len(plain) <= _SHORT else self._encode_plain)(prefix + plain)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Turn ids into text, leaving control tokens out; bytes that are no UTF-8 become U+FFFD."""
        shown = b"".join(self.token_bytes(i) for i in ids if i not in self._hidden)
        text = shown.decode("utf-8", "replace")
        return text.removeprefix(" ") if self.vocabulary.has_space_prefix else text

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that one id adds to the text; a special token's name for special ones."""
        return self.vocabulary.token_bytes[token_id]

    def is_special(self, token_id: int) -> bool:
        """Tell whether the id is a control token, which has no text of its own."""
        return token_id in self._hidden

    @cached_property
    def for_grammars(self) -> Any:
        """The vocabulary as llguidance wants it; building it takes about 0.2 s, so it is kept."""
        from agentkit.decoder.grammar import build_ll_tokenizer

        return build_ll_tokenizer(self)

    def token_text(self, token_id: int | None) -> str:
        """Return a token's name for templates; empty for None."""
        return "" if token_id is None else self.token_bytes(token_id).decode("utf-8", "replace")


class StreamingDetokenizer:
    """Turns ids into text as they come and never emits half a character."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_at_start = tokenizer.vocabulary.has_space_prefix

    def push(self, token_id: int) -> str:
        """Take one id and return the text that is complete by now, often one token's, sometimes none."""
        return "" if self._tokenizer.is_special(token_id) else self.push_bytes(self._tokenizer.token_bytes(token_id))

    def push_bytes(self, data: bytes) -> str:
        """Take raw bytes instead of an id."""
        text = self._decoder.decode(data)
        if text and self._is_at_start:
            self._is_at_start = False
            text = text.removeprefix(" ")
        return text

    def finish(self) -> str:
        """End the stream; bytes of a character that never became whole are dropped."""
        self._decoder.reset()
        return ""


def guard(text: str) -> str:
    """Break up everything in text of people that could read as a special token; encode removes the guards again."""
    return re.sub(r"([^\w\s])", rf"\1{GUARD}", text.replace(GUARD, ""))


def load_tokenizer(path: Path) -> Tokenizer:
    """Load the tokenizer of a *.gguf, a *.model, a tokenizer.json or a folder that holds one of the latter.

    Raises CheckpointError if there is none, or if it is of a kind that is not supported.
    """
    from agentkit.decoder import bpe, spm

    if path.is_dir():
        names = ("tokenizer.json", "tokenizer.model")
        found = [path / name for name in names if (path / name).is_file()]
        if not found:
            raise CheckpointError(f"{path}: holds neither {' nor '.join(names)}; copy the checkpoint's tokenizer there")
        return load_tokenizer(found[0])
    if not path.is_file():
        raise CheckpointError(f"{path}: no such tokenizer or checkpoint; pull the model first")
    if path.suffix == ".model":
        return spm.from_model_file(path)
    if path.suffix == ".json":
        return bpe.from_tokenizer_json(path)
    if path.suffix == ".gguf":
        return _from_gguf(path)
    raise CheckpointError(f"{path}: '{path.suffix}' is no tokenizer; wanted .gguf, .model, tokenizer.json or a folder")


def _from_gguf(path: Path) -> Tokenizer:
    from agentkit.decoder import bpe, spm
    from agentkit.decoder.gguf_header import read_header

    metadata = read_header(path).metadata
    kind = metadata.get("tokenizer.ggml.model")
    if kind == "gpt2":
        return bpe.from_gguf(metadata, path)
    if kind == "llama":
        return spm.from_gguf(metadata, path)
    raise CheckpointError(f"{path}: tokenizer '{kind}' is not supported, only 'gpt2' and 'llama'; convert another one")


def _splitter(ids: Mapping[str, int]) -> re.Pattern[str] | None:
    """Build a pattern that splits text at the names, longest first; None without any.

    A name that `guard` cannot break up is left out: it stays reachable by id only.
    """
    names = sorted((re.escape(name) for name in ids if re.match(r"[^\w\s].", name, re.DOTALL)), key=len, reverse=True)
    return re.compile(f"({'|'.join(names)})") if names else None
