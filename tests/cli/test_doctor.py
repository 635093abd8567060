from __future__ import annotations

import pytest

from agentkit.cli.doctor import FINDINGS, diagnose
from agentkit.cli.main import main


@pytest.mark.parametrize(
    ("message", "means"),
    [
        ("E RKNN: Image decode failed, ret=-1", "key/value cache"),
        ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0x9c in position 4", "beside the vocabulary"),
        ("Error: failed to decode referrers index: invalid character", "PCIe"),
        ("why is Flash Attention slower here", "another chip"),
    ],
)
def test_a_misleading_message_is_explained_with_a_check_and_a_remedy(
    message: str, means: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", message]) == 0
    printed = capsys.readouterr().out
    assert means in printed
    assert [line.split()[0] for line in printed.splitlines()[1:]] == ["means", "check", "do"]


def test_a_message_that_means_what_it_says_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "No space left on device"]) == 1
    assert "not known" in capsys.readouterr().out
    assert diagnose("decode") == ()


def test_without_a_message_all_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.count("means") == len(FINDINGS)
