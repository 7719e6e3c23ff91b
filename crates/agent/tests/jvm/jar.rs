//! `terrace.jar`: `-javaagent`, its API, its bean, and what may stand in the way of its library.

use crate::artifacts;
use crate::jdk::{self, Jdk};
use crate::launch::{Exit, Launch};
use crate::matrix::{JDKS, MAIN, Setting, USUAL, hazard, matrix, since};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use crate::surroundings::Surroundings;
use crate::zgc::OBSERVED;
use control::{Asked, Control};
use hotspot::collector::Collector;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const ANY: &[Collector] = &[Collector::G1];
const ZGC: &str = "-XX:+UnlockExperimentalVMOptions -XX:+UseZGC";

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "jar::at_start", JDKS, USUAL, |_| by_jar(collecting()));
    hazard(cases, "jar::twice", JDKS, USUAL, |_| {
        by_jar(collecting())
            .flag(format!("-javaagent:{}=core=128k", jar().display()))
            .says("through its control file (the installed agent stays)")
    });
    // HotSpot finds the jar's natives in the library that -agentpath named, and no second one is loaded.
    hazard(cases, "jar::and_agentpath", JDKS, USUAL, |_| {
        Launch::new("Api")
            .within(cache())
            .flags("-Xmn8m")
            .flag(format!("-javaagent:{}=core=128k", jar().display()))
            .unreported()
            .says("through its control file (the installed agent stays)")
            .prints(&["began: installed, on", "done"])
    });
    hazard(cases, "jar::api", JDKS, USUAL, |_| api("core=64k"));
    hazard(cases, "jar::closes_its_own", JDKS, ANY, |_| Launch::bare("Beside").within(cache()).stock());
    // The module's classes come before those of the agent's jar.
    hazard(cases, "jar::as_a_module", JDKS, USUAL, |_| {
        let module = format!("--module-path={}", jar().display());
        by_jar(collecting()).flag(module).flags("--add-modules=terrace")
    });
    hazard(cases, "jar::options_are_wrong", JDKS, ANY, |_| {
        by_jar(Launch::bare("Hello"))
            .agent("core=1")
            .unreported()
            .says("core=1: use at least 4k")
            .prints(&["hello"])
    });
    matrix(cases, "jar::zgc", &[17, 21, 25], ANY, |setting| {
        let launch = by_jar(Launch::bare("Api")).flags(ZGC).unreported();
        let launch =
            launch.says("ZGC already allocates").prints(&["inactive: ZGC already allocates", "done"]);
        run(&launch, setting.jdk)
    });
    matrix(cases, "jar::zgc_observed", &[17, 21, 25], ANY, |setting| {
        let launch = by_jar(Launch::bare("Api")).agent("log=warn").flags(ZGC).unreported();
        let launch = launch
            .says(OBSERVED)
            .says("there are no buffers to switch on: ZGC is observed only")
            .prints(&["observed: observing: ZGC is observed only", "done"]);
        run(&launch, setting.jdk)
    });
    matrix(cases, "jar::strict", JDKS, ANY, |setting| {
        let launch = by_jar(Launch::bare("Hello")).agent("core=64k,strict=true").flags(ZGC).unreported();
        let launch = launch.prints(&[]).never("hello");
        run(&launch.says("strict=true: not starting").exit(Exit::Code(1)), setting.jdk)
    });
    hazard(cases, "jar::released", MAIN, USUAL, |_| {
        let launch = Launch::bare("Released").within(cache()).stock();
        launch.prints(&["began: installed, on", "value released", "loader released", "done"])
    });
    hazard(cases, "jar::no_platform_server", MAIN, ANY, |_| {
        by_jar(Launch::bare("Servers")).prints(&["own server: 1 bean", "done"])
    });
    matrix(cases, "jar::jmx", &[17, 21, 25], USUAL, managed);
    matrix(cases, "jar::without_modules", &[17], USUAL, without_modules);
    places(cases);
    forbidden(cases);
}

fn jar() -> PathBuf {
    artifacts::jar().unwrap_or_else(|why| panic!("{why}"))
}

/// The user's cache, of the tests.
fn cache() -> Surroundings {
    let cache = artifacts::scratch().join("cache");
    Surroundings::variable("XDG_CACHE_HOME", cache.display().to_string())
}

fn by_jar(launch: Launch) -> Launch {
    launch.within(cache()).by_jar(jar())
}

