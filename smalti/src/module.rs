//! Models as files: compiled for many targets, saved, opened, run.

use crate::{Error, Session};
use bytes::Bytes;
use smalti_codegen::clif::{ClifError, Compiler};
use smalti_compiler::tiled::parse_folded;
use smalti_compiler::{Options, compile, pack_constants, passes};
use smalti_graph::{Elem, Graph, GraphError, Tensor, Type, ValueId};
use smalti_isa::Target;
use smalti_module::{Blob, Code, Module, Port, Portable, Variant};
use smalti_program::Program;
use smalti_runtime::Pool;
use smalti_ukernels::Host;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What a module is made for.
#[derive(Clone, Debug)]
pub struct Build {
    /// Its variants. A module without one has its portable part alone.
    pub targets: Vec<Target>,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
    /// Whether constants are also stored as the targets' kernels read them: such a module is larger, and is loaded
    /// without packing anything.
    pub packed: bool,
}

/// A module, and what runs slower in it than it could, and why.
pub struct Built {
    /// The module.
    pub module: Module,
    /// Dispatches without machine code, by target.
    pub notes: Vec<String>,
}

/// Compiles a model for all targets of `build`. The same model and targets give the same module on every machine.
///
/// # Errors
/// What is wrong with the model, or not supported yet.
pub fn build(mut graph: Graph, build: &Build) -> Result<Built, Error> {
    passes::fold(&mut graph);
    graph.verify().map_err(smalti_compiler::CompileError::from)?;
    let mut notes = Vec::new();
    let mut variants = Vec::new();
    for target in &build.targets {
        let options = Options { target: *target, strict: build.strict, every_value: false };
        let mut program = compile(graph.clone(), &options)?.program;
        if build.packed {
            pack_constants(&mut program);
        }
        let (code, refused) = machine_code(&program)?;
        notes.extend(refused.into_iter().map(|e| format!("{target}: {e}")));
        variants.push(Variant::new(&program, Some(code)));
    }
    let ports = |ids: &[ValueId]| ids.iter().map(|&id| port(&graph, id)).collect();
    let printed = graph.print();
    let blobs = printed.blobs.into_iter().map(|t| {
        let t = Arc::unwrap_or_clone(t);
        Blob { elem: t.elem, shape: t.shape, bytes: Bytes::from(t.bytes) }
    });
    let module = Module {
        version: smalti_module::VERSION,
        producer: concat!("smalti ", env!("CARGO_PKG_VERSION")).to_owned(),
        name: graph.name.clone(),
        strict: build.strict,
        inputs: ports(&graph.body.inputs),
        outputs: ports(&graph.body.outputs),
        graph: Portable { text: Bytes::from(printed.text), blobs: blobs.collect() },
        variants,
    };
    Ok(Built { module, notes })
}

fn port(graph: &Graph, id: ValueId) -> Port {
    let (elem, dims) = match &graph.fact(id).ty {
        Type::Tensor { elem, shape } => (*elem, shape.iter().map(|d| graph.symbols.text(d)).collect()),
        _ => (Elem::F32, Vec::new()),
    };
    Port { name: graph.values[id.0 as usize].name.clone(), elem, dims }
}

/// Code for all nests of a program, one function after the other, and those that have none.
fn machine_code(program: &Program) -> Result<(Code, Vec<ClifError>), Error> {
    let compiler = Compiler::new(&program.target)?;
    let (mut bytes, mut entries, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for nest in &program.nests {
        match compiler.compile(nest) {
            Ok(code) => {
                let at = bytes.len().next_multiple_of(code.alignment.max(1) as usize);
                bytes.resize(at, 0);
                bytes.extend_from_slice(&code.bytes);
                entries.push(Some(at as u32));
            }
            Err(error) => {
                refused.push(error);
                entries.push(None);
            }
        }
    }
    let code = Code { abi: smalti_codegen::abi::VERSION, entries, bytes: Bytes::from(bytes) };
    Ok((code, refused))
}

/// Writes a module. A file of that name stays whole until the new one is: it is written beside it, and then takes its
/// place.
///
/// # Errors
/// The file can't be written; the old one is as it was.
pub fn save(module: &Module, path: &Path) -> std::io::Result<()> {
    let pieces = module.encode();
    // A device or a pipe is no file that could be replaced.
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        let mut file = std::fs::File::options().write(true).open(path)?;
        return pieces.iter().try_for_each(|p| file.write_all(p));
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
    Ok(())
}

/// Opens a module file. Its constants are mapped: the file must stay as it is while the module or a session of it lives.
///
/// # Errors
/// The file can't be read, or is no module; its name is the caller's to say.
pub fn open(path: &Path) -> Result<Module, Error> {
    let bytes = smalti_runtime::map(path).map_err(|e| Error::File(e.to_string()))?;
    Ok(Module::read(&bytes)?)
}

/// The graph of a module's portable part.
///
/// # Errors
/// The first line that is wrong.
pub fn graph(module: &Module) -> Result<Graph, Error> {
    let wrong = |reason: String| Error::Portable(reason);
    let text = std::str::from_utf8(&module.graph.text).map_err(|e| wrong(e.to_string()))?;
    let blobs: Vec<Arc<Tensor>> =
        module.graph.blobs.iter().map(|b| Arc::new(Tensor::new(b.elem, b.shape.clone(), b.bytes.to_vec()))).collect();
    parse_folded(text, &blobs).map_err(|e: GraphError| wrong(e.to_string()))
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
        let has = if targets.is_empty() { "no code".to_owned() } else { format!("code for {}", targets.join(" and ")) };
        let target = *host.target();
        let note = format!("the module has {has}; it was compiled now for {target}, from its portable part");
        let options = Options { target, strict: module.strict, every_value: false };
        let program = compile(graph(module)?, &options)?.program;
        let session = smalti_runtime::Session::new(Arc::new(program), host, pool)?;
        Ok(Session { session, notes: vec![note] })
    }
}
