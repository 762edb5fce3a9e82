#!/bin/sh
# Looks at the unit, and recovers it when it needs that (spec 3, States and transitions; the timer and the watch
# run this). By hand also:
#   pause 2h   leave the unit alone for that long (s, m, h or d; at most 7d); the pause ends by itself
#   resume     end the pause
#   status     what the recovery knows
set -u
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
name=${0##*/}
name=${name%-recover.sh}
# shellcheck source=recover.lib
. "$here/$name-recover.lib"

readonly HOLD_SECONDS=10 LONGEST_REQUEST=30
readonly LONGEST_RECOVERY=660 # from the restart to the first answer: the longest stop and the longest start

recover() {
  exec 9>"$RUN/lock"
  flock -n 9 || return 0
  often=twice requested=
  if is_requested; then requested=1 often=once; fi # the watch has just seen it fail
  rm -f "$RUN/request"
  deliver
  note_clock
  look || return 1
  judge "$often"
  [ "$finding" = waiting ] || rm -f "$RUN/waits-since"
  case $finding in
    good | slow) settle ;;
    waiting)
      if [ -z "$missing" ]; then report_waiting; elif [ -z "$requested" ] && [ "$ActiveState" != activating ]; then retry; fi
      ;;
    crashed) [ -f "$RUN/tried" ] || fire ;; # at once, once; then the unit's own restarts keep their pace
    hanging) if is_starting; then report_start; else fire; fi ;;
    stopped | dead) fire ;;
  esac
}

# A request that was not taken at once, as systemd refused, is none later.
is_requested() {
  [ -f "$RUN/request" ] && read -r at <"$RUN/request" && clock && [ "$((now - at))" -lt "$LONGEST_REQUEST" ]
}

# A start is systemd's to end: what takes long may be at work.
report_start() {
  if is_stopping || is_kept outage; then return 0; fi
  ping 9>&- &
  open_outage "$UNIT on $(uname -n) does not come up." \
    "Now: $why. The recovery leaves that to systemd. See: systemctl status $UNIT"
}

# What systemd never finishes, such as a job that waits for another, and a unit that it cannot load are not recovered.
# They are reported once that has lasted.
report_waiting() {
  case $LoadState/$ActiveState in masked/* | */active | */reloading) return 0 ;; esac
  if is_stopping; then return 0; fi
  clock
  [ -s "$RUN/waits-since" ] || echo "$now" >"$RUN/waits-since"
  read -r since <"$RUN/waits-since" && [ "$((now - since))" -ge "$LONGEST_WAIT" ] || return 0
  open_outage "$UNIT on $(uname -n) does not come up." \
    "For more than $((LONGEST_WAIT / 60)) min: $why. See: systemctl status $UNIT"
}

# Starts a unit whose credential is missing, in case that cannot be seen from here. That is no recovery: it does not
# count, and does not refill the budget of starts.
retry() {
  is_stopping && return 0
  ping
  control start --no-block -- "$UNIT" 2>/dev/null || : # systemd may refuse, as the budget is exhausted
}

fire() {
  is_stopping && return 0
  clock
  begun=$now
  log "$UNIT is recovered: $why."
  [ "$ActiveState/$Result" != inactive/success ] ||
    log "If you stopped it yourself, pause the recovery first: $here/$name-recover.sh pause 2h"
  [ "$finding" != crashed ] || : >"$RUN/tried"
  count_fire
  ping 9>&- &
  insist reset-failed -- "$UNIT" 2>/dev/null
  insist restart --no-block -- "$UNIT" || log "systemd refused to restart $UNIT."
  clock
  restarted=$now
  case $finding in hanging | dead) hurry ;; esac
  if answers && answered=$((now - begun)) && holds; then
    log "$UNIT has recovered: it answered $answered s after the recovery began, and $since_then."
    [ "$ActiveState" != active ] || settle
  else
    clock
    read_failures
    echo "$now $((failed + 1))" >"$RUN/failed-at"
    open_outage "$UNIT on $(uname -n) did not recover." \
      "Before: $why. Now: $ActiveState ($Result, status $ExecMainStatus${answer:+, probe: $answer}). $(advice)"
    return 1
  fi
}

advice() {
  case $ExecMainStatus in
    243) echo "Its credentials cannot be loaded${TOKEN_SCRIPT:+: look at $TOKEN_SCRIPT}." ;;
    *) echo "See: journalctl -u $UNIT" ;;
  esac
}