fn collecting() -> Launch {
    Launch::new("Load").args(&["gc=20", "threads=4"]).flags("-Xmn8m").collects(20)
}

fn api(options: &str) -> Launch {
    let start = format!("start={options}");
    let launch = Launch::new("Api").within(cache()).stock().flags("-Xmn8m").args(&[&start]);
    launch.prints(&["began: installed, on", "done"])
}

fn run(launch: &Launch, jdk: &Jdk) -> Verdict {
    QUIET.shared(|| launch.run(jdk)).map(|_| Outcome::Passed)
}

/// Where the library is unpacked to.
fn places(cases: &mut Vec<Case>) {
    matrix(cases, "jar::of_another_version", JDKS, ANY, |setting| {
        let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
        let cache = Surroundings::variable("XDG_CACHE_HOME", directory.path().display().to_string());
        let launch = by_jar(collecting()).within(cache);
        QUIET.shared(|| launch.run(setting.jdk))?;
        // What was unpacked before is not this jar's any more, and another version's is beside it.
        let ours = unpacked(directory.path())?;
        let (before, others) = (read(&ours)?, directory.path().join("terrace/0123/libterrace.so"));
        write(&others, b"another version")?;
        write(&ours, b"not a library")?;
        QUIET.shared(|| launch.run(setting.jdk))?;
        if read(&ours)? != before || read(&others)? != b"another version" {
            return Err("the library was not unpacked anew, or another one was touched".into());
        }
        Ok(Outcome::Passed)
    });
    let mounted =
        "mkdir cache && mount -t tmpfs -o noexec none cache && export XDG_CACHE_HOME=\"$PWD/cache\"";
    matrix(cases, "jar::noexec", JDKS, ANY, move |setting| match Surroundings::mounts(mounted) {
        Ok(within) => run(&by_jar(collecting()).within(within).flags("-Djava.io.tmpdir=."), setting.jdk),
        Err(why) => Ok(Outcome::Skipped(why)),
    });
    matrix(cases, "jar::noexec_everywhere", JDKS, ANY, move |setting| match Surroundings::mounts(mounted) {
        Ok(within) => {
            let flags = "-Djava.io.tmpdir=cache";
            let launch = collecting().by_jar(jar()).within(within).flags(flags).unreported();
            run(&launch.says("no directory for libterrace.so ("), setting.jdk)
        }
        Err(why) => Ok(Outcome::Skipped(why)),
    });
    hazard(cases, "jar::no_cache", JDKS, ANY, |_| {
        let nowhere = Surroundings::variable("XDG_CACHE_HOME", "/proc/none");
        let launch = collecting().by_jar(jar()).within(nowhere).flags("-Djava.io.tmpdir=/proc/none");
        launch.unreported().says("no directory for libterrace.so (")
    });
    matrix(cases, "jar::strict_without_library", JDKS, ANY, |setting| {
        let nowhere = Surroundings::variable("XDG_CACHE_HOME", "/proc/none");
        let launch = Launch::bare("Hello").by_jar(jar()).within(nowhere).flags("-Djava.io.tmpdir=/proc/none");
        let launch = launch.agent("strict=true").unreported().prints(&[]).never("hello");
        run(&launch.says("strict=true: not starting").exit(Exit::Code(1)), setting.jdk)
    });
    not_ascii(cases);
    // What stands for a machine that the jar was not built for, and for a C library that the library does not fit.
    matrix(cases, "jar::of_another_processor", JDKS, ANY, |setting| {
        changed(setting, "this terrace.jar has no library for linux-", |libraries| {
            let folder = only_folder(libraries)?;
            std::fs::rename(&folder, libraries.join("linux-riscv64")).map_err(|error| error.to_string())
        })
    });
    matrix(cases, "jar::not_loadable", JDKS, ANY, |setting| {
        changed(setting, "libterrace.so cannot be loaded: ", |libraries| {
            let folder = only_folder(libraries)?;
            write(&folder.join("libterrace.so.sha256"), "f".repeat(64).as_bytes())?;
            write(&folder.join("libterrace.so"), b"\x7fELF of another machine")
        })
    });
}

