//! How the shared library is linked.

fn main() {
    // HotSpot unloads a library whose Agent_OnAttach has failed, while threads may be in it and its JVMTI environment stays.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // What no library has is missed now, not when a JVM calls it: a release is linked with the oldest glibc that it is for.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
    println!("cargo:rerun-if-changed=build.rs");
}
