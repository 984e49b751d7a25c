#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A real libvirt daemon with directories of its own, for test_libvirt.py.
# Runs in a mount namespace, so that this machine's libvirt is not touched:
# unshare -m --propagation private sh libvirtd.sh
set -eu

for dir in /etc/libvirt /var/lib/libvirt /var/cache/libvirt \
    /var/log/libvirt /run/libvirt; do
    mkdir -p "$dir"
    mount -t tmpfs -o mode=755 tmpfs "$dir"
done

# The daemon wants the user that its full package would make.
cp /etc/passwd /etc/group /run/libvirt/
grep -q '^libvirt-qemu:' /etc/passwd ||
    echo 'libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin' \
        >>/run/libvirt/passwd
grep -q '^libvirt-qemu:' /etc/group ||
    echo 'libvirt-qemu:x:64055:' >>/run/libvirt/group
mount --bind /run/libvirt/passwd /etc/passwd
mount --bind /run/libvirt/group /etc/group

cat >/etc/libvirt/qemu.conf <<X
user = "root"
group = "root"
namespaces = []
cgroup_controllers = []
security_driver = "none"
stdio_handler = "file"
X
echo 'auth_unix_rw = "none"' >/etc/libvirt/libvirtd.conf
exec libvirtd -f /etc/libvirt/libvirtd.conf