/// A cache that has no path in a JVM whose locale knows ASCII only.
fn not_ascii(cases: &mut Vec<Case>) {
    let surroundings = || Surroundings::variable("XDG_CACHE_HOME", "/home/jürgen/.cache").with("LC_ALL", "C");
    const NOWHERE: &str = "-Djava.io.tmpdir=/proc/none";
    hazard(cases, "jar::not_ascii", JDKS, ANY, move |_| {
        by_jar(collecting()).within(surroundings()).flags("-Djava.io.tmpdir=.")
    });
    hazard(cases, "jar::not_ascii_nor_elsewhere", JDKS, ANY, move |_| {
        let launch = by_jar(Launch::bare("Hello")).within(surroundings()).flags(NOWHERE).unreported();
        launch.says("no directory for libterrace.so (").prints(&["hello"])
    });
    hazard(cases, "jar::not_ascii_by_api", JDKS, ANY, move |_| {
        let launch = Launch::bare("Api").within(surroundings()).stock().flags(NOWHERE);
        launch.args(&["start=core=64k"]).prints(&["inactive: no directory for libterrace.so (", "done"])
    });
    matrix(cases, "jar::not_ascii_by_command", JDKS, ANY, move |setting| {
        let mut command = surroundings().command(&setting.jdk.java());
        let output = command.args([NOWHERE, "-jar"]).arg(jar()).arg("library").output();
        let output = output.map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("WARNING")).collect();
        let is_reason = |line: &str| line.starts_with("terrace: no directory for libterrace.so (");
        if output.status.code() == Some(1) && lines.len() == 1 && is_reason(lines[0]) {
            return Ok(Outcome::Passed);
        }
        Err(format!("{}: {said}", output.status))
    });
}

/// A JVM that forbids something of what the jar does.
fn forbidden(cases: &mut Vec<Case>) {
    // A sandbox without memory files: buffers that commands do not find are better than none.
    let unseen =
        "cannot share counters with commands: Operation not permitted (os error 1); allow memfd_create";
    let without = || {
        let cache = artifacts::scratch().join("cache").display().to_string();
        Surroundings::refusing(&[libc::SYS_memfd_create]).with("XDG_CACHE_HOME", cache)
    };
    hazard(cases, "jar::no_memory_files", JDKS, ANY, move |_| {
        by_jar(collecting()).agent("core=64k,control=auto").within(without()).says(unseen)
    });
    hazard(cases, "jar::no_memory_files_by_api", JDKS, ANY, move |_| {
        api("core=64k,control=auto").within(without()).says(unseen)
    });
    hazard(cases, "jar::security_manager", &[11, 17], ANY, |_| {
        let launch = by_jar(Launch::bare("Hello")).flags("-Djava.security.manager").unreported();
        launch.says("the security manager forbids it (").prints(&["hello"])
    });
    hazard(cases, "jar::illegal_native_access", since(25), ANY, |_| {
        let launch = by_jar(collecting()).flags("--illegal-native-access=deny").unreported();
        launch.says("this JVM forbids native libraries: start it with --enable-native-access=ALL-UNNAMED")
    });
    hazard(cases, "jar::native_access_enabled", since(25), ANY, |_| {
        by_jar(collecting()).flags("--illegal-native-access=deny --enable-native-access=ALL-UNNAMED")
    });
}

/// A JVM with nothing but `java.base`: no agents in Java, no management.
fn without_modules(setting: Setting) -> Verdict {
    let Some(jlink) = setting.jdk.tool("jlink") else {
        return Ok(Outcome::Skipped("jlink: this JDK does not have it".into()));
    };
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let image = directory.path().join("image");
    let output = (Command::new(jlink).args(["--add-modules", "java.base", "--output"]).arg(&image))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("jlink: {}", String::from_utf8_lossy(&output.stdout)));
    }
    let jdk = Jdk::at(&image).ok_or("the image is no JDK")?;
    run(&api("core=64k").flags(&format!("-XX:+{}", setting.collector.flag())), &jdk)
}

/// Seen from another JVM, as by jconsole.
fn managed(setting: Setting) -> Verdict {
    for _ in 0..10 {
        match managed_once(setting) {
            // The port belongs to nobody until the JVM has it.
            Err(why) if why.contains("already in use") => {}
            verdict => return verdict,
        }
    }
    managed_once(setting)
}

fn managed_once(setting: Setting) -> Verdict {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.map_err(|error| error.to_string())?.port();
    let launch = by_jar(Launch::new("Load"))
        .args(&["until=released", "threads=4"])
        .agent("core=64k,control=control")
        .flags(&format!(
            "-Xmn8m -XX:+{} -Dcom.sun.management.jmxremote.port={port} -Dcom.sun.management.jmxremote.authenticate=false \
             -Dcom.sun.management.jmxremote.ssl=false -Dcom.sun.management.jmxremote.host=127.0.0.1 -Djava.rmi.server.hostname=127.0.0.1",
            setting.collector.flag()
        ))
        .collects(1)
        .beside(move |running| manage(running, port));
    run(&launch, setting.jdk)
}

