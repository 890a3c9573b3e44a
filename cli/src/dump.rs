//! Every stage as a text file.

use crate::Failure;
use smalti_compiler::Stages;
use std::fs;
use std::path::Path;

/// Writes the stages into `folder`, numbered in the order of the data.
pub(crate) fn stages(folder: &Path, stages: &Stages) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
    let mut number = 0;
    let mut file = |name: &str, text: &str| {
        number += 1;
        write(folder, &format!("{number:02}-{name}"), text)
    };
    file("import.graph", &stages.graph.print().text)?;
    file("fold.graph", &stages.folded.print().text)?;
    for (pass, graph) in &stages.tiled {
        file(&format!("{pass}.tiled"), &graph.print().text)?;
    }
    file("lower.program", &stages.program.print())
}

/// Writes the machine code of each dispatch.
pub(crate) fn code(folder: &Path, session: &smalti_runtime::Session) -> Result<(), Failure> {
    for (i, nest) in session.program().nests.iter().enumerate() {
        let text = format!("{nest}\n\n{}", session.code().listing(i as u32));
        write(folder, &format!("nest{i:03}-{}.txt", nest.name), &text)?;
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|e| Failure(format!("{}: {e}", path.display())))
}
