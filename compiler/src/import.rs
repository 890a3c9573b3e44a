//! ONNX models to graphs.

use crate::error::{CompileError, Missing};
use crate::onnx::{self, AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};
use crate::ops;
use prost::Message;
use smalti_dims::{Dim, Symbols};
use smalti_graph::ops::OpDef;
use smalti_graph::{Attr, Attrs, Block, Elem, Fact, Graph, GraphError, Region, Tensor, Type, ValueId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Component, Path};
use std::sync::Arc;

/// A decoded model and where its external data may lie.
pub struct Model {
    proto: ModelProto,
    folder: std::path::PathBuf,
}

/// The newest version of ONNX's own operations that is understood.
const OPSET: i64 = 28;

/// Reads a model file.
///
/// # Errors
/// It is not there, or no ONNX model.
pub fn read(path: &Path) -> Result<Model, CompileError> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|e| CompileError::Read { file: file.clone(), reason: e.to_string() })?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Model::decode(&bytes, &file, &folder)
}

impl Model {
    /// Decodes a model. External data is looked for in `folder` and nowhere else.
    ///
    /// # Errors
    /// The bytes are no ONNX model.
    pub fn decode(bytes: &[u8], file: &str, folder: &Path) -> Result<Model, CompileError> {
        let wrong = |reason: String| CompileError::Decode { file: file.to_owned(), reason };
        if bytes.is_empty() {
            return Err(wrong("the file is empty".to_owned()));
        }
        let proto = ModelProto::decode(bytes).map_err(|e| wrong(e.to_string()))?;
        if proto.graph.is_none() {
            return Err(wrong("it has no graph".to_owned()));
        }
        Ok(Model { proto, folder: folder.to_owned() })
    }

    /// Every operation that this compiler does not have, with counts, sorted by name.
    pub fn missing(&self) -> Vec<Missing> {
        let mut found: BTreeMap<String, Missing> = BTreeMap::new();
        if let Some(graph) = &self.proto.graph {
            each_node(graph, &mut |node| {
                if ops::find(&node_domain(node), node.op_type()).is_none() {
                    let op = full_name(node);
                    let entry = found.entry(op.clone());
                    let missing = entry.or_insert(Missing { op, count: 0, node: node_name(node) });
                    missing.count += 1;
                }
            });
        }
        found.into_values().collect()
    }

    /// How many nodes there are of each operation, subgraphs counted.
    pub fn histogram(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        if let Some(graph) = &self.proto.graph {
            each_node(graph, &mut |node| *counts.entry(full_name(node)).or_insert(0) += 1);
        }
        counts
    }

    /// The version of ONNX's own operations.
    pub fn opset(&self) -> i64 {
        let own = |o: &&onnx::OperatorSetIdProto| is_own(o.domain());
        self.proto.opset_import.iter().find(own).map_or(1, onnx::OperatorSetIdProto::version)
    }

    /// The model as a graph.
    ///
    /// # Errors
    /// What contradicts the ONNX specification, or is not there yet, with the node's name and shapes.
    pub fn graph(&self) -> Result<Graph, CompileError> {
        let missing = self.missing();
        if !missing.is_empty() {
            return Err(CompileError::Unsupported(missing));
        }
        if self.opset() > OPSET {
            return Err(CompileError::UnsupportedModel(format!("opset {}, {OPSET} is the newest", self.opset())));
        }
        let proto = self.proto.graph.as_ref().ok_or(CompileError::Model("there is no graph".to_owned()))?;
        let mut importer = Importer { model: self, graph: Graph::new(proto.name()), scopes: vec![Scope::default()] };
        importer.fill(proto, &[], true)?;
        let scope = importer.scopes.pop().unwrap_or_default();
        importer.graph.body = scope.block;
        importer.graph.verify()?;
        Ok(importer.graph)
    }
}

fn each_node(graph: &GraphProto, visit: &mut dyn FnMut(&NodeProto)) {
    for node in &graph.node {
        visit(node);
        for graph in node.attribute.iter().filter_map(|a| a.g.as_ref()) {
            each_node(graph, visit);
        }
    }
}

