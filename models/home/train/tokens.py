"""Trains the bilingual SentencePiece vocabulary of the home model on its own sentences."""

from __future__ import annotations

import argparse
from pathlib import Path

import sentencepiece as spm
from speech import Speaker

from agentkit.understanding.pointer.format import specials

VOCAB_SIZE = 4096


def main() -> None:
    """Write tokenizer.model beside the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "tokenizer")
    parser.add_argument("--sentences", type=int, default=120_000)
    options = parser.parse_args()
    speaker = Speaker(7, slips=0.0)
    marks = specials()

    def texts() -> list[str]:
        found = []
        for _ in range(options.sentences):
            prompt = speaker.draw().prompt
            for mark in marks:
                prompt = prompt.replace(mark, "\n")
            found += [line for line in prompt.split("\n") if line]
        return found

    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(texts()), model_prefix=str(options.out), vocab_size=VOCAB_SIZE, model_type="unigram",
        byte_fallback=True, character_coverage=0.9999, user_defined_symbols=[m for m in marks if m != "<end>"],
        bos_id=-1, pad_id=0, unk_id=1, eos_id=2, pad_piece="<pad>", eos_piece="<end>", add_dummy_prefix=False,
        normalization_rule_name="identity", split_digits=True, num_threads=2, max_sentence_length=2000,
        input_sentence_size=1_500_000, shuffle_input_sentence=False,
    )  # fmt: skip


if __name__ == "__main__":
    main()
