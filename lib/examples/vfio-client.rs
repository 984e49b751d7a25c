// SPDX-License-Identifier: GPL-2.0-or-later
//! vfio-client.rs - a drive of vssd-server without a virtual machine: a client of
//! vfio-user that enables the controller, identifies it, writes, reads, and cuts
//! the drive's power.  No crate but std.
//!
//!     rustc -O vfio-client.rs
//!     vssd-server --profile tiny --image disk.raw --socket d.sock --qmp q.sock &
//!     ./vfio-client d.sock q.sock
//!
//! Messages are those of QEMU's docs/interop/vfio-user.rst, structures those of
//! the NVM Express Base Specification.  One thread, which polls; a little-endian
//! machine of 64 bits.
use std::error::Error;
use std::ffi::c_void;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{fence, Ordering};
use std::time::Duration;
use std::{env, process, ptr, thread};

type Outcome<T> = Result<T, Box<dyn Error>>;

// Commands and flags of messages; regions.
const VERSION: u16 = 1;
const DMA_MAP: u16 = 2;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;
const IS_REPLY: u32 = 1;
const HAS_ERROR: u32 = 0x20;
const BAR0: u32 = 0;
const CONFIG: u32 = 7;

// Registers, and the doorbells of queues.
const CC: u64 = 0x14;
const CSTS: u64 = 0x1c;
const AQA: u64 = 0x24;
const ASQ: u64 = 0x28;
const ACQ: u64 = 0x30;
const DOORBELLS: u64 = 0x1000;

// Opcodes.
const IO_FLUSH: u8 = 0;
const IO_WRITE: u8 = 1;
const IO_READ: u8 = 2;
const ADMIN_NEW_SQ: u8 = 1;
const ADMIN_NEW_CQ: u8 = 5;
const ADMIN_IDENTIFY: u8 = 6;

// The memory that the drive sees from address 0 on: a page for each queue, of
// queue n the pages 2n and 2n+1, then a buffer.
const MEMORY_BYTES: usize = 1 << 20;
const PAGE: usize = 4096;
const ENTRIES: usize = 16;
const BUFFER: usize = 8 * PAGE;

/// What std has no safe call for: shared memory, and a descriptor in a message.
mod libc {
    use std::ffi::c_void;

    /// Address, size.
    #[repr(C)]
    pub struct IoVec(pub *const c_void, pub usize);

    /// Name and size, parts and number, control data and size, flags.
    #[repr(C)]
    pub struct MsgHdr(
        pub *const c_void, pub u32, pub *const IoVec, pub usize, pub *const c_void, pub usize,
        pub i32,
    );

    /// Size, SOL_SOCKET, SCM_RIGHTS, the descriptor, padding.
    #[repr(C)]
    pub struct Rights(pub usize, pub i32, pub i32, pub i32, pub i32);

    pub const READ_WRITE: i32 = 3;
    pub const SHARED: i32 = 1;

    extern "C" {
        pub fn mmap(at: *mut c_void, n: usize, prot: i32, flags: i32, fd: i32, offset: i64)
            -> *mut c_void;
        pub fn sendmsg(fd: i32, message: *const MsgHdr, flags: i32) -> isize;
    }
}

#[derive(Default)]
struct Queue {
    tail: usize,
    head: usize,
    phase: u16,
}

struct Client {
    drive: UnixStream,
    memory: *mut u8,
    queue: [Queue; 2], // admin, I/O
    sent: u16,         // messages
}

/// Opcode, namespace, address of the buffer, words 10 to 12.
struct Command(u8, u32, usize, [u32; 3]);

fn nap() {
    thread::sleep(Duration::from_micros(100));
}

fn shared_file() -> Outcome<File> {
    let path = format!("/dev/shm/vfio-client-{}", process::id());
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    file.set_len(MEMORY_BYTES as u64)?;
    Ok(file)
}

