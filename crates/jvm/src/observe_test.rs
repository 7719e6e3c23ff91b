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
    assert_eq!(counts.bytes, 0, "bytes reserved are not bytes allocated");
    assert!(jvms.notes().iter().any(|note| note.contains("2 JVMs")));
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
