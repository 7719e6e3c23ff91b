//! The command lines of the documents, and where they stand.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What a command line begins with. A span in backticks that begins so is one, if it has another word; a line of a block of text may not.
const PROGRAMS: &str = "apt apt-get bash cargo cat cc cd chmod chrt cmake cp curl docker dpkg echo env export find g++ gcc gdb git head jar java javac \
    jcmd jfr jstack kill kubectl ldd make mkdir mount mvn mvnw nice numactl perf pip podman python3 rm rustc rustup sh source sudo sysctl \
    systemctl tar taskset terrace time uname unzip valgrind wget";

/// Blocks of commands that another test runs line by line: the document, its language, and the test.
const ELSEWHERE: [(&str, &str, &str); 1] =
    [("docs/containers.md", "shell", "crates/cli/tests/containers.rs")];

/// Languages in which nothing is typed into a shell.
const OTHERS: [&str; 7] = ["c", "ini", "java", "json", "rust", "toml", "yaml"];

pub struct Found {
    /// `docs/options.md:12`.
    pub place: String,
    pub command: String,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// What documents are looked at: the folders of pages, and the README of each package.
fn files() -> Vec<PathBuf> {
    let within = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/decisions", "docs/results"] {
        files.extend(
            within(folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")),
        );
    }
    for folder in ["crates", "java", "benches"] {
        let readmes = within(folder).into_iter().map(|package| package.join("README.md"));
        files.extend(readmes.filter(|readme| readme.is_file()));
    }
    files.sort();
    files
}

/// Each command once, in the documents' order.
pub fn documented() -> Vec<Found> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for file in files() {
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        for (number, command) in commands(&name, &std::fs::read_to_string(&file).unwrap()) {
            if known.insert(command.clone()) {
                found.push(Found { place: format!("{name}:{number}"), command });
            }
        }
    }
    found
}

/// Whether a text is a program with something behind it: `JAVA_HOME=/jdk ./gradlew build` is, as is `/usr/bin/java -version`.
fn is_command(text: &str) -> bool {
    let is_setting = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
    };
    let mut words = text.split(' ').skip_while(is_setting);
    let program = words.next().and_then(|word| word.rsplit('/').next());
    program.is_some_and(|program| PROGRAMS.split_whitespace().any(|known| known == program))
        && words.next().is_some()
}

fn commands(document: &str, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = fence.is_none().then_some(language.trim());
            continue;
        }
        match fence {
            Some("console" | "sh" | "bash") => {
                let command = line.strip_prefix("$ ").unwrap_or_else(|| {
                    panic!("{document}:{number}: a command begins with '$ ', and what it prints is a block of text: {line}")
                });
                found.push((number, command.split("  #").next().unwrap_or(command).trim().to_owned()));
            }
            Some("text" | "") => {
                let typed = line.strip_prefix("$ ").unwrap_or(line);
                assert!(
                    !is_command(typed),
                    "{document}:{number}: a command belongs in a block of 'console': {line}"
                );
            }
            Some(language) => {
                let elsewhere = ELSEWHERE.iter().any(|(page, block, test)| {
                    (*page, *block) == (document, language) && root().join(test).is_file()
                });
                let known = elsewhere || OTHERS.contains(&language);
                assert!(known, "{document}:{number}: who runs what is in a block of '{language}'?");
            }
            None if line.starts_with("    ") => {
                assert!(
                    !is_command(line.trim()),
                    "{document}:{number}: a command belongs in a block of 'console': {line}"
                );
            }
            None => {
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.filter(|span| is_command(span)).map(|span| (number, span.to_owned())));
            }
        }
    }
    // The command's place is the same whether it is said or not.
    found
        .into_iter()
        .map(|(number, command)| (number, command.replace("target/release/terrace", "terrace")))
        .collect()
}

#[test]
fn commands_are_found_in_blocks_and_in_backticks() {
    let text = "A `terrace status PID`, `no`, `javac` and `java x`, `A=b cargo y`.\n```console\n$ cargo xtask demo   # measures\n```\n\
                ```text\n  terrace x\nterrace: y\n```\n```java\njava z\n```\n";
    let found = [
        (1, "terrace status PID".into()),
        (1, "java x".into()),
        (1, "A=b cargo y".into()),
        (3, "cargo xtask demo".into()),
    ];
    assert_eq!(commands("page", text), found);
}

#[test]
#[should_panic(expected = "page:2: a command belongs in a block of 'console': tar -xzf x")]
fn a_command_is_not_a_block_of_text() {
    commands("page", "```text\ntar -xzf x\n```\n");
}

#[test]
#[should_panic(expected = "page:1: a command belongs in a block of 'console':     cargo build")]
fn a_command_is_not_an_indented_line() {
    commands("page", "    cargo build x\n");
}

#[test]
#[should_panic(expected = "page:2: who runs what is in a block of 'shell'?")]
fn a_language_that_nobody_runs_is_refused() {
    commands("page", "```shell\nterrace top\n```\n");
}
