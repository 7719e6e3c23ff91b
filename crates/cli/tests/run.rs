//! `terrace run` is the program, with flags added.

mod common;

use common::{Home, assert_refused, errors, shown, text};
use std::process::Command;

const TELLS: &str = "echo \"$@\"; echo \"env $JAVA_TOOL_OPTIONS\"; echo said >&2; exit 7";

#[test]
fn the_agent_goes_before_javas_arguments_and_streams_and_exit_code_are_the_programs() {
    let home = Home::new(TELLS);
    let java = home.java();
    let output = home
        .terrace(&["run", "--tlab", "2k", "--gc", "g1", "--", &java, "-jar", "a b.jar"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(errors(&output), "said");
    let library = text(&home.path("libterrace.so").canonicalize().unwrap());
    let line = format!("-agentpath:{library}=tlab=2k,control=auto -XX:+UseG1GC -jar a b.jar\nenv \n");
    assert_eq!(shown(&output), line);
}

#[test]
fn a_script_is_reached_through_the_environment() {
    let home = Home::new(TELLS);
    let script = home.script("build.sh", TELLS);
    let mut command = home.terrace(&["run", "--control", "none", "--", &text(&script), "verify"]);
    let output = command.env("JAVA_TOOL_OPTIONS", "-Dmine=1").output().unwrap();
    let shown = shown(&output);
    assert!(shown.starts_with("verify\nenv -Dmine=1 -agentpath:"), "{shown}");
    assert!(shown.ends_with("libterrace.so\n"), "{shown}");
}

#[test]
fn a_jvm_that_writes_a_class_data_archive_is_started_without_the_agent() {
    let home = Home::new(TELLS);
    let java = home.java();
    let arguments = ["run", "--gc", "g1", "--", &java, "-XX:ArchiveClassesAtExit=app.jsa", "-jar", "app.jar"];
    let output = home.terrace(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(shown(&output), "-XX:+UseG1GC -XX:ArchiveClassesAtExit=app.jsa -jar app.jar\nenv \n");
    let errors = errors(&output);
    assert!(
        errors.starts_with(
            "terrace: starting without terrace: -XX:ArchiveClassesAtExit=app.jsa writes a class data archive"
        ),
        "{errors}"
    );
    assert!(errors.ends_with("use terrace when the archive is used\nsaid"), "{errors}");

    let script = home.script("build.sh", TELLS);
    let mut command = home.terrace(&["run", "--", &text(&script)]);
    let output = command.env("JAVA_TOOL_OPTIONS", "-Xshare:dump").output().unwrap();
    assert_eq!(shown(&output), "\nenv -Xshare:dump\n");

    let strict = ["run", "--strict", "--", &java, "-Xshare:dump"];
    assert_refused(
        &home.terrace(&strict).output().unwrap(),
        2,
        &["-Xshare:dump writes", "leave out --strict"],
    );
    for against in ["off", "stock"] {
        let compared = ["compare", "--against", against, "--", &java, "-Xshare:dump"];
        let output = home.terrace(&compared).output().unwrap();
        assert_refused(&output, 2, &["-Xshare:dump writes", "-XX:SharedArchiveFile"]);
    }
}

/// As with `java @<(...)`: what a pipe holds is there once.
#[test]
fn a_pipe_of_arguments_is_left_to_the_program() {
    let home = Home::new("for word; do case $word in @*) cat \"${word#@}\";; esac; done");
    let pipe = text(&home.path("arguments"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut writer = Command::new("sh").args(["-c", "echo -Xmx4g > \"$0\"", &pipe]).spawn().unwrap();
    let output = home.terrace(&["run", "--", &home.java(), &format!("@{pipe}"), "Main"]).output().unwrap();
    assert_eq!(shown(&output), "-Xmx4g\n");
    assert!(writer.wait().unwrap().success());
}

#[test]
fn a_relative_report_is_where_the_user_stands() {
    let home = Home::new(TELLS);
    let mut command = home.terrace(&["run", "--report", "r-%p.json", "--strict", "--", &home.java()]);
    let output = command.current_dir("/tmp").output().unwrap();
    assert!(shown(&output).contains("report=/tmp/r-%p.json,control=auto,strict=true"), "{}", shown(&output));
}

#[test]
fn a_workload_is_run_on_the_jdk_asked_for() {
    let home = Home::new(TELLS);
    let java = home.java();
    let arguments =
        ["run", "--verbose", "--workload", "javac", "--java", &java, "--threads", "8", "--duration", "9s"];
    let output = home.terrace(&arguments).output().unwrap();
    let shown = shown(&output);
    for part in ["terrace-workloads.jar javac --threads 8 --seconds 9", "-sources.jar --format json"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(errors(&output).starts_with("terrace: starting /"), "only because of --verbose");
}

#[test]
fn a_signal_reaches_the_program() {
    use std::io::BufRead;
    let home = Home::new("trap 'exit 42' TERM; echo ready; while :; do sleep 0.02; done");
    let mut command = home.terrace(&["run", "--", &home.java()]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let kill = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(42));
}
