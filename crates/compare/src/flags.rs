//! Which flag of a JVM overrules which: of two that set the same, HotSpot takes the later.

use jvm::Error;

/// A flag of a side that is not in force, and what comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overruled {
    pub flag: String,
    pub by: String,
}

impl Overruled {
    pub fn error(&self, side: &str) -> Error {
        let Overruled { flag, by } = self;
        Error::usage(format!(
            "{flag} of '{side}' has no effect, because the program's own {by} comes after it (on its command line, in a script, in JDK_JAVA_OPTIONS or _JAVA_OPTIONS); \
             remove it there, or move it to --jvm-arg"
        ))
    }
}

/// The first of `flags` that one of these options overrules.
pub(crate) fn overruled(flags: &[String], later: &[String]) -> Option<Overruled> {
    flags.iter().find_map(|flag| {
        let own = sets(flag);
        let by = later.iter().find(|option| sets(option).iter().any(|name| own.contains(name)))?;
        Some(Overruled { flag: flag.clone(), by: by.clone() })
    })
}

/// What an option sets, by HotSpot's names where it has several for it. Empty for those that add to what others say.
fn sets(option: &str) -> Vec<&str> {
    const SHORT: [(&str, &[&str]); 4] = [
        ("-Xmx", &["MaxHeapSize"]),
        ("-Xms", &["InitialHeapSize", "MinHeapSize"]),
        ("-Xmn", &["NewSize", "MaxNewSize"]),
        ("-Xss", &["ThreadStackSize"]),
    ];
    const ADD: [&str; 6] = ["--", "-agent", "-javaagent", "-Xlog", "-Xbootclasspath", "-XX:+Unlock"];
    if !option.starts_with('-') || ADD.iter().any(|start| option.starts_with(start)) {
        return Vec::new();
    }
    if let Some((_, names)) = SHORT.iter().find(|(start, _)| option.starts_with(start)) {
        return names.to_vec();
    }
    let name = match option.strip_prefix("-XX:") {
        Some(rest) => rest.trim_start_matches(['+', '-']).split('=').next(),
        None => option.split(['=', ':']).next(),
    };
    name.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(flag: &str, later: &[&str]) -> Option<String> {
        let later: Vec<String> = later.iter().map(|option| (*option).to_owned()).collect();
        overruled(&[flag.to_owned()], &later).map(|found| found.by)
    }

    #[test]
    fn a_later_flag_overrules_one_of_the_same_name() {
        let later = ["-XX:TLABSize=64k", "-Xmx1g", "-XX:-UseNUMA", "-Dx=2", "-Xshare:off"];
        for (flag, expected) in [
            ("-XX:TLABSize=4k", later[0]),
            ("-Xmx2g", later[1]),
            ("-XX:+UseNUMA", later[2]),
            ("-Dx=1", later[3]),
            ("-Xshare:auto", later[4]),
        ] {
            assert_eq!(by(flag, &later).as_deref(), Some(expected));
        }
        assert!(
            ["-XX:MinTLABSize=4k", "-Xmn1g", "-Xss2m", "-Dy=1"].iter().all(|flag| by(flag, &later).is_none())
        );
    }

    #[test]
    fn a_flag_has_several_names() {
        for (short, long) in [
            ("-Xmx1g", "-XX:MaxHeapSize=2g"),
            ("-Xms1g", "-XX:InitialHeapSize=2g"),
            ("-Xms1g", "-XX:MinHeapSize=2g"),
            ("-Xmn1g", "-XX:NewSize=2g"),
            ("-Xmn1g", "-XX:MaxNewSize=2g"),
            ("-Xss1m", "-XX:ThreadStackSize=512"),
        ] {
            assert_eq!(by(short, &[long]).as_deref(), Some(long));
            assert_eq!(by(long, &[short]).as_deref(), Some(short));
        }
        assert_eq!(by("-XX:NewSize=1g", &["-XX:MaxNewSize=2g"]), None);
    }

    #[test]
    fn some_options_add_to_what_others_say() {
        for (flag, later) in [
            ("-Xlog:gc", "-Xlog:safepoint:file"),
            ("-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockDiagnosticVMOptions"),
            ("--add-opens=a/b=ALL-UNNAMED", "--add-opens=c/d=ALL-UNNAMED"),
            ("-javaagent:a.jar", "-javaagent:a.jar"),
        ] {
            assert_eq!(by(flag, &[later]), None, "{flag}");
        }
    }
}
