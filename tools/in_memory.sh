#!/bin/sh
# Runs a command with its temporary files in memory, where that is large enough. The tests write thousands of small
# files and wait for each to be on the disk; none of them needs a real one.
#
#   sh tools/in_memory.sh COMMAND …

free_kib=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ -n "$TMPDIR" ] || [ "${free_kib:-0}" -lt 4194304 ]; then
    exec "$@"
fi
folder=$(mktemp -d /dev/shm/cohabit-tests.XXXXXX) || exec "$@"
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
chmod 1777 "$folder"
TMPDIR=$folder "$@"
