#!/bin/sh
# Prints a Python 3.11 to 3.13 that can make virtual environments, or says in one line what is missing.
set -eu

probe='import ensurepip, sys, venv; raise SystemExit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
for python in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python; do
    if [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 && "$python" -c "$probe" >/dev/null 2>&1; then
        echo "$python"
        exit 0
    fi
done
found=$(python3 -c 'import sys; print(sys.executable, "is", sys.version.split()[0])' 2>/dev/null || echo "no python3")
echo "error: no Python 3.11, 3.12 or 3.13 with venv on this machine (found: $found);" \
    "install one (Debian, Ubuntu: apt install python3-venv) or run: make PYTHON=/path/to/python3.12" >&2
exit 1
