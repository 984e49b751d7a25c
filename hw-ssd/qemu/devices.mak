# SPDX-License-Identifier: GPL-2.0-or-later
# The devices of a QEMU that ./vssd builds for x86-64 guests and for the tests of the
# device; it has no others.  In QEMU's tree, configs/devices/x86_64-softmmu/vssd.mak.
# libvirt and virt-install add USB controllers and a balloon by themselves.
CONFIG_VSSD_PCI=y
CONFIG_NVME_PCI=y
CONFIG_Q35=y
CONFIG_I440FX=y
CONFIG_PCI_BRIDGE=y
CONFIG_PCIE_PORT=y
CONFIG_PCIE_PCI_BRIDGE=y
CONFIG_AMD_IOMMU=y
CONFIG_VTD=y
CONFIG_USB_EHCI_PCI=y
CONFIG_USB_XHCI_PCI=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_BALLOON=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_IOMMU=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_RNG=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_ISA_DEBUG=y
CONFIG_SERIAL_ISA=y
CONFIG_SERIAL_PCI=y
CONFIG_VGA_PCI=y
