//! Runs the cases and tells the result in libtest's words.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// What became of a case that did not fail.
pub enum Outcome {
    Passed,
    /// Not possible here, and why.
    Skipped(String),
}

pub type Verdict = Result<Outcome, String>;

/// One test.
pub struct Case {
    name: String,
    /// Whether it also runs when nobody chooses: see [`Case::only_if_asked`].
    usual: bool,
    body: Box<dyn Fn() -> Verdict + Send + Sync>,
}

impl Case {
    pub fn new(name: impl Into<String>, body: impl Fn() -> Verdict + Send + Sync + 'static) -> Case {
        Case { name: name.into(), usual: true, body: Box::new(body) }
    }

    /// The same, run with `--all` or by its name.
    pub fn only_if_asked(self) -> Case {
        Case { usual: false, ..self }
    }

    fn run(&self) -> Verdict {
        catch_unwind(AssertUnwindSafe(|| (self.body)())).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default())
        })
    }
}

#[derive(Default)]
struct Arguments {
    names: Vec<String>,
    skip: Vec<String>,
    exact: bool,
    all: bool,
    list: bool,
    only_ignored: bool,
    threads: Option<usize>,
}

impl Arguments {
    fn read() -> Arguments {
        let mut arguments = Arguments::default();
        let mut rest = std::env::args().skip(1);
        while let Some(argument) = rest.next() {
            let (key, inline) = match argument.split_once('=') {
                Some((key, value)) if key.starts_with("--") => (key.to_owned(), Some(value.to_owned())),
                _ => (argument, None),
            };
            match key.as_str() {
                "--skip" => arguments.skip.extend(inline.or_else(|| rest.next())),
                "--test-threads" => {
                    arguments.threads = inline.or_else(|| rest.next()).and_then(|number| number.parse().ok());
                }
                "--format" | "--color" | "--logfile" | "--shuffle-seed" | "-Z" if inline.is_none() => {
                    rest.next();
                }
                "--exact" => arguments.exact = true,
                // What libtest calls ignored is what runs only if asked.
                "--all" | "--include-ignored" => arguments.all = true,
                "--list" => arguments.list = true,
                "--ignored" => arguments.only_ignored = true,
                flag if flag.starts_with('-') => {}
                name => arguments.names.push(name.to_owned()),
            }
        }
        arguments
    }

    fn matches(&self, case: &Case, name: &str) -> bool {
        if self.exact { case.name == name } else { case.name.contains(name) }
    }

    fn wants(&self, case: &Case) -> bool {
        let is_one_of = |names: &[String]| names.iter().any(|name| self.matches(case, name));
        let chosen = if self.names.is_empty() { case.usual || self.all } else { is_one_of(&self.names) };
        let chosen =
            if self.only_ignored { !case.usual && (chosen || self.names.is_empty()) } else { chosen };
        chosen && !is_one_of(&self.skip)
    }

    /// The names that no case has. Who lists names wants each: one that was renamed would never be missed.
    fn unknown(&self, cases: &[Case]) -> Vec<&str> {
        let is_unknown = |name: &&str| !cases.iter().any(|case| self.matches(case, name));
        self.names.iter().map(String::as_str).filter(is_unknown).collect()
    }
}

