"""Tokenises prompts whose static prefix comes again and again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from agentkit.decoder.chat import Prompt
from agentkit.decoder.tokenizer import Tokenizer
from agentkit.errors import DecoderError

_N_KEPT: Final = 8


class PromptEncoder:
    """Remembers the ids of recent prefixes; belongs to whoever holds the decoder's lock."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._prefixes: OrderedDict[str, list[int]] = OrderedDict()

    def encode(self, prompt: Prompt) -> tuple[list[int], int]:
        """Return the ids of the whole prompt, and how many of them are the prefix's.

        At least one id is left to the tail, because without running a token there are no logits. Raises DecoderError
        if the prompt is empty.
        """
        prefix = self._prefix_ids(prompt.prefix) if prompt.prefix else []
        if prefix and self._tokenizer.begins_special(prompt.tail):  # nothing can merge across the border
            ids = prefix + self._tokenizer.encode(prompt.tail, allow_special=True)
        else:
            ids = self._tokenizer.encode_prompt(prompt.prefix + prompt.tail)
        if not ids:
            raise DecoderError("the prompt is empty, wanted at least one token; render it with a chat template")
        pairs = enumerate(zip(prefix, ids, strict=False))
        n_equal = next((i for i, (a, b) in pairs if a != b), min(len(prefix), len(ids)))
        return ids, min(n_equal, len(ids) - 1)

    def _prefix_ids(self, prefix: str) -> list[int]:
        if prefix not in self._prefixes:
            self._prefixes[prefix] = self._tokenizer.encode_prompt(prefix)
            if len(self._prefixes) > _N_KEPT:
                self._prefixes.popitem(last=False)
        self._prefixes.move_to_end(prefix)
        return self._prefixes[prefix]
