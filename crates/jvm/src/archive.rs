//! JVMs that write a class data archive.
//!
//! HotSpot ends such a JVM with exit code 1 when it has any native agent (17, 21 and 25: "CDS dumping does not support native JVMTI
//! agent"). JVMs that *use* an archive, and JDK 25's AOT cache in all its modes, work with one.

use crate::jvm_options;
use crate::launch::Launch;

/// The option by which the program's JVM would write an archive, if there is one: on the command line, in a file of arguments, or in
/// one of the variables that launcher and JVM read.
pub fn written_by(launch: &Launch) -> Option<String> {
    jvm_options::of(launch).into_iter().fold(None, |found, option| match writes(&option) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::TOOL_OPTIONS;
    use std::ffi::OsString;

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
            // It starts the launcher, which reads this one.
            assert_eq!(with(script, "JDK_JAVA_OPTIONS", option).as_deref(), Some(option));
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
