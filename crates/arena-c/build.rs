//! Keeps the shared library loaded for good: the kernel may look at a restartable sequence's descriptor, which lies in it, after the
//! last call.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libterrace_arena.so.0");
    // What no library has is missed now, not when a program calls it: a release is linked with the oldest glibc that it is for.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
    println!("cargo:rerun-if-changed=build.rs");
}
