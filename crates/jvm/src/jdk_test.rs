use super::*;

fn fake(release: Option<&str>, script: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("bin")).unwrap();
    let java = home.path().join("bin/java");
    // Another process writes what will be started: a descriptor of ours, inherited by a fork in another test's thread, would
    // make it "busy".
    let draft = home.path().join("draft");
    std::fs::write(&draft, format!("#!/bin/sh\n{script}\n")).unwrap();
    assert!(Command::new("cp").args([&draft, &java]).status().unwrap().success());
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    if let Some(release) = release {
        std::fs::write(home.path().join("release"), release).unwrap();
    }
    home
}

const RELEASE: &str = "IMPLEMENTOR=\"Eclipse Adoptium\"\nJAVA_RUNTIME_VERSION=\"25.0.3+9-LTS\"\nJAVA_VERSION=\"25.0.3\"\n\
                       MODULES=\"java.base jdk.compiler jdk.jfr\"\n";

#[test]
fn the_release_file_tells_what_a_jdk_is() {
    let home = fake(Some(RELEASE), "exit 1");
    for path in [home.path().to_owned(), home.path().join("bin/java")] {
        let jdk = Jdk::at(&path).unwrap();
        assert_eq!((jdk.feature, jdk.has_compiler), (25, true));
        assert_eq!(jdk.describe(), "Eclipse Adoptium 25.0.3+9-LTS");
    }
}

#[test]
fn a_runtime_that_names_the_compilers_module_need_not_have_its_program() {
    let home = fake(Some(RELEASE), "exit 1");
    let runtime = Jdk::at(home.path()).unwrap();
    assert!(runtime.has_compiler && runtime.tool("javac").is_none());
    let java = runtime.tool("java").unwrap();
    assert_eq!(java, runtime.java());
    std::fs::copy(&java, home.path().join("bin/javac")).unwrap();
    assert!(runtime.tool("javac").is_some());
}

#[test]
fn a_link_to_java_leads_to_its_jdk() {
    let home = fake(Some(RELEASE), "exit 1");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("java");
    std::os::unix::fs::symlink(home.path().join("bin/java"), &link).unwrap();
    assert_eq!(Jdk::at(&link).unwrap().home, home.path().canonicalize().unwrap());
}

#[test]
fn without_a_release_file_the_jvm_is_asked() {
    let script = "echo '    java.version = 21.0.12' >&2; echo '    java.runtime.version = 21.0.12+8' >&2";
    let home = fake(None, script);
    let jdk = Jdk::at(home.path()).unwrap();
    assert_eq!((jdk.feature, jdk.version.as_str(), jdk.has_compiler), (21, "21.0.12+8", false));
}

#[test]
fn a_wrong_path_is_one_line_with_the_remedy() {
    let empty = tempfile::tempdir().unwrap();
    let file = empty.path().join("java");
    let refused = |path: &Path| Jdk::at(path).unwrap_err().to_string();
    assert!(refused(empty.path()).contains("is not a JDK"));
    assert!(refused(&empty.path().join("missing")).contains("specify a JDK's directory"));
    std::fs::write(&file, "").unwrap();
    assert!(refused(&file).contains("is not executable"));
    assert!(refused(Path::new("/bin/sh")).contains("is not java"));
    let mute = fake(None, "exit 1");
    assert!(refused(mute.path()).contains("does not report its version"));
    let old = fake(Some("JAVA_VERSION=\"1.8.0_402\"\n"), "");
    assert!(refused(old.path()).contains("is JDK 8, too old"));
}

#[test]
fn a_collector_that_the_build_lacks_is_named_with_the_choices() {
    let home = fake(Some(RELEASE), "case \"$*\" in *Shenandoah*|*ZGC*) exit 1;; esac; exit 0");
    let jdk = Jdk::at(home.path()).unwrap();
    assert_eq!(jdk.select(Collector::Serial).unwrap(), ["-XX:+UseSerialGC"]);
    let error = jdk.select(Collector::Shenandoah).unwrap_err().to_string();
    assert!(error.contains("has no shenandoah; choose one of serial, parallel, g1, epsilon"), "{error}");
}

#[test]
fn collectors_are_read_as_people_write_them() {
    assert_eq!("G1".parse::<Collector>().unwrap(), Collector::G1);
    assert_eq!("ZGC".parse::<Collector>().unwrap(), Collector::Z);
    assert_eq!("SerialGC".parse::<Collector>().unwrap(), Collector::Serial);
    assert!("cms".parse::<Collector>().unwrap_err().to_string().contains("choose one of serial"));
}

#[test]
fn versions() {
    for (text, number) in [("1.8.0_402", 8), ("25.0.3", 25), ("26-ea", 26), ("17", 17)] {
        assert_eq!(feature(text), Some(number));
    }
    assert_eq!(feature("x"), None);
}

#[test]
fn the_real_jdks_of_this_machine() {
    let found = discover();
    if found.is_empty() {
        skips::skip!("no JDK found");
        return;
    }
    assert!(found.windows(2).all(|pair| pair[0].feature >= pair[1].feature));
    assert!(found[0].has(Collector::Serial));
}