fn is_own(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

fn node_domain(node: &NodeProto) -> String {
    if is_own(node.domain()) { String::new() } else { node.domain().to_owned() }
}

fn full_name(node: &NodeProto) -> String {
    match node_domain(node).as_str() {
        "" => node.op_type().to_owned(),
        domain => format!("{domain}.{}", node.op_type()),
    }
}

/// The node's name, or that of its first output.
fn node_name(node: &NodeProto) -> String {
    match node.name() {
        "" => node.output.first().cloned().unwrap_or_default(),
        name => name.to_owned(),
    }
}

/// Names of one block and of those around it.
#[derive(Default)]
struct Scope {
    names: HashMap<String, ValueId>,
    captures: Vec<(ValueId, ValueId)>,
    block: Block,
}

pub(crate) struct Importer<'a> {
    model: &'a Model,
    pub(crate) graph: Graph,
    scopes: Vec<Scope>,
}

impl Importer<'_> {
    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the outermost scope stays")
    }

    /// Reads inputs, initializers, nodes and outputs into the innermost scope. `facts` are those of the first inputs,
    /// where the enclosing node knows more than the subgraph says.
    fn fill(&mut self, proto: &GraphProto, facts: &[Option<Fact>], outermost: bool) -> Result<(), CompileError> {
        let initializers: HashSet<&str> = proto.initializer.iter().map(TensorProto::name).collect();
        for (i, input) in proto.input.iter().enumerate() {
            let given = facts.get(i);
            // An initializer of an input's name is its default.
            if given.is_none() && initializers.contains(input.name()) {
                continue;
            }
            let fact = match given.cloned().flatten() {
                Some(fact) => fact,
                None => Fact::of(self.input_type(input)?),
            };
            let id = self.graph.value(input.name(), fact);
            self.define(input.name(), id)?;
            self.scope().block.inputs.push(id);
        }
        if !proto.sparse_initializer.is_empty() {
            return Err(CompileError::UnsupportedModel("sparse initializers".to_owned()));
        }
        for tensor in &proto.initializer {
            let value = self.tensor(tensor)?;
            let id = self.constant(Arc::new(value), tensor.name());
            self.define(tensor.name(), id)?;
        }
        for node in &proto.node {
            self.node(node)?;
        }
        for output in &proto.output {
            let id = self
                .lookup(output.name())
                .ok_or_else(|| CompileError::Model(format!("output '{}' is made by no node", output.name())))?;
            if outermost {
                let info = &mut self.graph.values[id.0 as usize];
                if info.name.is_empty() {
                    info.name = output.name().to_owned();
                }
            }
            self.scope().block.outputs.push(id);
        }
        Ok(())
    }

    fn define(&mut self, name: &str, id: ValueId) -> Result<(), CompileError> {
        match self.scope().names.insert(name.to_owned(), id) {
            Some(_) => Err(CompileError::Model(format!("the value '{name}' is made twice"))),
            None => Ok(()),
        }
    }

    /// The value of that name here; one of an enclosing block is captured on the way in.
    fn lookup(&mut self, name: &str) -> Option<ValueId> {
        let at = self.scopes.iter().rposition(|s| s.names.contains_key(name))?;
        let mut id = self.scopes[at].names[name];
        for scope in at + 1..self.scopes.len() {
            let info = self.graph.values[id.0 as usize].clone();
            let inside = self.graph.value(info.name, info.fact);
            self.scopes[scope].captures.push((id, inside));
            self.scopes[scope].names.insert(name.to_owned(), inside);
            id = inside;
        }
        Some(id)
    }

    fn input_type(&mut self, input: &onnx::ValueInfoProto) -> Result<Type, CompileError> {
        let wrong = |reason: &str| CompileError::Model(format!("input '{}' {reason}", input.name()));
        let ty = input.r#type.as_ref().ok_or_else(|| wrong("has no type"))?;
        let ty = self.ty(ty, input.name()).map_err(|reason| wrong(&reason))?;
        ty.check(&self.graph.symbols).map_err(|reason| wrong(&format!("is of no type that can be: {reason}")))?;
        Ok(ty)
    }

    fn ty(&mut self, ty: &onnx::TypeProto, name: &str) -> Result<Type, String> {
        use onnx::type_proto::Value;
        match &ty.value {
            Some(Value::TensorType(tensor)) => {
                let elem = elem(tensor.elem_type())?;
                let shape = tensor.shape.as_ref().ok_or("has no shape: its rank must be known")?;
                let mut dims = Vec::new();
                for (d, dim) in shape.dim.iter().enumerate() {
                    use onnx::tensor_shape_proto::dimension::Value;
                    dims.push(match &dim.value {
                        // Exporters write -1 for a dim that is not known.
                        Some(Value::DimValue(v)) if *v >= 0 => Dim::from(*v),
                        // A name without a letter, such as '?', names nothing.
                        Some(Value::DimParam(p)) if p.contains(char::is_alphanumeric) => {
                            Dim::symbol(self.graph.symbols.named(&Symbols::clean(p)))
                        }
                        _ => Dim::symbol(self.graph.symbols.fresh(&format!("{}.{d}", Symbols::clean(name)))),
                    });
                }
                Ok(Type::Tensor { elem, shape: dims })
            }
            Some(Value::SequenceType(s)) => {
                let of = s.elem_type.as_ref().ok_or("is a sequence of no type")?;
                Ok(Type::Sequence(Box::new(self.ty(of, name)?)))
            }
            Some(Value::OptionalType(o)) => {
                let of = o.elem_type.as_ref().ok_or("is an optional of no type")?;
                Ok(Type::Optional(Box::new(self.ty(of, name)?)))
            }
            _ => Err("is no tensor, sequence or optional".to_owned()),
        }
    }

    pub(crate) fn constant(&mut self, tensor: Arc<Tensor>, name: &str) -> ValueId {
        let id = self.graph.value(name, Fact::constant(&tensor));
        let node = smalti_graph::Node {
            name: name.to_owned(),
            op: &smalti_graph::ops::constant::CONSTANT,
            attrs: Attrs::none().with("value", Attr::Tensor(tensor)),
            inputs: Vec::new(),
            outputs: vec![id],
            regions: Vec::new(),
        };
        self.scope().block.nodes.push(node);
        id
    }

    fn types_text(&self, inputs: &[Option<ValueId>]) -> String {
        let one = |id: ValueId| match &self.graph.fact(id).ty {
            Type::Tensor { elem, shape } => {
                let dims: Vec<String> = shape.iter().map(|d| self.graph.symbols.text(d)).collect();
                let name = &self.graph.values[id.0 as usize].name;
                format!("{name}: {}[{}]", onnx_name(*elem), dims.join(","))
            }
            other => other.text(&self.graph.symbols),
        };
        let texts: Vec<String> = inputs.iter().map(|i| i.map_or("none".to_owned(), one)).collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
    }

    fn node(&mut self, proto: &NodeProto) -> Result<(), CompileError> {
        let name = node_name(proto);
        let op = full_name(proto);
        let mut inputs = Vec::new();
        for input in &proto.input {
            inputs.push(if input.is_empty() {
                None
            } else {
                Some(self.lookup(input).ok_or_else(|| {
                    CompileError::Model(format!("{op} '{name}' uses '{input}', which no earlier node makes"))
                })?)
            });
        }
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        let types = self.types_text(&inputs);
        let found = ops::find(&node_domain(proto), proto.op_type())
            .ok_or_else(|| CompileError::Internal(format!("{op} was not found missing")))?;
        let mut c = NodeImport { importer: self, proto, name: name.clone(), inputs };
        let outputs = (found.import)(&mut c).map_err(|e| match e {
            ImportError::Node(reason) => {
                CompileError::Node { op: op.clone(), node: name.clone(), reason, inputs: types.clone() }
            }
            ImportError::Unsupported(reason) => {
                CompileError::UnsupportedNode { op: op.clone(), node: name.clone(), reason, inputs: types.clone() }
            }
            ImportError::Whole(error) => error,
        })?;
        let wanted = proto.output.iter().filter(|o| !o.is_empty()).count();
        if proto.output.iter().rposition(|o| !o.is_empty()).is_some_and(|last| last >= outputs.len()) {
            return Err(CompileError::UnsupportedNode {
                op,
                node: name,
                reason: format!("{wanted} outputs are wanted, {} are made", outputs.len()),
                inputs: types,
            });
        }
        for (output, id) in proto.output.iter().zip(outputs) {
            if output.is_empty() {
                continue;
            }
            let info = &mut self.graph.values[id.0 as usize];
            if info.name.is_empty() {
                info.name = output.clone();
            }
            self.define(output, id)?;
        }
        Ok(())
    }

    /// Reads a tensor, checked against its dims.
    fn tensor(&self, proto: &TensorProto) -> Result<Tensor, CompileError> {
        let wrong = |reason: String| CompileError::Model(format!("tensor '{}' {reason}", proto.name()));
        let elem = elem(proto.data_type()).map_err(&wrong)?;
        if proto.dims.len() > smalti_graph::DIMS {
            return Err(wrong(format!("has {} dims; {} are the most", proto.dims.len(), smalti_graph::DIMS)));
        }
        let mut shape = Vec::new();
        for &d in &proto.dims {
            shape.push(usize::try_from(d).map_err(|_| wrong(format!("has a dim of {d}")))?);
        }
        if !smalti_graph::fits(elem, proto.dims.iter().copied()) {
            return Err(wrong(format!("has dims {shape:?}, too many elements")));
        }
        let count: usize = shape.iter().product();
        let size = count * elem.size();
        let external = proto.data_location() == onnx::tensor_proto::DataLocation::External;
        let bytes = if external {
            self.external(proto, size).map_err(&wrong)?
        } else if let Some(raw) = proto.raw_data.as_ref().filter(|r| !r.is_empty() || count == 0) {
            raw.to_vec()
        } else {
            typed_data(proto, elem)
        };
        if bytes.len() != size {
            return Err(wrong(format!("has {} bytes of data, its dims {shape:?} need {size}", bytes.len())));
        }
        Ok(Tensor { elem, shape, bytes })
    }

    /// Reads data from a file inside the model's folder.
    fn external(&self, proto: &TensorProto, size: usize) -> Result<Vec<u8>, String> {
        let entry = |key: &str| proto.external_data.iter().find(|e| e.key() == key).map(|e| e.value());
        let location = entry("location").ok_or("has external data without a location")?;
        let path = Path::new(location);
        if path.is_absolute() {
            return Err(format!(
                "has external data at the absolute path '{location}'; it must lie in the model's folder"
            ));
        }
        if !path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
            return Err(format!("has external data at '{location}', outside of the model's folder"));
        }
        let full = self.model.folder.join(path);
        let unread = |e: std::io::Error| format!("has external data at '{location}', which can't be read: {e}");
        // A link may lead out of the folder.
        let real = fs::canonicalize(&full).map_err(unread)?;
        let folder = if self.model.folder.as_os_str().is_empty() { Path::new(".") } else { &self.model.folder };
        if !real.starts_with(fs::canonicalize(folder).map_err(unread)?) {
            return Err(format!("has external data at '{location}', outside of the model's folder"));
        }
        let number = |key: &str, or: u64| match entry(key) {
            Some(text) => text.parse::<u64>().map_err(|_| format!("has external data with {key} '{text}'")),
            None => Ok(or),
        };
        let offset = number("offset", 0)?;
        let length = number("length", size as u64)?;
        if length != size as u64 {
            return Err(format!("has {length} bytes of external data, its dims need {size}"));
        }
        use std::io::{Read, Seek, SeekFrom};
        let mut file = fs::File::open(&real).map_err(unread)?;
        let whole = file.metadata().map_err(unread)?.len();
        if offset.checked_add(length).is_none_or(|end| end > whole) {
            return Err(format!(
                "has external data up to byte {} of '{location}', which has {whole}",
                offset.saturating_add(length)
            ));
        }
        file.seek(SeekFrom::Start(offset)).map_err(unread)?;
        let mut bytes = vec![0; size];
        file.read_exact(&mut bytes).map_err(unread)?;
        Ok(bytes)
    }
}

