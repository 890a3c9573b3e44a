//! The text form of programs. Each field of a step has a name, so that it reads by itself; bytes of constants travel
//! beside the text.

use crate::program::*;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt::Write;
use smalti_codegen::lexer::{Lexer, SyntaxError, Token, quote};
use smalti_codegen::{Elem, Nest};
use smalti_dims::{Dim, Symbols};
use smalti_isa::Target;
use smalti_ukernels::table::Family;

impl Program {
    /// Writes the program.
    pub fn print(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "program {} for {} {{", quote(&self.name), quote(&self.target.to_string()));
        if let Some(s) = self.vscale {
            let _ = writeln!(out, "  vscale {}", self.symbols.name(s));
        }
        for (key, ports) in [("input", &self.inputs), ("output", &self.outputs)] {
            for p in ports {
                let _ = writeln!(out, "  {key} {} = %{} [{}]", quote(&p.name), p.buffer.0, self.list(&p.shape));
            }
        }
        for c in &self.constants {
            let _ = writeln!(out, "  constant {} {} bytes", quote(&c.name), c.bytes.len());
        }
        for (i, b) in self.buffers.iter().enumerate() {
            let place = match b.place {
                Place::Input(i) => format!("input {i}"),
                Place::Constant(i) => format!("constant {i}"),
                Place::Once(i) => format!("once {i}"),
                Place::Slot(i) => format!("slot {i}"),
            };
            let _ = writeln!(out, "  buffer %{i}: {}[{}] in {place}", b.elem, self.symbols.text(&b.len));
        }
        for nest in &self.nests {
            for line in nest.to_string().lines() {
                let _ = writeln!(out, "  | {line}");
            }
        }
        for (key, steps) in [("once", &self.once), ("run", &self.steps)] {
            let _ = writeln!(out, "  {key} {{");
            self.steps_text(&mut out, steps, 2);
            out += "  }\n";
        }
        out += "}\n";
        out
    }

    fn list(&self, dims: &[Dim]) -> String {
        dims.iter().map(|d| self.symbols.text(d)).collect::<Vec<_>>().join(", ")
    }

    fn view_text(&self, v: &View) -> String {
        format!("%{} at {} by [{}]", v.buffer.0, self.symbols.text(&v.offset), self.list(&v.strides))
    }

    fn steps_text(&self, out: &mut String, steps: &[Step], depth: usize) {
        let pad = "  ".repeat(depth);
        for step in steps {
            match step {
                Step::Call(call) => {
                    let _ = writeln!(out, "{pad}{}", self.call_text(call).replace('\n', &format!("\n{pad}  ")));
                }
                Step::Branch { condition, yes, no } => {
                    let _ = writeln!(out, "{pad}branch %{} {{", condition.0);
                    self.steps_text(out, yes, depth + 1);
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.steps_text(out, no, depth + 1);
                    let _ = writeln!(out, "{pad}}}");
                }
                Step::Loop(l) => {
                    let _ = write!(out, "{pad}loop round=%{} go=%{} next=%{}", l.round.0, l.go.0, l.next.0);
                    for (key, buffer) in [("most", l.most), ("begin", l.begin)] {
                        if let Some(b) = buffer {
                            let _ = write!(out, " {key}=%{}", b.0);
                        }
                    }
                    if let Some(s) = l.rounds {
                        let _ = write!(out, " rounds={}", self.symbols.name(s));
                    }
                    for (key, moves) in [("carried", &l.carried), ("stacked", &l.stacked)] {
                        for (from, to) in moves {
                            let _ = write!(out, " {key}(%{}, %{})", from.0, to.0);
                        }
                    }
                    let _ = writeln!(out, " {{");
                    self.steps_text(out, &l.body, depth + 1);
                    let _ = writeln!(out, "{pad}}}");
                }
                Step::BindDim { symbol, value } => {
                    let value = match value {
                        Bind::Element(b, i) => format!("%{}[{i}]", b.0),
                        Bind::Dim(d) => format!("dim ({})", self.symbols.text(d)),
                    };
                    let _ = writeln!(out, "{pad}bind {} = {value}", self.symbols.name(*symbol));
                }
                Step::Check { node, left, right } => {
                    let (left, right) = (self.symbols.text(left), self.symbols.text(right));
                    let _ = writeln!(out, "{pad}check {} ({left}, {right})", quote(node));
                }
            }
        }
    }

    fn epilogue_text(&self, e: &Epilogue) -> String {
        let views: Vec<String> = e.operands.iter().map(|v| format!("\n  ({})", self.view_text(v))).collect();
        format!("\nepilogue {}{}", e.nest, views.concat())
    }

    fn call_text(&self, call: &Call) -> String {
        let strict = |s: bool| if s { " strict" } else { "" };
        match call {
            Call::Dispatch(d) => {
                let views: Vec<String> = d.operands.iter().map(|v| format!("\n({})", self.view_text(v))).collect();
                format!("dispatch {} nest {} [{}]{}", quote(&d.name), d.nest, self.list(&d.extents), views.concat())
            }
            Call::Matmul(m) => {
                let rhs = match &m.rhs {
                    Rhs::InPlace(v) => format!("({})", self.view_text(v)),
                    Rhs::Panels(v) => format!("panels ({})", self.view_text(v)),
                };
                format!(
                    "matmul {} {} [{}] m ({}) n ({}) k ({}){}\nlhs ({})\nrhs {rhs}\nout ({}){}",
                    quote(&m.name),
                    quote(&m.family.to_string()),
                    self.list(&m.batch),
                    self.symbols.text(&m.m),
                    self.symbols.text(&m.n),
                    self.symbols.text(&m.k),
                    strict(m.strict),
                    self.view_text(&m.lhs),
                    self.view_text(&m.out),
                    m.epilogue.as_ref().map_or(String::new(), |e| self.epilogue_text(e))
                )
            }
            Call::Conv(c) => format!(
                "conv {} {} n ({}) ic {} input [{}] oc {} kernel {:?} stride {:?} pad {:?} dilation {:?} groups {}{}\nx ({})\nweights %{}{}",
                quote(&c.name),
                quote(&c.family.to_string()),
                self.symbols.text(&c.n),
                c.ic,
                self.list(&c.input),
                c.oc,
                c.kernel,
                c.stride,
                c.pad,
                c.dilation,
                c.groups,
                strict(c.strict),
                self.view_text(&c.x),
                c.weights.0,
                self.epilogue_text(&c.epilogue)
            ),
            Call::Pack(p) => format!(
                "pack {} tile ({}) [{}] rows ({}) cols ({})\nfrom ({})\nto %{} at ({}) panel ({}) batch ({})",
                quote(&p.name),
                self.symbols.text(&p.t0),
                self.list(&p.batch),
                self.symbols.text(&p.rows),
                self.symbols.text(&p.cols),
                self.view_text(&p.src),
                p.out.0,
                self.symbols.text(&p.offset),
                self.symbols.text(&p.panel),
                self.symbols.text(&p.batch_stride)
            ),
            Call::Dims { out, values } => format!("dims %{} [{}]", out.0, self.list(values)),
        }
    }

    /// Reads what [`Program::print`] wrote, with the bytes of its constants, and verifies it.
    ///
    /// # Errors
    /// The first line that is wrong, or what makes the program ill-formed.
    pub fn parse(text: &str, constants: &[Bytes]) -> Result<Program, SyntaxError> {
        // Nests stand behind bars and have a reader of their own.
        let is_nest = |l: &str| l.trim_start().starts_with('|');
        let mut nests: Vec<Nest> = Vec::new();
        let mut current = String::new();
        for (i, line) in text.lines().enumerate().filter(|l| is_nest(l.1)) {
            let line = line.trim_start().trim_start_matches('|');
            current += line;
            current.push('\n');
            if line.trim_end() == " }" {
                let nest = Nest::parse(&current).map_err(|e| SyntaxError { line: i + 1, reason: e.to_string() })?;
                nests.push(nest);
                current.clear();
            }
        }
        let rest: Vec<&str> = text.lines().map(|l| if is_nest(l) { "" } else { l }).collect();
        let mut p = Parser { lexer: Lexer::new(&rest.join("\n"))?, symbols: Symbols::default(), dims: BTreeMap::new() };
        p.lexer.expect_word("program")?;
        let name = p.lexer.text()?;
        p.lexer.expect_word("for")?;
        let target = p.lexer.text()?;
        let target = Target::parse(&target).map_err(|e| p.lexer.error(e.to_string()))?;
        let mut program = Program {
            name,
            target,
            symbols: Symbols::default(),
            vscale: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            constants: Vec::new(),
            buffers: Vec::new(),
            nests,
            once: Vec::new(),
            steps: Vec::new(),
        };
        p.lexer.expect('{')?;
        while !p.lexer.eat('}') {
            match p.lexer.word()?.as_str() {
                "vscale" => {
                    let name = p.lexer.word()?;
                    program.vscale = Some(p.symbols.named(&name));
                }
                "input" => program.inputs.push(p.port()?),
                "output" => program.outputs.push(p.port()?),
                "constant" => {
                    let name = p.lexer.text()?;
                    let bytes: usize = p.lexer.number()?;
                    p.lexer.expect_word("bytes")?;
                    let given = constants.get(program.constants.len()).cloned().unwrap_or_default();
                    if given.len() != bytes {
                        return Err(p.lexer.error(format!("{} bytes were given for this constant", given.len())));
                    }
                    program.constants.push(Constant { name, bytes: given });
                }
                "buffer" => {
                    if p.lexer.value()? as usize != program.buffers.len() {
                        return Err(p.lexer.error("buffers are numbered in order"));
                    }
                    p.lexer.expect(':')?;
                    let elem = p.lexer.word()?;
                    let elem =
                        Elem::parse(&elem).ok_or_else(|| p.lexer.error(format!("'{elem}' is no element type")))?;
                    let len = p.list()?;
                    let [len] = <[Dim; 1]>::try_from(len).map_err(|_| p.lexer.error("a buffer has one length"))?;
                    p.lexer.expect_word("in")?;
                    let place = match p.lexer.word()?.as_str() {
                        "input" => Place::Input(p.lexer.number()?),
                        "constant" => Place::Constant(p.lexer.number()?),
                        "once" => Place::Once(p.lexer.number()?),
                        "slot" => Place::Slot(p.lexer.number()?),
                        other => return Err(p.lexer.error(format!("'{other}' is no place"))),
                    };
                    program.buffers.push(Buffer { elem, len, place });
                }
                "once" => {
                    p.lexer.expect('{')?;
                    program.once = p.steps()?;
                }
                "run" => {
                    p.lexer.expect('{')?;
                    program.steps = p.steps()?;
                }
                other => return Err(p.lexer.error(format!("'{other}' is no part of a program"))),
            }
        }
        program.symbols = p.symbols;
        program.verify().map_err(|e| SyntaxError { line: text.lines().count(), reason: e.to_string() })?;
        Ok(program)
    }
}

