//! What docs/containers.md tells its readers to write, as what it asks a runtime for. Whatever is not understood here fails the test, so
//! that the page has nothing that is not done.

use crate::sandbox::{Image, Mount, Sandbox};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// Its fenced blocks: language and text, with lines that go on behind a backslash put together.
pub fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(language) => {
                inside = true;
                blocks.push((language.to_owned(), String::new()));
            }
            None if inside => {
                let end = if line.ends_with('\\') { "" } else { "\n" };
                blocks.last_mut().unwrap().1 += &format!("{}{end}", line.trim_end_matches('\\'));
            }
            None => {}
        }
    }
    blocks
}

pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// `docker run`: the sandbox, the image's name, the command.
pub fn docker_run(line: &str, volume: impl Fn(&str) -> std::path::PathBuf) -> (Sandbox, String, Vec<String>) {
    let mut words = line.split_whitespace().skip(2);
    let mut sandbox = Sandbox::default();
    loop {
        let option = words.next().expect("an image");
        let mut value = || words.next().unwrap_or_else(|| panic!("{option} of {line}"));
        match option {
            "--name" => assert_eq!(value(), "app"),
            "--read-only" => sandbox.read_only = true,
            "--tmpfs" => sandbox.mounts.push((value().to_owned(), Mount::Memory)),
            "--user" => {
                let (user, group) = value().split_once(':').unwrap();
                (sandbox.user, sandbox.group) = (user.parse().unwrap(), group.parse().unwrap());
            }
            "--cap-drop" => {
                assert_eq!(value(), "ALL");
                sandbox.no_capabilities = true;
            }
            "--security-opt" => {
                assert_eq!(value(), "no-new-privileges");
                sandbox.no_new_privileges = true;
            }
            "--memory" => sandbox.memory = Some(bytes(value())),
            "--cpuset-cpus" => sandbox.cpus = Some(value().to_owned()),
            "--volume" => {
                let parts: Vec<&str> = value().split(':').collect();
                let writable = parts.get(2) != Some(&"ro");
                sandbox.mounts.push((parts[1].to_owned(), Mount::Bound(volume(parts[0]), writable)));
            }
            "--env" => {
                let (name, value) = value().split_once('=').unwrap();
                sandbox.environment.push((name.to_owned(), value.to_owned()));
            }
            image if !image.starts_with('-') => {
                return (sandbox, image.to_owned(), words.map(str::to_owned).collect());
            }
            other => panic!("not understood: {other}"),
        }
    }
}

/// `512m`, `512M` and `512Mi`.
fn bytes(size: &str) -> u64 {
    let number: u64 = size.trim_end_matches(['m', 'M', 'i']).parse().unwrap();
    number << 20
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pod {
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    security_context: PodContext,
    init_containers: Vec<Container>,
    containers: Vec<Container>,
    volumes: Vec<Volume>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodContext {
    run_as_non_root: bool,
    run_as_user: u32,
    run_as_group: u32,
    fs_group: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Container {
    name: String,
    image: String,
    command: Vec<String>,
    #[serde(default)]
    env: Vec<Variable>,
    #[serde(default)]
    resources: Resources,
    security_context: Context,
    volume_mounts: Vec<VolumeMount>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    value: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Resources {
    #[serde(default)]
    limits: Limits,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Limits {
    memory: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Context {
    allow_privilege_escalation: bool,
    read_only_root_filesystem: bool,
    capabilities: Capabilities,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Capabilities {
    drop: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VolumeMount {
    name: String,
    mount_path: String,
    #[serde(default)]
    read_only: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Volume {
    name: String,
    empty_dir: BTreeMap<String, String>,
}

/// A container of a pod.
pub struct Started {
    pub name: String,
    pub image: String,
    pub command: Vec<String>,
    pub sandbox: Sandbox,
}

/// The containers of a pod, those that run first, first; and its volumes, as long as they are kept.
pub fn pod(yaml: &str, image: &Image) -> (Vec<Started>, Vec<TempDir>) {
    let pod: Pod = serde_saphyr::from_str(yaml).unwrap();
    assert_eq!(
        (pod.api_version.as_str(), pod.kind.as_str(), pod.metadata.name.as_str()),
        ("v1", "Pod", "app")
    );
    let (spec, of_pod) = (&pod.spec, &pod.spec.security_context);
    assert!(of_pod.run_as_non_root && of_pod.run_as_user != 0);
    assert_eq!(of_pod.fs_group, of_pod.run_as_group, "no further groups are set here");
    let volumes: BTreeMap<&str, TempDir> = spec
        .volumes
        .iter()
        .map(|volume| {
            assert!(volume.empty_dir.is_empty(), "no limits are set here");
            (volume.name.as_str(), image.volume(of_pod.fs_group))
        })
        .collect();
    let all = spec.init_containers.iter().chain(&spec.containers).map(|container| {
        let context = &container.security_context;
        assert_eq!(context.capabilities.drop, ["ALL"]);
        let mounted = |mount: &VolumeMount| {
            let folder = volumes[mount.name.as_str()].path().to_owned();
            (mount.mount_path.clone(), Mount::Bound(folder, !mount.read_only))
        };
        let sandbox = Sandbox {
            user: of_pod.run_as_user,
            group: of_pod.run_as_group,
            read_only: context.read_only_root_filesystem,
            no_capabilities: true,
            no_new_privileges: !context.allow_privilege_escalation,
            mounts: container.volume_mounts.iter().map(mounted).collect(),
            environment: container.env.iter().map(|it| (it.name.clone(), it.value.clone())).collect(),
            memory: container.resources.limits.memory.as_deref().map(bytes),
            cpus: None,
        };
        let (name, image) = (container.name.clone(), container.image.clone());
        Started { name, image, command: container.command.clone(), sandbox }
    });
    (all.collect(), volumes.into_values().collect())
}

/// What a unit and its drop-ins ask for: the sandbox, and the command.
pub fn unit(texts: &[&str], temporary: &Path) -> (Sandbox, Vec<String>) {
    // A dynamic user's number is of this range.
    let mut sandbox = Sandbox { user: 61_184, group: 61_184, ..Sandbox::default() };
    let mut command = Vec::new();
    let lines = texts.iter().flat_map(|text| text.lines());
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('[')) {
        match line.split_once('=').unwrap() {
            ("Description" | "WantedBy", _) | ("DynamicUser", "yes") => {}
            // There is no home, and no device beyond the usual ones.
            ("ProtectHome" | "PrivateDevices", "yes") => {}
            ("ExecStart", "") => command.clear(),
            ("ExecStart", value) => {
                assert!(command.is_empty(), "one command");
                command = words(value);
            }
            ("UnsetEnvironment", unset) => sandbox.environment.retain(|(name, _)| name != unset),
            ("Environment", value) => {
                let (name, value) = value.split_once('=').unwrap();
                sandbox.environment.push((name.to_owned(), value.to_owned()));
            }
            ("NoNewPrivileges", "yes") => sandbox.no_new_privileges = true,
            ("CapabilityBoundingSet", "") => sandbox.no_capabilities = true,
            ("ProtectSystem", "strict") => sandbox.read_only = true,
            ("PrivateTmp", "yes") => {
                sandbox.mounts.push(("/tmp".into(), Mount::Bound(temporary.to_owned(), true)));
            }
            ("MemoryMax", value) => sandbox.memory = Some(bytes(value)),
            (key, value) => panic!("not understood: {key}={value}"),
        }
    }
    (sandbox, command)
}