fn typed_data(proto: &TensorProto, elem: Elem) -> Vec<u8> {
    match elem {
        Elem::F32 => proto.float_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Elem::F64 => proto.double_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Elem::I64 => proto.int64_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Elem::U64 | Elem::U32 => {
            proto.uint64_data.iter().flat_map(|v| v.to_le_bytes()[..elem.size()].to_vec()).collect()
        }
        // Narrower types lie in the low bytes of 32-bit integers.
        _ => proto.int32_data.iter().flat_map(|v| v.to_le_bytes()[..elem.size()].to_vec()).collect(),
    }
}

/// The element type of an ONNX number.
fn elem(data_type: i32) -> Result<Elem, String> {
    use onnx::tensor_proto::DataType;
    Ok(match DataType::try_from(data_type) {
        Ok(DataType::Float) => Elem::F32,
        Ok(DataType::Double) => Elem::F64,
        Ok(DataType::Float16) => Elem::F16,
        Ok(DataType::Bfloat16) => Elem::Bf16,
        Ok(DataType::Int64) => Elem::I64,
        Ok(DataType::Int32) => Elem::I32,
        Ok(DataType::Int16) => Elem::I16,
        Ok(DataType::Int8) => Elem::I8,
        Ok(DataType::Uint64) => Elem::U64,
        Ok(DataType::Uint32) => Elem::U32,
        Ok(DataType::Uint16) => Elem::U16,
        Ok(DataType::Uint8) => Elem::U8,
        Ok(DataType::Bool) => Elem::Bool,
        Ok(other) => return Err(format!("is of element type {}, which is not supported yet", other.as_str_name())),
        Err(_) => return Err(format!("is of element type number {data_type}, which ONNX does not have")),
    })
}

