from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from agentkit.types import Intent, Kind

from .conftest import Ask

ROWS = yaml.safe_load((Path(__file__).parents[1] / "golden" / "understanding.yaml").read_text("utf-8"))
SELECTING = ("names", "areas", "floors", "types", "device_ids")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["say"]))
def test_a_sentence_means_what_the_table_says(row: dict[str, Any], ask: Ask) -> None:
    found = ask(row["say"])
    assert (found.when.kind.value if found.when else None) == row.get("when"), found
    if "calls" in row:
        assert found.kind is Kind.CALLS, found.why
        assert [i.tool for i in found.intents] == [c["tool"] for c in row["calls"]]
        assert found.needs_confirmation == row.get("confirm", False)
        for intent, call in zip(found.intents, row["calls"], strict=True):
            _assert_call(intent, call)
    elif "refuse" in row:
        assert (found.kind, found.reply_key) == (Kind.REFUSE, row["refuse"]), found.why
        assert not found.intents
        assert found.reply_values.get("name") == row.get("name")
    else:
        assert (found.kind, found.reply_key) == (Kind.SAY, row["do"])


def _assert_call(intent: Intent, call: dict[str, Any]) -> None:
    if "args" in call:
        assert dict(intent.args) == call["args"]
    for key in SELECTING:
        if key in call:
            assert tuple(getattr(intent.selector, key)) == tuple(call[key])
    assert intent.selector.is_all == call.get("is_all", False)
    if "device_class" in call:
        assert intent.selector.device_class == call["device_class"]
