#![allow(missing_docs)]
use smalti_benches::inner_loop::InnerLoop;
use smalti_ukernels::table::ROWS;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    for row in ROWS.iter().filter(|r| r.name.contains(&a[1])) {
        if let Some(l) = InnerLoop::of(row, smalti_benches::peak::key(row)) {
            println!(
                "{}: {} instructions, {} key, {} stack, {} vectors",
                row.name,
                l.text.len(),
                l.key,
                l.stack,
                l.vectors
            );
            if a.len() > 2 {
                l.text.iter().for_each(|t| println!("    {t}"));
            }
        }
    }
}