/// Runs what the command line chooses.
pub fn run(cases: Vec<Case>) -> ExitCode {
    let arguments = Arguments::read();
    let unknown = arguments.unknown(&cases);
    if !unknown.is_empty() {
        println!(
            "no test's name has {}: correct it (--list), or install its JDK (cargo xtask jdks)",
            unknown.join(", nor ")
        );
        return ExitCode::from(101);
    }
    let all = cases.len();
    let chosen: Vec<Case> = cases.into_iter().filter(|case| arguments.wants(case)).collect();
    if arguments.list {
        chosen.iter().for_each(|case| println!("{}: test", case.name));
        return ExitCode::SUCCESS;
    }
    let begin = Instant::now();
    println!("\nrunning {} tests", chosen.len());
    if arguments.names.is_empty() && !arguments.all {
        println!("each JDK with some collectors, to be repeated with TERRACE_TURN={}", crate::matrix::turn());
    }
    let verdicts = run_all(&chosen, arguments.threads.unwrap_or(AT_A_TIME).max(1));
    let count = |wanted: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| wanted(verdict)).count();
    let failed = count(|verdict| verdict.is_err());
    if failed > 0 {
        println!("\nfailures:");
        for (case, verdict) in chosen.iter().zip(&verdicts) {
            if let Err(text) = verdict {
                println!("\n---- {} ----\n{text}", case.name);
            }
        }
        println!("\nfailures:");
        for (case, _) in chosen.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_err()) {
            println!("    {}", case.name);
        }
    }
    let skipped = count(|verdict| matches!(verdict, Ok(Outcome::Skipped(_))));
    if skipped > 0 {
        println!("\nskipped, {skipped}:");
        for (case, verdict) in chosen.iter().zip(&verdicts) {
            if let Ok(Outcome::Skipped(why)) = verdict {
                println!("skipped: {}: {why}", case.name);
            }
        }
    }
    let passed = count(|verdict| matches!(verdict, Ok(Outcome::Passed)));
    // Nothing was shown by a run of which nothing could run.
    let nothing = passed + failed == 0 && !chosen.is_empty();
    if nothing {
        println!("\nnone of the tests chosen could run here: that is a failure");
    }
    let good = failed == 0 && !nothing;
    println!(
        "\ntest result: {}. {} passed; {failed} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if good { "ok" } else { "FAILED" },
        passed,
        skipped,
        all - chosen.len(),
        begin.elapsed().as_secs_f64(),
    );
    if good { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// JVMs at a time, unless the command line says another number. Their threads are many times the processors already: two only hide
/// their waits, and three take longer (docs/decisions/test-time.md).
const AT_A_TIME: usize = 2;

fn run_all(cases: &[Case], threads: usize) -> Vec<Verdict> {
    let next = Mutex::new(0);
    let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(cases.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some(case) = cases.get(at) else { break };
                    let begin = Instant::now();
                    let verdict = case.run();
                    let seconds = begin.elapsed().as_secs_f64();
                    crate::record::note(&case.name, &verdict);
                    match &verdict {
                        Ok(Outcome::Passed) => println!("test {} ... ok <{seconds:.1}s>", case.name),
                        Ok(Outcome::Skipped(why)) => {
                            skips::note("terrace-agent", &case.name, why);
                            println!("test {} ... ignored, skipped: {why}", case.name)
                        }
                        // Told at once, and again at the end: a later hang of the machine must not hide it.
                        Err(text) => println!("test {} ... FAILED <{seconds:.1}s>\n{text}", case.name),
                    }
                    verdicts.lock().unwrap()[at] = Some(verdict);
                }
            });
        }
    });
    verdicts
        .into_inner()
        .unwrap()
        .into_iter()
        .map(|verdict| verdict.unwrap_or(Err("did not run".into())))
        .collect()
}

/// For launches that compare two JVMs' behaviour: they run while no other launch does.
pub struct Quiet {
    busy: Mutex<(usize, bool)>,
    changed: Condvar,
}

pub static QUIET: Quiet = Quiet { busy: Mutex::new((0, false)), changed: Condvar::new() };

impl Quiet {
    /// Runs `body` beside others of its kind.
    pub fn shared<T>(&self, body: impl FnOnce() -> T) -> T {
        let mut busy = self.busy.lock().unwrap();
        while busy.1 {
            busy = self.changed.wait(busy).unwrap();
        }
        busy.0 += 1;
        drop(busy);
        let result = body();
        self.busy.lock().unwrap().0 -= 1;
        self.changed.notify_all();
        result
    }

    /// Runs `body` alone.
    pub fn alone<T>(&self, body: impl FnOnce() -> T) -> T {
        let mut busy = self.busy.lock().unwrap();
        while busy.1 || busy.0 > 0 {
            busy = self.changed.wait(busy).unwrap();
        }
        busy.1 = true;
        drop(busy);
        let result = body();
        self.busy.lock().unwrap().1 = false;
        self.changed.notify_all();
        result
    }
}