# A service that hangs may not hear that it is to stop.
hurry() {
  while [ "$((now - restarted))" -le "$STOP_WITHIN" ]; do
    nap 1
    look || return 0
    case $ActiveState/$Job in deactivating/* | active/?*) ;; *) return 0 ;; esac
  done
  log "$UNIT does not stop within $STOP_WITHIN s: it is killed."
  control kill --signal=KILL -- "$UNIT"
}

# Whether the start takes longer than it may. What still stops, or waits for its start, is not late.
is_late() {
  case $ActiveState/$SubState/$Job in
    active/*/ | reloading/*/) ;;
    *) is_starting || return 1 ;;
  esac
  [ "$(patience_since "$Begun")" -ge "$START_WITHIN" ]
}

# Waits for the first answer, also for a late one.
answers() {
  clock
  while [ "$((now - restarted))" -lt "$LONGEST_RECOVERY" ]; do
    look || return 1
    case $ActiveState/$SubState/$Job in
      active/*/ | reloading/*/) if probe "$((2 * ANSWER_WITHIN))" && clock; then return 0; fi ;;
      activating/auto-restart*/ | inactive/*/ | failed/*/) return 1 ;;
    esac
    if is_late; then return 1; fi
    nap 1
  done
  return 1
}

# Whether it goes on answering. A service that was stopped again, or ended without an error, is the next fault, and not a
# recovery that did not help; one that flaps waits all the same.
holds() {
  note_answer
  held=$Entered until=$((now + HOLD_SECONDS)) since_then='still does'
  while [ "$now" -lt "$until" ]; do
    nap 2
    look || return 1
    if [ "$ActiveState/$Result" = inactive/success ] && [ "$(fires)" -lt "$FLAP_COUNT" ]; then
      since_then='has ended again'
      return 0
    fi
    [ "$ActiveState" = active ] && [ "$Entered" = "$held" ] && probe_twice || return 1
  done
}

pause() {
  seconds=0 number=${1%[smhd]}
  case $number in '' | 0* | *[!0-9]* | ???????*) ;; # at most six digits: seven days are 604800 s
    *)
      case $1 in
        *s) seconds=$number ;;
        *m) seconds=$((number * 60)) ;;
        *h) seconds=$((number * 3600)) ;;
        *d) seconds=$((number * 86400)) ;;
      esac
      ;;
  esac
  if [ "$seconds" -lt 1 ] || [ "$seconds" -gt 604800 ]; then
    echo "A pause is written like 30m, 2h or 1d, and lasts at most 7d." >&2
    return 2
  fi
  clock
  if ! echo "$((now + seconds))" | keep paused-until; then
    echo "The pause cannot be written: $UNIT is not paused." >&2
    return 1
  fi
  note_clock
  log "The recovery of $UNIT is paused for $1."
  echo "$UNIT is left alone for $1. To end the pause sooner: $here/$name-recover.sh resume"
}

resume() {
  if ! forget paused-until; then
    echo "$STATE/paused-until cannot be removed." >&2
    return 1
  fi
  log "The recovery of $UNIT is no longer paused."
}

status() {
  look || return 1
  judge twice
  echo "unit: $UNIT, $ActiveState ($SubState), $finding${why:+: $why}"
  if is_paused; then echo "paused: for $(((left + 59) / 60)) min more"; fi
  echo "recoveries in the last hour: $(fires)"
  if is_kept outage && outage_seconds; then echo "outage: for $((lasted / 60)) min${rebooted:+, and over a boot}"; fi
  echo "pushes that wait: $(find "$STATE/outbox" "$RUN/outbox" -type f | wc -l | tr -d ' ')"
}

# Prints the finding, the answer of the probe, and the reason, each on its line.
show_judgement() {
  look || return 1
  judge twice
  printf '%s\n' "$finding" "$answer" "$why"
}

# Asks the probe once, and prints the answer.
ask_once() {
  case $1 in '' | *[!0-9]*) return 2 ;; esac
  probe "$1"
  asked=$?
  echo "$answer"
  return "$asked"
}

trap 'exit 0' TERM # the system is stopped
case ${1-} in
  '') recover ;;
  pause) pause "${2-}" ;;
  resume | status) "$1" ;;
  judge) show_judgement ;; # for `plan`, `install`, `verify` and the drill
  probe) ask_once "${2-}" ;;
  *)
    echo "usage: $0 [pause 2h | resume | status]" >&2
    exit 2
    ;;
esac
