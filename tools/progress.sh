# Quiet, good-looking progress for ./run: one line a step on standard error, output only of what failed.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the colours are used by the scripts that read this file

if [[ -t 1 && -t 2 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  BOLD=$'\e[1m' DIM=$'\e[2m' ACCENT=$'\e[36m' GOOD=$'\e[32m' BAD=$'\e[31m' PLAIN=$'\e[0m'
else
  BOLD='' DIM='' ACCENT='' GOOD='' BAD='' PLAIN=''
fi
LIVE=''
if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then LIVE=yes; fi

milliseconds() { printf '%s' $((${EPOCHREALTIME/[.,]/} / 1000)); }

seconds() { printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100)); }

note() { printf '%s\n' "$1" >&2; }

fail() {
  printf '%s\n' "${BAD}${1}${PLAIN}" >&2
  exit "${2:-1}"
}

# One line that counts the seconds while something runs, on a terminal only; ends with this script.
ticking() {
  local label=$1 count=0 parent=$$
  while kill -0 "$parent" 2>/dev/null; do
    printf '\r\e[K  %s…%s %s %s%d s%s' "$ACCENT" "$PLAIN" "$label" "$DIM" $((count++)) "$PLAIN" >&2
    sleep 1
  done
}

# Runs COMMAND with its output in the file $LOG; sets $TOOK (milliseconds); returns the command's exit code.
timed() {
  local label=$1 began ticker='' code=0
  shift
  began=$(milliseconds)
  if [[ $LIVE ]]; then
    ticking "$label" 9<&- &
    ticker=$!
  fi
  "$@" >"$LOG" 2>&1 </dev/null || code=$?
  if [[ $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    printf '\r\e[K' >&2
  fi
  TOOK=$(($(milliseconds) - began))
  return "$code"
}

line() { printf '  %s %-36s %s%8s%s\n' "$1" "$2" "$DIM" "$(seconds "$3")" "$PLAIN"; }

# step LABEL COMMAND…: prints what was done and how long it took; a failed step prints all of its output.
step() {
  local code=0
  LOG=$(mktemp)
  timed "$@" || code=$?
  if ((code == 0)); then
    line "${GOOD}✓${PLAIN}" "$1" "$TOOK" >&2
  else
    line "${BAD}✗${PLAIN}" "$1" "$TOOK" >&2
    cat "$LOG" >&2
  fi
  rm -f "$LOG"
  return "$code"
}

OUTPUT='' FAILED=0

# checking LABEL COMMAND…: like step, but goes on after a failure, whose output waits for `verdict` at the end.
checking() {
  local code=0 mark="${GOOD}✓${PLAIN}"
  LOG=$(mktemp)
  timed "$@" || code=$?
  if ((code != 0)); then
    mark="${BAD}✗${PLAIN}"
    FAILED=$((FAILED + 1))
    OUTPUT+=$'\n'"${BOLD}${1}${PLAIN}"$'\n'"$(<"$LOG")"$'\n'
  fi
  line "$mark" "$1" "$TOOK"
  rm -f "$LOG"
}

verdict() {
  printf '%s' "$OUTPUT"
  ((FAILED == 0)) || fail "$FAILED of the checks failed; their output is above."
}
