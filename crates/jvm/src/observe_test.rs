use super::*;

fn create(jvms: &Jvms, pid: u32, levels: &[usize]) -> Control {
    Control::create(&jvms.directory().join(pid.to_string()), levels).unwrap()
}

#[test]
fn jvms_are_found_as_they_come_and_are_switched_alike() {
    let mut jvms = Jvms::new().unwrap();
    let first = create(&jvms, 1, &[2]);
    jvms.refresh().unwrap();
    assert!(!jvms.ready());
    first.set_settings(r#"{"collector":"Serial"}"#);
    first.set_state(State::Installed);
    assert!(jvms.ready());
    assert_eq!(jvms.settings()["collector"], "Serial");
    jvms.switch(Mode::On);
    jvms.ask_for_sizes([BufferSize::Bytes(65536), BufferSize::Auto]);
    jvms.ask_for_sizes([BufferSize::Bytes(65536), BufferSize::Auto]);
    assert_eq!((first.asked_number(), jvms.have_taken_sizes()), (1, false));
    let second = create(&jvms, 2, &[1]);
    jvms.refresh().unwrap();
    assert_eq!((first.mode(), second.mode()), (Mode::On, Mode::On));
    assert_eq!((first.asked(0), second.asked(0)), (Asked::Bytes(65536), Asked::Bytes(65536)));
    first.take_sizes(1);
    second.take_sizes(1);
    assert!(jvms.have_taken_sizes());
    first.counters(0)[1].add(Counter::BufferBytes, 100);
    first.counters(0)[0].add(Counter::WasteRefill, 9);
    second.counters(0)[0].add(Counter::PassedBytes, 30);
    second.count_pause();
    let counts = jvms.counts();
    assert_eq!((counts.waste.of_bytes, counts.collections, counts.waste.refill_bytes), (130, 1, 9));
    assert_eq!(counts.bytes, None, "bytes reserved are not bytes allocated, and nobody has said which are");
    assert!(jvms.notes().iter().any(|note| note.contains("2 JVMs")));
}

/// Its own memory is that of a JVM whose only thread has allocated 1000 bytes.
#[test]
fn accounts_that_cannot_be_read_are_not_an_idle_jvm() {
    let thread = [1000_u64, 0, 0];
    let pointers = [thread.as_ptr() as usize];
    let mut list = [1, pointers.as_ptr() as usize];
    let head = list.as_ptr() as usize;
    let mut jvms = Jvms::new().unwrap();
    let control = create(&jvms, std::process::id(), &[1]);
    jvms.refresh().unwrap();
    assert_eq!(jvms.counts().bytes, Some(0), "it only starts");
    let accounts = serde_json::json!({ "list": std::ptr::from_ref(&head) as usize, "length": 0, "threads": 8, "allocated": 0, "tlab_start": 8,
        "tlab_top": 16 });
    control.set_settings(&serde_json::json!({ "accounts": accounts }).to_string());
    control.set_state(State::Installed);
    assert_eq!((jvms.counts().bytes, jvms.counts_patiently().bytes), (Some(1000), Some(1000)));
    std::hint::black_box(&mut list)[1] = 8;
    assert_eq!(jvms.counts().bytes, None, "not what was read last");
    let other = create(&jvms, 0x3fff_fff0, &[1]);
    other.set_state(State::Ended);
    jvms.refresh().unwrap();
    assert_eq!(jvms.counts().bytes, None, "what one has is not the sum");
    control.set_state(State::Ended);
    assert_eq!(jvms.counts().bytes, Some(1000), "nothing comes after that");
}

#[test]
fn settings_have_nothing_that_a_terminal_obeys() {
    let control = Control::anonymous(&[1]).unwrap();
    control.set_settings(r#"{"jdk":"25\u001b[2J"}"#);
    assert_eq!(settings(&control)["jdk"], "25 [2J");
}

#[test]
fn the_sizes_are_those_in_force() {
    let control = Control::anonymous(&[1, 1]).unwrap();
    control.set_settings(
        r#"{"levels":"core+processor","core":"auto","processor":"auto","core_bytes":65536,"processor_bytes":131072,"automatic":true}"#,
    );
    control.set_sizes(&[32768]);
    control.ask_for_sizes(&[(0, Asked::Bytes(32768)), (1, Asked::Bytes(131072))]);
    let found = settings(&control);
    assert_eq!((&found["core_bytes"], &found["processor_bytes"]), (&32768.into(), &131072.into()));
    assert_eq!(found["automatic"], false);
    assert_eq!((&found["core"], &found["processor"]), (&"32k".into(), &"128k".into()));
    control.ask_for_sizes(&[(1, Asked::Auto)]);
    assert_eq!(settings(&control)["automatic"], true);
    control.ask_for_sizes(&[(1, Asked::Formula)]);
    let found = settings(&control);
    assert_eq!((&found["processor"], &found["automatic"]), (&"formula".into(), &true.into()));
    control.set_settings("core_bytes");
    assert_eq!(settings(&control), "core_bytes");
}

#[test]
fn a_jvm_without_the_agent_has_nothing_to_say() {
    let mut jvms = Jvms::new().unwrap();
    jvms.refresh().unwrap();
    assert_eq!((jvms.notes(), jvms.settings()), (vec![], Value::Null));
    jvms.options(&AgentOptions::default());
    create(&jvms, 1, &[1]).set_state(State::Observing);
    jvms.refresh().unwrap();
    assert!(jvms.notes().iter().any(|note| note.contains("only observed")));
    assert!(jvms.uncounted().is_some_and(|note| note.contains("ptrace_scope")));
}

#[test]
fn a_baseline_without_thread_buffers_is_said_to_be_one() {
    let mut jvms = Jvms::new().unwrap();
    jvms.options(&AgentOptions::observing());
    let control = create(&jvms, 1, &[1]);
    control.set_state(State::Observing);
    jvms.refresh().unwrap();
    control.counters(0)[0].add(Counter::Passed, 20_000);
    control.counters(0)[0].add(Counter::PassedBytes, 20_000 * 4096);
    let baseline =
        |jvms: &Jvms| jvms.notes().iter().any(|note| note.contains("bytes from the heap at a time"));
    assert!(!baseline(&jvms));
    control.counters(0)[0].add(Counter::Passed, 980_000);
    assert!(
        jvms.notes().iter().any(|note| note.contains("81 bytes from the heap at a time")),
        "{:?}",
        jvms.notes()
    );
}

#[test]
fn only_the_level_that_serves_threads_counts() {
    let control = Control::anonymous(&[1, 1, 1]).unwrap();
    for (level, bytes) in [(0, 100), (1, 1000), (2, 10)] {
        control.counters(level)[0].add(Counter::BufferBytes, bytes);
    }
    assert_eq!(served(&control, false), 100);
    assert_eq!(served(&control, true), 110);
}

#[test]
fn a_refusal_is_an_error_in_the_agents_words() {
    let mut jvms = Jvms::new().unwrap();
    let control = create(&jvms, 1, &[]);
    control.set_message("ZGC already allocates from per-CPU pages; use another collector");
    control.set_state(State::Refused);
    assert!(jvms.refresh().unwrap_err().to_string().contains("refused: ZGC already"));
}
