// SPDX-License-Identifier: GPL-2.0-or-later
//! Guest memory in two ranges, and a driver of one controller (NVM Express Base
//! Specification 2.0): commands of one page, one at a time in each queue.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use vfio_bindings::bindings::vfio::*;
use vfio_user::Client;
use vmm_sys_util::eventfd::EventFd;

use crate::{config_read, equal, Done, BAR0, COMMAND, CONFIG};

pub const BLOCK: usize = 4096;
/// Memory below the hole of 32-bit devices, and from 4 GiB on; the second range
/// begins at RANGE of the file.
pub const HIGH: u64 = 4 << 30;
const RANGE: u64 = 16 << 20;
/// Bytes of a logical block, and blocks of a page.
const LBA_BYTES: u64 = 512;
const LBAS: u32 = (BLOCK as u64 / LBA_BYTES) as u32;

const CC: u64 = 0x14;
const CSTS: u64 = 0x1c;
const AQA: u64 = 0x24;
const ASQ: u64 = 0x28;
const ACQ: u64 = 0x30;
const DOORBELLS: u64 = 0x1000;
const ENTRIES: u16 = 8;
const LIMIT: Duration = Duration::from_secs(60);

/// A file that the server maps, as Cloud Hypervisor's `--memory shared=on`.
pub struct Memory {
    file: File,
}

impl Memory {
    pub fn new() -> Done<Memory> {
        // SAFETY: the name ends in a zero; the descriptor is nobody else's.
        let file = unsafe {
            let fd = libc::memfd_create(c"guest".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(std::io::Error::last_os_error().into());
            }
            File::from_raw_fd(fd)
        };
        file.set_len(2 * RANGE)?;
        Ok(Memory { file })
    }

    pub fn map(&self, client: &mut Client) -> Done<()> {
        client.dma_map(0, 0, RANGE, self.file.as_raw_fd())?;
        self.map_high(client)
    }

    pub fn map_high(&self, client: &mut Client) -> Done<()> {
        Ok(client.dma_map(RANGE, HIGH, RANGE, self.file.as_raw_fd())?)
    }

    pub fn unmap_high(&self, client: &mut Client) -> Done<()> {
        Ok(client.dma_unmap(HIGH, RANGE)?)
    }

    fn place(address: u64) -> u64 {
        if address >= HIGH {
            address - HIGH + RANGE
        } else {
            address
        }
    }

    pub fn write(&self, address: u64, data: &[u8]) -> Done<()> {
        Ok(self.file.write_all_at(data, Self::place(address))?)
    }

    pub fn read(&self, address: u64, data: &mut [u8]) -> Done<()> {
        Ok(self.file.read_exact_at(data, Self::place(address))?)
    }

    pub fn fill(&self, address: u64, value: u8) {
        self.write(address, &[value; BLOCK]).expect("a memory file");
    }

    pub fn is_filled(&self, address: u64, value: u8) -> bool {
        let mut data = [0; BLOCK];
        self.read(address, &mut data).expect("a memory file");
        data == [value; BLOCK]
    }
}

#[derive(Default)]
struct Queue {
    tail: u16,
    head: u16,
}

pub struct Nvme<'a> {
    pub client: Client,
    pub events: Vec<EventFd>,
    /// Interrupts come by the pin, of which events[0] is the eventfd.
    pub by_pin: bool,
    memory: &'a Memory,
    stride: u64,
    queues: Vec<Queue>,
}

/// Queue n: submission and completion entries, from 1 MiB on.
fn entries_at(queue: usize) -> (u64, u64) {
    let at = (1 << 20) + (queue * 2 * BLOCK) as u64;
    (at, at + BLOCK as u64)
}

impl<'a> Nvme<'a> {
    /// Reset the controller, set up the admin queues, enable it.
    pub fn enable(mut client: Client, memory: &'a Memory, events: Vec<EventFd>) -> Done<Self> {
        let command = u16::from_le_bytes(config_read(&mut client, COMMAND)?) | 6;
        client.region_write(CONFIG, COMMAND, &command.to_le_bytes())?;
        let mut nvme = Nvme {
            client,
            events,
            by_pin: false,
            memory,
            stride: 0,
            queues: vec![Queue::default()],
        };
        let mut cap = [0; 8];
        nvme.client.region_read(BAR0, 0, &mut cap)?;
        nvme.stride = 4 << (u64::from_le_bytes(cap) >> 32 & 0xf);
        nvme.put(CC, 0)?;
        nvme.wait_ready(0)?;
        let (sq, cq) = entries_at(0);
        let n = u32::from(ENTRIES) - 1;
        nvme.put(AQA, n << 16 | n)?;
        for (at, value) in [(ASQ, sq), (ACQ, cq)] {
            nvme.put(at, value as u32)?; // as Linux writes registers of 64 bits
            nvme.put(at + 4, (value >> 32) as u32)?;
        }
        nvme.put(CC, 4 << 20 | 6 << 16 | 1)?;
        nvme.wait_ready(1)?;
        Ok(nvme)
    }

