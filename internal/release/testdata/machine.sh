#!/bin/bash
# Begins a machine within this one: the root file system with a layer of memory
# over it, namespaces of its own, and systemd with no unit but its targets. It
# runs as process 1 of a PID namespace, in mount, network, UTS and IPC namespaces
# that nobody else is in, and all of it ends with that process.
#
# machine.sh FOLDER SHARED SYSTEMD: FOLDER is an empty one to build in; SHARED is
# seen as /mnt within; SYSTEMD is "systemd", or "none" for a machine without it.
set -eu

layers=$1/layers root=$1/root
mount --make-rprivate /
mkdir -p "$layers" "$root"
mount -t tmpfs tmpfs "$layers"
mkdir "$layers/upper" "$layers/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$root"
mount --bind "$2" "$root/mnt"
cd "$root"

mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
[ "$3" = none ] || mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts run/lock
ln -s /proc/self/fd dev/fd
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ip link set lo up

# As on a machine where nobody may open ping sockets, and only the program's own
# capabilities help.
echo "1 0" >proc/sys/net/ipv4/ping_group_range

# Of this machine's own services nothing shall start. dpkg's database, the users
# and /etc are this machine's, and what is changed of them is in memory.
units=usr/lib/systemd/system
kept=$(mktemp -d -p tmp)
for unit in basic sysinit sockets timers paths slices shutdown umount final multi-user network network-online nss-lookup; do
  [ -e "$units/$unit.target" ] && sed '/^\(Wants\|Requires\|After\|OnFailure\)=/d' "$units/$unit.target" >"$kept/$unit.target"
done
mount -t tmpfs tmpfs "$units"
cp "$kept"/* "$units"
mount -t tmpfs tmpfs etc/systemd/system
[ ! -d usr/lib/systemd/system-generators ] || mount -t tmpfs tmpfs usr/lib/systemd/system-generators
# Nor is dnsteer there, though it may be on this machine.
[ ! -e var/lib/dpkg/info/dnsteer.list ] || chroot . dpkg --purge --force-all dnsteer >/dev/null 2>&1
rm -rf usr/sbin/policy-rc.d etc/dnsteer var/lib/dnsteer
# What is changed on it is seen in /run/changes.
mkdir run/changes
mount --bind "$layers/upper" run/changes

mkdir -p old
pivot_root . old
cd /
umount -l /old
rmdir /old
touch run/test-machine # who looks from outside knows by it that this is the root

if [ "$3" = none ]; then
  exec sleep infinity
fi
mkdir -p run/systemd/system.conf.d
printf '[Manager]\nDefaultStandardOutput=null\nDefaultTimeoutStartSec=300\n' >run/systemd/system.conf.d/test.conf
export container=other
exec /lib/systemd/systemd --system --unit=basic.target --log-target=null --show-status=0
