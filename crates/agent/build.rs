//! How the shared library is linked.

fn main() {
    // HotSpot unloads a library whose Agent_OnAttach has failed, while threads may be in it and its JVMTI environment stays.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