    fn unmask(&mut self) -> Done<()> {
        if self.by_pin {
            let flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK;
            self.client
                .set_irqs(VFIO_PCI_INTX_IRQ_INDEX, flags, 0, 1, &[])?;
        }
        Ok(())
    }

    fn put(&mut self, at: u64, value: u32) -> Done<()> {
        self.client.region_write(BAR0, at, &value.to_le_bytes())?;
        self.unmask()
    }

    fn get(&mut self, at: u64) -> Done<u32> {
        let mut data = [0; 4];
        self.client.region_read(BAR0, at, &mut data)?;
        self.unmask()?;
        Ok(u32::from_le_bytes(data))
    }

    fn wait_ready(&mut self, ready: u32) -> Done<()> {
        let begin = Instant::now();
        while self.get(CSTS)? & 1 != ready {
            if begin.elapsed() > LIMIT {
                return Err(format!("CSTS.RDY does not become {ready}").into());
            }
        }
        Ok(())
    }

    fn wait_event(&self, vector: usize) -> Done<()> {
        let mut poll = libc::pollfd {
            fd: self.events[vector].as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure, which lives longer than the call.
        if unsafe { libc::poll(&mut poll, 1, LIMIT.as_millis() as i32) } != 1 {
            return Err(format!("no interrupt of vector {vector}").into());
        }
        self.events[vector].read()?;
        Ok(())
    }

    /// An error if a vector has an event that nobody waited for.
    pub fn no_more_events(&self) -> Done<()> {
        for (i, event) in self.events.iter().enumerate() {
            if event.read().is_ok() {
                return Err(format!("vector {i} has an event too many").into());
            }
        }
        Ok(())
    }

    /// One command, and its status: SCT and SC.
    fn command(
        &mut self,
        queue: usize,
        opcode: u8,
        nsid: u32,
        prp: u64,
        cdw10: [u32; 3],
    ) -> Done<u16> {
        let (sq, cq) = entries_at(queue);
        let Queue { tail, head } = self.queues[queue];
        let slot = tail % ENTRIES;
        let mut entry = [0; 64];
        entry[0] = opcode;
        entry[2..4].copy_from_slice(&tail.to_le_bytes());
        entry[4..8].copy_from_slice(&nsid.to_le_bytes());
        entry[24..32].copy_from_slice(&prp.to_le_bytes());
        for (i, word) in cdw10.iter().enumerate() {
            entry[40 + 4 * i..44 + 4 * i].copy_from_slice(&word.to_le_bytes());
        }
        self.memory.write(sq + 64 * u64::from(slot), &entry)?;
        self.queues[queue].tail = tail.wrapping_add(1);
        let doorbell = DOORBELLS + 2 * queue as u64 * self.stride;
        self.put(doorbell, u32::from((slot + 1) % ENTRIES))?;
        self.wait_event(if self.by_pin { 0 } else { queue })?;
        let mut done = [0; 16];
        self.memory
            .read(cq + 16 * u64::from(head % ENTRIES), &mut done)?;
        let status = u16::from_le_bytes([done[14], done[15]]);
        let phase = 1 - head / ENTRIES % 2;
        equal("phase", status & 1, phase)?;
        equal("command", u16::from_le_bytes([done[12], done[13]]), tail)?;
        self.queues[queue].head = head.wrapping_add(1);
        self.put(doorbell + self.stride, u32::from((head + 1) % ENTRIES))?;
        Ok(status >> 1 & 0x7ff)
    }

    /// The serial number.
    pub fn identify(&mut self) -> Done<String> {
        equal(
            "Identify",
            self.command(0, 6, 0, BLOCK as u64, [1, 0, 0])?,
            0,
        )?;
        let mut serial = [0; 20];
        self.memory.read(BLOCK as u64 + 4, &mut serial)?;
        Ok(String::from_utf8(serial.to_vec())?.trim_end().into())
    }

    /// A pair of I/O queues with the vector of its number.
    pub fn create_queue(&mut self, queue: usize) -> Done<()> {
        let (sq, cq) = entries_at(queue);
        let size = (u32::from(ENTRIES) - 1) << 16 | queue as u32;
        self.queues.resize_with(queue + 1, Queue::default);
        let vector = (queue as u32) << 16 | 3;
        equal(
            "Create CQ",
            self.command(0, 5, 0, cq, [size, vector, 0])?,
            0,
        )?;
        let of = (queue as u32) << 16 | 1;
        equal("Create SQ", self.command(0, 1, 0, sq, [size, of, 0])?, 0)
    }

    fn transfer(&mut self, queue: usize, opcode: u8, page: u64, prp: u64) -> Done<u16> {
        let lba = page as u32 * LBAS;
        self.command(queue, opcode, 1, prp, [lba, 0, LBAS - 1])
    }

    pub fn write(&mut self, queue: usize, page: u64, prp: u64) -> Done<u16> {
        self.transfer(queue, 1, page, prp)
    }

    pub fn read(&mut self, queue: usize, page: u64, prp: u64) -> Done<u16> {
        self.transfer(queue, 2, page, prp)
    }

    pub fn flush(&mut self, queue: usize) -> Done<u16> {
        self.command(queue, 0, 1, 0, [0; 3])
    }
}
