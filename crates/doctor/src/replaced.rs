//! Which of a JVM's options the flags of a remedy replace: HotSpot takes the later of two, so that an old one that stays may overrule a new one.

use crate::evidence::Jvm;
use crate::finding::{Advice, Advised, Remedy};
use jvm::option_names::sets;
use jvm::{jvm_options, printable};

/// The options of a JVM that runs. Values of properties, and of agents, are nobody's business.
pub(crate) fn options(pid: u32) -> Option<Vec<String>> {
    jvm_options::of_process(pid).map(of_hotspot)
}

fn of_hotspot(mut options: Vec<String>) -> Vec<String> {
    options.retain(|option| option.starts_with("-X") && !sets(option).is_empty());
    // HotSpot takes none with a control character, but a launcher of somebody's own may have been given one.
    options.iter().map(|option| printable::line(option)).collect()
}

/// Advice for such a JVM.
pub(crate) fn reported(advice: Advice, jvm: &Jvm) -> Advised {
    let Advice { remedy, effect, note } = advice;
    let replaces = match &remedy {
        Remedy::Flags(flags) => replaced(flags, jvm),
        Remedy::Program(_) | Remedy::Terrace(_) => Vec::new(),
    };
    Advised { remedy, effect, note, replaces }
}

/// Each once, in the order of the flags.
fn replaced(flags: &[String], jvm: &Jvm) -> Vec<String> {
    let mut replaced = Vec::new();
    for flag in flags {
        let names = sets(flag);
        let in_force = names.iter().filter_map(|name| in_force(name, jvm.options.as_deref()?));
        let mut options: Vec<&str> = in_force.collect();
        let without_value = without_value(flag);
        if options.is_empty() && names.iter().any(|name| jvm.flags.is_chosen(name)) {
            options.push(&without_value);
        }
        for option in options.into_iter().map(str::to_owned) {
            if !replaced.contains(&option) {
                replaced.push(option);
            }
        }
    }
    replaced
}

/// The last of the options that set this.
fn in_force<'a>(name: &str, options: &'a [String]) -> Option<&'a str> {
    options.iter().rev().find(|option| sets(option).contains(&name)).map(String::as_str)
}

/// What somebody has chosen where this is advised: another value, or the opposite.
fn without_value(flag: &str) -> String {
    match flag.strip_prefix("-XX:") {
        Some(rest) => match rest.strip_prefix('+') {
            Some(name) => format!("-XX:-{name}"),
            None => flag.split('=').next().unwrap_or(flag).to_owned(),
        },
        // -Xmx1258m
        None => flag.split(|sign: char| sign.is_ascii_digit()).next().unwrap_or(flag).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::examine;
    use crate::rules::sick::{ergonomic, flags, healthy};

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Of the flags of a remedy, where the JVM has these options, and has chosen these flags.
    fn found(remedy: &str, options: Option<&str>, chosen: &str) -> String {
        let jvm = Jvm { options: options.map(words), flags: flags(chosen), ..Jvm::default() };
        replaced(&words(remedy), &jvm).join(" ")
    }

    #[test]
    fn options_that_set_the_same_are_replaced() {
        for (remedy, options, expected) in [
            ("-Xmn994m -Xmx1258m", "-XX:+UseSerialGC -Xmx512m -Xss1m", "-Xmx512m"),
            (
                "-Xmn994m -Xmx1258m",
                "-Xmx512m -XX:NewSize=8m -XX:MaxNewSize=9m",
                "-XX:NewSize=8m -XX:MaxNewSize=9m -Xmx512m",
            ),
            ("-Xmn994m", "-Xmn8m", "-Xmn8m"),
            ("-Xms2g -XX:+AlwaysPreTouch", "-Xms1g -XX:-AlwaysPreTouch", "-Xms1g -XX:-AlwaysPreTouch"),
            ("-XX:TLABSize=4k", "-XX:TLABSize=64k -XX:MinTLABSize=2k", "-XX:TLABSize=64k"),
            // -Xmx and -Xms overrule percentages wherever they stand, and -Xmn the ratio.
            (
                "-Xmn1g -Xmx2g -Xms2g",
                "-XX:MaxRAMPercentage=50 -XX:InitialRAMPercentage=50 -XX:NewRatio=3",
                "",
            ),
            ("-Xmx2g", "", ""),
        ] {
            assert_eq!(found(remedy, Some(options), ""), expected, "{remedy} for {options}");
        }
    }

    /// What is not in force is not what the report is of.
    #[test]
    fn of_several_options_the_one_in_force_is_named() {
        assert_eq!(found("-Xmx2g", Some("-Xmx1g -XX:MaxHeapSize=512m"), ""), "-XX:MaxHeapSize=512m");
        assert_eq!(
            found("-Xms2g", Some("-Xms1g -XX:InitialHeapSize=512m"), ""),
            "-XX:InitialHeapSize=512m -Xms1g"
        );
    }

    /// The options of a JVM that another program than the launcher has started cannot be read, and a file of flags is not among them.
    #[test]
    fn a_flag_that_was_chosen_is_named_without_its_value() {
        for options in [None, Some("-Xss1m")] {
            let heap = found("-Xmn994m -Xmx1258m", options, "MaxHeapSize=536870912");
            assert_eq!(heap, "-Xmx");
            let others = "-XX:G1HeapRegionSize=4m -XX:+UseNUMA";
            let chosen = "G1HeapRegionSize=1048576 UseNUMA=false";
            assert_eq!(found(others, options, chosen), "-XX:G1HeapRegionSize -XX:-UseNUMA");
            assert_eq!(found(others, options, ""), "");
        }
    }

    #[test]
    fn the_report_names_what_a_larger_young_generation_replaces() {
        let advised = |options: Option<&str>, chosen: bool| {
            let mut evidence = healthy();
            evidence.eden.collecting = Some(1.0);
            let heap = format!("MaxHeapSize={}", 4_u64 << 30);
            evidence.jvm.flags = if chosen { flags(&heap) } else { ergonomic(&heap) };
            evidence.jvm.options = options.map(words);
            let advice = examine(&evidence).remove(0).advice.remove(0);
            assert!(advice.remedy.text().starts_with("-Xmn"), "{advice:?}");
            let json = serde_json::to_value(&advice).unwrap();
            assert_eq!(json["replaces"], serde_json::json!(advice.replaces));
            advice.text().split_once(" in place of ").map(|(_, rest)| rest.to_owned())
        };
        assert_eq!(advised(Some("-Xmx4g"), true).unwrap(), "your -Xmx4g, set both together");
        assert_eq!(advised(None, true).unwrap(), "your -Xmx, set both together");
        assert_eq!(advised(Some(""), false), None);
    }

    #[test]
    fn options_that_may_hold_passwords_are_not_reported() {
        let given = "-Dpassword=x -Xmx1g -javaagent:a.jar=y -Xlog:gc -cp x -XX:+UseNUMA";
        assert_eq!(of_hotspot(words(given)), ["-Xmx1g", "-XX:+UseNUMA"]);
        assert_eq!(of_hotspot(vec!["-XX:TLABSize=\u{1b}]52;c;x\u{7}".into()]), ["-XX:TLABSize= ]52;c;x "]);
    }
}
