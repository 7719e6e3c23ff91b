//! Sides as a user writes them: `terrace core=512k -XX:TLABSize=4k`, `stock`, `off`, `bound`, `-XX:+UseNUMA`.

use crate::side::Side;
use jvm::agent::AgentOptions;
use jvm::{Error, Result};

const EXAMPLES: &str = "write terrace, stock, off or bound, or JVM flags such as '-XX:TLABSize=4k'";

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Terrace,
    Off,
    Bound,
    Stock,
}

struct Words {
    kind: Kind,
    settings: Vec<String>,
    flags: Vec<String>,
}

/// Both sides. Those with the agent begin with `agent`; `off` and `bound` by themselves are the other side's JVM, which is then
/// switched: its settings and its flags.
pub fn sides(texts: [&str; 2], agent: &AgentOptions) -> Result<[Side; 2]> {
    let [a, b] = texts;
    let (words_a, words_b) = (words(a)?, words(b)?);
    Ok([side(&words_a, &words_b, agent)?, side(&words_b, &words_a, agent)?])
}

fn side(own: &Words, other: &Words, agent: &AgentOptions) -> Result<Side> {
    let mirrored = matches!(own.kind, Kind::Off | Kind::Bound) && other.kind == Kind::Terrace;
    let settings = if mirrored { &other.settings } else { &own.settings };
    let flags = if mirrored && own.flags.is_empty() { &other.flags } else { &own.flags };
    let options = agent.clone().with(settings)?;
    if options.bound || options.start_off {
        return Err(Error::usage(
            "start and bound are not settings of a side; write 'off' or 'bound' as the side instead",
        ));
    }
    let side = match own.kind {
        Kind::Terrace => Side::terrace(options),
        Kind::Off => Side::off(options),
        Kind::Bound => Side::bound(options),
        Kind::Stock => Side::stock(),
    };
    Ok(side.with_flags(flags))
}

fn words(text: &str) -> Result<Words> {
    let mut words = text.split_whitespace().map(str::to_owned).peekable();
    let (kind, skipped) = match words.peek().map(String::as_str) {
        Some("terrace") => (Kind::Terrace, 1),
        Some("off") => (Kind::Off, 1),
        Some("bound") => (Kind::Bound, 1),
        Some("stock") => (Kind::Stock, 1),
        Some(word) if word.starts_with('-') => (Kind::Stock, 0),
        Some(word) => return Err(unknown(word)),
        None => return Err(Error::usage(format!("a side is empty; {EXAMPLES}"))),
    };
    let (flags, settings): (Vec<String>, Vec<String>) =
        words.skip(skipped).partition(|word| word.starts_with('-'));
    match settings.first() {
        Some(word) if !word.contains('=') || looks_like_a_flag(word) => Err(unknown(word)),
        Some(word) if kind == Kind::Stock => Err(Error::usage(format!(
            "'{word}' is a setting of terrace, and this side is stock; write 'terrace {word}'"
        ))),
        Some(word) if kind != Kind::Terrace => Err(Error::usage(format!(
            "'{word}': off and bound have the settings of the other side; write 'terrace {word}' there"
        ))),
        _ => Ok(Words { kind, settings, flags }),
    }
}

fn looks_like_a_flag(word: &str) -> bool {
    word.starts_with('X') || word.starts_with("D")
}

fn unknown(word: &str) -> Error {
    if looks_like_a_flag(word) {
        return Error::usage(format!("'{word}' has no leading dash; write -{word}"));
    }
    Error::usage(format!("unknown word '{word}' in a side; {EXAMPLES}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm::agent::BufferSize;

    fn read(a: &str, b: &str) -> Result<[Side; 2]> {
        let core = BufferSize::Bytes(64 << 10);
        sides([a, b], &AgentOptions { core, ..AgentOptions::default() })
    }

    fn names(a: &str, b: &str) -> [String; 2] {
        read(a, b).unwrap().map(|side| side.name)
    }

    #[test]
    fn words_become_sides() {
        assert_eq!(names("terrace", "stock"), ["terrace core=64k", "stock"]);
        assert_eq!(
            names("terrace core=512k -XX:TLABSize=4k", "stock -XX:+UseNUMA"),
            ["terrace core=512k -XX:TLABSize=4k", "stock -XX:+UseNUMA"]
        );
        assert_eq!(names(" -Xmn64m  -XX:TLABSize=4k ", "stock")[0], "stock -Xmn64m -XX:TLABSize=4k");
        let [a, b] = read("-Xmn64m", "stock -Xmn64m").unwrap();
        assert_eq!((a.agent.as_ref(), &a), (None, &b), "flags alone are stock with them");
    }

    #[test]
    fn off_and_bound_are_the_other_sides_jvm() {
        for word in ["off", "bound"] {
            let [a, b] = read("terrace core=512k -Xmn64m", word).unwrap();
            assert!(a.shares_jvm(&b) && a != b, "{b:?}");
            let [a, b] = read(word, "terrace tlab=4k").unwrap();
            assert!(a.shares_jvm(&b) && a != b, "{a:?}");
        }
        let [a, b] = read("terrace -Xmn64m", "off -Xmn32m").unwrap();
        assert!(!a.shares_jvm(&b), "flags of its own are not the other's");
        assert_eq!(names("off", "stock")[0], "terrace (buffers off) core=64k");
    }

    #[test]
    fn wrong_words_are_answered_with_the_right_ones() {
        for (side, parts) in [
            ("", ["empty", "write terrace"]),
            ("terace", ["'terace'", "write terrace, stock"]),
            ("terrace fast", ["'fast'", "JVM flags"]),
            ("XX:TLABSize=4k", ["no leading dash", "-XX:TLABSize=4k"]),
            ("stock Xmn64m", ["no leading dash", "-Xmn64m"]),
            ("terrace XX:TLABSize=4k", ["no leading dash", "-XX:TLABSize=4k"]),
            ("stock core=64k", ["this side is stock", "'terrace core=64k'"]),
            ("off core=64k", ["settings of the other side", "'terrace core=64k'"]),
            ("terrace cores=64k", ["'cores'", "use levels, core"]),
            ("terrace core=many", ["core:", "such as 64k"]),
            ("terrace start=off", ["not settings of a side", "'off'"]),
        ] {
            let error = read(side, "terrace").unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{side}: {error}");
        }
    }
}
