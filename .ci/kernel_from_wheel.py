"""Start the kernelspec that the wheel brought, and use it once.

Run with the interpreter of an environment that holds the wheel and nothing else.
"""

from __future__ import annotations

import os
import sys

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

CODE = """
import json, os, sys
print(json.dumps({
    "loaded": "prime_skills_ext" in get_ipython().extension_manager.loaded,
    "own": sys.prefix != os.environ["BARE_PREFIX"],
    "edit": type(edit).__name__,
}))
"""


def main() -> int:
    """Return 0 when a kernel from the spec has the extension and its own Python."""
    specs = KernelSpecManager().find_kernel_specs()
    sys.stdout.write(f"kernelspecs: {sorted(specs)}\n")
    if "prime-skills" not in specs:
        return 1
    os.environ["BARE_PREFIX"] = sys.prefix
    manager, client = start_new_kernel(kernel_name="prime-skills", startup_timeout=300)
    said: list[str] = []

    def listen(message: dict[str, dict[str, str]]) -> None:
        if message["header"]["msg_type"] == "stream":
            said.append(message["content"]["text"])

    try:
        reply = client.execute_interactive(CODE, timeout=120, output_hook=listen)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    sys.stdout.write("".join(said))
    answer = "".join(said)
    wanted = ('"loaded": true', '"own": true', '"edit": "CallableSkill"')
    ok = reply["content"]["status"] == "ok" and all(text in answer for text in wanted)
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