fn manage(running: &mut Running<'_>, port: u16) -> Result<(), String> {
    if !running.wait_for("running\n") {
        return Err("the program never ran".into());
    }
    let file = |name: &str| running.directory.join(name);
    let said = file("manager");
    let output = std::fs::File::create(&said).map_err(|error| error.to_string())?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let path = std::env::join_paths([jar(), artifacts::programs_of_jar()?.into()])
        .map_err(|error| error.to_string())?;
    // Of a whole JDK: the runtimes of the tests lack what such a client takes.
    let java = jdk::compiler().ok_or("no JDK with a compiler")?.with_file_name("java");
    let mut manager = Command::new(java)
        .args(["-Xmx64m", "-XX:+UseSerialGC", "-cp"])
        .arg(path)
        .args(["Manager", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(|error| error.to_string())?;
    let control = file("control");
    let outcome = until_said(running, &mut manager, &said, "listening").and_then(|()| {
        let control = Control::open(&control).map_err(|error| error.to_string())?;
        control.ask_for_sizes(&[(0, Asked::Bytes(32 << 10))]);
        until_said(running, &mut manager, &said, "told terrace.sizes: core 32768 bytes")
    });
    let _ = manager.kill();
    let _ = manager.wait();
    let text = std::fs::read_to_string(&said).unwrap_or_default();
    outcome.map_err(|why| format!("{why}\n{text}"))?;
    for line in
        ["state installed", "off true then on=false", "on true then on=true", "refills, settings true"]
    {
        if !text.contains(line) {
            return Err(format!("the manager did not say '{line}':\n{text}"));
        }
    }
    Ok(())
}

fn until_said(running: &mut Running<'_>, manager: &mut Child, file: &Path, text: &str) -> Result<(), String> {
    running.wait_until(text, |_| {
        // The last look comes after the end.
        let ended = manager.try_wait().map_err(|error| error.to_string())?;
        match (std::fs::read_to_string(file).unwrap_or_default().contains(text), ended) {
            (false, Some(status)) => Err(format!("the manager ended ({status}) without '{text}'")),
            (said, _) => Ok(said),
        }
    })
}

/// A launch with a jar whose libraries are changed.
fn changed(setting: Setting, says: &str, change: impl FnOnce(&Path) -> Result<(), String>) -> Verdict {
    let Some(tool) = jdk::compiler().map(|javac| javac.with_file_name("jar")) else {
        return Ok(Outcome::Skipped("jar: no JDK has it".into()));
    };
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let (folder, other) = (directory.path().join("of_jar"), directory.path().join("terrace.jar"));
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let within = |arguments: &[&std::ffi::OsStr]| {
        let output = Command::new(&tool).current_dir(&folder).args(arguments).output();
        match output.map_err(|error| error.to_string())? {
            output if output.status.success() => Ok(()),
            output => Err(format!("jar: {}", String::from_utf8_lossy(&output.stderr))),
        }
    };
    within(&["--extract".as_ref(), "--file".as_ref(), jar().as_os_str()])?;
    change(&folder)?;
    let words = ["--create", "--manifest", "META-INF/MANIFEST.MF", "--file"].map(AsRef::as_ref);
    within(&[&words[..], &[other.as_os_str(), "-C".as_ref(), ".".as_ref(), ".".as_ref()]].concat())?;
    run(&by_jar(collecting()).by_jar(other).unreported().says(says), setting.jdk)
}

fn only_folder(libraries: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(libraries).map_err(|error| error.to_string())?;
    let mut found = entries.flatten().map(|entry| entry.path());
    found
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("linux-")))
        .ok_or_else(|| "no library in the jar".into())
}

fn unpacked(cache: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(cache.join("terrace")).map_err(|error| error.to_string())?;
    let mut found = entries.flatten().map(|entry| entry.path().join("libterrace.so"));
    found.next().ok_or_else(|| "nothing was unpacked".into())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A file and its folder. What was there is another file afterwards: a JVM that has it loaded keeps its own.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    if path.exists() {
        std::fs::remove_file(path).map_err(failed)?;
    }
    std::fs::write(path, bytes).map_err(failed)
}
