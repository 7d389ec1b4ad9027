#!/usr/bin/env bash
set -euo pipefail

FAILURES=0
if talosctl --nodes 192.0.2.11 health; then
    echo "healthy"
else
    echo "not healthy"
    FAILURES=$((FAILURES + 1))
fi
if [[ $FAILURES -eq 0 ]]; then
    exit 0
else
    echo "$FAILURES checks failed"
    exit 1
fi
