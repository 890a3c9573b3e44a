//! Sizes that may be known at run time only.
//!
//! A [`Dim`] is an integer polynomial over symbols, kept in one canonical form, so that two dims that are equal by
//! the laws of addition and multiplication compare as equal. Division, minimum, maximum and choice are atoms of such
//! polynomials, simplified where they can be.
//!
//! ```
//! use smalti_dims::{Dim, Symbols};
//! let mut symbols = Symbols::default();
//! let n = Dim::symbol(symbols.named("N"));
//! let flat = n.clone() * Dim::from(4usize) * Dim::from(3usize);
//! assert_eq!(flat.div(&Dim::from(12usize)), n);
//! assert_eq!(symbols.text(&flat), "12*N");
//! assert_eq!(flat.eval(&[Some(5)]), Ok(60));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod text;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Add, Mul, Sub};
pub use text::Symbols;

/// The number of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// An integer expression: a sum of products, by product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dim {
    /// Shared: dims are copied far more often than they are changed.
    terms: Arc<BTreeMap<Vec<Atom>, i64>>,
}

/// What products are made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Atom {
    Symbol(Symbol),
    /// Rounded down.
    Div(Box<[Dim; 2]>),
    Min(Box<[Dim; 2]>),
    Max(Box<[Dim; 2]>),
    /// The third where the first two are equal, else the fourth.
    Choose(Box<[Dim; 4]>),
}

/// Why a dim has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A symbol has no value yet.
    #[error("symbol number {} has no value yet", .0.0)]
    Unbound(Symbol),
    /// The value leaves 64 bits.
    #[error("a size leaves 64 bits")]
    Overflow,
    /// A division by zero.
    #[error("a size is divided by zero")]
    Zero,
}

/// Longer expressions are not followed: powers and choices of each other double with every operation.
const PARTS: usize = 1 << 15;

/// Stands for every expression that is too long. It never has a value.
const TOO_LONG: Symbol = Symbol(u32::MAX);

impl From<i64> for Dim {
    fn from(value: i64) -> Dim {
        let mut dim = Dim::default();
        dim.add_term(Vec::new(), value);
        dim
    }
}

