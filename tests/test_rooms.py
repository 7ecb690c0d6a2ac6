"""The import direction: streams -> tables -> models, never back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN = {"models": {"tables", "streams"}, "tables": {"streams"}}
OUTSIDE = {"models": {"faust", "aiokafka", "kafka", "rocksdict"}, "tables": {"faust", "aiokafka", "kafka"}}


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("room", ["models", "tables"])
def test_rooms_import_only_downwards(room: str) -> None:
    modules = sorted((ROOT / room).rglob("*.py"))
    assert modules
    wrong = {
        str(path.relative_to(ROOT)): sorted(imported(path) & (FORBIDDEN[room] | OUTSIDE[room]))
        for path in modules
        if imported(path) & (FORBIDDEN[room] | OUTSIDE[room])
    }
    assert wrong == {}


def test_the_clock_and_chance_stay_out_of_the_pure_rooms() -> None:
    wrong = []
    for room in ("models", "tables"):
        for path in (ROOT / room).rglob("*.py"):
            if path.parent.name == "train":
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                text = ast.unparse(node) if isinstance(node, ast.Call) else ""
                if text.startswith(
                    ("datetime.now(", "datetime.utcnow(", "time.time(", "random.", "uuid.uuid4(", "uuid4(")
                ):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {text[:40]}")
    assert wrong == []


def test_running_imports_no_torch() -> None:
    import subprocess
    import sys

    code = "import sys, streams.engine, streams.worker, streams.cli.main; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.strip() == "False", done.stderr
