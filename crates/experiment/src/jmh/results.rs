//! What JMH wrote: its file of results, and its words when it failed.

use super::Read;
use crate::sample::Sample;
use crate::{Error, Result};
use serde_json::{Value, json};

/// The values that were asked for, from JMH's file of one result.
pub(super) fn sample(text: &str, reads: &[Read]) -> Result<Sample> {
    let all: Value = serde_json::from_str(text).map_err(|error| {
        Error::failed(format!("JMH's result file: {error}; rebuild with 'cargo xtask build'"))
    })?;
    let [result] = all.as_array().map_or(&[][..], Vec::as_slice) else {
        return Err(Error::failed(format!(
            "JMH gave {} results instead of one; give each parameter one value",
            all.as_array().map_or(0, Vec::len)
        )));
    };
    let mut sample = Sample { processes: 1, ..Sample::default() }.with_settings(settings(result));
    for read in reads {
        let metric = match read.label.as_str() {
            "" => &result["primaryMetric"],
            label => &result["secondaryMetrics"][label],
        };
        let values: Vec<f64> = values(metric)
            .into_iter()
            .map(|value| if read.inverse { read.factor / value } else { read.factor * value })
            .filter(|value| value.is_finite())
            .collect();
        if values.is_empty() {
            let reason = match (metric.is_null(), read.label.as_str()) {
                (true, label) => format!("JMH has no result '{label}'"),
                (false, "") => "JMH gave no number".to_owned(),
                (false, label) => format!("JMH gave no number for '{label}'"),
            };
            sample.unavailable.insert(read.metric.clone(), reason);
        }
        for value in values {
            sample.add(&read.metric, value);
        }
    }
    Ok(sample)
}

/// A value for each iteration; profilers give one for all of them. What JMH writes as "NaN" is none.
fn values(metric: &Value) -> Vec<f64> {
    let forks = metric["rawData"].as_array().into_iter().flatten();
    let iterations: Vec<&Value> = forks.filter_map(Value::as_array).flatten().collect();
    if iterations.is_empty() {
        return metric["score"].as_f64().into_iter().collect();
    }
    iterations.into_iter().filter_map(Value::as_f64).collect()
}

/// What was in force, as JMH tells it.
fn settings(result: &Value) -> Value {
    json!({
        "jdk": result["vmVersion"],
        "flags": result["jvmArgs"],
        "threads": result["threads"],
        "parameters": result["params"],
        "jmh": result["jmhVersion"],
        "mode": result["mode"],
        "unit": result["primaryMetric"]["scoreUnit"],
    })
}

