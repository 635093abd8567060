"""Where the evaluation data lies: $AGENTKIT_SHARED, else the folder `shared` beside this checkout."""

from __future__ import annotations

import os
from pathlib import Path


def shared_dir() -> Path:
    """The folder; a test that needs it fails, and says so, where it is missing."""
    folder = Path(os.environ.get("AGENTKIT_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    assert (folder / "data").is_dir(), (
        f"{folder}: no evaluation data; put it beside the checkout or set AGENTKIT_SHARED"
    )
    return folder
