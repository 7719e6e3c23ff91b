//! A program on a terminal of its own, and what stands there.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is awaited comes much sooner, also on a machine with ten times as much to do.
pub const PATIENCE: Duration = Duration::from_secs(600);

pub struct Screen {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<vt100::Parser>>,
    reader: Option<JoinHandle<()>>,
    /// Dropped, the reader ends.
    reading: Option<Sender<()>>,
}

impl Screen {
    /// Starts it on a terminal of this size.
    pub fn start(command: &mut Command, rows: u16, columns: u16) -> Screen {
        let (ours, its) = terminal(rows, columns);
        for stream in [Command::stdin, Command::stdout, Command::stderr] {
            stream(command, its.try_clone().unwrap());
        }
        // SAFETY: between fork and exec only these system calls are made, which are async-signal-safe.
        unsafe {
            command.pre_exec(|| match libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY, 0) != -1 {
                true => Ok(()),
                false => Err(std::io::Error::last_os_error()),
            });
        }
        let child = command.spawn().unwrap();
        let shown = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let (to, mut from) = (Arc::clone(&shown), File::from(ours.try_clone().unwrap()));
        let (reading, is_read) = channel();
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while is_read.try_recv() != Err(TryRecvError::Disconnected) {
                // Whether there is anything; nobody may wait in `read` when this side is closed.
                let there = jvm::os::has_input(&from, Duration::from_millis(50));
                match there.then(|| from.read(&mut bytes)) {
                    None => {}
                    Some(Ok(count @ 1..)) => to.lock().unwrap().process(&bytes[..count]),
                    // The program has ended, and its side is closed.
                    Some(_) => break,
                }
            }
        });
        Screen { child, keyboard: ours.into(), shown, reader: Some(reader), reading: Some(reading) }
    }

    /// As when a connection is cut: this side of the terminal goes.
    pub fn hang_up(&mut self) {
        self.reading = None;
        self.reader.take().unwrap().join().unwrap();
        self.keyboard = File::open("/dev/null").unwrap();
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub fn text(&self) -> String {
        self.shown.lock().unwrap().screen().contents()
    }

    /// Whether any letter has a colour.
    pub fn has_colours(&self) -> bool {
        let shown = self.shown.lock().unwrap();
        let (rows, columns) = shown.screen().size();
        let mut cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.any(|(row, column)| {
            shown.screen().cell(row, column).is_some_and(|cell| cell.fgcolor() != vt100::Color::Default)
        })
    }

    pub fn is_full_screen(&self) -> bool {
        self.shown.lock().unwrap().screen().alternate_screen()
    }

    /// Waits until the screen is as wanted.
    pub fn until(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_there(&self.text()) {
            assert!(Instant::now() < until, "{what} in\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn signal(&self, signal: i32) {
        jvm::os::signal(self.child.id(), signal);
    }

    /// How it ended; all that it has written is on the screen then.
    pub fn end(&mut self) -> ExitStatus {
        let ended = self.child.wait().unwrap();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        ended
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both sides of a new terminal.
fn terminal(rows: u16, columns: u16) -> (OwnedFd, OwnedFd) {
    let (mut ours, mut its) = (-1, -1);
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both places and the size live on our stack; name and settings may be null.
    let made = unsafe { libc::openpty(&mut ours, &mut its, std::ptr::null_mut(), std::ptr::null(), &size) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: openpty has just made both, and nobody else has them.
    let sides = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(its)) };
    // A program that another test starts must not keep our side open.
    // SAFETY: the descriptor is open.
    unsafe { libc::fcntl(sides.0.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    // SAFETY: as above.
    unsafe { libc::fcntl(sides.1.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    sides
}
