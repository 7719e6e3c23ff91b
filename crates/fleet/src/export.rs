//! Metrics for those who collect them: Prometheus' text format, or OpenTelemetry's JSON.

use crate::metrics::{Attribute, Metric, Point, Resource, possible_cpus};
use crate::survey::{Look, Survey};
use jvm::{Error, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Text exposition format 0.0.4, as node_exporter's textfile collector takes it.
    Prometheus,
    /// One line of OTLP's JSON (`ExportMetricsServiceRequest`).
    OpenTelemetry,
}

/// Exports as often as it is asked, and keeps what it knows of the machine's processes.
pub struct Exporter {
    survey: Survey,
    protocol: Protocol,
    is_named: bool,
    cpus: usize,
}

/// What was exported at one moment.
pub struct Exported {
    pub text: String,
    /// Why JVMs were left out that should not have been, each with what to do.
    pub omitted: Vec<Error>,
}

impl Exporter {
    /// Of these processes; of all JVMs with an agent, if none is named.
    pub fn of(processes: &[u32], protocol: Protocol) -> Exporter {
        Exporter {
            survey: Survey::of(processes),
            protocol,
            is_named: !processes.is_empty(),
            cpus: possible_cpus(),
        }
    }

    /// What the agents count. For the first time: an error if a process that is named has none.
    pub fn first(&mut self) -> Result<Exported> {
        let mut exported = self.export()?;
        match self.is_named && !exported.omitted.is_empty() {
            true => Err(exported.omitted.swap_remove(0)),
            false => Ok(exported),
        }
    }

    /// What the agents of those count that still run.
    pub fn export(&mut self) -> Result<Exported> {
        let looks = self.survey.look()?;
        let omitted = looks.iter().filter_map(|look| self.omitted(look)).collect();
        let resources: Vec<Resource> =
            looks.iter().filter_map(|look| Resource::of(look, self.cpus)).collect();
        let text = match self.protocol {
            Protocol::Prometheus => prometheus(&resources),
            Protocol::OpenTelemetry => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                format!("{}\n", open_telemetry(&resources, now.as_nanos()))
            }
        };
        Ok(Exported { text, omitted })
    }

    /// Why there is nothing of a JVM that was named, or has an agent.
    fn omitted(&self, look: &Look) -> Option<Error> {
        if look.other_version.is_some() {
            return look.other_version.clone();
        }
        let is_missing = look.agent.is_none() && self.is_named;
        is_missing.then(|| jvm::status::of(look.pid).err()).flatten()
    }

    /// Whether all that were named have ended.
    pub fn have_ended(&self) -> bool {
        self.survey.have_ended()
    }
}

/// The name that OpenTelemetry's compatibility rules give: underscores, the unit, `_total`.
fn prometheus_name(metric: &Metric) -> String {
    let mut name = metric.name.replace('.', "_");
    if metric.unit == "By" && !name.ends_with("_bytes") {
        name += "_bytes";
    }
    if metric.is_counter {
        name += "_total";
    } else if metric.name == "terrace.agent" {
        name += "_info";
    }
    name
}

fn prometheus(resources: &[Resource]) -> String {
    // The samples of a metric stand together, whatever JVM they are of.
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    for resource in resources {
        for metric in &resource.metrics {
            let name = prometheus_name(metric);
            let kind = if metric.is_counter { "counter" } else { "gauge" };
            let head = || format!("# HELP {name} {}\n# TYPE {name} {kind}\n", metric.description);
            let family = families.entry(name.clone()).or_insert_with(head);
            metric.points.iter().for_each(|point| sample(family, &name, resource, point));
        }
    }
    families.into_values().collect()
}

