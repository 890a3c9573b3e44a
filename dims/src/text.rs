//! Dims as text: `12*N + div(M, 2) - 1`.

use crate::{Atom, Dim, Symbol};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Names of symbols, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// The last count behind each hint of a fresh name.
    counts: BTreeMap<String, u32>,
}

impl PartialEq for Symbols {
    fn eq(&self, other: &Symbols) -> bool {
        self.names == other.names
    }
}

impl Eq for Symbols {}

impl Symbols {
    /// The symbol of that name, added where it is new.
    pub fn named(&mut self, name: &str) -> Symbol {
        self.find(name).unwrap_or_else(|| {
            let number = self.names.len() as u32;
            self.names.push(name.to_owned());
            self.numbers.insert(name.to_owned(), number);
            Symbol(number)
        })
    }

    /// The symbol of that name.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.numbers.get(name).copied().map(Symbol)
    }

    pub(crate) fn counted(&self, hint: &str) -> u32 {
        self.counts.get(hint).copied().unwrap_or(0)
    }

    pub(crate) fn count(&mut self, hint: &str, count: u32) {
        self.counts.insert(hint.to_owned(), count);
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.0 as usize).map_or("?", String::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// A dim in words; [`Symbols::parse`] reads it.
    pub fn text(&self, dim: &Dim) -> String {
        let mut out = String::new();
        // Products before the constant, which comes first in the canonical order.
        let terms = dim.terms.iter();
        let (constant, products): (Vec<_>, Vec<_>) = terms.partition(|t| t.0.is_empty());
        for (atoms, &factor) in products.into_iter().chain(constant) {
            let sign = match (out.is_empty(), factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            out += sign;
            let mut parts: Vec<String> = atoms.iter().map(|a| self.atom(a)).collect();
            if factor.unsigned_abs() != 1 || parts.is_empty() {
                parts.insert(0, factor.unsigned_abs().to_string());
            }
            out += &parts.join("*");
        }
        if out.is_empty() { "0".to_owned() } else { out }
    }

    fn atom(&self, atom: &Atom) -> String {
        let list = |name: &str, dims: &[Dim]| {
            let dims: Vec<String> = dims.iter().map(|d| self.text(d)).collect();
            format!("{name}({})", dims.join(", "))
        };
        match atom {
            Atom::Symbol(s) => self.name(*s).to_owned(),
            Atom::Div(d) => list("div", &d[..]),
            Atom::Min(d) => list("min", &d[..]),
            Atom::Max(d) => list("max", &d[..]),
            Atom::Choose(d) => list("choose", &d[..]),
        }
    }

    /// Reads a dim; symbols must be known. Atoms are taken as they are written.
    pub fn parse(&self, text: &str) -> Option<Dim> {
        let mut rest = text;
        let dim = self.sum(&mut rest)?;
        rest.trim().is_empty().then_some(dim)
    }

    fn sum(&self, rest: &mut &str) -> Option<Dim> {
        let mut sum = Dim::default();
        let mut sign = if eat(rest, '-') { -1i64 } else { 1 };
        loop {
            sum = sum + self.product(rest)? * Dim::from(sign);
            sign = match rest.trim_start().chars().next() {
                Some('+') => 1,
                Some('-') => -1,
                _ => return Some(sum),
            };
            *rest = &rest.trim_start()[1..];
        }
    }

    fn product(&self, rest: &mut &str) -> Option<Dim> {
        let mut product = self.factor(rest)?;
        while eat(rest, '*') {
            product = product * self.factor(rest)?;
        }
        Some(product)
    }

    fn factor(&self, rest: &mut &str) -> Option<Dim> {
        *rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        *rest = after;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse::<i64>().ok().map(Dim::from);
        }
        if !eat(rest, '(') {
            return self.find(word).map(Dim::symbol);
        }
        let mut dims = Vec::new();
        loop {
            dims.push(self.sum(rest)?);
            if eat(rest, ')') {
                break;
            }
            eat(rest, ',').then_some(())?;
        }
        let two = |dims: Vec<Dim>| <[Dim; 2]>::try_from(dims).ok().map(Box::new);
        Some(Dim::atom(match word {
            "div" => Atom::Div(two(dims)?),
            "min" => Atom::Min(two(dims)?),
            "max" => Atom::Max(two(dims)?),
            "choose" => Atom::Choose(Box::new(<[Dim; 4]>::try_from(dims).ok()?)),
            _ => return None,
        }))
    }
}

fn eat(rest: &mut &str, c: char) -> bool {
    match rest.trim_start().strip_prefix(c) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}
