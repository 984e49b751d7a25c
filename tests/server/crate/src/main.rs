// SPDX-License-Identifier: GPL-2.0-or-later
//! Drives vssd-server by Cloud Hypervisor's vfio-user client, without a virtual
//! machine: the calls that pci/src/vfio.rs and vfio_user.rs make of the client,
//! in their order, with a driver of NVMe in the guest's place.
//!
//! vfio-user-check SOCKET QUEUES prints `ok STEP` for each step; the first step
//! that fails ends it with status 1 and one line.

mod nvme;

use std::error::Error;
use std::path::Path;

use vfio_bindings::bindings::vfio::*;
use vfio_user::Client;
use vmm_sys_util::eventfd::EventFd;

use nvme::{Memory, Nvme, BLOCK, HIGH};

pub type Done<T> = Result<T, Box<dyn Error>>;

pub const BAR0: u32 = VFIO_PCI_BAR0_REGION_INDEX;
pub const CONFIG: u32 = VFIO_PCI_CONFIG_REGION_INDEX;
pub const COMMAND: u64 = 4;
const STATUS: u64 = 6;
const FIRST_BAR: u64 = 0x10;
const FIRST_CAPABILITY: u64 = 0x34;
const CAP_MSIX: u8 = 0x11;
/// Descriptors in one message (VfioUserClientWrapper::enable_irq).
const BATCH: usize = 16;

/// An error if `left` is not `right`.
pub fn equal<T: PartialEq + std::fmt::Debug>(what: &str, left: T, right: T) -> Done<()> {
    if left == right {
        return Ok(());
    }
    Err(format!("{what}: {left:?}, not {right:?}").into())
}

pub fn config_read<const N: usize>(client: &mut Client, at: u64) -> Done<[u8; N]> {
    let mut data = [0; N];
    client.region_read(CONFIG, at, &mut data)?;
    Ok(data)
}

fn config_dword(client: &mut Client, at: u64) -> Done<u32> {
    Ok(u32::from_le_bytes(config_read(client, at)?))
}

/// allocate_bars(): the BARs by writing ones; (number, bytes) of each.
fn bars(client: &mut Client) -> Done<Vec<(u64, u64)>> {
    let mut found = Vec::new();
    let mut bar = 0;
    while bar < 6 {
        let at = FIRST_BAR + 4 * bar;
        let flags = config_dword(client, at)?;
        client.region_write(CONFIG, at, &u32::MAX.to_le_bytes())?;
        let lower = u64::from(config_dword(client, at)? & !0xf);
        let mut size = 0;
        if flags & 4 != 0 {
            client.region_write(CONFIG, at + 4, &u32::MAX.to_le_bytes())?;
            let upper = u64::from(config_dword(client, at + 4)?);
            size = (!(upper << 32 | lower)).wrapping_add(1);
        } else if lower != 0 {
            size = u64::from(!(lower as u32)) + 1;
        }
        if size != 0 {
            found.push((bar, size));
        }
        bar += if flags & 4 != 0 { 2 } else { 1 };
    }
    Ok(found)
}

/// parse_capabilities(): where MSI-X is, and its vectors.
fn msix(client: &mut Client) -> Done<(u64, usize)> {
    let status = u16::from_le_bytes(config_read(client, STATUS)?);
    equal("capability list", status & 0x10, 0x10)?;
    let mut at = u64::from(config_read::<1>(client, FIRST_CAPABILITY)?[0] & 0xfc);
    while at != 0 {
        let [id, next] = config_read(client, at)?;
        if id == CAP_MSIX {
            let control = u16::from_le_bytes(config_read(client, at + 2)?);
            return Ok((at, usize::from(control & 0x7ff) + 1));
        }
        at = u64::from(next & 0xfc);
    }
    Err("no MSI-X".into())
}

/// enable_irq(): an eventfd for each vector, in messages of BATCH.
fn enable_irq(client: &mut Client, index: u32, events: &[EventFd]) -> Done<()> {
    use std::os::fd::AsRawFd;

    let fds: Vec<i32> = events.iter().map(|e| e.as_raw_fd()).collect();
    for (i, some) in fds.chunks(BATCH).enumerate() {
        client.set_irqs(
            index,
            VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
            (i * BATCH) as u32,
            some.len() as u32,
            some,
        )?;
    }
    Ok(())
}

fn disable_irq(client: &mut Client, index: u32) -> Done<()> {
    let flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
    Ok(client.set_irqs(index, flags, 0, 0, &[])?)
}

fn switch_msix(client: &mut Client, at: u64, on: bool) -> Done<()> {
    let control = u16::from_le_bytes(config_read(client, at + 2)?);
    let value = control & !(1 << 15) | u16::from(on) << 15;
    Ok(client.region_write(CONFIG, at + 2, &value.to_le_bytes())?)
}

fn events(count: usize) -> Done<Vec<EventFd>> {
    (0..count)
        .map(|_| Ok(EventFd::new(libc::EFD_NONBLOCK)?))
        .collect()
}

