//! Wrong input is answered by one line that names the remedy.

mod common;

use common::{Home, assert_refused, text};

fn refused(arguments: &[&str], parts: &[&str]) {
    let home = Home::new("exit 0");
    assert_refused(&home.terrace(arguments).output().unwrap(), 2, parts);
}

#[test]
fn a_program_is_needed() {
    refused(&["run"], &["no program given", "-- java -jar app.jar"]);
    refused(&["compare"], &["no program given", "--workload"]);
    refused(&["run", "--", "no-such-java"], &["'no-such-java' is not on PATH"]);
    refused(&["compare", "--", "/tmp"], &["/tmp is no file; specify the path of java"]);
    refused(&["run", "--", "/no/such/java"], &["/no/such/java does not exist; specify the path of java"]);
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    refused(&["run", "--workload", "aloc"], &["'aloc'", "alloc, sizes, javac, churn, threads"]);
    refused(&["run", "--gc", "cms", "--", "java"], &["'cms'", "serial, parallel, g1"]);
    refused(&["run", "--levels", "cores", "--", "java"], &["core+processor or none"]);
    refused(&["compare", "--agianst", "stock"], &["--agianst", "did you mean --against"]);
    refused(&["compare", "--against", "stok"], &["'stok'", "stock"]);
    refused(&["comapre"], &["comapre", "did you mean compare"]);
    refused(&["status"], &["<PID>"]);
    refused(&["status", "java"], &["'java' is not a process ID", "'terrace top' lists"]);
    refused(&["doctor", "0"], &["'0' is not a process ID"]);
    refused(
        &["doctor", "1", "--gc", "g1"],
        &["--gc applies to a program that is started here", "leave it out"],
    );
    refused(&["doctor", "1", "--warmup", "3"], &["--warmup applies to a program that is started here"]);
}

#[test]
fn the_help_that_is_named_is_the_commands_own() {
    refused(
        &["doctor", "--forks", "--", "java"],
        &["a value is required for '--forks", "see 'terrace doctor --help'"],
    );
    refused(&["sim", "run", "--frobnicate"], &["see 'terrace sim run --help'"]);
    refused(&["compare", "--forks", "concurrent", "--", "java"], &["with --forks, write --forks=concurrent"]);
    refused(&["frobnicate"], &["see 'terrace --help'"]);
}

#[test]
fn words_in_the_wrong_place() {
    refused(
        &["run", "java", "-jar", "app.jar"],
        &["'java'", "write a program and its arguments after --, such as -- java -jar app.jar"],
    );
    refused(&["run", "core=64k", "--", "java"], &["'core=64k'", "--core 64k"]);
}

