//! The examples run.

#[path = "../examples/parallel.rs"]
#[allow(missing_docs, dead_code, reason = "examples")]
mod parallel;
#[path = "../examples/request.rs"]
#[allow(missing_docs, dead_code, reason = "examples")]
mod request;

#[test]
fn a_document_for_each_request() {
    request::main();
}

#[test]
fn one_arena_for_all_of_rayons_threads() {
    parallel::main();
}
