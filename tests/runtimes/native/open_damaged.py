"""Opens models that may be damaged and says what came of it, one line for each line of input.

It runs as a process of its own, so that a crash is an end of output and not the end of the tests.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from agentkit.decoder.backend import SessionOptions
from agentkit.decoder.memory_pool import Pools
from agentkit.errors import AgentKitError
from runtimes.af_native import AfNative

OPTIONS = SessionOptions(max_seq_len=32, n_slots=1, buckets=(1, 16), n_threads=2)


def opened(path: Path, cache_dir: Path, flags: tuple[str, ...]) -> str:
    """Run a step and return a digest of its logits, or the message of the refusal."""
    backend = AfNative(build_flags=flags)
    try:
        pools = Pools.from_sizes(backend.plan(path, OPTIONS))
        session = backend.open(path, OPTIONS, pools=pools, cache_dir=cache_dir)
    except AgentKitError as err:
        return f"refused {err}"
    logits = session.step(np.arange(16) % session.spec.vocab_size, 16, slot=0)
    session.close()
    return f"ran {hashlib.sha256(logits.tobytes()).hexdigest()}"


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin:
        path, cache_dir, flags = json.loads(line)
        try:
            answer = opened(Path(path), Path(cache_dir), tuple(flags))
        except BaseException as err:  # noqa: BLE001 - the test wants to know what it was
            answer = f"bug {type(err).__name__}: {err}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
