#!/usr/bin/env bash
# boot.sh ROOT FOLDER OFFERED [DISK]: boots the system that lies below ROOT, with its own systemd as process 1.
#
# To be started by unshare, in namespaces of its own (host.py). What the system writes is kept in memory, over ROOT,
# and is gone with its last process; with DISK, a folder that is not on ROOT's disk, it lies there, and is seen again
# at the next boot. OFFERED is seen in it as /srv/offered. Only the loopback is there.
set -euo pipefail
readonly lower=$1 folder=$2 offered=$3

mount -t tmpfs -o mode=755 tmpfs "$folder"
readonly root=$folder/root
readonly disk=${4:-$folder}
mkdir -p "$root" "$disk/upper" "$disk/work"
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$disk/upper,workdir=$disk/work" "$root"
readonly installed=$disk/installed

mount -t proc proc "$root/proc"
# What this kernel is set to is not the system's to change.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
[[ ! -e $root/proc/sysrq-trigger ]] || mount --bind /dev/null "$root/proc/sysrq-trigger"
mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
# Nobody's own files and habits, such as those of pip.
mount -t tmpfs -o mode=700 tmpfs "$root/root"
mount -t tmpfs -o mode=755 tmpfs "$root/home"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/${link#*:}" "$root/dev/${link%:*}"; done

if [[ ! -e $installed ]]; then
  # What else the system under ROOT would start is not this machine's business.
  rm -rf "$root"/etc/systemd/system/*.wants "$root/etc/fstab" "$root/etc/resolv.conf"
  for unit in systemd-udevd systemd-udev-trigger systemd-timesyncd systemd-networkd systemd-resolved systemd-logind \
    systemd-modules-load; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
  done
  # Nor what is made for it of /etc/fstab and the like, by ten programs at each daemon-reload.
  mkdir -p "$root/etc/systemd/system-generators"
  for generator in "$root"/lib/systemd/system-generators/*; do
    ln -sf /dev/null "$root/etc/systemd/system-generators/${generator##*/}"
  done
  tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
  echo machine >"$root/etc/hostname"
  : >"$installed"
fi
hostname machine
ip link set lo up

mkdir -p "$root/srv/offered"
mount --bind "$offered" "$root/srv/offered"
mount -o remount,bind,ro "$root/srv/offered"

cd "$root"
mkdir before
pivot_root . before
umount -l /before
rmdir /before
# Peers of nobody outside: services with mounts of their own (LoadCredential=) need shared ones.
mount --make-rshared /
exec env -i container=orrery PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --show-status=no
