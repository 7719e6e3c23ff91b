//! Keeps the shared library loaded for good: the kernel may look at a restartable sequence's descriptor, which lies in it, after the
//! last call.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libterrace_arena.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
