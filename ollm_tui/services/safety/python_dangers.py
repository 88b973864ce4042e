"""What is clearly dangerous in Python code. Only plain cases are seen; all of it asks anyway."""

from __future__ import annotations

import ast
import shlex

from ollm_tui.services.safety.places import Places, keeps_secrets
from ollm_tui.services.safety.shell_dangers import shell_danger

_RUNS = frozenset(
    (
        *("os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.Popen", "cmd"),
        *("subprocess.check_call", "subprocess.check_output", "subprocess.getoutput", "system"),
    )
)
_DELETES_TREES = frozenset(("shutil.rmtree", "rmtree"))
_WRITES = frozenset(
    ("os.remove", "os.unlink", "os.rmdir", "os.makedirs", "os.mkdir", "os.chmod", "os.truncate")
)
UNREADABLE = "it cannot be looked through"


def python_danger(code: str, places: Places) -> str:
    """What is dangerous about Python code, in a few words; empty if nothing is known to be."""
    try:
        tree = ast.parse(code)
        return next(filter(None, (_node(node, places) for node in ast.walk(tree))), "")
    except SyntaxError:
        return ""  # it will not run
    except (ValueError, RecursionError, MemoryError):
        return UNREADABLE


def _node(node: ast.AST, places: Places) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        if "/" in text and "\n" not in text and keeps_secrets(places.within(places.real(text))):
            return "it names a place where secrets are kept"
    return _call(node, places) if isinstance(node, ast.Call) else ""


def _call(call: ast.Call, places: Places) -> str:
    name = ast.unparse(call.func)
    first = _constant(call.args[0]) if call.args else ""
    if name in _DELETES_TREES:
        return "it deletes whole directories"
    if name in _RUNS and call.args:
        rest = _constant(call.args[1]) if len(call.args) > 1 else ""
        return shell_danger(f"{first} {rest}", places)
    if name in _WRITES and first:
        return places.write_danger(first)
    if name == "open" and first and len(call.args) > 1:
        return places.write_danger(first) if set(_constant(call.args[1])) & set("wax+") else ""
    return ""


def _constant(node: ast.expr) -> str:
    """A text that stands in the code, or a list of such as a command; else empty."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return shlex.join(filter(None, map(_constant, node.elts)))
    return ""
