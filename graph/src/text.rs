//! The text form of graphs.
//!
//! ```text
//! graph "name" {
//!   input %0: f32[N,3] "x"
//!   %1 = constant {value = i64[2] [3, 1]}: i64[2]
//!   %2 = reshape "node" (%0, %1) {allowzero = 0}: f32[3,1] "y"
//!   output %2
//! }
//! ```
//! Large constants are written as `blob N`; the tensors travel beside the text.

use crate::graph::{Attr, Attrs, Binding, Block, Check, Fact, Graph, GraphError, Node, Region, ValueId};
use crate::{Elem, Tensor, Type, ops};
use smalti_codegen::lexer::{Lexer, SyntaxError, Token, quote};
use smalti_dims::{Dim, Symbols};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

/// Constants of up to so many elements are written out.
const WRITTEN: usize = 16;

/// A graph's text and the tensors that it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The text.
    pub text: String,
    /// Blobs, by number.
    pub blobs: Vec<Arc<Tensor>>,
}

impl Graph {
    /// Writes the graph. Values are numbered in the order in which they are made.
    pub fn print(&self) -> Parsed {
        let mut printer = Printer { graph: self, numbers: HashMap::new(), out: String::new(), blobs: Vec::new() };
        let _ = writeln!(printer.out, "graph {} {{", quote(&self.name));
        printer.block(&self.body, 1);
        for b in &self.bindings {
            if let Some(&value) = printer.numbers.get(&b.value) {
                let _ = writeln!(printer.out, "  bind {} = %{value}[{}]", self.symbols.name(b.symbol), b.index);
            }
        }
        for c in &self.checks {
            let (left, right) = (self.symbols.text(&c.left), self.symbols.text(&c.right));
            let _ = writeln!(printer.out, "  check {}: {left} == {right}", quote(&c.node));
        }
        printer.out += "}\n";
        Parsed { text: printer.out, blobs: printer.blobs }
    }

    /// Reads what [`Graph::print`] wrote, and verifies it.
    ///
    /// # Errors
    /// The first line that is wrong, or what makes the graph ill-formed.
    pub fn parse(text: &str, blobs: &[Arc<Tensor>]) -> Result<Graph, GraphError> {
        Graph::parse_with(text, blobs, &ops::find)
    }

    /// The same with operations of the caller's: `find` gives the one of a name.
    ///
    /// # Errors
    /// The first line that is wrong, or what makes the graph ill-formed.
    pub fn parse_with(text: &str, blobs: &[Arc<Tensor>], find: Find<'_>) -> Result<Graph, GraphError> {
        let mut lexer = Lexer::new(text)?;
        lexer.expect_word("graph")?;
        let graph = Graph::new(lexer.text()?);
        let mut parser = Parser { lexer, graph, values: HashMap::new(), blobs, find };
        parser.lexer.expect('{')?;
        let body = parser.block()?;
        parser.graph.body = body;
        if parser.lexer.next_token().is_some() {
            return Err(parser.lexer.error("text after the end of the graph").into());
        }
        parser.graph.verify()?;
        Ok(parser.graph)
    }
}

/// Gives the operation of a name.
pub type Find<'a> = &'a dyn Fn(&str) -> Option<&'static ops::OpDef>;

struct Printer<'a> {
    graph: &'a Graph,
    numbers: HashMap<ValueId, usize>,
    out: String,
    blobs: Vec<Arc<Tensor>>,
}

