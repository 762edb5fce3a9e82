#!/bin/sh
# Installs the recovery of a gateway's unit from this folder, as root:
#   sh install.sh [--topic-file FILE] [--ping-token-file FILE]
# A secret that is not on this machine yet is read from its file, or asked for. Doing it again repairs what is amiss.
set -u
unit='@UNIT@' name='@NAME@' conf='@CONF@'
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac

fail() {
  printf '%s\n' "$1" >&2
  exit "${2-1}"
}

usage() { fail "usage: sh install.sh [--topic-file FILE] [--ping-token-file FILE]" 2; }

# The mode and path of each file.
listed() {
  cat <<'FILES'
@FILES@
FILES
}

# Copies standard input to a file, whole or not at all, and through a power cut: put MODE PATH.
put() {
  mkdir -p "${2%/*}" || return 1
  unfinished=${2%/*}/.orrery-guest.new
  rm -f "$unfinished"
  (umask 077 && cat >"$unfinished") && chmod "$1" "$unfinished" && chown 0:0 "$unfinished" &&
    { sync "$unfinished" 2>/dev/null || sync; } && mv -f "$unfinished" "$2"
}

copy_files() {
  listed | while read -r mode path; do
    put "$mode" "$path" <"$here/files$path" || fail "$path cannot be written."
  done || exit 1
  sync
}

# Writes a secret, unless there is one: keep_secret PATH FILE WHAT.
keep_secret() {
  [ -n "$1" ] || return 0
  if [ -n "$2" ]; then
    [ -s "$2" ] || fail "$2 is missing or empty." 2
    put 0600 "$1" <"$2" || fail "$1 cannot be written."
  elif [ ! -s "$1" ]; then
    ask "$3"
    printf '%s\n' "$answer" | put 0600 "$1" || fail "$1 cannot be written."
  fi
}

# Asks for a secret, which is not shown.
ask() {
  printf '%s: ' "$1" >&2
  [ ! -t 0 ] || { trap 'stty echo; exit 1' INT TERM && stty -echo; }
  answer=
  IFS= read -r answer
  [ ! -t 0 ] || { stty echo && trap - INT TERM; }
  echo >&2
  [ -n "$answer" ] || fail "$1: nothing was typed; nothing was started." 2
}

shown() { systemctl show "--property=$2" --value -- "$1"; }

# Compares what systemd uses with what was installed: check UNIT PROPERTY VALUE.
check() {
  found=$(shown "$1" "$2")
  [ "$found" = "$3" ] || {
    printf '%s: %s is %s instead of %s. See: systemctl cat %s\n' "$1" "$2" "${found:-missing}" "$3" "$1" >&2
    broken=1
  }
}

verify() {
  broken=
  check "$unit" StartLimitBurst 20
  check "$unit" StartLimitIntervalUSec 30min
  check "$unit" Restart on-failure
  check "$unit" RestartUSec 1min
  check "$unit" NeedDaemonReload no
  check "$unit" RefuseManualStart no
  check "$unit" RefuseManualStop no
  case " $(shown "$unit" OnFailure) " in
    *" $name-alert.service "*) ;;
    *) echo "$unit: OnFailure does not name $name-alert.service. See: systemctl cat $unit" >&2 && broken=1 ;;
  esac
  for one in "$name-recover.timer" "$name-watch.service"; do
    check "$one" UnitFileState enabled
    check "$one" ActiveState active
  done
  check "$name-recover.timer" AccuracyUSec 1s
  check "$name-recover.service" LoadState loaded
  check "$name-alert.service" LoadState loaded
  [ -z "$broken" ]
}

start() {
  systemctl daemon-reload && systemctl enable -- "$name-recover.timer" "$name-watch.service" &&
    systemctl start -- "$name-recover.timer" && systemctl restart -- "$name-watch.service"
}

topic_from='' token_from=''
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --topic-file) topic_from=$2 ;;
    --ping-token-file) token_from=$2 ;;
    *) usage ;;
  esac
  shift 2
done

[ "$(id -u)" = 0 ] || fail "Installing needs root." 2
command -v systemctl >/dev/null || fail "There is no systemctl on this machine: it must run systemd." 2
[ "$(shown "$unit" LoadState)" != not-found ] || fail "systemd knows no $unit on this machine." 2
if [ -f "$conf" ] && ! grep -qxF "UNIT='$unit'" "$conf"; then
  fail "$conf belongs to another unit, whose files would have the same names." 2
fi
TOPIC_FILE='' PING_TOKEN_FILE=''
# shellcheck source=/dev/null
. "$here/files$conf" || fail "$here/files$conf cannot be read."
[ -z "$topic_from" ] || [ -n "$TOPIC_FILE" ] || fail "This bundle sends no pushes: --topic-file has no use." 2
[ -z "$token_from" ] || [ -n "$PING_TOKEN_FILE" ] || fail "This bundle sends no pings: --ping-token-file has no use." 2

exec 9>/run/orrery-guest.lock # another installation writes its files under the same names
flock 9 || fail "/run/orrery-guest.lock cannot be locked."
keep_secret "$TOPIC_FILE" "$topic_from" "The topic of pushes"
keep_secret "$PING_TOKEN_FILE" "$token_from" "The token of pings"
copy_files
start || fail "systemd refused; see above."
verify || fail "Installed, but something overrides it; see above."
echo "The recovery of $unit is installed and active."
