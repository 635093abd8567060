"""The shape of the code, checked by reading it: which way imports point, what stays light, how long a file may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "agentkit"
MAX_LINES = 300
HEAVY = (
    "onnxruntime",
    "onnx",
    "fastapi",
    "uvicorn",
    "tokenizers",
    "torch",
    "llguidance",
    "hassil",
    "numpy",
    "httpx",
    "httpcore",
)

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "planned", "types", "when", "yaml_lines", "yaml_nodes", "yaml_shape"),
    ("app_module", "artifact", "compiler", "decoder", "devices", "home_file", "pin_file", "plugins", "policy_rules"),
    ("fetch", "manifest", "planner", "records", "understanding"),
    ("agent", "config", "defaults"),
    ("assemble", "bench", "calibrate", "dialogues", "evaluate", "host", "intake", "open_model", "startup", "state"),
    ("server",),
    ("cli",),
    ("__main__",),
)
"""From the bottom to the top; a module may import from its own row and from those above it in this list."""


def layer_of(module: str) -> int:
    """Index of the row that a module of agentkit belongs to."""
    parts = module.split(".")
    if len(parts) == 1 or parts[1] == "__version__":
        return -1  # agentkit itself: only its version
    for index, names in enumerate(LAYERS):
        if parts[1] in names:
            return index
    raise AssertionError(f"{module} belongs to no layer; add {parts[1]} to LAYERS")


def modules() -> list[tuple[str, Path]]:
    """Every module of agentkit with its file."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found.append((name, path))
    return found


def imports_of(path: Path) -> list[str]:
    """Every module that a file imports while it runs, also inside functions."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped = {id(node) for block in ast.walk(tree) if _is_for_types_only(block) for node in ast.walk(block)}
    found = []
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            assert node.module
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def _is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_imports_point_down_the_layers() -> None:
    upward = [
        f"{name} imports {target}"
        for name, path in modules()
        for target in imports_of(path)
        if target.split(".")[0] == "agentkit" and layer_of(target) > max(layer_of(name), 0)
    ]

    assert upward == []


def test_upward_import_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "errors.py"
    file.write_text("def f():\n    from agentkit.server.app import make_app\n", "utf-8")

    assert [layer_of(target) > layer_of("agentkit.errors") for target in imports_of(file)] == [True]


def test_framework_never_imports_targets_or_apps() -> None:
    wrong = [
        f"{name} imports {target}"
        for name, path in modules()
        for target in imports_of(path)
        if target.split(".")[0] in ("runtimes", "apps", "tests")
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ["pydantic", "fastapi", "starlette", "uvicorn"])
def test_web_libraries_stay_in_the_server(name: str) -> None:
    wrong = [
        module
        for module, path in modules()
        if not module.startswith("agentkit.server") and any(target.split(".")[0] == name for target in imports_of(path))
    ]

    assert wrong == []


def test_numpy_stays_out_of_the_agent() -> None:
    wrong = [
        module
        for module, path in modules()
        if module.startswith(("agentkit.agent", "agentkit.devices", "agentkit.understanding", "agentkit.types"))
        and any(target.split(".")[0] == "numpy" for target in imports_of(path))
    ]

    assert wrong == []


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    files = [path for folder in ("agentkit", "runtimes", "apps") for path in (ROOT / folder).rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in files}

    assert {path: n for path, n in lengths.items() if n > MAX_LINES} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import agentkit",
        "from agentkit.cli.main import main; main(['--help'])",
        "from agentkit.cli.main import main; main(['run', '--help'])",
        "import agentkit.agent.policy, agentkit.devices.registry, agentkit.types",
    ],
)
def test_light_start_stays_light(code: str) -> None:
    program = f"{code}\nimport sys\nprint('LOADED', *sorted(set({HEAVY!r}) & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_public_surface_is_the_list_here() -> None:
    import agentkit

    assert sorted(agentkit.__all__) == ["__version__"]
