//! docs/containers.md, line by line: each is run in a root, with the mounts, the user and the rights that it asks for.

#[path = "common/container_page.rs"]
mod container_page;
#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;
#[path = "common/sandbox.rs"]
mod sandbox;

use container_page::{blocks, docker_run, pod, unit, words};
use installed::{PATIENCE, stderr, stdout};
use running::status;
use sandbox::{Image, Running};
use std::process::Command;
use std::time::Instant;

const PAGE: &str = include_str!("../../../docs/containers.md");
const DOCKERFILE: &str = include_str!("../../../packaging/Dockerfile");

/// The blocks of one language.
fn of(language: &str) -> Vec<String> {
    blocks(PAGE).into_iter().filter(|block| block.0 == language).map(|block| block.1).collect()
}

/// The program's own words behind those of the page: it allocates until it is ended.
fn for_long(mut words: Vec<String>) -> Vec<String> {
    words.extend(["alloc", "--threads", "2", "--seconds", "600"].map(str::to_owned));
    words
}

/// The JVM has buffers and uses them: seen from outside, and by the page's own line inside.
fn assert_buffers(running: &Running, inside: &[&str]) -> serde_json::Value {
    let seen = status(&running.jvm, |status| {
        status["state"] == "installed" && status["total"]["refills"].as_u64() > Some(0)
    });
    assert_eq!(seen["mode"], "on");
    if !inside.is_empty() {
        let output = running.exec(inside);
        assert!(output.status.success() && stdout(&output).contains("installed"), "{}", stderr(&output));
    }
    seen
}

#[test]
fn no_block_of_the_page_is_left_out() {
    let languages: Vec<String> = blocks(PAGE).into_iter().map(|block| block.0).collect();
    assert_eq!(languages, ["shell", "shell", "yaml", "shell", "shell", "ini", "ini"]);
}

#[test]
fn docker_with_an_image_of_ones_own() {
    let Some(image) = Image::with_terrace(DOCKERFILE) else { return };
    let lines = of("shell").remove(0);
    let [build, run, exec] = lines.lines().collect::<Vec<_>>().try_into().unwrap();
    assert!(build.starts_with("docker build --file packaging/Dockerfile "), "{build}");
    let (sandbox, name, command) = docker_run(run, |volume| {
        assert_eq!(volume, "./app.jar");
        image.root("app/app.jar")
    });
    assert!(build.contains(&format!("--tag {name} ")), "{build}");
    let running = sandbox.start(&image, &for_long(command));
    assert_buffers(&running, &exec.strip_prefix("docker exec app ").unwrap().split(' ').collect::<Vec<_>>());
}

#[test]
fn docker_with_an_image_of_somebody_else() {
    let Some(image) = Image::plain() else { return };
    let Some(host) = Image::with_terrace(DOCKERFILE) else { return };
    let lines = of("shell").remove(1);
    let [run, exec] = lines.lines().collect::<Vec<_>>().try_into().unwrap();
    let (sandbox, _, command) = docker_run(run, |volume| match volume {
        "./app.jar" => image.root("app/app.jar"),
        "/opt/terrace" => host.root("opt").join(std::fs::read_link(host.root("opt/terrace")).unwrap()),
        other => panic!("{other}"),
    });
    let running = sandbox.start(&image, &for_long(command));
    let inside: Vec<&str> = exec.strip_prefix("docker exec app ").unwrap().split(' ').collect();
    let seen = assert_buffers(&running, &inside);
    if running.is_limited("cpuset") {
        assert_eq!(seen["settings"]["domains"], serde_json::json!([1]), "{seen:#}");
    }
}

#[test]
fn kubernetes() {
    let Some(app) = Image::plain() else { return };
    let Some(terrace) = Image::with_terrace(DOCKERFILE) else { return };
    let (containers, _volumes) = pod(&of("yaml").remove(0), &app);
    let [first, main] = containers.try_into().ok().expect("an init container and one more");
    let tag = format!("--tag {} target/dist`", first.image);
    assert!(PAGE.contains(&tag) && first.image.ends_with(env!("CARGO_PKG_VERSION")), "{tag}");
    let copied = first.sandbox.command(&terrace, &first.command).output().unwrap();
    assert!(copied.status.success(), "{}", stderr(&copied));
    let running = main.sandbox.start(&app, &for_long(main.command));
    let exec = of("shell").remove(2);
    let exec = exec.trim().strip_prefix(&format!("kubectl exec app --container {} -- ", main.name)).unwrap();
    assert_buffers(&running, &exec.split(' ').collect::<Vec<_>>());
}

/// The page's pod as it would be without Terrace, and the page's ephemeral containers.
#[test]
fn kubernetes_when_it_runs_already() {
    let Some(app) = Image::plain() else { return };
    let Some(terrace) = Image::with_terrace(DOCKERFILE) else { return };
    let (containers, _volumes) = pod(&of("yaml").remove(0), &app);
    let [first, mut main] = containers.try_into().ok().expect("an init container and one more");
    main.sandbox.environment.clear();
    main.sandbox.mounts.retain(|(at, _)| at == "/tmp");
    let running = main.sandbox.start(&app, &for_long(main.command));
    let lines = of("shell").remove(3);
    let [debug, doctor, attach, off] = lines.lines().collect::<Vec<_>>().try_into().unwrap();
    let wanted = format!(
        "kubectl debug app -it --image {} --target {} --profile restricted -- sh",
        first.image, main.name
    );
    assert_eq!(debug, wanted);
    let beside = |line: &str| {
        let output = running.beside(&terrace, &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        stdout(&output)
    };
    let examine = doctor.replace("--seconds 30", "--seconds 2");
    let until = Instant::now() + PATIENCE;
    // It may be asked too early.
    loop {
        let answer = running.beside(&terrace, &examine.split(' ').collect::<Vec<_>>());
        if answer.status.success() && stdout(&answer).contains("TLAB refills") {
            break;
        }
        assert!(Instant::now() < until, "{}{}", stdout(&answer), stderr(&answer));
    }
    beside(attach);
    assert_buffers(&running, &[]);
    beside(off);
    status(&running.jvm, |status| status["mode"] == "off");
}

#[test]
fn systemd() {
    let Some(image) = Image::with_terrace(DOCKERFILE) else { return };
    let (units, temporary) = (of("ini"), image.volume(0));
    let [service, drop_in] = [&units[..1], &units[..]].map(|texts| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        unit(&texts, temporary.path())
    });
    assert_eq!(drop_in.0.environment, [], "only what the unit has set for us");
    let kept = unit(&[&units[0], "Environment=DATABASE=db", &units[1]], temporary.path()).0.environment;
    assert_eq!(kept, [("DATABASE".to_owned(), "db".to_owned())]);
    for (sandbox, command) in [&service, &drop_in] {
        assert_buffers(&sandbox.start(&image, &for_long(command.clone())), &[]);
    }
    assert_eq!(drop_in.1[..3], words("/opt/terrace/bin/terrace run --"));

    if !Command::new("systemd-analyze").arg("--version").output().is_ok_and(|output| output.status.success())
    {
        skips::skip!("systemd-analyze is not there (package systemd); what the unit asks for was run");
        return;
    }
    std::fs::write(image.root("app/app.service"), &units[0]).unwrap();
    std::fs::create_dir(image.root("app/app.service.d")).unwrap();
    std::fs::write(image.root("app/app.service.d/terrace.conf"), &units[1]).unwrap();
    let verify = words("systemd-analyze verify /app/app.service");
    let output = sandbox::Sandbox::default().command(&image, &verify).output().unwrap();
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
}