/// add_vfio_user_device(): from the connection to memory and interrupts.
fn attach(socket: &Path, memory: &Memory, queues: usize) -> Done<(Client, Vec<EventFd>, u64)> {
    let mut client = Client::new(socket)?;
    if client.resettable() {
        client.reset()?;
    }
    let (at, vectors) = msix(&mut client)?;
    equal("vectors", vectors, queues + 1)?;
    for (index, count) in [
        (VFIO_PCI_INTX_IRQ_INDEX, 1),
        (VFIO_PCI_MSI_IRQ_INDEX, 0),
        (VFIO_PCI_MSIX_IRQ_INDEX, vectors as u32),
    ] {
        equal("interrupts", client.get_irq_info(index)?.count, count)?;
    }
    memory.map(&mut client)?;
    equal(
        "BARs",
        bars(&mut client)?,
        vec![(0, client.region(BAR0).unwrap().size)],
    )?;
    let mapped = |r: u32| client.region(r).unwrap().flags & VFIO_REGION_INFO_FLAG_MMAP;
    equal("regions to map", (0..9).map(mapped).sum(), 0)?;
    Ok((client, events(vectors)?, at))
}

fn first(socket: &Path, queues: usize) -> Done<()> {
    let memory = Memory::new()?;
    let (mut client, msix_events, msix_at) = attach(socket, &memory, queues)?;
    println!("ok attach");

    // The pin until the guest enables MSI-X; each access of a BAR unmasks it.
    let pin = events(1)?;
    enable_irq(&mut client, VFIO_PCI_INTX_IRQ_INDEX, &pin)?;
    let mut nvme = Nvme::enable(client, &memory, pin)?;
    nvme.by_pin = true;
    equal("serial number", nvme.identify()?, "vssd-server".into())?;
    println!("ok pin");

    disable_irq(&mut nvme.client, VFIO_PCI_INTX_IRQ_INDEX)?;
    enable_irq(&mut nvme.client, VFIO_PCI_MSIX_IRQ_INDEX, &msix_events)?;
    switch_msix(&mut nvme.client, msix_at, true)?;
    nvme.by_pin = false;
    nvme.events = msix_events;
    for queue in 1..=queues {
        nvme.create_queue(queue)?;
    }
    println!("ok queues");

    for queue in 1..=queues {
        memory.fill(HIGH, queue as u8);
        equal("write", nvme.write(queue, queue as u64, HIGH)?, 0)?;
    }
    nvme.no_more_events()?;
    for queue in 1..=queues {
        memory.fill(BLOCK as u64, 0);
        equal("read", nvme.read(1, queue as u64, BLOCK as u64)?, 0)?;
        equal("data", memory.is_filled(BLOCK as u64, queue as u8), true)?;
    }
    equal("flush", nvme.flush(1)?, 0)?;
    println!("ok data");

    memory.unmap_high(&mut nvme.client)?;
    equal("read to memory that is gone", nvme.read(1, 1, HIGH)?, 4)?;
    memory.map_high(&mut nvme.client)?;
    equal("read again", nvme.read(1, 1, HIGH)?, 0)?;
    equal("data again", memory.is_filled(HIGH, 1), true)?;
    println!("ok memory");

    // This client waits for ever for an access that is refused.
    for offset in [0, 1, 3, 6, 0x1001, 0x2000, 0x3ff8] {
        for size in [1, 2, 4, 8] {
            let mut data = [0; 8];
            nvme.client.region_read(BAR0, offset, &mut data[..size])?;
        }
    }
    println!("ok accesses");

    switch_msix(&mut nvme.client, msix_at, false)?;
    disable_irq(&mut nvme.client, VFIO_PCI_MSIX_IRQ_INDEX)?;
    nvme.client.shutdown()?;
    Ok(())
}

/// The next virtual machine finds the data.
fn second(socket: &Path, queues: usize) -> Done<()> {
    let memory = Memory::new()?;
    let (mut client, events, at) = attach(socket, &memory, queues)?;
    enable_irq(&mut client, VFIO_PCI_MSIX_IRQ_INDEX, &events)?;
    switch_msix(&mut client, at, true)?;
    let mut nvme = Nvme::enable(client, &memory, events)?;
    nvme.create_queue(1)?;
    for queue in 1..=queues {
        equal("read", nvme.read(1, queue as u64, HIGH)?, 0)?;
        equal("data", memory.is_filled(HIGH, queue as u8), true)?;
    }
    println!("ok again");
    Ok(())
}

fn run() -> Done<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, socket, queues] = &args[..] else {
        return Err("arguments: SOCKET QUEUES".into());
    };
    let queues = queues.parse()?;
    first(Path::new(socket), queues)?;
    second(Path::new(socket), queues)
}

fn main() {
    if let Err(e) = run() {
        eprintln!("vfio-user-check: {e}");
        std::process::exit(1);
    }
}
