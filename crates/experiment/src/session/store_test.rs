use super::*;
use crate::parameters;

fn asked() -> Header {
    Header {
        schema: 1,
        method: METHOD,
        terrace: "1".into(),
        effort: Effort::Quick,
        experiments: vec!["atomics".into()],
        only: vec![],
        jdks: vec![],
        allow_sysctl: false,
        wanted: Wanted::default(),
        agent: Some("one".into()),
        command: "terrace lab run".into(),
        started_unix: 7,
    }
}

#[test]
fn what_was_kept_is_there_again_after_a_cut_in_the_middle_of_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let cell = parameters([("threads", 2_u32.into())]);
    let mut store = Store::create(folder.path(), &asked()).unwrap();
    store.keep("atomics", &cell, 0, Sample::default().value("ns", 4.0)).unwrap();
    store.keep_canary("cpu", 1.5, 0.3).unwrap();
    store.spend(2.5).unwrap();
    let lap = Lap { all: 100.0, steal: 1.0, others: 5.0 };
    store.begin(Some(0.5)).unwrap();
    store.pass(lap).unwrap();
    store.take_seconds("atomics", 2.0).unwrap();
    drop(store);
    let path = folder.path().join(SAMPLES);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"sample\":{\"experim").unwrap();
    let mut store = Store::resume(folder.path(), &Header { started_unix: 9, ..asked() }).unwrap();
    assert!(store.has("atomics", &cell, 0) && !store.has("atomics", &cell, 1));
    assert_eq!((store.spent(), store.canaries().len(), store.header().started_unix), (2.5, 1, 7));
    store.keep("atomics", &cell, 1, Sample::default().value("ns", 5.0)).unwrap();
    // A session that was not disturbed does not hide that another was.
    store.begin(Some(9.0)).unwrap();
    store.pass(Lap { all: 300.0, ..Lap::default() }).unwrap();
    store.take_seconds("atomics", 1.0).unwrap();
    let again = Store::resume(folder.path(), &asked()).unwrap();
    assert_eq!(again.samples("atomics", &cell).len(), 2);
    let found = again.disturbance();
    assert_eq!((found.load_before, found.steal_share), (Some(0.5), Some(0.0025)));
    assert_eq!((found.others_share, again.taken("atomics")), (Some(0.0125), 3.0));
}

#[test]
fn what_another_build_of_the_agent_did_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let cells = [1_u32, 2].map(|threads| parameters([("threads", threads.into())]));
    let mut store = Store::create(folder.path(), &asked()).unwrap();
    let compared = Sample { processes: 1, ..Sample::default() };
    store.keep("bounds", &cells[0], 0, compared.clone()).unwrap();
    store.keep("bounds", &cells[1], 0, Sample::default()).unwrap();
    let has = |store: &Store| cells.each_ref().map(|cell| store.has("bounds", cell, 0));
    assert_eq!(has(&Store::resume(folder.path(), &asked()).unwrap()), [true, true]);
    let rebuilt = Header { agent: Some("other".into()), ..asked() };
    let mut store = Store::resume(folder.path(), &rebuilt).unwrap();
    assert_eq!((has(&store), store.outdated()), ([false, true], 1));
    store.keep("bounds", &cells[0], 0, compared).unwrap();
    assert_eq!(has(&Store::resume(folder.path(), &rebuilt).unwrap()), [true, true]);
}

#[test]
fn what_was_measured_in_another_way_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    Store::create(folder.path(), &asked()).unwrap();
    // As a version wrote it that had no number for the way.
    let path = folder.path().join(HEADER);
    let text = fs::read_to_string(&path).unwrap();
    let method = format!("  \"method\": {METHOD},\n");
    assert!(text.contains(&method), "{text}");
    fs::write(&path, text.replace(&method, "")).unwrap();
    let error = Store::resume(folder.path(), &asked()).err().unwrap().to_string();
    assert!(error.contains("measured in another way"), "{error}");
}

