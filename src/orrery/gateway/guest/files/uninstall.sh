#!/bin/sh
# Takes the recovery of a gateway's unit away, as root. The unit itself goes on; the recovery's state and the secret
# files stay.
set -u
unit='@UNIT@' name='@NAME@' conf='@CONF@'

[ "$(id -u)" = 0 ] || {
  echo "Uninstalling needs root." >&2
  exit 2
}
if [ -f "$conf" ] && ! grep -qxF "UNIT='$unit'" "$conf"; then
  echo "$conf belongs to another unit: nothing was removed." >&2
  exit 2
fi
systemctl disable -- "$name-recover.timer" "$name-watch.service" 2>/dev/null
systemctl stop -- "$name-recover.timer" "$name-watch.service" "$name-recover.service" "$name-alert.service" 2>/dev/null
while read -r _ path; do
  rm -f "$path" || exit 1
done <<'FILES'
@FILES@
FILES
rmdir "/etc/systemd/system/$unit.d" 2>/dev/null
systemctl daemon-reload || exit 1
echo "The recovery of $unit is removed. Its state stays in /var/lib/$name-recover."
