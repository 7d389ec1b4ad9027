# Prints a line.
function log() {
    local level="${1:-info}"
    shift
    printf '%s %s\n' "${level^^}" "${1}"
    if [[ "${level}" == "error" ]]; then
        exit 1
    fi
}
