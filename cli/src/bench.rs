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
        println!("{:<52} {:>8} {:>8} {:>6} {:>7} {:>6}  limit", "kernel", "Gop/s", "peak", "ratio", "median", "MAC/c");
    }
    for Line { name, gops, limit, peak, ratio, median_ratio, macs_per_cycle } in lines {
        if json {
            let line = serde_json::json!({
                "name": name,
                "gops": gops,
                "limit": limit,
                "peak": peak,
                "ratio": ratio,
                "median_ratio": median_ratio,
                "macs_per_cycle": macs_per_cycle,
            });
            println!("{line}");
        } else {
            println!(
                "{name:<52} {gops:>8.1} {peak:>8.1} {ratio:>6.3} {median_ratio:>7.3} {macs_per_cycle:>6.1}  {limit}"
            );
        }
    }
    Ok(true)
}
