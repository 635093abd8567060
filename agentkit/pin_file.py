"""Where the code of the policy comes from: a variable of the environment or a file, never app.yaml itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agentkit.errors import ConfigError
from agentkit.yaml_lines import YamlMap, check_keys, take

MIN_DIGITS, MAX_DIGITS = 4, 12


@dataclass(frozen=True)
class PinSource:
    """The name of the variable or the path of the file; one of them."""

    env: str | None = None
    file: Path | None = None


def read_pin_source(row: YamlMap, folder: Path) -> PinSource:
    """Read `pin` of app.yaml. Raises ConfigError."""
    check_keys(row, ("env", "file"), what="pin")
    env, file = take(row, "env", str, None), take(row, "file", str, None)
    if (env is None) == (file is None):
        raise row.error("pin wants one of env (name of a variable) and file (path), for example {env: AGENTKIT_PIN}")
    return PinSource(env, None if file is None else folder / file)


def load_pin(source: PinSource | None) -> str | None:
    """Load the code. None if the app names no place for it or the place is empty. Raises ConfigError, without it."""
    if source is None:
        return None
    place = f"variable {source.env}" if source.file is None else str(source.file)
    try:
        raw = os.environ.get(source.env or "", "") if source.file is None else source.file.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as err:
        raise ConfigError(
            f"the code cannot be read ({type(err).__name__}); wanted a readable file", path=place
        ) from err
    code = raw.strip()
    if code and not (code.isascii() and code.isdigit() and MIN_DIGITS <= len(code) <= MAX_DIGITS):
        raise ConfigError(f"the code has to be {MIN_DIGITS} to {MAX_DIGITS} digits and nothing else", path=place)
    return code or None
