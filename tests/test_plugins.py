from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from agentkit.errors import BackendUnavailable
from agentkit.plugins import find_backend


@pytest.mark.parametrize(
    ("code", "said"),
    [("def broken(:", "SyntaxError"), ("1 / 0", "ZeroDivisionError"), ("x = 1", "AttributeError"), (None, "ModuleNot")],
)
def test_target_from_outside_that_is_broken_is_rejected_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str | None, said: str
) -> None:
    if code is not None:
        (tmp_path / "vendor_target.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "vendor_target", raising=False)
    info = tmp_path / "vendor-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vendor\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[agentkit.runtimes]\nvendor = vendor_target:backend\n")
    assert any(p.name == "vendor" for p in metadata.entry_points(group="agentkit.runtimes"))

    with pytest.raises(BackendUnavailable, match=f"vendor: .* cannot be imported .*{said}"):
        find_backend("vendor")
