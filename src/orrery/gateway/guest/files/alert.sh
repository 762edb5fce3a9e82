#!/bin/sh
# The failure hook of the unit and of its recovery: reports an outage, once, and sends the messages that wait. It
# fails while one cannot be sent; its service then runs it again.
set -u
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
name=${0##*/}
name=${name%-alert.sh}
# shellcheck source=recover.lib
. "$here/$name-recover.lib"

report() {
  look || return 0
  if is_paused; then return 0; fi
  if [ "$ActiveState" = failed ]; then
    credentials_ready
    open_outage "$UNIT on $(uname -n) failed." "systemd gave up: $Result, status $ExecMainStatus.\
${missing:+ Its credential $missing is missing or empty; the unit is started once that is there.}"
    ping
  elif [ "$(control show --property=ActiveState --value -- "$name-recover.service")" = failed ]; then
    open_outage "The recovery of $UNIT on $(uname -n) broke." "See: journalctl -u $name-recover"
  fi
}

send_all() {
  while message=$(next_message) && [ -n "$message" ]; do # also those that come meanwhile
    send "$message" || return 1
    rm -f "$message" || : >"$RUN/sent-${message##*/}" || return 1
  done
}

# Sends one message, and reads in the answer whether it was published.
send() {
  {
    if ! { read -r priority && read -r tags && read -r title; }; then return 0; fi
    cat >"$RUN/push" || return 1
  } <"$1"
  answered=$(post "$PUSH/$(secret "$TOPIC_FILE")" "$RUN/push" "Title: $title" "Priority: $priority" "Tags: $tags")
  case $answered in
    *'"event":"message"'* | *'"event": "message"'*) return 0 ;;
  esac
  log "The push was not accepted, and is tried again: $title"
  return 1
}

answer=
report
send_all
