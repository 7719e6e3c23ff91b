//! Which flag of a side is not in force, because the program has its own.

use jvm::Error;
use jvm::option_names::set_the_same;

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
        let by = later.iter().find(|option| set_the_same(flag, option))?;
        Some(Overruled { flag: flag.clone(), by: by.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_and_what_overrules_it_are_named() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let later = words("-Xss2m -XX:MaxHeapSize=1g");
        let found = overruled(&words("-Xmn1g -Xmx2g"), &later).unwrap();
        assert_eq!((found.flag.as_str(), found.by.as_str()), ("-Xmx2g", "-XX:MaxHeapSize=1g"));
        assert_eq!(overruled(&words("-Xmn1g"), &later), None);
    }
}