impl Printer<'_> {
    fn number(&mut self, id: ValueId) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(id).or_insert(next)
    }

    fn typed(&self, id: ValueId) -> String {
        let name = &self.graph.values[id.0 as usize].name;
        let name = if name.is_empty() { String::new() } else { format!(" {}", quote(name)) };
        let known = self.graph.fact(id).known.as_ref().filter(|k| k.iter().any(|d| d.int().is_none()));
        let known = known.map_or(String::new(), |known| {
            let dims: Vec<String> = known.iter().map(|d| self.graph.symbols.text(d)).collect();
            format!(" = ({})", dims.join(", "))
        });
        format!("{}{known}{name}", self.graph.type_text(id))
    }

    fn block(&mut self, block: &Block, depth: usize) {
        let pad = "  ".repeat(depth);
        for &id in &block.inputs {
            let number = self.number(id);
            let _ = writeln!(self.out, "{pad}input %{number}: {}", self.typed(id));
        }
        for node in &block.nodes {
            self.node(node, depth);
        }
        for &id in &block.outputs {
            let number = self.number(id);
            let _ = writeln!(self.out, "{pad}output %{number}");
        }
    }

    fn node(&mut self, node: &Node, depth: usize) {
        let pad = "  ".repeat(depth);
        let inputs: Vec<String> =
            node.inputs.iter().map(|i| i.map_or("none".to_owned(), |i| format!("%{}", self.number(i)))).collect();
        let outputs: Vec<String> = node.outputs.iter().map(|&o| format!("%{}", self.number(o))).collect();
        let types: Vec<String> = node.outputs.iter().map(|&o| self.typed(o)).collect();
        let _ = write!(self.out, "{pad}{} = {}", outputs.join(", "), node.op.name);
        if !node.name.is_empty() {
            let _ = write!(self.out, " {}", quote(&node.name));
        }
        if !inputs.is_empty() {
            let _ = write!(self.out, " ({})", inputs.join(", "));
        }
        if !node.attrs.0.is_empty() {
            let attrs: Vec<String> = node.attrs.0.iter().map(|(k, v)| format!("{k} = {}", self.attr(v))).collect();
            let _ = write!(self.out, " {{{}}}", attrs.join(", "));
        }
        let _ = writeln!(self.out, ": {}", types.join(", "));
        for region in &node.regions {
            let captures: Vec<String> = region
                .captures
                .iter()
                .map(|&(outside, inside)| format!("%{} as %{}", self.number(outside), self.number(inside)))
                .collect();
            let _ = writeln!(self.out, "{pad}region ({}) {{", captures.join(", "));
            self.block(&region.block, depth + 1);
            let _ = writeln!(self.out, "{pad}}}");
        }
    }

    fn attr(&mut self, attr: &Attr) -> String {
        match attr {
            Attr::Int(i) => i.to_string(),
            Attr::Ints(list) => format!("[{}]", list.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
            Attr::Float(x) => format!("f32 {x:?}"),
            Attr::Word(w) => quote(w),
            Attr::Elem(e) => format!("type {e}"),
            Attr::Tensor(t) if t.len() <= WRITTEN => {
                let shape: Vec<String> = t.shape.iter().map(usize::to_string).collect();
                let values: Vec<String> = (0..t.len())
                    .map(|i| if t.elem.is_float() { format!("{:?}", t.get(i)) } else { t.int(i).to_string() })
                    .collect();
                format!("{}[{}] [{}]", t.elem, shape.join(","), values.join(", "))
            }
            Attr::Tensor(t) => {
                let at = self.blobs.iter().position(|b| Arc::ptr_eq(b, t)).unwrap_or_else(|| {
                    self.blobs.push(t.clone());
                    self.blobs.len() - 1
                });
                format!("blob {at}")
            }
        }
    }
}

struct Parser<'a> {
    lexer: Lexer,
    graph: Graph,
    values: HashMap<u32, ValueId>,
    blobs: &'a [Arc<Tensor>],
    find: Find<'a>,
}

