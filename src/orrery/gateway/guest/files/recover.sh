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

readonly LONGEST_START=600 HOLD_SECONDS=10 STOP_SECONDS=5

recover() {
  exec 9>"$RUN/lock"
  flock -n 9 || return 0
  probing=probe_twice requested=
  if [ -f "$RUN/request" ]; then requested=1 probing=probe; fi # the watch has seen it fail already
  rm -f "$RUN/request"
  deliver
  note_clock
  look || return 1
  judge "$probing"
  [ "$finding" = waiting ] || rm -f "$RUN/waits-since"
  case $finding in
    good) settle ;;
    waiting)
      if [ -z "$missing" ]; then report_waiting; elif [ -z "$requested" ] && [ "$ActiveState" != activating ]; then retry; fi
      ;;
    crashed) [ -f "$RUN/tried" ] || fire ;; # at once, once; then the unit's own restarts keep their pace
    stopped | dead) fire ;;
  esac
}

# What systemd never finishes, such as a start without a time-out, and a unit that it cannot load are not recovered.
# They are reported once that lasts longer than a start may.
report_waiting() {
  case $LoadState/$ActiveState in masked/* | */active | */reloading) return 0 ;; esac
  if is_stopping; then return 0; fi
  clock
  [ -s "$RUN/waits-since" ] || echo "$now" >"$RUN/waits-since"
  read -r since <"$RUN/waits-since" && [ "$((now - since))" -ge "$LONGEST_START" ] || return 0
  open_outage "$UNIT on $(uname -n) does not come up." "For more than $((LONGEST_START / 60)) min: $why. See: systemctl status $UNIT"
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
  [ "$finding" != dead ] || hurry
  if answers && answered=$((now - begun)) && holds; then
    log "$UNIT has recovered: it answered $answered s after the recovery began, and still does."
    settle
  else
    clock
    echo "$now" >"$RUN/failed-at"
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
  waited=0
  while [ "$waited" -lt "$STOP_SECONDS" ]; do
    sleep 1
    waited=$((waited + 1))
    look && [ "$ActiveState" = deactivating ] || return 0
  done
  log "$UNIT does not stop: it is killed."
  control kill --signal=KILL -- "$UNIT"
}

# Waits for the first answer.
answers() {
  clock
  asked=$now entered=''
  while [ "$((now - asked))" -lt "$((LONGEST_START + START_SECONDS))" ]; do
    look || return 1
    clock
    [ "$Entered" = "$entered" ] || entered=$Entered active_at=$now
    case $ActiveState/$SubState/$Job in
      active/*/ | reloading/*/)
        probe && clock && return 0
        clock
        [ "$((now - active_at))" -lt "$START_SECONDS" ] || return 1
        ;;
      activating/auto-restart*/ | inactive/*/ | failed/*/) return 1 ;;
    esac
    sleep 1
  done
  return 1
}

# Whether it goes on answering.
holds() {
  held=$Entered waited=0
  while [ "$waited" -lt "$HOLD_SECONDS" ]; do
    sleep 2
    waited=$((waited + 2))
    look && [ "$ActiveState" = active ] && [ "$Entered" = "$held" ] && probe_twice || return 1
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
  judge probe_twice
  echo "unit: $UNIT, $ActiveState ($SubState), $finding${why:+: $why}"
  if is_paused; then echo "paused: for $(((left + 59) / 60)) min more"; fi
  echo "recoveries in the last hour: $(fires)"
  if is_kept outage && outage_seconds; then echo "outage: for $((lasted / 60)) min${rebooted:+, and over a boot}"; fi
  echo "pushes that wait: $(find "$STATE/outbox" "$RUN/outbox" -type f | wc -l | tr -d ' ')"
}

trap 'exit 0' TERM # the system is stopped
case ${1-} in
  '') recover ;;
  pause) pause "${2-}" ;;
  resume | status) "$1" ;;
  *)
    echo "usage: $0 [pause 2h | resume | status]" >&2
    exit 2
    ;;
esac