struct Parser {
    lexer: Lexer,
    symbols: Symbols,
    /// Dims by their texts: a program writes few of them, many times.
    dims: BTreeMap<String, Dim>,
}

impl Parser {
    fn dim(&mut self) -> Result<Dim, SyntaxError> {
        let text = self.lexer.until_separator();
        if let Some(dim) = self.dims.get(&text) {
            return Ok(dim.clone());
        }
        // Names that are no functions are symbols.
        let mut word = String::new();
        for c in text.chars().chain([' ']) {
            if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
                word.push(c);
                continue;
            }
            if c != '(' && !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()) {
                self.symbols.named(&word);
            }
            word.clear();
        }
        let dim = self.symbols.parse(&text).ok_or_else(|| self.lexer.error(format!("'{text}' is no dim")))?;
        self.dims.insert(text, dim.clone());
        Ok(dim)
    }

    fn bracketed(&mut self) -> Result<Dim, SyntaxError> {
        self.lexer.expect('(')?;
        let dim = self.dim()?;
        self.lexer.expect(')')?;
        Ok(dim)
    }

    fn list(&mut self) -> Result<Vec<Dim>, SyntaxError> {
        self.lexer.expect('[')?;
        let mut dims = Vec::new();
        while !self.lexer.eat(']') {
            dims.push(self.dim()?);
            self.lexer.eat(',');
        }
        Ok(dims)
    }

    fn sizes<const N: usize>(&mut self) -> Result<[usize; N], SyntaxError> {
        let sizes: Option<Vec<usize>> = self.list()?.iter().map(Dim::size).collect();
        let sizes = sizes.and_then(|s| <[usize; N]>::try_from(s).ok());
        sizes.ok_or_else(|| self.lexer.error(format!("{N} sizes are needed")))
    }

    fn buffer(&mut self) -> Result<BufferId, SyntaxError> {
        self.lexer.value().map(BufferId)
    }

    fn port(&mut self) -> Result<Port, SyntaxError> {
        let name = self.lexer.text()?;
        self.lexer.expect('=')?;
        let buffer = self.buffer()?;
        Ok(Port { name, buffer, shape: self.list()? })
    }

    fn view(&mut self) -> Result<View, SyntaxError> {
        self.lexer.expect('(')?;
        let buffer = self.buffer()?;
        self.lexer.expect_word("at")?;
        let mut text = String::new();
        // The offset ends where `by [` begins.
        let offset = {
            let start = self.offset(&mut text)?;
            self.lexer.expect_word("by")?;
            start
        };
        let strides = self.list()?;
        self.lexer.expect(')')?;
        Ok(View { buffer, offset, strides })
    }

    /// A dim up to the word `by`.
    fn offset(&mut self, text: &mut String) -> Result<Dim, SyntaxError> {
        while let Some(token) = self.lexer.peek() {
            if matches!(token, Token::Word(w) if w == "by") {
                break;
            }
            match self.lexer.next_token() {
                Some(Token::Word(w) | Token::Number(w)) => {
                    if self.lexer.peek() != Some(&Token::Sign('(')) && !w.starts_with(|c: char| c.is_ascii_digit()) {
                        self.symbols.named(&w);
                    }
                    *text += &w;
                }
                Some(Token::Sign(c)) => text.push(c),
                _ => break,
            }
        }
        self.symbols.parse(text).ok_or_else(|| self.lexer.error(format!("'{text}' is no dim")))
    }

    /// Steps, to the closing brace.
    fn steps(&mut self) -> Result<Vec<Step>, SyntaxError> {
        let mut steps = Vec::new();
        while !self.lexer.eat('}') {
            let word = self.lexer.word()?;
            steps.push(match word.as_str() {
                "branch" => {
                    let condition = self.buffer()?;
                    self.lexer.expect('{')?;
                    let yes = self.steps()?;
                    self.lexer.expect_word("else")?;
                    self.lexer.expect('{')?;
                    Step::Branch { condition, yes, no: self.steps()? }
                }
                "loop" => Step::Loop(self.rounds()?),
                "bind" => {
                    let name = self.lexer.word()?;
                    let symbol = self.symbols.named(&name);
                    self.lexer.expect('=')?;
                    let value = if self.lexer.eat_word("dim") {
                        Bind::Dim(self.bracketed()?)
                    } else {
                        let buffer = self.buffer()?;
                        let [index] = self.sizes()?;
                        Bind::Element(buffer, index as u32)
                    };
                    Step::BindDim { symbol, value }
                }
                "check" => {
                    let node = self.lexer.text()?;
                    self.lexer.expect('(')?;
                    let left = self.dim()?;
                    self.lexer.expect(',')?;
                    let right = self.dim()?;
                    self.lexer.expect(')')?;
                    Step::Check { node, left, right }
                }
                "dispatch" => {
                    let name = self.lexer.text()?;
                    self.lexer.expect_word("nest")?;
                    let nest = self.lexer.number()?;
                    let extents = self.list()?;
                    Step::Call(Call::Dispatch(Dispatch { name, nest, extents, operands: self.views()? }))
                }
                "matmul" => Step::Call(Call::Matmul(self.matmul()?)),
                "conv" => Step::Call(Call::Conv(self.conv()?)),
                "pack" => Step::Call(Call::Pack(self.pack()?)),
                "dims" => Step::Call(Call::Dims { out: self.buffer()?, values: self.list()? }),
                other => return Err(self.lexer.error(format!("'{other}' is no step"))),
            });
        }
        Ok(steps)
    }

    fn views(&mut self) -> Result<Vec<View>, SyntaxError> {
        let mut views = Vec::new();
        while self.lexer.peek() == Some(&Token::Sign('(')) {
            views.push(self.view()?);
        }
        Ok(views)
    }

    fn family(&mut self) -> Result<Family, SyntaxError> {
        let text = self.lexer.text()?;
        Family::parse(&text).ok_or_else(|| self.lexer.error(format!("there is no family '{text}'")))
    }

    fn keyed<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        self.lexer.expect_word(key)?;
        read(self)
    }

    fn epilogue(&mut self) -> Result<Epilogue, SyntaxError> {
        Ok(Epilogue { nest: self.lexer.number()?, operands: self.views()? })
    }

    fn matmul(&mut self) -> Result<Matmul, SyntaxError> {
        let (name, family, batch) = (self.lexer.text()?, self.family()?, self.list()?);
        let m = self.keyed("m", Self::bracketed)?;
        let n = self.keyed("n", Self::bracketed)?;
        let k = self.keyed("k", Self::bracketed)?;
        let strict = self.lexer.eat_word("strict");
        let lhs = self.keyed("lhs", Self::view)?;
        self.lexer.expect_word("rhs")?;
        let rhs = if self.lexer.eat_word("panels") { Rhs::Panels(self.view()?) } else { Rhs::InPlace(self.view()?) };
        let out = self.keyed("out", Self::view)?;
        let epilogue = if self.lexer.eat_word("epilogue") { Some(self.epilogue()?) } else { None };
        Ok(Matmul { name, family, strict, batch, m, n, k, lhs, rhs, out, epilogue })
    }

    fn conv(&mut self) -> Result<Conv, SyntaxError> {
        let (name, family) = (self.lexer.text()?, self.family()?);
        let n = self.keyed("n", Self::bracketed)?;
        let ic = self.keyed("ic", |p| p.lexer.number())?;
        let input = self.keyed("input", Self::list)?;
        let input = <[Dim; 2]>::try_from(input).map_err(|_| self.lexer.error("an input has two dims"))?;
        Ok(Conv {
            name,
            family,
            n,
            ic,
            input,
            oc: self.keyed("oc", |p| p.lexer.number())?,
            kernel: self.keyed("kernel", Self::sizes)?,
            stride: self.keyed("stride", Self::sizes)?,
            pad: self.keyed("pad", Self::sizes)?,
            dilation: self.keyed("dilation", Self::sizes)?,
            groups: self.keyed("groups", |p| p.lexer.number())?,
            strict: self.lexer.eat_word("strict"),
            x: self.keyed("x", Self::view)?,
            weights: self.keyed("weights", Self::buffer)?,
            epilogue: self.keyed("epilogue", Self::epilogue)?,
        })
    }

    fn pack(&mut self) -> Result<Pack, SyntaxError> {
        Ok(Pack {
            name: self.lexer.text()?,
            t0: self.keyed("tile", Self::bracketed)?,
            batch: self.list()?,
            rows: self.keyed("rows", Self::bracketed)?,
            cols: self.keyed("cols", Self::bracketed)?,
            src: self.keyed("from", Self::view)?,
            out: self.keyed("to", Self::buffer)?,
            offset: self.keyed("at", Self::bracketed)?,
            panel: self.keyed("panel", Self::bracketed)?,
            batch_stride: self.keyed("batch", Self::bracketed)?,
        })
    }

    fn rounds(&mut self) -> Result<Loop, SyntaxError> {
        let mut l = Loop {
            most: None,
            begin: None,
            round: BufferId(u32::MAX),
            go: BufferId(u32::MAX),
            body: Vec::new(),
            next: BufferId(u32::MAX),
            carried: Vec::new(),
            stacked: Vec::new(),
            rounds: None,
        };
        while !self.lexer.eat('{') {
            let key = self.lexer.word()?;
            if key == "carried" || key == "stacked" {
                self.lexer.expect('(')?;
                let from = self.buffer()?;
                self.lexer.expect(',')?;
                let to = self.buffer()?;
                self.lexer.expect(')')?;
                if key == "carried" {
                    l.carried.push((from, to))
                } else {
                    l.stacked.push((from, to))
                }
                continue;
            }
            self.lexer.expect('=')?;
            match key.as_str() {
                "round" => l.round = self.buffer()?,
                "go" => l.go = self.buffer()?,
                "next" => l.next = self.buffer()?,
                "most" => l.most = Some(self.buffer()?),
                "begin" => l.begin = Some(self.buffer()?),
                "rounds" => {
                    let name = self.lexer.word()?;
                    l.rounds = Some(self.symbols.named(&name));
                }
                other => return Err(self.lexer.error(format!("'{}' is no part of a loop", other.to_owned()))),
            }
        }
        l.body = self.steps()?;
        Ok(l)
    }
}
