//! Models as files: compiled for many targets, saved, opened, run.

use crate::{Error, Session};
use smalti_module::Module;
use smalti_runtime::Pool;
use smalti_ukernels::Host;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

pub use smalti_compiler::module::{Build, Built, build, finish, portable};

/// Writes a module, and gives its size in bytes. A file of that name stays whole until the new one is: that is written
/// beside it, and then takes its place.
///
/// # Errors
/// The file can't be written; the old one is as it was.
pub fn save(module: &Module, path: &Path) -> std::io::Result<usize> {
    let pieces = module.encode();
    let bytes = pieces.iter().map(|p| p.len()).sum();
    // A device or a pipe is no file that could be replaced.
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        let mut file = std::fs::File::options().write(true).open(path)?;
        pieces.iter().try_for_each(|p| file.write_all(p))?;
        return Ok(bytes);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".smalti-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file; the process's mask is taken off.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    pieces.iter().try_for_each(|p| file.write_all(p))?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(bytes)
}

/// Opens a module file. Its constants are mapped: the file must stay as it is while the module or a session of it lives.
///
/// # Errors
/// The file can't be read, or is no module; its name is the caller's to say.
pub fn open(path: &Path) -> Result<Module, Error> {
    let bytes = smalti_runtime::map(path).map_err(|e| Error::File(e.to_string()))?;
    Ok(Module::read(&bytes)?)
}

impl Session {
    /// Loads a module: its best variant for this machine or, where none runs here, a program that is compiled now from its
    /// portable part; [`Session::notes`] says so. Without `native`, machine code of the file is not executed.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub fn load(module: &Module, pool: Arc<dyn Pool>, native: bool) -> Result<Session, Error> {
        let host = Host::detect();
        if module.best(host.target()).is_some() {
            let session = smalti_runtime::Session::load(module, host, pool, native)?;
            return Ok(Session { session, notes: Vec::new() });
        }
        let targets: Vec<String> = module.variants.iter().map(|v| v.target.to_string()).collect();
        let has = if targets.is_empty() { "no code".to_owned() } else { format!("code for {}", targets.join(", ")) };
        let target = *host.target();
        let note = format!("the module has {has}; it was compiled now for {target}, from its portable part");
        let program = finish(module, target)?;
        let session = smalti_runtime::Session::new(Arc::new(program), host, pool)?;
        Ok(Session { session, notes: vec![note] })
    }
}
