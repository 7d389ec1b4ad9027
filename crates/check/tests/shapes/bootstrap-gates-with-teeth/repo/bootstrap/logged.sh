#!/usr/bin/env bash
# A line of level fatal ends gum with 1, and so the script.
set -Eeuo pipefail

log() {
  local level="${1}" message="${2}"
  gum log --time rfc3339 --structured --level "${level}" "${message}"
}

if ! talosctl --nodes 192.0.2.11 health; then
  log fatal "the machine is not healthy"
fi
