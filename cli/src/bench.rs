//! `smalti bench`: what is measured here, beside the machine's limits.

use crate::Failure;
use smalti_benches::report::{self, Line};
use smalti_ukernels::Host;

/// `smalti bench ukernels`
pub(crate) fn ukernels(filter: &str, json: bool) -> Result<bool, Failure> {
    let host = Host::detect();
    let mut lines = report::ukernels(&host, filter).peekable();
    if lines.peek().is_none() {
        return Err(Failure(format!("no kernel that runs here has '{filter}' in its name; smalti kernels lists them")));
    }
    if !json {
        println!("{:<58} {:>14} {:>8} {:>6} {:>7} {:>6}  limit", "kernel", "rate", "peak", "ratio", "median", "MAC/c");
    }
    for line in lines {
        println!("{}", if json { object(&line).to_string() } else { text(&line) });
    }
    Ok(true)
}

/// A line of JSON.
fn object(line: &Line) -> serde_json::Value {
    let mut object = serde_json::json!({
        "name": line.name,
        line.unit.key(): line.rate,
        "limit": line.limit,
        "peak": line.peak,
        "ratio": line.ratio,
        "median_ratio": line.median_ratio,
    });
    if let Some(macs) = line.macs_per_cycle {
        object["macs_per_cycle"] = macs.into();
    }
    object
}

/// A line of the table.
fn text(line: &Line) -> String {
    let Line { name, unit, rate, limit, peak, ratio, median_ratio, macs_per_cycle } = line;
    let (unit, macs) = (unit.name(), macs_per_cycle.map_or(String::new(), |m| format!("{m:.1}")));
    format!("{name:<58} {rate:>8.1} {unit:<5} {peak:>8.1} {ratio:>6.3} {median_ratio:>7.3} {macs:>6}  {limit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use smalti_benches::report::Unit;

    #[test]
    fn a_line_says_what_its_rate_counts() {
        let mut line = Line {
            name: "copy".into(),
            unit: Unit::Gbps,
            rate: 3.0,
            limit: "memcpy",
            peak: 4.0,
            ratio: 0.75,
            median_ratio: 0.5,
            macs_per_cycle: None,
        };
        let bytes = serde_json::json!({
            "name": "copy", "gbps": 3.0, "limit": "memcpy", "peak": 4.0, "ratio": 0.75, "median_ratio": 0.5,
        });
        assert_eq!(object(&line), bytes);
        assert!(text(&line).contains(" 3.0 GB/s "), "{}", text(&line));
        (line.unit, line.macs_per_cycle) = (Unit::Gops, Some(2.0));
        let ops = serde_json::json!({
            "name": "copy", "gops": 3.0, "limit": "memcpy", "peak": 4.0, "ratio": 0.75, "median_ratio": 0.5,
            "macs_per_cycle": 2.0,
        });
        assert_eq!(object(&line), ops);
        assert!(text(&line).contains(" 3.0 Gop/s "), "{}", text(&line));
    }
}
