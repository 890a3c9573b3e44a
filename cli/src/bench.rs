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
    for Line { name, unit, rate, limit, peak, ratio, median_ratio, macs_per_cycle } in lines {
        if json {
            let mut line = serde_json::json!({
                "name": name,
                unit.key(): rate,
                "limit": limit,
                "peak": peak,
                "ratio": ratio,
                "median_ratio": median_ratio,
            });
            if let Some(macs) = macs_per_cycle {
                line["macs_per_cycle"] = macs.into();
            }
            println!("{line}");
        } else {
            let (unit, macs) = (unit.name(), macs_per_cycle.map_or(String::new(), |m| format!("{m:.1}")));
            println!(
                "{name:<58} {rate:>8.1} {unit:<5} {peak:>8.1} {ratio:>6.3} {median_ratio:>7.3} {macs:>6}  {limit}"
            );
        }
    }
    Ok(true)
}
