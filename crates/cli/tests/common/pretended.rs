//! A `java` that is no JVM: a program with the agent's control memory, HotSpot's accounts and a workload's progress and report, which
//! does twice as much with buffers.
#![allow(clippy::disallowed_types, reason = "its accounts are read by another process")]

use control::{Asked, Control, Mode, State};
use hab::Counter;
use std::os::unix::fs::FileExt;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_micros(200);

struct Pretended {
    words: Vec<String>,
    agent: Option<String>,
}

/// A list of one thread, as HotSpot lays it out, for whoever reads this process's memory. What was reserved is told
/// otherwise: only what was allocated may count.
struct Account(&'static [AtomicU64; 7]);

impl Account {
    /// Word 0 is the pointer to the list, 1 and 2 the list (length, threads), 3 the pointer to the thread, 4 to 6 the thread
    /// (account, start and top of its TLAB).
    fn new() -> Account {
        let words: &'static [AtomicU64; 7] = Box::leak(Box::default());
        let address = |word: usize| std::ptr::from_ref(&words[word]).addr() as u64;
        for (word, value) in [(0, address(1)), (1, 1), (2, address(3)), (3, address(4))] {
            words[word].store(value, Ordering::Relaxed);
        }
        Account(words)
    }

    fn list(&self) -> usize {
        std::ptr::from_ref(&self.0[0]).addr()
    }

    fn add(&self, bytes: u64) {
        self.0[4].fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Where the reader of the progress file asks for the end of the measured window.
const END_ASKED: u64 = 32;
/// Where it lets the work begin.
const WORK_ASKED: u64 = 64;

fn is_asked(file: &std::fs::File, at: u64) -> bool {
    let mut word = [0; 8];
    file.read_exact_at(&mut word, at).is_ok() && word != [0; 8]
}

/// The measured window that a reader opens and closes.
#[derive(Default)]
struct Window {
    opened: Option<(Duration, u64)>,
    closed: Option<(Duration, u64)>,
}

impl Window {
    /// Does what the reader asks for; whether it is to stop.
    fn follow(&mut self, file: &std::fs::File, operations: u64, now: Duration) -> bool {
        let asked = |at| is_asked(file, at);
        let phase = |phase: u64| file.write_all_at(&phase.to_ne_bytes(), 8).unwrap();
        if self.opened.is_none() && asked(48) {
            self.opened = Some((now, operations));
            phase(3);
        }
        if self.closed.is_none() && asked(END_ASKED) {
            self.closed = Some((now, operations));
            phase(4);
        }
        asked(56)
    }

    /// Seconds and operations.
    fn report(&self) -> Option<(f64, u64)> {
        let ((begin, before), (end, after)) = self.opened.zip(self.closed)?;
        Some(((end - begin).as_secs_f64(), after - before))
    }
}

impl Pretended {
    fn external(&self) -> bool {
        self.after("--window") == Some("external")
    }

    fn after(&self, name: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + 1).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.after(name)?.parse().ok()
    }

    fn option(&self, key: &str) -> Option<&str> {
        let (_, options) = self.agent.as_deref()?.split_once('=')?;
        options.split(',').find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }

    fn run(&self) -> ! {
        let account = Account::new();
        let control = self.option("control").map(|path| {
            let control = Control::at(path, &[1]).unwrap();
            let observing = self.option("levels") == Some("none");
            control.set_settings(&format!(
                r#"{{"jdk":"25.0.1","levels":"core","core":"auto","core_bytes":0,"tlab":"2048","accounts":{{"list":{},"length":0,"threads":8,"allocated":0,
                    "tlab_start":8,"tlab_top":16,"exited":0}}}}"#,
                account.list()
            ));
            if let Some(reason) = self.after("--refuse") {
                control.set_message(reason);
                control.set_state(State::Refused);
                eprintln!("terrace: {reason}");
                exit(1);
            }
            control.set_mode(if observing || self.option("start") == Some("off") {
                Mode::Off
            } else {
                Mode::On
            });
            (control, if observing { State::Observing } else { State::Installed })
        });
        // As a server does: of two that want the same address, the second one fails. The kernel gives it back with the process.
        let listener = self.after("--listen").map(std::net::TcpListener::bind);
        if let Some(Err(error)) = &listener {
            eprintln!("the server cannot start: {error}");
            exit(1);
        }
        // Only now does anybody take it for started.
        let control = control.map(|(control, state)| {
            control.set_state(state);
            control
        });
        let progress = self.after("--progress").map(|path| {
            let mut options = std::fs::File::options();
            let file = options.create(true).truncate(true).read(true).write(true).open(path).unwrap();
            file.set_len(256).unwrap();
            let put = |at, value: u64| file.write_all_at(&value.to_ne_bytes(), at).unwrap();
            put(8, if self.external() { 1 } else { 3 });
            put(16, 1);
            put(24, 128);
            file.write_all_at(b"TERRPROG", 0).unwrap();
            if self.external() {
                while !is_asked(&file, WORK_ASKED) {
                    std::thread::sleep(STEP);
                }
                put(8, 2);
            }
            file
        });
        let start = Instant::now();
        let mut operations = 0_u64;
        let workload = self.number("--seconds");
        let end = workload.or(self.number("--ends-after")).map(Duration::from_secs_f64);
        let flag = 1 + u64::from(self.words.iter().any(|word| word == "-XX:+Twice"));
        let (mut worked, mut window) = (Duration::ZERO, Window::default());
        let (mut mode, mut switches) = (None, 0.0);
        while end.is_none_or(|end| worked + STEP < end) {
            // By the clock: how often a busy machine lets us have our turn is no matter of speed. Its end comes when it has worked so long: what a
            // late turn missed is done in one.
            let now = end.map_or(start.elapsed(), |end| start.elapsed().min(end));
            let steps = ((now - worked).as_nanos() / STEP.as_nanos()) as u64;
            worked += STEP * steps as u32;
            let speed = match &control {
                Some(control) if control.mode() == Mode::On => {
                    control.counters(0)[0].add(Counter::BufferBytes, 4096 * steps);
                    control.take_sizes(control.asked_number());
                    if control.asked(0) == Asked::Bytes(8192) { 1 } else { 2 }
                }
                Some(control) => {
                    control.counters(0)[0].add(Counter::PassedBytes, 1_000_000 * steps);
                    flag
                }
                None => flag,
            };
            // However late somebody is who switches it.
            let now = control.as_ref().map(|control| control.mode());
            switches += f64::from(mode.is_some() && mode != now);
            mode = now;
            if self.number("--ends-after-switches").is_some_and(|most| switches >= most) {
                break;
            }
            account.add(1000 * speed * steps);
            operations += 10 * speed * steps;
            if let Some(file) = &progress {
                file.write_all_at(&operations.to_ne_bytes(), 128).unwrap();
            }
            // Its time is only the most that it takes.
            if progress.as_ref().is_some_and(|file| !self.external() && is_asked(file, END_ASKED)) {
                break;
            }
            if let Some(file) = progress.as_ref().filter(|_| self.external())
                && window.follow(file, operations, worked)
            {
                break;
            }
            std::thread::sleep(STEP);
        }
        let external = window.report();
        if let Some((seconds, operations)) =
            external.or(workload.map(|seconds| (seconds.min(start.elapsed().as_secs_f64()), operations)))
        {
            let checks = self.after("--checks").unwrap_or("passed");
            let collections = if control.is_some() { 1 } else { 40 };
            println!(
                "\n{{\"workload\":\"alloc\",\"operation\":\"byte[16] allocated\",\"operations\":{operations},\"seconds\":{seconds},\
                 \"cpu_seconds\":{seconds},\"allocated_bytes\":null,\"collections\":{collections},\
                 \"collection_seconds\":0.1,\"checks\":\"{checks}\"}}"
            );
        }
        exit(self.number("--status").unwrap_or(0.0) as i32)
    }
}

/// What the line of the environment variable `PRETENDED` says, if this process was started as a `java`.
pub fn run_if_started() {
    let Ok(line) = std::env::var("PRETENDED") else { return };
    let all = line + &std::env::var("JAVA_TOOL_OPTIONS").unwrap_or_default();
    let words: Vec<String> = all.split_whitespace().map(str::to_owned).collect();
    let agent = words.iter().find(|word| word.starts_with("-agentpath:")).cloned();
    Pretended { words, agent }.run()
}