/// ONNX's name of an element type.
fn onnx_name(elem: Elem) -> &'static str {
    match elem {
        Elem::F32 => "float",
        Elem::F64 => "double",
        Elem::F16 => "float16",
        Elem::Bf16 => "bfloat16",
        Elem::I64 => "int64",
        Elem::I32 => "int32",
        Elem::I16 => "int16",
        Elem::I8 => "int8",
        Elem::U64 => "uint64",
        Elem::U32 => "uint32",
        Elem::U16 => "uint16",
        Elem::U8 => "uint8",
        Elem::Bool => "bool",
    }
}

/// Why a node was not imported.
pub(crate) enum ImportError {
    /// The model is wrong.
    Node(String),
    /// Something is not there yet.
    Unsupported(String),
    /// An error of another node, in a subgraph.
    Whole(CompileError),
}

impl From<String> for ImportError {
    fn from(reason: String) -> ImportError {
        ImportError::Node(reason)
    }
}

impl From<&str> for ImportError {
    fn from(reason: &str) -> ImportError {
        ImportError::Node(reason.to_owned())
    }
}

impl From<GraphError> for ImportError {
    fn from(error: GraphError) -> ImportError {
        match error {
            GraphError::Node { reason, .. } => ImportError::Node(reason),
            other => ImportError::Whole(other.into()),
        }
    }
}