impl Parser<'_> {
    fn used(&mut self) -> Result<ValueId, SyntaxError> {
        let number = self.lexer.value()?;
        self.values
            .get(&number)
            .copied()
            .ok_or_else(|| self.lexer.error(format!("%{number} is not made before this line")))
    }

    fn made(&mut self, number: u32) -> Result<ValueId, SyntaxError> {
        let ty = self.ty()?;
        let mut known = None;
        if self.lexer.eat('=') {
            self.lexer.expect('(')?;
            let mut dims = Vec::new();
            while !self.lexer.eat(')') {
                let text = self.lexer.until_separator();
                dims.push(self.dim(&text)?);
                self.lexer.eat(',');
            }
            known = Some(dims);
        }
        let name = if matches!(self.lexer.peek(), Some(Token::Text(_))) { self.lexer.text()? } else { String::new() };
        let id = self.graph.value(name, Fact { ty, known });
        match self.values.insert(number, id) {
            Some(_) => Err(self.lexer.error(format!("%{number} is made twice"))),
            None => Ok(id),
        }
    }

    /// A block, to its closing brace.
    fn block(&mut self) -> Result<Block, GraphError> {
        let mut block = Block::default();
        loop {
            if self.lexer.eat('}') {
                return Ok(block);
            }
            if self.lexer.eat_word("input") {
                let number = self.lexer.value()?;
                self.lexer.expect(':')?;
                block.inputs.push(self.made(number)?);
            } else if self.lexer.eat_word("output") {
                block.outputs.push(self.used()?);
            } else if self.lexer.eat_word("bind") {
                let name = self.lexer.word()?;
                let symbol = self.graph.symbols.named(&name);
                self.lexer.expect('=')?;
                let value = self.used()?;
                self.lexer.expect('[')?;
                let index = self.lexer.number()?;
                self.lexer.expect(']')?;
                self.graph.bindings.push(Binding { symbol, value, index });
            } else if self.lexer.eat_word("check") {
                let node = self.lexer.text()?;
                self.lexer.expect(':')?;
                let mut sides = [Dim::default(), Dim::default()];
                let line = {
                    let mut text = String::new();
                    for _ in 0..2 {
                        text += &self.until_equals();
                        text.push('\u{0}');
                    }
                    text
                };
                for (side, text) in sides.iter_mut().zip(line.split('\u{0}')) {
                    *side = self.dim(text)?;
                }
                let [left, right] = sides;
                self.graph.checks.push(Check { node, left, right });
            } else {
                block.nodes.push(self.node()?);
            }
        }
    }

    /// A dim up to `==`, or the end of the line's dim.
    fn until_equals(&mut self) -> String {
        let mut out = String::new();
        let mut depth = 0;
        while let Some(token) = self.lexer.peek() {
            match token {
                Token::Sign('=') => {
                    self.lexer.eat('=');
                    self.lexer.eat('=');
                    break;
                }
                Token::Sign('}') | Token::Value(_) => break,
                Token::Word(w) if depth == 0 && matches!(w.as_str(), "check" | "bind" | "output") => break,
                Token::Sign('(') => depth += 1,
                Token::Sign(')') => depth -= 1,
                _ => {}
            }
            match self.lexer.next_token() {
                Some(Token::Word(w) | Token::Number(w)) => out += &w,
                Some(Token::Sign(c)) => out.push(c),
                _ => {}
            }
        }
        out
    }

    fn dim(&mut self, text: &str) -> Result<Dim, SyntaxError> {
        symbols_of(text, &mut self.graph.symbols);
        self.graph.symbols.parse(text).ok_or_else(|| self.lexer.error(format!("'{text}' is no dim")))
    }

    fn ty(&mut self) -> Result<Type, SyntaxError> {
        let word = self.lexer.word()?;
        if word == "seq" || word == "opt" {
            self.lexer.expect('<')?;
            let of = Box::new(self.ty()?);
            self.lexer.expect('>')?;
            return Ok(if word == "seq" { Type::Sequence(of) } else { Type::Optional(of) });
        }
        let elem = Elem::parse(&word).ok_or_else(|| self.lexer.error(format!("'{word}' is no element type")))?;
        self.lexer.expect('[')?;
        let mut shape = Vec::new();
        while !self.lexer.eat(']') {
            let text = self.lexer.until_separator();
            shape.push(self.dim(&text)?);
            self.lexer.eat(',');
        }
        Ok(Type::Tensor { elem, shape })
    }

    fn node(&mut self) -> Result<Node, GraphError> {
        let mut numbers = vec![self.lexer.value()?];
        while self.lexer.eat(',') {
            numbers.push(self.lexer.value()?);
        }
        self.lexer.expect('=')?;
        let op = self.lexer.word()?;
        let op = (self.find)(&op).ok_or_else(|| self.lexer.error(format!("there is no operation '{op}'")))?;
        let name = if matches!(self.lexer.peek(), Some(Token::Text(_))) { self.lexer.text()? } else { String::new() };
        let mut inputs = Vec::new();
        if self.lexer.eat('(') {
            while !self.lexer.eat(')') {
                inputs.push(if self.lexer.eat_word("none") { None } else { Some(self.used()?) });
                self.lexer.eat(',');
            }
        }
        let mut attrs = Attrs::none();
        if self.lexer.eat('{') {
            while !self.lexer.eat('}') {
                let key = self.lexer.word()?;
                self.lexer.expect('=')?;
                let value = self.attr()?;
                attrs.0.insert(key, value);
                self.lexer.eat(',');
            }
        }
        self.lexer.expect(':')?;
        let mut outputs = Vec::new();
        for (i, number) in numbers.into_iter().enumerate() {
            if i > 0 {
                self.lexer.expect(',')?;
            }
            outputs.push(self.made(number)?);
        }
        let mut regions = Vec::new();
        while self.lexer.eat_word("region") {
            self.lexer.expect('(')?;
            let mut captures = Vec::new();
            while !self.lexer.eat(')') {
                let outside = self.used()?;
                self.lexer.expect_word("as")?;
                let number = self.lexer.value()?;
                let fact = self.graph.fact(outside).clone();
                let inside = self.graph.value("", fact);
                self.values.insert(number, inside);
                captures.push((outside, inside));
                self.lexer.eat(',');
            }
            self.lexer.expect('{')?;
            regions.push(Region { captures, block: self.block()? });
        }
        if let (Some(tensor), [output]) = (attrs.tensor("value").filter(|_| op.name == "constant"), &outputs[..]) {
            self.graph.values[output.0 as usize].fact = Fact::constant(tensor);
        }
        Ok(Node { name, op, attrs, inputs, outputs, regions })
    }

    fn attr(&mut self) -> Result<Attr, SyntaxError> {
        match self.lexer.peek() {
            Some(Token::Number(_)) => Ok(Attr::Int(self.lexer.number()?)),
            Some(Token::Text(_)) => Ok(Attr::Word(self.lexer.text()?)),
            Some(Token::Sign('[')) => {
                self.lexer.eat('[');
                let mut list = Vec::new();
                while !self.lexer.eat(']') {
                    list.push(self.lexer.number()?);
                    self.lexer.eat(',');
                }
                Ok(Attr::Ints(list))
            }
            _ => {
                let word = self.lexer.word()?;
                match word.as_str() {
                    "type" => {
                        let name = self.lexer.word()?;
                        let elem = Elem::parse(&name);
                        elem.map(Attr::Elem).ok_or_else(|| self.lexer.error(format!("'{name}' is no element type")))
                    }
                    "blob" => {
                        let at: usize = self.lexer.number()?;
                        let blob = self.blobs.get(at).cloned();
                        blob.map(Attr::Tensor).ok_or_else(|| self.lexer.error(format!("there is no blob {at}")))
                    }
                    "f32" if self.lexer.peek() != Some(&Token::Sign('[')) => Ok(Attr::Float(self.lexer.number()?)),
                    _ => self.tensor(&word).map(|t| Attr::Tensor(Arc::new(t))),
                }
            }
        }
    }

    fn tensor(&mut self, elem: &str) -> Result<Tensor, SyntaxError> {
        let elem = Elem::parse(elem).ok_or_else(|| self.lexer.error(format!("'{elem}' is no attribute")))?;
        self.lexer.expect('[')?;
        let mut shape: Vec<usize> = Vec::new();
        while !self.lexer.eat(']') {
            shape.push(self.lexer.number()?);
            self.lexer.eat(',');
        }
        let count = shape.iter().try_fold(1usize, |p, &d| p.checked_mul(d)).filter(|&n| n <= WRITTEN);
        let count = count.ok_or_else(|| self.lexer.error(format!("at most {WRITTEN} elements are written out")))?;
        let mut tensor = Tensor::zeros(elem, shape);
        self.lexer.expect('[')?;
        for i in 0..count {
            if elem.is_float() {
                let value = self.lexer.number()?;
                tensor.set(i, value);
            } else {
                let value: i64 = self.lexer.number()?;
                let size = elem.size();
                tensor.bytes[i * size..(i + 1) * size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            self.lexer.eat(',');
        }
        self.lexer.expect(']')?;
        Ok(tensor)
    }
}

/// Makes known every name in a dim's text that is no function.
fn symbols_of(text: &str, symbols: &mut Symbols) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| word(c)) {
        let end = rest[start..].find(|c| !word(c)).map_or(rest.len(), |e| e + start);
        let name = &rest[start..end];
        if !name.starts_with(|c: char| c.is_ascii_digit()) && !rest[end..].trim_start().starts_with('(') {
            symbols.named(name);
        }
        rest = &rest[end..];
    }
}
