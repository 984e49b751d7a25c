#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-or-later
# init of the initial RAM disk of a guest that is booted directly.  Loads the
# modules in /modules/RELEASE of the kernel that runs, in the order of their
# names, with their parameters on the kernel's command line (modprobe(8)), and
# starts the root that root=PARTUUID= names.
b=/bin/busybox

fail() {
    echo "initramfs: $*; a shell follows" >/dev/console
    exec $b sh </dev/console >/dev/console 2>&1
}

# The parameters of a module: nvme_core.multipath=N is multipath=N of nvme_core.
parameters() {
    for word in $cmdline; do
        case $word in
        "$1".?*) echo "${word#"$1".}" ;;
        esac
    done
}

$b mkdir -p /dev /proc /sys /root
$b mount -t devtmpfs devtmpfs /dev
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
read -r cmdline </proc/cmdline
read -r release </proc/sys/kernel/osrelease
for module in "/modules/$release"/*.ko; do
    name=${module##*/[0-9][0-9]-}
    # shellcheck disable=SC2046 # a word each
    $b insmod "$module" $(parameters "${name%.ko}") ||
        echo "initramfs: insmod $module failed" >/dev/console
done

root=
init=/sbin/init
type=ext4
how=rw
flags=
for word in $cmdline; do
    case $word in
    root=PARTUUID=*) root=${word#root=PARTUUID=} ;;
    rootfstype=*) type=${word#rootfstype=} ;;
    rootflags=*) flags=${word#rootflags=} ;;
    init=*) init=${word#init=} ;;
    ro) how=ro ;;
    rw) how=rw ;;
    esac
done
[ "$root" ] || fail "the kernel's command line has no root=PARTUUID="

tries=0
while :; do
    # Linux 6.12 shows the name of a partition, not its UUID; ours has both.
    file=$($b grep -ls "^PARTNAME=$root\$" /sys/class/block/*/uevent)
    [ "$file" ] && break
    tries=$((tries + 1))
    [ $tries -lt 3600 ] || fail "no partition $root"
    $b sleep 0.05
done
device=${file%/uevent}
device=/dev/${device##*/}
$b mount -t "$type" -o "$how${flags:+,$flags}" "$device" /root ||
    fail "cannot mount $device"

# Those of the kernel: init would mount each by a process of its own.
$b mkdir -p /dev/mqueue /dev/hugepages
for word in mqueue=/dev/mqueue hugetlbfs=/dev/hugepages \
    debugfs=/sys/kernel/debug tracefs=/sys/kernel/tracing; do
    $b mount -t "${word%%=*}" -o nosuid,nodev "${word%%=*}" "${word#*=}" \
        2>/dev/null # not every kernel has it
done
for folder in proc sys dev; do
    $b mount -o move /$folder /root/$folder
done
exec $b switch_root /root "$init"
