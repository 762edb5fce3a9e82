#!/bin/sh
# Notices within seconds that the unit has stopped, failed or does not answer, and starts the recovery; pings.
#
# Each second it only asks the kernel whether the unit's main process is there. Every tenth second, and each second
# while something is wrong, it asks systemd and probes.
set -u
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
name=${0##*/}
name=${name%-watch.sh}
# shellcheck source=recover.lib
. "$here/$name-recover.lib"

readonly LOOK_SECONDS=10 PING_SECONDS=60 RETRY_SECONDS=60 LASTS_SECONDS=5

next_look=0 next_ping=0 good_since='' seen='' reported='' asked=-9 pinging='' slow=''
MainPID=0 finding=''

watch() {
  read_sleep
  slept_before "$$" "$(insist show --property=ExecMainStartTimestampMonotonic --value -- "$name-watch.service")"
  echo "$slept $woke" >"$RUN/slept"
  rm -f "$RUN/watch-is-older" # what an installation was killed before it restarted this
  while :; do
    if [ "$now" -ge "$next_look" ] || ! is_as_before; then check; fi
    note_clock
    nap 1
  done
}

is_as_before() {
  if [ "$finding" = paused ]; then is_kept paused-until; else
    [ "$MainPID" -gt 0 ] && is_process "$MainPID"
  fi
}

# Asks by a signal that sends nothing: /proc shows no process of another user, and the refusal to signal one shows it.
is_process() { case $(LC_ALL=C kill -0 "$1" 2>&1) in *'No such process'*) return 1 ;; esac; }

check() {
  next_look=$((now + LOOK_SECONDS))
  if ! look; then
    finding='' MainPID=0
    return
  fi
  judge twice
  case $finding in
    good | slow) is_good ;;
    paused) is_paused_for_now ;;
    *) is_bad ;;
  esac
}

is_good() {
  seen='' reported=''
  if [ "$finding" != slow ]; then slow=; elif [ -z "$slow" ]; then slow=1 && log "$UNIT is slow: $why."; fi
  : "${good_since:=$now}"
  [ "$MainPID" -gt 0 ] || next_look=$((now + 2)) # no process to look at
  if [ "$((now - good_since))" -ge "$LOOK_SECONDS" ]; then settle; fi
  if [ "$((now - good_since))" -ge "$STEADY_SECONDS" ]; then rm -f "$RUN/tried"; fi
  ping_now_and_then
}

is_paused_for_now() {
  good_since=''
  ping_now_and_then
}

ping_now_and_then() {
  if [ "$now" -ge "$next_ping" ] && ping_beside; then next_ping=$((now + PING_SECONDS)); fi
}

# Sends a ping while the watch goes on, unless the last one is still under way.
ping_beside() {
  if [ -n "$pinging" ]; then
    kill -0 "$pinging" 2>/dev/null && return 1
    wait "$pinging" # else the shell remembers each one, for months
  fi
  ping &
  pinging=$!
}

is_bad() {
  # Else a service that ends each half minute would be reported to no one.
  if [ "$finding" = crashed ] && [ -n "$good_since" ] && [ -f "$RUN/tried" ]; then count_fire; fi
  good_since='' next_look=$((now + 1))
  if [ -n "$missing" ]; then rm -f "$RUN/tried"; fi # it did not fail by itself
  case $finding in
    crashed) [ -f "$RUN/tried" ] || ask ;;
    hanging) if is_starting; then is_kept outage || ask; else is_too_soon || ask; fi ;;
    stopped | dead) is_too_soon || ask ;;
  esac
  # A fault that lasts is pinged at once, too, so that the site can name its cause.
  sign="$finding $LoadState $ActiveState $Result $ExecMainStatus $answer"
  if [ "$sign" != "$seen" ]; then seen=$sign seen_since=$now; fi
  [ "$((now - seen_since))" -ge "$LASTS_SECONDS" ] || return 0
  if [ "$sign" != "$reported" ]; then reported=$sign next_ping=$now; fi
  ping_now_and_then
}

# A restart that did not help is repeated after 1, 2, 4 and 8 minutes; then the timer alone goes on.
is_too_soon() {
  read_failures
  [ "$failed" -gt 0 ] || return 1
  [ "$failed" -le 4 ] || return 0
  [ "$((now - failed_at))" -lt "$((RETRY_SECONDS << (failed - 1)))" ]
}

# Starts the recovery, unless it is under way.
ask() {
  [ "$((now - asked))" -ge 3 ] && flock -n "$RUN/lock" true && ! is_stopping || return 0
  asked=$now
  echo "$now" >"$RUN/request"
  control start --no-block -- "$name-recover.service"
}

watch
