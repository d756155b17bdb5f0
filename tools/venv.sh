#!/bin/sh
# Makes a virtual environment with the first Python that is new enough.
#
#   tools/venv.sh DIR            PYTHON=/path/to/python to choose one yourself
set -eu

dir=$1
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'

python=
for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3.14 python3 python}; do
    # Asking for the version also passes over shims that exist but lead nowhere.
    if "$candidate" -c "$new_enough" >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done

if [ -z "$python" ]; then
    echo "cohabit needs Python 3.11 or newer, and found none${PYTHON:+ in PYTHON=$PYTHON}." >&2
    found=$(python3 --version 2>/dev/null || echo "no python3 at all")
    echo "  on the path: $found" >&2
    echo "  install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
fi

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
echo "making $dir with Python $version"

if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    echo "Python $version is here, but without the parts that make a virtual environment." >&2
    echo "  On Debian or Ubuntu: apt-get install python$version-venv" >&2
    exit 1
fi

if ! log=$("$python" -m venv "$dir" 2>&1); then
    echo "$log" >&2
    # Half an environment would look like a whole one the next time.
    rm -rf "$dir"
    echo "Could not make $dir. On Debian or Ubuntu: apt-get install python$version-venv" >&2
    exit 1
fi