impl Client {
    /// Agree on the version, and share memory.
    fn attach(path: &str) -> Outcome<Client> {
        let drive = UnixStream::connect(path).map_err(|e| format!("{path}: {e}"))?;
        let file = shared_file()?;
        let memory = unsafe {
            libc::mmap(ptr::null_mut(), MEMORY_BYTES, libc::READ_WRITE, libc::SHARED,
                       file.as_raw_fd(), 0)
        };
        if memory as isize == -1 {
            return Err("mmap: no memory".into());
        }
        let mut c = Client { drive, memory: memory as *mut u8, queue: Default::default(), sent: 0 };
        let mut body = vec![0, 0, 1, 0]; // version 0.1
        body.extend(b"{\"capabilities\":{\"max_msg_fds\":1}}\0");
        c.call(VERSION, &body, None)?;
        body = Vec::new(); // argsz, flags: read and write; offset, address, size
        body.extend([32u32, 3].iter().flat_map(|x| x.to_le_bytes()));
        body.extend([0u64, 0, MEMORY_BYTES as u64].iter().flat_map(|x| x.to_le_bytes()));
        c.call(DMA_MAP, &body, Some(file.as_raw_fd()))?;
        Ok(c)
    }

    /// A message and its answer.
    fn call(&mut self, command: u16, body: &[u8], fd: Option<RawFd>) -> Outcome<Vec<u8>> {
        self.sent = self.sent.wrapping_add(1);
        let mut message = Vec::new();
        message.extend(self.sent.to_le_bytes());
        message.extend(command.to_le_bytes());
        message.extend([16 + body.len() as u32, 0, 0].iter().flat_map(|x| x.to_le_bytes()));
        message.extend(body);
        self.send(&message, fd)?;
        let mut head = [0u8; 16];
        self.drive.read_exact(&mut head)?;
        let word = |i: usize| u32::from_le_bytes(head[i..i + 4].try_into().unwrap());
        let mut answer = vec![0; (word(4) as usize).saturating_sub(16)];
        self.drive.read_exact(&mut answer)?;
        if word(8) & IS_REPLY == 0 || word(8) & HAS_ERROR != 0 {
            return Err(format!("message {command}: error {}", word(12)).into());
        }
        Ok(answer)
    }

