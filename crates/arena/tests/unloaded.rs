//! An arena in a plugin that is unloaded: the kernel still looks at the last sequence's descriptor when it next interferes. Without `pinned` the
//! object is gone by then.
#![cfg(not(no_sequences))]

use std::ffi::{CString, OsString, c_void};
use std::path::PathBuf;
use std::process::Command;

const CASE: &str = "TERRACE_TEST_UNLOADED";

/// Builds the plugin with the profile that this test is built with, into the same folder; where it is then.
fn plugin() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.ancestors().nth(2).unwrap();
    let profile = match folder.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--profile", profile, "-p", "terrace-arena", "--example", "plugin"]);
    build.arg("--target-dir").arg(folder.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(build.status().unwrap().success());
    folder.join("examples/libplugin.so")
}

/// In a process of its own.
fn load_work_unload(plugin: OsString) {
    let path = CString::new(plugin.into_encoded_bytes()).unwrap();
    // SAFETY: the plugin runs no code while it is loaded; its function is of this type, and not called after the object is closed.
    unsafe {
        let object = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!object.is_null(), "{}", std::ffi::CStr::from_ptr(libc::dlerror()).to_string_lossy());
        let work = libc::dlsym(object, c"terrace_plugin_work".as_ptr());
        assert!(!work.is_null());
        let work: extern "C" fn() -> i32 = std::mem::transmute::<*mut c_void, extern "C" fn() -> i32>(work);
        let outcome = work();
        assert!(outcome >= 0, "{outcome}");
        println!("sequences: {}", outcome == 1);
        assert_eq!(libc::dlclose(object), 0);
    }
    // The kernel interferes: the thread gives its CPU up, is moved, and waits, again and again.
    let cpus = std::thread::available_parallelism().unwrap().get();
    for turn in 0..1000 {
        std::thread::yield_now();
        // SAFETY: the set is a plain value.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(turn % cpus, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
        }
        if turn % 100 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    println!("loaded: {}", maps.contains("libplugin.so"));
}

#[test]
fn a_plugin_that_is_closed_leaves_its_descriptors_where_they_are() {
    if let Some(plugin) = std::env::var_os(CASE) {
        return load_work_unload(plugin);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads=1", "--nocapture"])
        .env(CASE, plugin())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", output.status);
    if text.contains("sequences: false") {
        return skips::skip!("no restartable sequences here");
    }
    assert!(text.contains("loaded: true"), "{text}");
}
