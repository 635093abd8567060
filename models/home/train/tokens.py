"""Trains the bilingual SentencePiece vocabulary of the home model on its own sentences."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import sentencepiece as spm
from speech import Speaker

from agentkit.understanding.pointer.format import specials

VOCAB_SIZE = 4096
_CHARACTERS = (
    "abcdefghijklmnopqrstuvwxyz0123456789,.:%°",
    "空净桌幕晾衣架气化器加湿除影院书柜橱浴餐沙发走廊过道夜灯投仪马桶霸窗纱新风油烟机水洗碗扫拖按摩椅鱼缸楼上下层前后左右东西南北中大小",
    "长短红橙黄绿青蓝紫白黑灰粉金银暖冷光亮暗色温度高低快慢强弱开关停启动打合升降拉调设置播放暂继续音量静声歌曲首个所有全部除了以外别不要",
)
"""Characters that homes are named with, beside those of the phrases; the rest is read as bytes."""
_HANZI = re.compile(r"([\u2e80-\u9fff])")


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
            prompt = speaker.draw()[0].prompt
            for mark in marks:
                prompt = prompt.replace(mark, "\n")
            prompt = _HANZI.sub(r"\n\1\n", prompt)  # one piece a character: a name reads the same wherever it stands
            found += [line for line in prompt.split("\n") if line]
        return found

    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(texts()),
        model_prefix=str(options.out),
        vocab_size=VOCAB_SIZE,
        model_type="bpe",
        byte_fallback=True,
        character_coverage=0.999,
        required_chars="".join(_CHARACTERS),
        user_defined_symbols=[m for m in marks if m != "[end]"],
        bos_id=-1,
        pad_id=0,
        unk_id=1,
        eos_id=2,
        pad_piece="[pad]",
        eos_piece="[end]",
        add_dummy_prefix=False,
        normalization_rule_name="identity",
        split_digits=True,
        max_sentence_length=2000,
        shuffle_input_sentence=False,
    )


if __name__ == "__main__":
    main()