pub(crate) fn unsupported<T>(reason: impl Into<String>) -> Result<T, ImportError> {
    Err(ImportError::Unsupported(reason.into()))
}

/// What an operation's reader sees, and how it makes nodes.
pub(crate) struct NodeImport<'a, 'b> {
    importer: &'a mut Importer<'b>,
    proto: &'a NodeProto,
    name: String,
    inputs: Vec<Option<ValueId>>,
}

impl NodeImport<'_, '_> {
    pub(crate) fn opset(&self) -> i64 {
        self.importer.model.opset()
    }

    /// How many inputs are given, absent ones between them counted.
    pub(crate) fn count(&self) -> usize {
        self.inputs.len()
    }

    /// How many outputs are wanted.
    pub(crate) fn outputs(&self) -> usize {
        self.proto.output.len()
    }

    pub(crate) fn input(&self, i: usize) -> Result<ValueId, ImportError> {
        self.inputs.get(i).copied().flatten().ok_or(ImportError::Node(format!("input {i} is missing")))
    }

    pub(crate) fn optional(&self, i: usize) -> Option<ValueId> {
        self.inputs.get(i).copied().flatten()
    }

    /// All inputs; none may be absent.
    pub(crate) fn all(&self) -> Result<Vec<ValueId>, ImportError> {
        (0..self.count()).map(|i| self.input(i)).collect()
    }

    pub(crate) fn elem(&self, id: ValueId) -> Result<Elem, ImportError> {
        Ok(self.importer.graph.fact(id).elem()?)
    }

    pub(crate) fn shape(&self, id: ValueId) -> Result<Vec<Dim>, ImportError> {
        Ok(self.importer.graph.fact(id).shape()?.to_vec())
    }

    pub(crate) fn rank(&self, id: ValueId) -> Result<usize, ImportError> {
        Ok(self.shape(id)?.len())
    }

    /// The integers of a value that is known now.
    pub(crate) fn ints_of(&self, id: ValueId, what: &str) -> Result<Vec<i64>, ImportError> {
        let known = self.importer.graph.fact(id).known.as_ref();
        let ints = known.and_then(|k| k.iter().map(Dim::int).collect());
        ints.ok_or(ImportError::Unsupported(format!("{what} must be known when the model is compiled")))
    }

