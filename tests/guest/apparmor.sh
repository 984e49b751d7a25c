#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A real libvirt daemon under AppArmor, for test_apparmor.py.  Runs in a guest
# that has the host's root as a 9p device: sh apparmor.sh share0 RULES
# RULES is a folder of the host with AppArmor's rules for libvirt, or empty where
# the host has them.  Nothing is written on the host.
set -eu
tag=$1
rules=$2

if [ -z "${OWN_MOUNTS-}" ]; then
    OWN_MOUNTS=1 exec unshare -m --propagation private sh "$0" "$@"
fi

# The host's files, below a file system of our own that takes what is written.
top=/mnt/top
mkdir -p /mnt/host "$top"
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro \
    "$tag" /mnt/host
mount -t tmpfs tmpfs "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o \
    "lowerdir=/mnt/host,upperdir=$top/upper,workdir=$top/work" \
    overlay "$top/root"

# AppArmor's names of files begin at the root of the mount namespace, so chroot
# would not do.
cd "$top/root"
for name in proc sys dev; do
    mount --rbind "/$name" "$name"
done
mount -t tmpfs -o mode=755 tmpfs run
mkdir run/guest
pivot_root . run/guest
cd /
umount -l /run/guest

[ -z "$rules" ] || cp -r "$rules/." /etc/apparmor.d
mkdir -p /etc/apparmor.d/local/abstractions
for name in abstractions/libvirt-qemu usr.sbin.libvirtd \
    usr.lib.libvirt.virt-aa-helper; do
    : >"/etc/apparmor.d/local/$name"
done
for name in /etc /var/lib /var/cache /var/log /run; do
    rm -rf "$name/libvirt"
    mkdir -p "$name/libvirt"
done
cat >/etc/libvirt/qemu.conf <<E
security_driver = "apparmor"
stdio_handler = "file"
E
echo 'auth_unix_rw = "none"' >/etc/libvirt/libvirtd.conf
# The daemon wants the user that its full package would make.
grep -q '^libvirt-qemu:' /etc/passwd ||
    echo 'libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin' \
        >>/etc/passwd
grep -q '^libvirt-qemu:' /etc/group ||
    echo 'libvirt-qemu:x:64055:' >>/etc/group

apparmor_parser -r --skip-cache /etc/apparmor.d/usr.sbin.libvirtd \
    /etc/apparmor.d/usr.lib.libvirt.virt-aa-helper
exec libvirtd -d -f /etc/libvirt/libvirtd.conf
