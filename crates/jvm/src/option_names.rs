//! What an option sets, by HotSpot's names: of two options that set the same, HotSpot takes the later.

/// Empty for those that add to what others say.
pub fn sets(option: &str) -> Vec<&str> {
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

/// Whether the later of the two overrules the other.
pub fn set_the_same(one: &str, other: &str) -> bool {
    let own = sets(one);
    sets(other).iter().any(|name| own.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_same_name_set_the_same() {
        for (one, other) in [
            ("-XX:TLABSize=4k", "-XX:TLABSize=64k"),
            ("-Xmx2g", "-Xmx1g"),
            ("-XX:+UseNUMA", "-XX:-UseNUMA"),
            ("-Dx=1", "-Dx=2"),
            ("-Xshare:auto", "-Xshare:off"),
        ] {
            assert!(set_the_same(one, other), "{one}");
        }
        for (one, other) in
            [("-XX:MinTLABSize=4k", "-XX:TLABSize=64k"), ("-Xmn1g", "-Xmx1g"), ("-Dy=1", "-Dx=1")]
        {
            assert!(!set_the_same(one, other), "{one}");
        }
    }

    #[test]
    fn an_option_has_several_names() {
        for (short, long) in [
            ("-Xmx1g", "-XX:MaxHeapSize=2g"),
            ("-Xms1g", "-XX:InitialHeapSize=2g"),
            ("-Xms1g", "-XX:MinHeapSize=2g"),
            ("-Xmn1g", "-XX:NewSize=2g"),
            ("-Xmn1g", "-XX:MaxNewSize=2g"),
            ("-Xss1m", "-XX:ThreadStackSize=512"),
        ] {
            assert!(set_the_same(short, long) && set_the_same(long, short), "{short}");
        }
        assert!(!set_the_same("-XX:NewSize=1g", "-XX:MaxNewSize=2g"));
    }

    #[test]
    fn some_options_add_to_what_others_say() {
        for (one, other) in [
            ("-Xlog:gc", "-Xlog:safepoint:file"),
            ("-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockDiagnosticVMOptions"),
            ("--add-opens=a/b=ALL-UNNAMED", "--add-opens=c/d=ALL-UNNAMED"),
            ("-javaagent:a.jar", "-javaagent:a.jar"),
        ] {
            assert!(!set_the_same(one, other), "{one}");
        }
    }
}