    /// The tensor of a constant.
    pub(crate) fn tensor_of(&self, id: ValueId) -> Option<Arc<Tensor>> {
        let made = |n: &&smalti_graph::Node| n.outputs == [id] && n.op.name == "constant";
        let node = self.importer.scopes.iter().rev().find_map(|s| s.block.nodes.iter().rfind(made));
        node.and_then(|n| n.attrs.tensor("value").cloned())
    }

    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.proto.attribute.iter().find(|a| a.name() == name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, AttributeProto::i)
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).map_or(default, AttributeProto::f)
    }

    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attribute(name).map(|a| a.ints.clone())
    }

    pub(crate) fn floats(&self, name: &str) -> Option<Vec<f32>> {
        self.attribute(name).map(|a| a.floats.clone())
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.attribute(name).map_or(String::new(), |a| String::from_utf8_lossy(a.s()).into_owned())
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<Tensor>, ImportError> {
        let tensor = self.attribute(name).and_then(|a| a.t.as_ref());
        tensor.map(|t| self.importer.tensor(t).map_err(ImportError::Whole)).transpose()
    }

    pub(crate) fn elem_attr(&self, name: &str) -> Result<Elem, ImportError> {
        Ok(elem(self.int(name, 1) as i32)?)
    }

    /// `axes` as an attribute, or as input `i`.
    pub(crate) fn axes(&self, i: usize) -> Result<Option<Vec<i64>>, ImportError> {
        match self.optional(i) {
            Some(id) => self.ints_of(id, "axes").map(Some),
            None => Ok(self.ints("axes")),
        }
    }

    pub(crate) fn constant(&mut self, tensor: Tensor) -> ValueId {
        self.importer.constant(Arc::new(tensor), "")
    }

    /// A scalar of a float type.
    pub(crate) fn scalar(&mut self, elem: Elem, value: f64) -> ValueId {
        let bytes = match elem {
            Elem::F64 => value.to_le_bytes().to_vec(),
            Elem::F16 => half::f16::from_f64(value).to_le_bytes().to_vec(),
            Elem::Bf16 => half::bf16::from_f64(value).to_le_bytes().to_vec(),
            Elem::F32 => (value as f32).to_le_bytes().to_vec(),
            _ => (value as i64).to_le_bytes()[..elem.size()].to_vec(),
        };
        self.constant(Tensor::new(elem, [], bytes))
    }

    /// Makes a node and gives its outputs.
    pub(crate) fn emit(
        &mut self,
        op: &'static OpDef,
        attrs: Attrs,
        inputs: Vec<Option<ValueId>>,
        regions: Vec<Region>,
    ) -> Result<Vec<ValueId>, ImportError> {
        let node = self.importer.graph.node(&self.name, op, attrs, inputs, regions)?;
        let outputs = node.outputs.clone();
        self.importer.scope().block.nodes.push(node);
        Ok(outputs)
    }

    /// Makes a node of the graph's operation `op` with one output.
    pub(crate) fn one(&mut self, op: &str, attrs: Attrs, inputs: &[ValueId]) -> Result<ValueId, ImportError> {
        let def = smalti_graph::ops::find(op);
        let def = def.ok_or(ImportError::Whole(CompileError::Internal(format!("there is no operation {op}"))))?;
        let outputs = self.emit(def, attrs, inputs.iter().copied().map(Some).collect(), Vec::new())?;
        Ok(outputs[0])
    }

    /// Reads a subgraph. `inputs` are the facts of its inputs, where the enclosing node knows more than the subgraph
    /// says.
    pub(crate) fn region(&mut self, name: &str, inputs: &[Option<Fact>]) -> Result<Region, ImportError> {
        let proto = self.proto.attribute.iter().find(|a| a.name() == name).and_then(|a| a.g.as_ref());
        let proto = proto.ok_or(format!("attribute '{name}' is missing"))?;
        self.importer.scopes.push(Scope::default());
        let result = self.importer.fill(proto, inputs, false);
        let scope = self.importer.scopes.pop().unwrap_or_default();
        result.map_err(ImportError::Whole)?;
        Ok(Region { captures: scope.captures, block: scope.block })
    }

    pub(crate) fn fact(&self, id: ValueId) -> &Fact {
        self.importer.graph.fact(id)
    }
}
