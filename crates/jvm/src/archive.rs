//! JVMs that write a class data archive.
//!
//! HotSpot ends such a JVM with exit code 1 when it has any native agent (17, 21 and 25: "CDS dumping does not support native JVMTI
//! agent"). JVMs that *use* an archive, and JDK 25's AOT cache in all its modes, work with one.

use crate::launch::{Launch, TOOL_OPTIONS};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;

/// The option by which the program's JVM would write an archive, if there is one: on the command line, in a file of arguments, or in
/// one of the variables that launcher and JVM read.
pub fn written_by(launch: &Launch) -> Option<String> {
    let variable = |name: &str| {
        let own = launch.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let value = own.or_else(|| std::env::var_os(name)).unwrap_or_default();
        words(&value.to_string_lossy(), false)
    };
    let arguments = launch.arguments.iter().map(|word: &OsString| word.to_string_lossy().into_owned());
    // In the JVM's own order: what comes later counts.
    let mut options = variable(TOOL_OPTIONS);
    if launch.is_java() {
        options.extend(jvm_options(variable("JDK_JAVA_OPTIONS").into_iter().chain(arguments).collect()));
    } else {
        // A script may hand its arguments on.
        options.extend(arguments);
    }
    options.extend(variable("_JAVA_OPTIONS"));
    options.into_iter().fold(None, |found, option| match writes(&option) {
        Some(true) => Some(option),
        // Switches off the one before.
        Some(false) if found.as_deref().is_some_and(|found| name(found) == name(&option)) => None,
        _ => found,
    })
}

/// `RecordDynamicDumpInfo` of `-XX:+RecordDynamicDumpInfo`.
fn name(option: &str) -> &str {
    option.trim_start_matches("-XX:").trim_start_matches(['+', '-'])
}

/// Whether an option asks for an archive, or takes it back; `None` for all others.
fn writes(option: &str) -> Option<bool> {
    if option == "-Xshare:dump" || option.starts_with("-XX:ArchiveClassesAtExit=") {
        return Some(true);
    }
    let switch = option.strip_prefix("-XX:")?;
    matches!(
        name(switch),
        "RecordDynamicDumpInfo" | "AutoCreateSharedArchive" | "DumpSharedSpaces" | "DynamicDumpSharedSpaces"
    )
    .then(|| switch.starts_with('+'))
}

/// Options of the launcher whose value is the next word.
const WITH_VALUE: [&str; 18] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--enable-native-access",
    "--illegal-native-access",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "-d",
    "--describe-module",
    "--source",
    "--finalization",
];

/// What of the launcher's arguments is for the JVM: all before the program's name, with the files of arguments that are named.
fn jvm_options(mut left: VecDeque<String>) -> Vec<String> {
    let mut options = Vec::new();
    let mut files = true;
    while let Some(word) = left.pop_front() {
        match word.strip_prefix('@') {
            Some(path) if files && !path.starts_with('@') => {
                for word in file(path).into_iter().rev() {
                    left.push_front(word);
                }
                continue;
            }
            _ if word == "--disable-@files" => files = false,
            _ if !word.starts_with('-') || ["-jar", "-m", "--module"].contains(&word.as_str()) => break,
            _ if WITH_VALUE.contains(&word.as_str()) => drop(left.pop_front()),
            _ => match word.strip_prefix("-XX:VMOptionsFile=") {
                Some(path) => options.extend(file(path)),
                None => options.push(word),
            },
        }
    }
    options
}

/// The words of a file of arguments; none if it cannot be read, which the launcher will say itself.
fn file(path: &str) -> Vec<String> {
    std::fs::read_to_string(Path::new(path)).map(|text| words(&text, true)).unwrap_or_default()
}

/// Words at white space, with both kinds of quotes; in files also comments, and a backslash inside quotes.
fn words(text: &str, in_file: bool) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            Some(_) if in_file && letter == '\\' => word.get_or_insert_default().extend(letters.next()),
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None if in_file && letter == '#' && word.is_none() => {
                letters.by_ref().find(|letter| *letter == '\n');
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn java(line: &str) -> Launch {
        let words = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let mut launch = Launch::new("/jdk/bin/java".into(), words);
        // Not this process's own.
        for name in [TOOL_OPTIONS, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
            launch.environment.push((name.into(), "".into()));
        }
        launch
    }

    fn with(mut launch: Launch, name: &str, value: &str) -> Option<String> {
        launch.environment.iter_mut().filter(|(key, _)| key == name).for_each(|(_, old)| *old = value.into());
        written_by(&launch)
    }

    #[test]
    fn options_that_write_an_archive_are_recognised() {
        for option in [
            "-Xshare:dump",
            "-XX:ArchiveClassesAtExit=app.jsa",
            "-XX:+RecordDynamicDumpInfo",
            "-XX:+AutoCreateSharedArchive",
        ] {
            for line in ["{} -jar app.jar", "-Xmx1g -cp a.jar:b.jar {} Main", "--module-path m {} -m m/Main"]
            {
                assert_eq!(written_by(&java(&line.replace("{}", option))).as_deref(), Some(option), "{line}");
            }
            for name in [TOOL_OPTIONS, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
                let value = format!("-Dx=\"a b\" '{option}'");
                assert_eq!(with(java("-jar app.jar"), name, &value).as_deref(), Some(option), "{name}");
            }
            let mut script = java("package {}".replace("{}", option).as_str());
            script.program = "/usr/bin/mvn".into();
            assert_eq!(written_by(&script).as_deref(), Some(option));
        }
    }

    #[test]
    fn others_are_not() {
        for line in [
            "-XX:SharedArchiveFile=app.jsa -Xshare:auto -jar app.jar",
            "-XX:AOTMode=record -XX:AOTConfiguration=a.conf -jar app.jar",
            "-XX:AOTMode=create -XX:AOTCache=a.aot -jar app.jar",
            "-XX:AOTCacheOutput=a.aot -jar app.jar",
            "-XX:DumpLoadedClassList=classes.lst -jar app.jar",
            "-jar app.jar -Xshare:dump",
            "Main -XX:ArchiveClassesAtExit=x",
            "-cp -Xshare:dump Main",
            "-XX:+RecordDynamicDumpInfo -XX:-RecordDynamicDumpInfo -jar app.jar",
            "-m m/Main -Xshare:dump",
            "",
        ] {
            assert_eq!(written_by(&java(line)), None, "{line}");
        }
        // Only the launcher reads this one.
        let mut script = java("");
        script.program = "/usr/bin/mvn".into();
        assert_eq!(with(script, "JDK_JAVA_OPTIONS", "-Xshare:dump"), None);
    }

    #[test]
    fn files_of_arguments_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("args");
        std::fs::write(&path, "# -Xshare:auto\n-cp \"a\\\"b.jar\"\n'-XX:ArchiveClassesAtExit=a b.jsa'")
            .unwrap();
        let path = path.to_str().unwrap();
        let expected = Some("-XX:ArchiveClassesAtExit=a b.jsa");
        assert_eq!(written_by(&java(&format!("@{path} Main"))).as_deref(), expected);
        assert_eq!(written_by(&java(&format!("-XX:VMOptionsFile={path} Main"))).as_deref(), expected);
        assert_eq!(with(java("Main"), "JDK_JAVA_OPTIONS", &format!("@{path}")).as_deref(), expected);
        assert_eq!(written_by(&java(&format!("--disable-@files @{path} Main"))), None);
        assert_eq!(written_by(&java(&format!("Main @{path}"))), None);
        assert_eq!(written_by(&java("@/no/such/file Main")), None);
    }
}