/// A word that shares a few letters is no suggestion.
#[test]
fn a_suggestion_is_close() {
    let home = Home::new("exit 0");
    let output = home.terrace(&["frobnicate"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_refused(&output, 2, &["'frobnicate'", "--help"]);
    assert!(!errors.contains("did you mean"), "{errors}");
}

#[test]
fn sizes_numbers_and_times() {
    refused(&["run", "--tlab", "12q", "--", "java"], &["--tlab", "such as 64k"]);
    refused(&["run", "--core", "0", "--", "java"], &["--core", "such as 64k"]);
    refused(&["run", "--workload", "alloc", "--threads", "0"], &["--threads", "1 or more"]);
    refused(&["compare", "--duration", "soon", "--", "java"], &["--duration", "such as 20s"]);
    refused(&["compare", "--window", "0", "--", "java"], &["--window", "1ms or more"]);
    refused(&["compare", "--window", "3ms", "--", "sh"], &["--window must be longer than --skip"]);
    refused(&["compare", "--duration", "150ms", "--", "sh"], &["--duration is too short"]);
    // Of the other method: nothing that is given is ignored.
    for (option, remedy) in [("--window", "use --fork-seconds"), ("--skip", "use --warmup")] {
        let words = ["compare", option, "50ms", "--b", "stock", "--", "sh"];
        refused(&words, &[option, "windows in one JVM", remedy]);
    }
    refused(&["compare", "--fork-seconds", "9", "--", "sh"], &["--fork-seconds", "omit it, or add --forks"]);
}

#[test]
fn options_that_do_not_belong_together() {
    refused(&["run", "--workload", "alloc", "--", "java"], &["--workload", "cannot be used with"]);
    refused(&["run", "--threads", "3", "--", "sh"], &["apply only to --workload"]);
    refused(&["compare", "--java", "/jdk", "--", "sh"], &["--java applies only to --workload"]);
    refused(&["run", "--duration", "3s", "--", "sh"], &["--duration and --warmup apply only to --workload"]);
    refused(&["run", "--levels", "processor", "--core", "64k", "--", "sh"], &["--core", "--levels core"]);
    refused(&["run", "--workload", "javac", "--size", "16"], &["--workload javac has no --size"]);
    refused(&["compare", "--levels", "none", "--", "sh"], &["--levels none has no buffers", "--b stock"]);
    refused(&["run", "--report", "a,b", "--", "sh"], &["report", "without one"]);
}

#[test]
fn sides_that_are_none() {
    refused(&["compare", "--b=", "--", "sh"], &["a side is empty", "stock, off or bound"]);
    refused(&["compare", "--b", "stok", "--", "sh"], &["'stok'", "write terrace, stock"]);
    refused(&["compare", "--b", "XX:TLABSize=4k", "--", "sh"], &["no leading dash", "write -XX:TLABSize=4k"]);
    refused(&["compare", "--a", "terrace cores=1", "--", "sh"], &["'cores'", "use levels, core"]);
    refused(&["compare", "--b", "stock core=64k", "--", "sh"], &["write 'terrace core=64k'"]);
    refused(
        &["compare", "--b", "off", "--against", "off", "--", "sh"],
        &["--against", "cannot be used with"],
    );
    refused(&["compare", "--a", "off", "--control", "--", "sh"], &["--control", "cannot be used with"]);
    for words in
        [&["--b", "bound -Xmn64m"][..], &["--b", "bound", "--forks"], &["--a", "stock", "--b", "bound"]]
    {
        refused(&[&["compare"], words, &["--", "sh"]].concat(), &["bound", "inside one JVM only"]);
    }
    refused(
        &["compare", "--a", "stock", "--b=-Xmn64m", "--core", "64k", "--", "sh"],
        &["neither side", "--a terrace"],
    );
    refused(
        &["compare", "--b", "stock", "--precision", "3", "--", "sh"],
        &["--precision", "longer --duration"],
    );
    refused(
        &["compare", "--b=-XX:TLABSize=4k", "--", "sh", "-XX:TLABSize=8k"],
        &["-XX:TLABSize=4k", "has no effect", "remove it there"],
    );
}

#[test]
fn a_flag_that_the_environment_overrules() {
    let home = Home::new("exit 0");
    let java = home.java();
    let words = ["compare", "--b=-Xmx128m", "--"];
    for (name, value, program) in [
        ("_JAVA_OPTIONS", "-Xmx64m", java.as_str()),
        ("_JAVA_OPTIONS", "-Dx='a b' -XX:MaxHeapSize=64m", "sh"),
        ("JDK_JAVA_OPTIONS", "-Xmx64m", "sh"),
    ] {
        let output = home.terrace(&[&words[..], &[program]].concat()).env(name, value).output().unwrap();
        let by = value.split_whitespace().last().unwrap();
        assert_refused(&output, 2, &["-Xmx128m of 'stock -Xmx128m' has no effect", by, name]);
    }
    // The launcher puts this before its own command line: the side's flag comes later.
    let program = [&words[..], &[&java]].concat();
    let output = home.terrace(&program).env("JDK_JAVA_OPTIONS", "-Xmx64m").output().unwrap();
    assert_refused(&output, 1, &["before a JVM with terrace started"]);
}

#[test]
fn a_wrong_file_at_java() {
    let home = Home::new("exit 0");
    let old = home.path("old");
    std::fs::create_dir_all(old.join("bin")).unwrap();
    std::fs::copy(home.path("jdk/bin/java"), old.join("bin/java")).unwrap();
    std::fs::write(old.join("release"), "JAVA_VERSION=\"1.8.0_402\"\n").unwrap();
    for (path, part) in [
        ("/etc/passwd".to_owned(), "is not executable"),
        ("/tmp".to_owned(), "is not a JDK"),
        ("/no/such/jdk".to_owned(), "specify a JDK's directory"),
        ("/bin/sh".to_owned(), "is not java"),
        (text(&old), "is JDK 8, too old"),
    ] {
        let output = home.terrace(&["compare", "--workload", "alloc", "--java", &path]).output().unwrap();
        assert_refused(&output, 2, &["--java", &path, part]);
    }
}

#[test]
fn a_collector_that_the_jdk_lacks() {
    let home = Home::new("case \"$*\" in *Shenandoah*) exit 1;; esac");
    let arguments = ["compare", "--workload", "alloc", "--java", &home.java(), "--gc", "shenandoah"];
    assert_refused(
        &home.terrace(&arguments).output().unwrap(),
        2,
        &["has no shenandoah; choose one of serial"],
    );
}

#[test]
fn terraces_own_files_are_missing() {
    let home = Home::new("exit 0");
    std::fs::remove_file(home.path("libterrace.so")).unwrap();
    let refused = |words: &[&str], home_is: Option<&str>, code, parts: &[&str]| {
        let mut command = home.terrace(words);
        command.envs(home_is.map(|place| ("TERRACE_HOME", place)));
        assert_refused(&command.output().unwrap(), code, parts);
    };
    let missing = ["libterrace.so not found in", "cargo xtask build", "TERRACE_HOME"];
    refused(&["run", "--strict", "--", &home.java()], None, 2, &missing);
    refused(&["compare", "--", &home.java()], None, 1, &missing);
    let nowhere = ["TERRACE_HOME /no/such is not a directory"];
    refused(&["run", "--strict", "--", "sh"], Some("/no/such"), 2, &nowhere);
    // A service starts whatever has become of Terrace.
    for place in [None, Some("/no/such")] {
        let mut command = home.terrace(&["run", "--", "sh", "-c", "echo served; exit 7"]);
        let output = command.envs(place.map(|place| ("TERRACE_HOME", place))).output().unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(7), &b"served\n"[..]));
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("terrace: starting without terrace: "));
    }
}

#[test]
fn a_report_that_cannot_be_written_is_found_before_measuring() {
    let home = Home::new("exit 0");
    let output = home.terrace(&["compare", "--out", "/no/such/x.json", "--", &home.java()]).output().unwrap();
    assert_refused(&output, 2, &["--out /no/such/x.json", "specify a writable file"]);
}

#[test]
fn help_teaches_by_examples() {
    let home = Home::new("exit 0");
    for arguments in
        [vec!["--help"], vec!["run", "--help"], vec!["compare", "--help"], vec!["status", "--help"]]
    {
        let output = home.terrace(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let help = common::shown(&output);
        assert!(help.contains("Examples:\n  terrace ") && output.stderr.is_empty(), "{help}");
    }
}

#[test]
fn completions_are_for_known_shells() {
    refused(&["completions", "tcsh"], &["'tcsh'", "bash", "zsh", "fish"]);
}