    fn send(&mut self, message: &[u8], fd: Option<RawFd>) -> Outcome<()> {
        let rights = libc::Rights(20, 1, 1, fd.unwrap_or(-1), 0);
        let part = libc::IoVec(message.as_ptr() as *const c_void, message.len());
        let control = &rights as *const libc::Rights as *const c_void;
        let size = if fd.is_some() { 24 } else { 0 };
        let all = libc::MsgHdr(ptr::null(), 0, &part, 1, control, size, 0);
        let n = unsafe { libc::sendmsg(self.drive.as_raw_fd(), &all, 0) };
        if n != message.len() as isize {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(())
    }

    fn get(&mut self, region: u32, offset: u64) -> Outcome<u32> {
        let mut body = offset.to_le_bytes().to_vec();
        body.extend([region, 4].iter().flat_map(|x| x.to_le_bytes()));
        let answer = self.call(REGION_READ, &body, None)?;
        let value = answer.get(16..20).ok_or("a short answer")?;
        Ok(u32::from_le_bytes(value.try_into()?))
    }

    fn set(&mut self, region: u32, offset: u64, value: &[u8]) -> Outcome<()> {
        let mut body = offset.to_le_bytes().to_vec();
        body.extend([region, value.len() as u32].iter().flat_map(|x| x.to_le_bytes()));
        body.extend(value);
        self.call(REGION_WRITE, &body, None).map(|_| ())
    }

    /// Memory that the drive has, too.
    fn store(&mut self, at: usize, bytes: &[u8]) {
        for (i, b) in bytes.iter().enumerate() {
            unsafe { self.memory.add(at + i).write_volatile(*b) };
        }
        fence(Ordering::SeqCst);
    }

    fn load(&self, at: usize, n: usize) -> Vec<u8> {
        (at..at + n).map(|i| unsafe { self.memory.add(i).read_volatile() }).collect()
    }

    /// A command of a queue, from its entry to its completion.
    fn run(&mut self, what: &str, qid: usize, c: Command) -> Outcome<()> {
        let (tail, head) = (self.queue[qid].tail, self.queue[qid].head);
        let mut entry = [0u8; 64];
        entry[..4].copy_from_slice(&(c.0 as u32 | (tail as u32) << 16).to_le_bytes());
        entry[4..8].copy_from_slice(&c.1.to_le_bytes());
        entry[24..32].copy_from_slice(&(c.2 as u64).to_le_bytes());
        for (i, dw) in c.3.iter().enumerate() {
            entry[40 + 4 * i..44 + 4 * i].copy_from_slice(&dw.to_le_bytes());
        }
        self.store(2 * qid * PAGE + 64 * tail, &entry);
        self.queue[qid].tail = (tail + 1) % ENTRIES;
        self.ring(qid, 0, self.queue[qid].tail)?;
        let at = (2 * qid + 1) * PAGE + 16 * head + 14;
        let status = loop {
            let found = u16::from_le_bytes(self.load(at, 2).try_into().unwrap());
            if found & 1 == self.queue[qid].phase {
                break found >> 1;
            }
            nap();
        };
        fence(Ordering::SeqCst);
        let q = &mut self.queue[qid];
        q.head = (head + 1) % ENTRIES;
        q.phase ^= (q.head == 0) as u16;
        self.ring(qid, 1, self.queue[qid].head)?;
        if status != 0 {
            return Err(format!("{what}: status {status:x}").into());
        }
        Ok(())
    }

    fn ring(&mut self, qid: usize, head: u64, value: usize) -> Outcome<()> {
        self.set(BAR0, DOORBELLS + 8 * qid as u64 + 4 * head, &(value as u32).to_le_bytes())
    }

    fn enable(&mut self) -> Outcome<()> {
        let size = (ENTRIES as u32 - 1) << 16;
        self.store(0, &[0; 4 * PAGE]);
        for q in &mut self.queue {
            *q = Queue { phase: 1, ..Default::default() };
        }
        self.set(CONFIG, 4, &6u16.to_le_bytes())?; // memory, bus master
        self.set(BAR0, CC, &0u32.to_le_bytes())?;
        self.set(BAR0, AQA, &(size | (ENTRIES as u32 - 1)).to_le_bytes())?;
        self.set(BAR0, ASQ, &0u64.to_le_bytes())?;
        self.set(BAR0, ACQ, &(PAGE as u64).to_le_bytes())?;
        self.set(BAR0, CC, &(4u32 << 20 | 6 << 16 | 1).to_le_bytes())?;
        while self.get(BAR0, CSTS)? & 1 == 0 {
            nap();
        }
        let queue = |opcode, page, dw11| Command(opcode, 0, page * PAGE, [size | 1, dw11, 0]);
        self.run("completion queue", 0, queue(ADMIN_NEW_CQ, 3, 1))?;
        self.run("submission queue", 0, queue(ADMIN_NEW_SQ, 2, 1 << 16 | 1))
    }

    fn cut_power(&mut self, control: &str) -> Outcome<()> {
        let mut qmp = UnixStream::connect(control).map_err(|e| format!("{control}: {e}"))?;
        qmp.write_all(br#"{"execute":"qom-set","arguments":{"path":"/machine/peripheral/ssd0",
                        "property":"power-cut","value":"running"}}"#)?;
        while self.get(BAR0, CSTS)? != u32::MAX {
            nap(); // all ones: it is gone
        }
        while self.get(BAR0, CSTS)? == u32::MAX {
            nap();
        }
        Ok(())
    }
}

fn work(drive: &str, control: &str) -> Outcome<()> {
    let mut c = Client::attach(drive)?;
    let data = |opcode| Command(opcode, 1, BUFFER, [0, 0, 7]);
    c.enable()?;
    c.run("identify", 0, Command(ADMIN_IDENTIFY, 0, BUFFER, [1, 0, 0]))?;
    println!("model {}", String::from_utf8_lossy(&c.load(BUFFER + 24, 40)));
    c.store(BUFFER, &[b'a'; PAGE]);
    c.run("write", 1, data(IO_WRITE))?;
    c.run("flush", 1, Command(IO_FLUSH, 1, 0, [0; 3]))?;
    c.cut_power(control)?;
    c.enable()?;
    c.store(BUFFER, &[0; PAGE]);
    c.run("read", 1, data(IO_READ))?;
    if c.load(BUFFER, PAGE) != [b'a'; PAGE] {
        return Err("the flushed data is lost".into());
    }
    println!("4096 bytes that were flushed are there after a power cut");
    Ok(())
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let end = match &words[..] {
        [drive, control] => work(drive, control),
        _ => Err("usage: vfio-client DRIVE.sock CONTROL.sock".into()),
    };
    if let Err(e) = end {
        eprintln!("{e}");
        process::exit(1);
    }
}
