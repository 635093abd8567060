"""`agentkit doctor`: messages of boards that name the wrong culprit, what is behind them and how to make sure (A17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import typer

from agentkit.cli.common import DebugOption


@dataclass(frozen=True)
class Finding:
    """One message that misleads."""

    says: str
    marks: tuple[str, ...]
    """One of these, in lower case, is in such a message."""
    means: str
    check: str
    remedy: str


FINDINGS: Final = (
    Finding(
        "image decode failed",
        ("image decode failed", "decode image failed"),
        "no image is at fault: an accelerator's DMA wrote past the end of the key/value cache",
        "it comes at the same number of tokens each time, and never with a shorter max_seq_len",
        "run the driver in a process of its own (ChildBackend) and compare with target=reference; every row that "
        "agentkit writes itself is checked against the capacity",
    ),
    Finding(
        "UnicodeDecodeError while text is put together",
        ("unicodedecodeerror", "codec can't decode byte"),
        "the text is not at fault if the place moves from run to run: a driver wrote into memory beside the vocabulary",
        "agentkit models verify finds the file whole, and the error stays away with target=reference",
        "run the driver in a process of its own (ChildBackend): it shares nothing but ids, cache and logits",
    ),
    Finding(
        "failed to decode referrers index",
        ("referrers index",),
        "the registry is not at fault: an NPU driver takes the PCIe bandwidth and the download times out",
        "pulling works before the driver is loaded, or while no model runs",
        "pull images and models before the service starts; agentkit's own downloads go on where they broke off",
    ),
    Finding(
        "flash attention is slower than plain attention",
        ("flash attention", "flashattention"),
        "its tiles are sized for the memory of another chip, so they spill out of this one's",
        "agentkit bench layer times every form of attention here, by rows in the cache",
        "take the quickest form of that table; for an NPU compile the AF graph with blocks that fit its SRAM",
    ),
)


def diagnose(message: str) -> tuple[Finding, ...]:
    """Return what is known of a message; nothing if it means what it says, as far as we know."""
    text = message.casefold()
    return tuple(found for found in FINDINGS if any(mark in text for mark in found.marks))


def doctor_command(
    message: Annotated[str | None, typer.Argument(help="What the log says; default: show all that is known.")] = None,
    debug: DebugOption = False,
) -> None:
    """Explain messages of boards that point at the wrong thing; exit code 1 if this one is not known."""
    found = FINDINGS if message is None else diagnose(message)
    if not found:
        print("not known as misleading; take the message at its word and see /healthz and agentkit plan")
        raise typer.Exit(1)
    for finding in found:
        print(f"{finding.says}\n  means  {finding.means}\n  check  {finding.check}\n  do     {finding.remedy}")