#[test]
fn what_is_continued_without_a_new_sample_is_not_the_run_that_last_wrote() {
    let folder = tempfile::tempdir().unwrap();
    Store::create(folder.path(), &asked()).unwrap();
    let path = folder.path().join(SAMPLES);
    let before = UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    File::options().append(true).open(&path).unwrap().set_modified(before).unwrap();
    Store::resume(folder.path(), &asked()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
}

#[test]
fn what_is_no_number_does_not_make_a_run_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let cell = parameters([("threads", 2_u32.into())]);
    let mut store = Store::create(folder.path(), &asked()).unwrap();
    let endless = statistics::Interval { median: 1.0, low: 0.0, high: f64::INFINITY };
    let sample = Sample::default()
        .value("ns", 4.0)
        .value("ns", f64::NAN)
        .value("rate", f64::INFINITY)
        .estimate("speed", endless)
        .total("collections", f64::NAN, 1.0);
    store.keep("atomics", &cell, 0, sample).unwrap();
    let again = Store::resume(folder.path(), &asked()).unwrap();
    let kept = again.samples("atomics", &cell);
    assert_eq!(kept, store.samples("atomics", &cell), "the same before and after");
    assert_eq!(kept[0].values, [("ns".to_owned(), vec![4.0])].into());
    assert!(kept[0].estimates.is_empty() && kept[0].totals.is_empty());
    let lacking: Vec<&str> = kept[0].unavailable.keys().map(String::as_str).collect();
    assert_eq!(lacking, ["collections", "rate", "speed"]);
    assert!(kept[0].unavailable["rate"].contains("not a number"), "{:?}", kept[0].unavailable);
}

#[test]
fn folders_are_numbered() {
    let parent = tempfile::tempdir().unwrap();
    assert!(last_folder(parent.path()).is_err());
    for name in ["terrace-lab", "terrace-lab-2"] {
        let folder = new_folder(parent.path());
        assert!(folder.ends_with(name));
        Store::create(&folder, &asked()).unwrap();
        assert_eq!(last_folder(parent.path()).unwrap(), folder);
    }
    for other in ["terrace-lab-07", "terrace-lab-+8", "terrace-lab-9-before", "terrace-lab-"] {
        fs::create_dir(parent.path().join(other)).unwrap();
    }
    assert!(new_folder(parent.path()).ends_with("terrace-lab-3"), "the others are not the lab's");
}

#[test]
fn the_last_run_is_the_one_that_last_wrote() {
    let parent = tempfile::tempdir().unwrap();
    let folder = |name: &str| parent.path().join(name);
    let last = || last_folder(parent.path()).unwrap();
    // The first folder is deleted: the second is found, and the next run does not take its place.
    Store::create(&folder("terrace-lab-2"), &asked()).unwrap();
    assert_eq!(last(), folder("terrace-lab-2"));
    let new = new_folder(parent.path());
    assert!(new.ends_with("terrace-lab-3"), "{new:?}");
    Store::create(&new, &asked()).unwrap();
    assert_eq!(last(), new);
    // A directory without a run is nothing to continue, whatever its number.
    fs::create_dir(folder("terrace-lab-4")).unwrap();
    assert_eq!(last(), new);
    // The older run is continued: it is the last one now.
    let later = SystemTime::now() + std::time::Duration::from_secs(60);
    let samples = OpenOptions::new().append(true).open(folder("terrace-lab-2").join(SAMPLES)).unwrap();
    samples.set_modified(later).unwrap();
    assert_eq!(last(), folder("terrace-lab-2"));
}

#[test]
fn files_that_are_somebody_elses_stay() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("index.html");
    fs::write(&page, "precious").unwrap();
    let error = Store::create(folder.path(), &asked()).err().unwrap();
    assert!(error.exit_code() == 2 && error.to_string().contains("an empty directory"), "{error}");
    assert_eq!(
        (fs::read_to_string(&page).unwrap().as_str(), fs::read_dir(folder.path()).unwrap().count()),
        ("precious", 1)
    );
}

#[test]
fn two_runs_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Store::resume(folder.path(), &asked()).is_err_and(|error| error.exit_code() == 2));
    Store::create(folder.path(), &asked()).unwrap();
    let error = Store::create(folder.path(), &asked()).err().unwrap().to_string();
    assert!(error.contains("--resume"), "{error}");
    let newer = Header { terrace: "2".into(), ..asked() };
    assert!(Store::resume(folder.path(), &newer).err().unwrap().to_string().contains("started by terrace 1"));
}
