// SPDX-License-Identifier: GPL-2.0-or-later
//! A log that is appended to, and synced by fdatasync(): rustc -O log_rows.rs
//!
//!     log_rows write [nosync]   prints a row's number once it is durable
//!     log_rows check            each printed row is in the log
use std::fs::{self, OpenOptions};
use std::io::{Error, Write};
use std::{env, process};

const ROW: usize = 64;

fn row(number: u64) -> String {
    format!("{number:0width$}\n", width = ROW - 1)
}

/// Goes on until it is killed.
fn write(sync: bool) -> Result<(), Error> {
    let mut log = OpenOptions::new().append(true).create(true).open("log")?;
    for number in 1.. {
        log.write_all(row(number).as_bytes())?;
        if sync {
            log.sync_data()?;
        }
        println!("{number}");
    }
    Ok(())
}

fn check() -> Result<bool, Error> {
    let notes = fs::read_to_string(env::var("VSSD_NOTES").expect("VSSD_NOTES"))?;
    let last: u64 = notes.lines().last().map_or(0, |line| line.parse().expect("a number"));
    let log = fs::read("log").unwrap_or_default();
    let lost = (1..=last).find(|i| log.chunks(ROW).nth(*i as usize - 1) != Some(row(*i).as_bytes()));
    if let Some(number) = lost {
        println!("row {number} of {last} durable rows is lost");
    }
    Ok(lost.is_none())
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write"] => write(true),
        ["write", "nosync"] => write(false),
        ["check"] => process::exit(!check()? as i32),
        _ => panic!("log_rows: write, write nosync or check"),
    }
}
