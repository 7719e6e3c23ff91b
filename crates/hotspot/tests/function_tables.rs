//! The numbers of JVMTI's and JNI's functions, compared with the headers of the JDKs found.

extern crate terrace_hotspot as hotspot;

#[path = "../../agent/tests/jvm/jdk.rs"]
#[allow(dead_code, reason = "shared with the tests that launch JVMs")]
mod jdk;

/// The constants of `src/jvmti.rs` and `src/jni.rs`, as written there: they are nobody else's business.
fn constant(name: &str) -> usize {
    let source = concat!(include_str!("../src/jvmti.rs"), include_str!("../src/jni.rs"));
    let line = (source.lines().map(str::trim))
        .find_map(|line| {
            line.trim_start_matches("pub ").strip_prefix("const ")?.strip_prefix(name)?.strip_prefix(':')
        })
        .unwrap_or_else(|| panic!("no constant {name}"));
    let value = line.split_once('=').expect("a value").1.trim().trim_end_matches(';').replace('_', "");
    match value.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).expect("a hexadecimal number"),
        None => value.parse().expect("a number"),
    }
}

/// Every header found, by JDK.
fn headers(name: &str) -> Vec<(String, String)> {
    let found: Vec<(String, String)> = (jdk::all().iter())
        .filter_map(|jdk| {
            let text = std::fs::read_to_string(jdk.home.join("include").join(name));
            if text.is_err() {
                skips::skip!("JDK {}: has no {name}", jdk.version);
            }
            Some((jdk.version.clone(), text.ok()?))
        })
        .collect();
    if found.is_empty() {
        skips::skip!("no {name} found");
    }
    found
}

/// The number of a JVMTI function, from the comment above it: `/*   122 : Set Event Callbacks */`. JVMTI counts from 1.
fn jvmti_function(header: &str, words: &str) -> Option<usize> {
    header.lines().find_map(|line| {
        let (number, name) = line.trim().strip_prefix("/*")?.strip_suffix("*/")?.split_once(" : ")?;
        (name.trim() == words).then(|| number.trim().parse().ok()).flatten()
    })
}

/// The members of a C structure, one for each semicolon.
fn members<'a>(header: &'a str, begin: &str) -> Vec<&'a str> {
    let body = header.split_once(begin).unwrap_or_else(|| panic!("no {begin}")).1;
    let end = body.find("\n};").or_else(|| body.find("\n} ")).expect("the structure's end");
    let cpp = body[..end].find("#ifdef __cplusplus").unwrap_or(end);
    body[..cpp].split(';').map(str::trim).filter(|member| !member.is_empty()).collect()
}

#[test]
fn jvmti_functions() {
    for (version, header) in headers("jvmti.h") {
        for (name, words) in [
            ("SET_EVENT_NOTIFICATION_MODE", "Set Event Notification Mode"),
            ("GET_PHASE", "Get Phase"),
            ("SET_EVENT_CALLBACKS", "Set Event Callbacks"),
            ("ADD_CAPABILITIES", "Add Capabilities"),
            ("DISPOSE_ENVIRONMENT", "Dispose Environment"),
        ] {
            assert_eq!(jvmti_function(&header, words), Some(constant(name) + 1), "{version}: {name}");
        }
    }
}

#[test]
fn jvmti_capability() {
    for (version, header) in headers("jvmti.h") {
        let fields: Vec<&str> = (header.lines())
            .skip_while(|line| !line.contains("can_tag_objects"))
            .filter_map(|line| line.trim().strip_prefix("unsigned int can_"))
            .collect();
        let place = fields.iter().position(|field| field.starts_with("generate_garbage_collection_events"));
        assert_eq!(place, Some(constant("GARBAGE_COLLECTION_EVENTS")), "{version}");
    }
}

#[test]
fn jvmti_events_and_constants() {
    for (version, header) in headers("jvmti.h") {
        let value = |name: &str| {
            header.lines().find_map(|line| {
                let value = line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?;
                let value = value.trim().trim_end_matches(',').to_owned();
                match value.strip_prefix("0x") {
                    Some(digits) => usize::from_str_radix(digits, 16).ok(),
                    None => value.parse().ok(),
                }
            })
        };
        for (name, of_header) in [
            ("VM_INIT", "JVMTI_EVENT_VM_INIT"),
            ("VM_DEATH", "JVMTI_EVENT_VM_DEATH"),
            ("GARBAGE_COLLECTION_START", "JVMTI_EVENT_GARBAGE_COLLECTION_START"),
            ("GARBAGE_COLLECTION_FINISH", "JVMTI_EVENT_GARBAGE_COLLECTION_FINISH"),
            ("PHASE_LIVE", "JVMTI_PHASE_LIVE"),
            ("VERSION", "JVMTI_VERSION_1_2"),
        ] {
            assert_eq!(value(of_header), Some(constant(name)), "{version}: {of_header}");
        }
        // Versions know more or fewer events than the callbacks given have places for; HotSpot copies what both have. All that is
        // asked for must be among them.
        let last = value("JVMTI_MAX_EVENT_TYPE_VAL").expect("the last event");
        assert!(
            last.min(constant("LAST_EVENT")) >= constant("GARBAGE_COLLECTION_FINISH"),
            "{version}: {last}"
        );
    }
}

#[test]
fn jni_functions() {
    for (version, header) in headers("jni.h") {
        for (structure, functions) in [
            ("struct JNIInvokeInterface_ {", &[("GET_ENV", "GetEnv")] as &[(&str, &str)]),
            (
                "struct JNINativeInterface_ {",
                &[
                    ("EXCEPTION_CLEAR", "ExceptionClear"),
                    ("GET_OBJECT_CLASS", "GetObjectClass"),
                    ("GET_FIELD_ID", "GetFieldID"),
                    ("GET_LONG_FIELD", "GetLongField"),
                    ("GET_ARRAY_LENGTH", "GetArrayLength"),
                    ("NEW_BYTE_ARRAY", "NewByteArray"),
                    ("NEW_LONG_ARRAY", "NewLongArray"),
                    ("GET_BYTE_ARRAY_REGION", "GetByteArrayRegion"),
                    ("SET_BYTE_ARRAY_REGION", "SetByteArrayRegion"),
                    ("SET_LONG_ARRAY_REGION", "SetLongArrayRegion"),
                    ("GET_JAVA_VM", "GetJavaVM"),
                    ("EXCEPTION_CHECK", "ExceptionCheck"),
                ],
            ),
        ] {
            let members = members(&header, structure);
            for (name, function) in functions {
                let pointer = format!("*{function})");
                let place = members.iter().position(|member| member.contains(&pointer));
                assert_eq!(place, Some(constant(name)), "{version}: {function}");
            }
        }
    }
}