impl From<usize> for Dim {
    fn from(value: usize) -> Dim {
        Dim::from(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl Dim {
    /// A symbol.
    pub fn symbol(symbol: Symbol) -> Dim {
        Dim::atom(Atom::Symbol(symbol))
    }

    fn atom(atom: Atom) -> Dim {
        let mut dim = Dim::default();
        dim.add_term(vec![atom], 1);
        dim
    }

    /// Whether it stands for an expression of too many parts, or was made from one. Nothing is known of such a dim; two
    /// of them are not the same.
    pub fn is_too_long(&self) -> bool {
        self.as_symbol() == Some(TOO_LONG)
    }

    fn any_too_long<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> Option<Dim> {
        dims.into_iter().find(|d| d.is_too_long()).cloned()
    }

    /// Itself, or what stands for a longer expression than is followed.
    fn bounded(self) -> Dim {
        if self.parts() <= PARTS { self } else { Dim::symbol(TOO_LONG) }
    }

    /// How long the expression is: terms, and atoms in them.
    fn parts(&self) -> usize {
        self.terms.keys().map(|atoms| 1 + atoms.iter().map(Atom::parts).sum::<usize>()).sum()
    }

    fn add_term(&mut self, atoms: Vec<Atom>, factor: i64) {
        let terms = Arc::make_mut(&mut self.terms);
        let entry = terms.entry(atoms);
        let key = entry.key().clone();
        let sum = entry.or_insert(0);
        // Sizes near the limits of 64 bits are caught when they are evaluated; here they only must not wrap.
        *sum = sum.saturating_add(factor);
        if *sum == 0 {
            terms.remove(&key);
        }
    }

    /// The value, where no symbol is in it.
    pub fn int(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The value as a size, where no symbol is in it and it is not negative.
    pub fn size(&self) -> Option<usize> {
        self.int().and_then(|v| usize::try_from(v).ok())
    }

    /// Whether it is the integer `value`.
    pub fn is(&self, value: i64) -> bool {
        self.int() == Some(value)
    }

    /// The symbol, where it is nothing else.
    pub fn as_symbol(&self) -> Option<Symbol> {
        match self.terms.iter().next() {
            Some((atoms, 1)) if self.terms.len() == 1 => match atoms[..] {
                [Atom::Symbol(s)] => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether its form shows that it is not negative, where `is_size` says which symbols never are.
    pub fn is_size(&self, is_size: &dyn Fn(Symbol) -> bool) -> bool {
        self.terms.iter().all(|(atoms, &factor)| {
            factor >= 0
                && atoms.iter().all(|atom| match atom {
                    Atom::Symbol(s) => is_size(*s),
                    Atom::Div(d) | Atom::Min(d) => d.iter().all(|d| d.is_size(is_size)),
                    Atom::Max(d) => d.iter().any(|d| d.is_size(is_size)),
                    Atom::Choose(d) => d[2..].iter().all(|d| d.is_size(is_size)),
                })
        })
    }

    /// Every symbol in it.
    pub fn symbols(&self, visit: &mut dyn FnMut(Symbol)) {
        for atom in self.terms.keys().flatten() {
            match atom {
                Atom::Symbol(s) => visit(*s),
                Atom::Div(d) | Atom::Min(d) | Atom::Max(d) => d.iter().for_each(|d| d.symbols(visit)),
                Atom::Choose(d) => d.iter().for_each(|d| d.symbols(visit)),
            }
        }
    }

    /// The quotient, rounded down. Exact where the divisor divides every term.
    #[must_use]
    pub fn div(&self, by: &Dim) -> Dim {
        if let Some(dim) = Dim::any_too_long([self, by]) {
            return dim;
        }
        if by.is(1) || self.is(0) {
            return self.clone();
        }
        if self == by {
            return Dim::from(1i64);
        }
        if let (Some(a), Some(b)) = (self.int(), by.int())
            && b != 0
        {
            return Dim::from(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0));
        }
        if by.terms.len() == 1
            && let Some((divisor, &factor)) = by.terms.iter().next()
            && factor > 0
        {
            let parts: Option<Vec<(Vec<Atom>, i64)>> = self
                .terms
                .iter()
                .map(|(atoms, &f)| {
                    let mut rest = atoms.clone();
                    for atom in divisor {
                        rest.remove(rest.iter().position(|a| a == atom)?);
                    }
                    (f % factor == 0).then_some((rest, f / factor))
                })
                .collect();
            if let Some(parts) = parts {
                let mut dim = Dim::default();
                parts.into_iter().for_each(|(atoms, f)| dim.add_term(atoms, f));
                return dim;
            }
        }
        Dim::atom(Atom::Div(Box::new([self.clone(), by.clone()]))).bounded()
    }

    /// The quotient, rounded up, for a divisor that is positive.
    #[must_use]
    pub fn div_ceil(&self, by: &Dim) -> Dim {
        (self.clone() + by.clone() - Dim::from(1i64)).div(by)
    }

    /// The lesser.
    #[must_use]
    pub fn lesser(&self, other: &Dim) -> Dim {
        let difference = self.clone() - other.clone();
        match difference.int() {
            Some(d) => {
                if d <= 0 {
                    self.clone()
                } else {
                    other.clone()
                }
            }
            None if difference.is_too_long() => difference,
            None => Dim::atom(Atom::Min(Box::new([self.min_of(other), self.max_of(other)]))).bounded(),
        }
    }

    /// The greater.
    #[must_use]
    pub fn greater(&self, other: &Dim) -> Dim {
        let difference = self.clone() - other.clone();
        match difference.int() {
            Some(d) => {
                if d >= 0 {
                    self.clone()
                } else {
                    other.clone()
                }
            }
            None if difference.is_too_long() => difference,
            None => Dim::atom(Atom::Max(Box::new([self.min_of(other), self.max_of(other)]))).bounded(),
        }
    }

    /// The one that comes first in the canonical order, which makes commuting operations one.
    fn min_of(&self, other: &Dim) -> Dim {
        if self <= other { self.clone() } else { other.clone() }
    }

    fn max_of(&self, other: &Dim) -> Dim {
        if self <= other { other.clone() } else { self.clone() }
    }

    /// `equal` where `a` and `b` are the same, else `different`.
    #[must_use]
    pub fn choose(a: &Dim, b: &Dim, equal: &Dim, different: &Dim) -> Dim {
        if let Some(dim) = Dim::any_too_long([a, b, equal, different]) {
            return dim;
        }
        if equal == different {
            return equal.clone();
        }
        match (a.clone() - b.clone()).int() {
            Some(0) => equal.clone(),
            Some(_) => different.clone(),
            None => {
                Dim::atom(Atom::Choose(Box::new([a.clone(), b.clone(), equal.clone(), different.clone()]))).bounded()
            }
        }
    }

    /// The value under values of the symbols. Allocates nothing.
    ///
    /// # Errors
    /// A symbol without a value, an overflow, or a division by zero.
    pub fn eval(&self, values: &[Option<i64>]) -> Result<i64, EvalError> {
        let mut sum = 0i64;
        for (atoms, &factor) in self.terms.iter() {
            let mut product = factor;
            for atom in atoms {
                product = product.checked_mul(atom.eval(values)?).ok_or(EvalError::Overflow)?;
            }
            sum = sum.checked_add(product).ok_or(EvalError::Overflow)?;
        }
        Ok(sum)
    }

    /// The same expression with dims in the place of symbols.
    #[must_use]
    pub fn substitute(&self, with: &dyn Fn(Symbol) -> Option<Dim>) -> Dim {
        let mut sum = Dim::default();
        for (atoms, &factor) in self.terms.iter() {
            let product = atoms.iter().fold(Dim::from(factor), |product, atom| product * atom.substitute(with));
            sum = sum + product;
        }
        sum
    }
}

impl Atom {
    fn parts(&self) -> usize {
        match self {
            Atom::Symbol(_) => 1,
            Atom::Div(d) | Atom::Min(d) | Atom::Max(d) => 1 + d.iter().map(Dim::parts).sum::<usize>(),
            Atom::Choose(d) => 1 + d.iter().map(Dim::parts).sum::<usize>(),
        }
    }

    fn eval(&self, values: &[Option<i64>]) -> Result<i64, EvalError> {
        Ok(match self {
            Atom::Symbol(s) => values.get(s.0 as usize).copied().flatten().ok_or(EvalError::Unbound(*s))?,
            Atom::Div(d) => {
                let (a, b) = (d[0].eval(values)?, d[1].eval(values)?);
                if b == 0 {
                    return Err(EvalError::Zero);
                }
                let quotient = a.checked_div(b).ok_or(EvalError::Overflow)?;
                quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))
            }
            Atom::Min(d) => d[0].eval(values)?.min(d[1].eval(values)?),
            Atom::Max(d) => d[0].eval(values)?.max(d[1].eval(values)?),
            Atom::Choose(d) => {
                let chosen = if d[0].eval(values)? == d[1].eval(values)? { &d[2] } else { &d[3] };
                chosen.eval(values)?
            }
        })
    }

    fn substitute(&self, with: &dyn Fn(Symbol) -> Option<Dim>) -> Dim {
        match self {
            Atom::Symbol(s) => with(*s).unwrap_or_else(|| Dim::symbol(*s)),
            Atom::Div(d) => d[0].substitute(with).div(&d[1].substitute(with)),
            Atom::Min(d) => d[0].substitute(with).lesser(&d[1].substitute(with)),
            Atom::Max(d) => d[0].substitute(with).greater(&d[1].substitute(with)),
            Atom::Choose(d) => {
                let [a, b, equal, different] = d.each_ref().map(|d| d.substitute(with));
                Dim::choose(&a, &b, &equal, &different)
            }
        }
    }
}

impl Add for Dim {
    type Output = Dim;

    fn add(mut self, other: Dim) -> Dim {
        if let Some(dim) = Dim::any_too_long([&self, &other]) {
            return dim;
        }
        other.terms.iter().for_each(|(atoms, &factor)| self.add_term(atoms.clone(), factor));
        self.bounded()
    }
}

impl Sub for Dim {
    type Output = Dim;

    fn sub(mut self, other: Dim) -> Dim {
        if let Some(dim) = Dim::any_too_long([&self, &other]) {
            return dim;
        }
        other.terms.iter().for_each(|(atoms, factor)| self.add_term(atoms.clone(), factor.saturating_neg()));
        self.bounded()
    }
}

impl Mul for Dim {
    type Output = Dim;

    fn mul(self, other: Dim) -> Dim {
        if let Some(dim) = Dim::any_too_long([&self, &other]) {
            return dim;
        }
        if self.terms.len() * other.terms.len() > PARTS {
            return Dim::symbol(TOO_LONG);
        }
        let mut product = Dim::default();
        for (a, f) in self.terms.iter() {
            for (b, g) in other.terms.iter() {
                let mut atoms: Vec<Atom> = a.iter().chain(b).cloned().collect();
                atoms.sort_unstable();
                product.add_term(atoms, f.saturating_mul(*g));
            }
        }
        product.bounded()
    }
}

/// The product of dims.
pub fn product<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> Dim {
    dims.into_iter().fold(Dim::from(1i64), |p, d| p * d.clone())
}

impl Symbols {
    /// Adds a symbol whose name begins with `hint`.
    pub fn fresh(&mut self, hint: &str) -> Symbol {
        let mut name = hint.to_string();
        let mut count = self.counted(hint);
        while self.find(&name).is_some() {
            count += 1;
            name = format!("{hint}.{count}");
        }
        self.count(hint, count);
        self.named(&name)
    }

    /// A name that texts can hold: letters, digits, `_` and `.`, a letter or `_` first.
    pub fn clean(name: &str) -> String {
        let ok = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let mut text: String = name.chars().map(|c| if ok(c) { c } else { '_' }).collect();
        if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            text.insert(0, '_');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn division_is_exact_where_it_can_be() {
        let (n, m) = (Dim::symbol(Symbol(0)), Dim::symbol(Symbol(1)));
        let nm = n.clone() * m.clone() * Dim::from(6i64);
        assert_eq!(nm.div(&(m.clone() * Dim::from(2i64))), n.clone() * Dim::from(3i64));
        assert_eq!((n.clone() + n.clone()).div(&n), Dim::from(2i64));
        assert_eq!(n.div(&Dim::from(2i64)).eval(&[Some(7)]), Ok(3));
        assert_eq!(n.div(&m).eval(&[Some(7), Some(0)]), Err(EvalError::Zero));
        assert_eq!(n.eval(&[None]), Err(EvalError::Unbound(Symbol(0))));
    }

    #[test]
    fn expressions_that_grow_without_end_are_not_followed() {
        let n = Dim::symbol(Symbol(0));
        let (mut power, mut choice) = (n.clone() + Dim::from(1i64), n.clone());
        for _ in 0..64 {
            power = power.clone() * power;
            choice = choice.div(&Dim::from(2i64)).greater(&(choice.clone() * choice.clone()));
        }
        for dim in [power, choice] {
            assert!(dim.is_too_long());
            // Nothing is taken for known of it: not even that it is itself.
            assert_eq!((dim.clone() - dim.clone()).int(), None);
            assert_eq!((dim.clone() * Dim::from(0i64)).int(), None);
            assert!(Dim::choose(&dim, &dim, &n, &n).is_too_long() && dim.div(&dim).is_too_long());
            assert!(dim.eval(&[Some(1)]).is_err());
        }
    }

    #[test]
    fn fresh_names_count_on() {
        let mut symbols = Symbols::default();
        symbols.named("if.2");
        let names: Vec<String> = (0..3)
            .map(|_| {
                let symbol = symbols.fresh("if");
                symbols.name(symbol).to_string()
            })
            .collect();
        assert_eq!(names, ["if", "if.1", "if.3"]);
    }

    #[test]
    fn choices_fold() {
        let n = Dim::symbol(Symbol(0));
        let one = Dim::from(1i64);
        assert_eq!(Dim::choose(&n, &n, &one, &n), one);
        assert_eq!(Dim::choose(&one, &Dim::from(2i64), &one, &n), n);
        assert_eq!(n.greater(&(n.clone() + one.clone())), n.clone() + one);
    }

    fn dim() -> impl Strategy<Value = Dim> {
        let leaf = prop_oneof![(-5i64..9).prop_map(Dim::from), (0u32..3).prop_map(|s| Dim::symbol(Symbol(s))),];
        leaf.prop_recursive(4, 24, 3, |inner| {
            (inner.clone(), inner.clone(), inner, 0..6).prop_map(|(a, b, c, op)| match op {
                0 => a + b,
                1 => a - b,
                2 => a * b,
                3 => a.div(&b),
                4 => a.lesser(&b).greater(&c),
                _ => Dim::choose(&a, &b, &c, &a),
            })
        })
    }

    proptest! {
        #[test]
        fn texts_round_trip(d in dim()) {
            let mut symbols = Symbols::default();
            for name in ["N", "seq_len", "_3"] {
                symbols.named(name);
            }
            let text = symbols.text(&d);
            prop_assert_eq!(symbols.parse(&text), Some(d), "{}", text);
        }

        #[test]
        fn substitution_is_evaluation(d in dim(), values in [1i64..6, 1i64..6, 1i64..6]) {
            let whole = d.substitute(&|s| Some(Dim::from(values[s.0 as usize])));
            if let Ok(value) = d.eval(&values.map(Some)) {
                prop_assert_eq!(whole.eval(&[]), Ok(value));
            }
        }
    }
}