/// Why a run failed: our agent's words, the innermost cause that the benchmark's exception names, or JMH's own last word.
pub(super) fn failure(output: &str) -> Option<String> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let failed = || lines().skip_while(|line| !line.contains("<failure>")).skip(1);
    let exception =
        || failed().take_while(|line| !line.starts_with('#') && !line.starts_with("Benchmark had"));
    let cause = || exception().filter_map(|line| line.strip_prefix("Caused by: ")).last();
    let died = || lines().skip_while(|line| !line.contains("<forked VM failed")).take(4).collect::<Vec<_>>();
    lines()
        .find(|line| line.starts_with("terrace: "))
        .or_else(cause)
        .or_else(|| exception().next())
        .map(str::to_owned)
        .or_else(|| Some(died().join(" | ")).filter(|said| !said.is_empty()))
        .or_else(|| lines().find(|line| line.starts_with("No matching benchmarks")).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_THREADS: &str = r##"[{
        "jmhVersion" : "1.37", "benchmark" : "terrace.benchmarks.Atomics.compareAndSet", "mode" : "thrpt",
        "threads" : 2, "forks" : 1, "jvm" : "/jdk/bin/java",
        "jvmArgs" : ["-Xshare:auto", "-XX:+UseSerialGC"],
        "jdkVersion" : "25.0.3", "vmName" : "OpenJDK 64-Bit Server VM", "vmVersion" : "25.0.3+9-LTS",
        "warmupIterations" : 1, "warmupTime" : "300 ms", "warmupBatchSize" : 1,
        "measurementIterations" : 3, "measurementTime" : "200 ms", "measurementBatchSize" : 1,
        "params" : { "layout" : "shared" },
        "primaryMetric" : {
            "score" : 5.0E7, "scoreError" : "NaN", "scoreConfidence" : ["NaN", "NaN"],
            "scorePercentiles" : { "0.0" : 4.0E7, "50.0" : 5.0E7, "100.0" : 6.0E7 },
            "scoreUnit" : "ops/s", "rawData" : [ [ 4.0E7, 5.0E7, 6.0E7 ] ]
        },
        "secondaryMetrics" : {
            "retries" : { "score" : 1.0E7, "scoreError" : "NaN", "scoreUnit" : "ops/s", "rawData" : [ [ 1.0E7, 0.0, 2.0E7 ] ] },
            "cycles" : { "score" : 122.1, "scoreError" : "NaN", "scoreUnit" : "#/op", "rawData" : [ [ ] ] },
            "pauses" : { "score" : "NaN", "scoreError" : "NaN", "scoreUnit" : "events", "rawData" : [ [ "NaN", "NaN" ] ] }
        }
    }]"##;

    #[test]
    fn every_iteration_is_a_value_in_the_metrics_unit() {
        let reads = [
            Read::times("", "rate", 1.0),
            Read::over("", "ns", 2e9),
            Read::times("retries", "failed", 1e-6),
            Read::times("cycles", "cycles", 1.0),
        ];
        let sample = sample(TWO_THREADS, &reads).unwrap();
        assert_eq!(sample.values["rate"], [4e7, 5e7, 6e7]);
        assert_eq!(sample.values["ns"], [50.0, 40.0, 2e9 / 6e7]);
        assert_eq!(sample.values["failed"], [10.0, 0.0, 20.0]);
        assert_eq!(sample.values["cycles"], [122.1]);
        assert!(sample.unavailable.is_empty());
        assert_eq!((sample.processes, sample.whole("rate").map(|whole| whole.median)), (1, Some(5e7)));
        assert_eq!(sample.settings["jdk"], "25.0.3+9-LTS");
        assert_eq!(sample.settings["flags"][1], "-XX:+UseSerialGC");
        assert_eq!((&sample.settings["jmh"], &sample.settings["mode"]), (&"1.37".into(), &"thrpt".into()));
        assert_eq!(sample.settings["parameters"]["layout"], "shared");
    }

    #[test]
    fn what_is_missing_or_no_number_is_unavailable_and_never_zero() {
        let reads = [
            Read::times("pauses", "pauses", 1.0),
            Read::times("r04ae", "stalls", 1.0),
            Read::over("retries", "between", 1.0),
        ];
        let sample = sample(TWO_THREADS, &reads).unwrap();
        assert_eq!(sample.unavailable["pauses"], "JMH gave no number for 'pauses'");
        assert_eq!(sample.unavailable["stalls"], "JMH has no result 'r04ae'");
        assert_eq!(sample.values.keys().collect::<Vec<_>>(), ["between"]);
        assert_eq!(sample.values["between"].len(), 2, "1 over 0 is no value");
    }

    #[test]
    fn anything_but_one_result_is_an_error() {
        assert!(sample("[]", &[]).unwrap_err().to_string().contains("0 results"));
        assert!(sample("", &[]).unwrap_err().to_string().contains("cargo xtask build"));
    }

    #[test]
    fn a_failure_is_told_by_its_innermost_cause() {
        let thrown = "# Warmup Iteration   1: <failure>\n\njava.lang.ExceptionInInitializerError\n\tat a.B.c(B.java:3)\n\
                      Caused by: java.lang.IllegalStateException: no access\n\t... 13 more\n\n\nBenchmark had encountered error\n\
                      ERROR: x\nCaused by: org.openjdk.jmh.runner.BenchmarkException: Benchmark error during the run\n";
        assert_eq!(failure(thrown).unwrap(), "java.lang.IllegalStateException: no access");
        let plain =
            "Iteration 1: <failure>\n\njava.lang.IllegalStateException: counted 1 in 2 operations\n\tat a\n";
        assert_eq!(failure(plain).unwrap(), "java.lang.IllegalStateException: counted 1 in 2 operations");
        let died = "# Fork: 1 of 1\n<forked VM failed with exit code 1>\n<stdout last='20 lines'>\n</stdout>\nterrace: no ZGC\n";
        assert_eq!(failure(died).unwrap(), "terrace: no ZGC");
        let unknown = "# Fork\n<forked VM failed with exit code 1>\n<stdout last='20 lines'>\nError: bad flag\n</stdout>\n";
        assert!(failure(unknown).unwrap().contains("bad flag"));
        assert_eq!(failure(""), None);
    }
}
