//! The settings in force, for the control memory and the report.

use super::plan::Plan;
use crate::agent::Agent;
use crate::report::{level_names, quoted};

/// A collector that gets no buffers.
const ONLY_OBSERVED: &str = "\"only_observed\":true,";

/// Whether these settings are of such a one.
pub(crate) fn are_of_only_observed(settings: &str) -> bool {
    settings.contains(ONLY_OBSERVED)
}

/// The settings in force as a JSON object.
/// `clock`: what requests are timed by.
pub(super) fn settings(plan: &Plan, agent: &Agent, clock: Option<&str>) -> String {
    let (jvm, levels) = (&plan.jvm, plan.options.levels);
    let sizes = agent.hierarchy.sizes();
    let size = |level: &str| {
        let names = level_names(levels);
        names.iter().position(|name| *name == level).and_then(|at| sizes.get(at)).copied().unwrap_or(0)
    };
    // As asked for: "core":"auto".
    let asked = (level_names(levels).iter().zip(agent.sized.asked(agent.control)))
        .map(|(name, asked)| format!("\"{name}\":{},", quoted(&asked.text())))
        .collect::<String>();
    // For those who would put buffers there.
    let only_observed = jvm.collector.only_observed().map_or("", |_| ONLY_OBSERVED);
    let accounts = &jvm.accounts;
    let clock = clock.map(|clock| format!("\"clock\":{},", quoted(clock))).unwrap_or_default();
    format!(
        "{{\"terrace\":{},\"jdk\":{},\"collector\":{},\"levels\":{},{only_observed}{asked}\"core_bytes\":{},\"processor_bytes\":{},\"automatic\":{},\"tlab\":{},\
         \"cpu_source\":{},\"domains\":[{}],\"processor_is\":{},\"grain_bytes\":{},\"largest_extent_bytes\":{},\"exact\":{},{clock}\
         \"machine\":{},\"accounts\":{{\"list\":{},\"length\":{},\"threads\":{},\"allocated\":{},\"tlab_start\":{},\
         \"tlab_top\":{},\"exited\":{}}}}}",
        quoted(env!("CARGO_PKG_VERSION")),
        quoted(&jvm.version),
        quoted(jvm.collector.name()),
        quoted(levels.name()),
        size("core"),
        size("processor"),
        agent.sized.follows(agent.control),
        quoted(&plan.tlabs.text),
        quoted(&plan.cpu_source.to_string()),
        plan.maps.iter().map(|map| map.known().to_string()).collect::<Vec<_>>().join(","),
        quoted(plan.machine.processor_kind().name()),
        jvm.grain(),
        agent.sized.largest_extent,
        plan.options.exact,
        quoted(&plan.machine.to_string()),
        accounts.list,
        accounts.length,
        accounts.threads,
        accounts.allocated,
        accounts.tlab_start,
        accounts.tlab_top,
        accounts.exited,
    )
}