fn sample(family: &mut String, name: &str, resource: &Resource, point: &Point) {
    let labels = resource.attributes.iter().chain(&point.attributes);
    let labels =
        labels.map(|(key, value)| format!("{}=\"{}\"", key.replace('.', "_"), escaped(&value.to_string())));
    let _ = writeln!(family, "{name}{{{}}} {}", labels.collect::<Vec<_>>().join(","), point.value);
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn open_telemetry(resources: &[Resource], now: u128) -> Value {
    let value = |value: &Attribute| match value {
        Attribute::Text(text) => json!({"stringValue": text}),
        // 64-bit numbers are texts in the JSON of protocol buffers.
        Attribute::Number(number) => json!({"intValue": number.to_string()}),
    };
    let attributes = |all: &[(&str, Attribute)]| -> Value {
        all.iter().map(|(key, said)| json!({"key": key, "value": value(said)})).collect()
    };
    let metric = |metric: &Metric, start: u128| {
        let points: Value = (metric.points.iter())
            .map(|point| {
                json!({
                    "attributes": attributes(&point.attributes),
                    "startTimeUnixNano": start.to_string(),
                    "timeUnixNano": now.to_string(),
                    "asInt": point.value.to_string(),
                })
            })
            .collect();
        let mut told = json!({"name": metric.name, "unit": metric.unit, "description": metric.description});
        match metric.is_counter {
            // Cumulative.
            true => {
                told["sum"] = json!({"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": true})
            }
            false => told["gauge"] = json!({"dataPoints": points}),
        }
        told
    };
    let resource = |resource: &Resource| {
        // Another start would mean that the counters began anew.
        let start = resource.began.as_nanos();
        let metrics: Value = resource.metrics.iter().map(|one| metric(one, start)).collect();
        json!({
            "resource": {"attributes": attributes(&resource.attributes)},
            "scopeMetrics": [{
                "scope": {"name": "terrace", "version": env!("CARGO_PKG_VERSION")},
                "metrics": metrics,
            }],
        })
    };
    json!({"resourceMetrics": resources.iter().map(resource).collect::<Value>()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::tests::look;
    use crate::agents::Agent;
    use control::{Control, Mode, State};
    use hab::Counter;
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    fn resources() -> Vec<Resource> {
        let control = Control::anonymous(&[2]).unwrap();
        control.set_settings(r#"{"levels":"core","terrace":"0.1.0"}"#);
        control.set_state(State::Installed);
        control.set_mode(Mode::On);
        control.counters(0)[1].add(Counter::BufferBytes, 4096);
        control.counters(0)[0].add(Counter::WasteRefill, 24);
        let looks = [5, 6].map(|pid| {
            let mut look = look(Instant::now(), pid, Some(&control));
            look.program = "a \"b\" \\ c".into();
            look
        });
        assert!(Resource::of(&look(Instant::now(), 7, None), 2).is_none());
        looks.iter().map(|look| Resource::of(look, 2).unwrap()).collect()
    }

    /// The rules of the text format: one HELP and one TYPE before the samples of a metric, and no sample twice.
    #[test]
    fn prometheus_takes_it() {
        let text = prometheus(&resources());
        let (mut seen, mut families, mut family) = (BTreeSet::new(), BTreeSet::new(), String::new());
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap().to_owned();
                assert!(families.insert(family.clone()), "{family} twice");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let counter = kind.strip_suffix(" counter") == Some(&family);
                assert!(counter || kind.strip_suffix(" gauge") == Some(&family), "{kind}");
                assert_eq!(counter, family.ends_with("_total"), "{family}");
            } else {
                let (sample, value) = line.rsplit_once(' ').unwrap();
                assert!(sample.starts_with(&format!("{family}{{")), "{line} in {family}");
                assert!(value.parse::<u64>().is_ok() && seen.insert(sample.to_owned()), "{line}");
            }
        }
        for line in [
            r#"terrace_buffer_tlab_bytes_total{process_pid="5",terrace_program="a \"b\" \\ c",terrace_level="core",terrace_domain="1"} 4096"#,
            r#"terrace_buffer_waste_bytes_total{process_pid="6",terrace_program="a \"b\" \\ c",terrace_level="core",terrace_domain="0",terrace_waste_cause="refill"} 24"#,
            r#"terrace_agent_info{process_pid="5",terrace_program="a \"b\" \\ c",terrace_state="installed",terrace_mode="on",terrace_levels="core",terrace_version="0.1.0"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\nin\n{text}");
        }
        assert_eq!(prometheus(&[]), "");
    }

    #[test]
    fn the_start_is_the_same_in_each_export() {
        let agent = Agent::start(&[1]);
        let start = |exporter: &mut Exporter| -> String {
            let told: Value = serde_json::from_str(&exporter.first().unwrap().text).unwrap();
            let metrics = &told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
            let sum = metrics.as_array().unwrap().iter().find(|metric| metric["sum"].is_object()).unwrap();
            sum["sum"]["dataPoints"][0]["startTimeUnixNano"].as_str().unwrap().to_owned()
        };
        let new = || Exporter::of(&[agent.pid()], Protocol::OpenTelemetry);
        let (mut one, mut starts) = (new(), BTreeSet::new());
        for _ in 0..5 {
            starts.extend([start(&mut one), start(&mut new())]);
            std::thread::sleep(Duration::from_millis(7));
        }
        assert_eq!(starts.len(), 1, "{starts:?}");
    }

    #[test]
    fn an_agent_of_another_version_is_told() {
        let (ours, other) = (Agent::start(&[1]), Agent::start(&[1]));
        other.is_newer();
        for _ in 0..2 {
            let exported = Exporter::of(&[], Protocol::Prometheus).first().unwrap();
            let has = |agent: &Agent| exported.text.contains(&format!("process_pid=\"{}\"", agent.pid()));
            assert!(has(&ours) && !has(&other), "{}", exported.text);
            let name = format!("in process {} has another version", other.pid());
            assert!(exported.omitted.iter().any(|error| error.to_string().contains(&name)));
        }
        let error = Exporter::of(&[other.pid()], Protocol::Prometheus).first().err().unwrap();
        assert!(error.to_string().contains("the terrace command of the same release"), "{error}");
    }

    /// What one process has written reaches everybody's collector.
    #[test]
    fn a_hostile_process_spoils_nothing() {
        let control = Control::anonymous(&[2, 8192, 8192]).unwrap();
        control.set_settings(r#"{"levels":"core+processor","terrace":"0.1.0"}"#);
        control.set_state(State::Installed);
        for level in 0..3 {
            let counters = control.counters(level);
            counters.iter().take(2).for_each(|domain| domain.add(Counter::BufferBytes, u64::MAX));
        }
        let hostile = Resource::of(&look(Instant::now(), 5, Some(&control)), possible_cpus().max(2)).unwrap();
        let text = prometheus(std::slice::from_ref(&hostile));
        let most = 17 * (possible_cpus().max(2) * 3) + 4;
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        assert!(samples.clone().count() <= most);
        let sum = r#"terrace_buffer_tlab_bytes_total{process_pid="5",terrace_program="App",terrace_level="processor"} 9223372036854775807"#;
        assert!(text.lines().any(|line| line == sum), "{text}");
        assert!(
            samples.clone().all(|line| line.rsplit(' ').next().unwrap().parse::<i64>().is_ok()),
            "{text}"
        );
        let told = open_telemetry(&[hostile], 1).to_string();
        assert!(told.contains(r#""asInt":"9223372036854775807""#));
        let numbers = told.split(r#""asInt":""#).skip(1).map(|rest| rest.split('"').next().unwrap());
        assert!(numbers.into_iter().all(|number| number.parse::<i64>().is_ok()));
    }

    /// Without settings no level has a name.
    #[test]
    fn no_sample_of_a_refused_or_starting_agent_stands_twice() {
        let control = Control::anonymous(&[2, 1]).unwrap();
        let said = || {
            let look = look(Instant::now(), 5, Some(&control));
            prometheus(&[Resource::of(&look, 2).unwrap()])
        };
        let check = |text: String| {
            let samples = text.lines().filter(|line| !line.starts_with('#'));
            let names: Vec<&str> = samples.map(|line| line.rsplit_once(' ').unwrap().0).collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{text}");
            text.contains("terrace_level=")
        };
        for state in [State::Refused, State::Starting, State::Installed] {
            control.set_state(state);
            assert!(!check(said()), "{}", state.name());
        }
        for levels in ["core+processor", "core", "private", "core+core"] {
            control.set_settings(&format!(r#"{{"levels":"{levels}"}}"#));
            control.set_state(State::Ended);
            assert!(check(said()), "{levels}");
            control.set_state(State::Refused);
            assert!(!check(said()), "{levels}");
        }
    }

    #[test]
    fn open_telemetry_takes_it() {
        let told = open_telemetry(&resources(), 200_000_000_000);
        let first = &told["resourceMetrics"][0];
        assert_eq!(
            first["resource"]["attributes"][0],
            json!({"key": "process.pid", "value": {"intValue": "5"}})
        );
        let metrics = first["scopeMetrics"][0]["metrics"].as_array().unwrap();
        let find = |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap();
        let bytes = find("terrace.buffer.tlab.bytes");
        assert_eq!((&bytes["unit"], &bytes["sum"]["isMonotonic"]), (&"By".into(), &true.into()));
        let point = &bytes["sum"]["dataPoints"][1];
        assert_eq!((&point["asInt"], &point["timeUnixNano"]), (&"4096".into(), &"200000000000".into()));
        assert_eq!(point["startTimeUnixNano"], "100070000000");
        assert!(find("terrace.buffers.enabled")["gauge"]["dataPoints"][0]["asInt"] == "1");
    }
}
