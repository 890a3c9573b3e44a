//! Words of the text forms of graphs, tiled graphs and programs.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A word of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or a keyword: letters, digits, `_`, `.`, and `-` inside.
    Word(String),
    /// `%` and a number.
    Value(u32),
    /// A number, or a word that begins like one.
    Number(String),
    /// A text between quotes.
    Text(String),
    /// Any other character.
    Sign(char),
}

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// Brackets inside brackets.
const DEPTH: usize = 128;

/// Reads tokens one after the other.
#[derive(Debug)]
pub struct Lexer {
    tokens: Vec<(usize, Token)>,
    at: usize,
}

impl Lexer {
    /// Cuts a text into tokens; a `;` begins a comment.
    ///
    /// # Errors
    /// A quote that is not closed, or brackets nested so deeply that readers, which are recursive, would run out of
    /// stack.
    pub fn new(text: &str) -> Result<Lexer, SyntaxError> {
        let mut tokens = Vec::new();
        let mut depth = 0usize;
        for (i, line) in text.lines().enumerate() {
            let mut rest = line.trim_start();
            while let Some(first) = rest.chars().next() {
                let (token, after) = match first {
                    ';' => break,
                    '"' => {
                        let (text, after) = quoted(&rest[1..])
                            .ok_or(SyntaxError { line: i + 1, reason: "a quote is not closed".to_owned() })?;
                        (Token::Text(text), after)
                    }
                    '%' => {
                        let end = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |e| e + 1);
                        match rest[1..end].parse() {
                            Ok(number) => (Token::Value(number), &rest[end..]),
                            Err(_) => (Token::Sign('%'), &rest[1..]),
                        }
                    }
                    c if c.is_ascii_digit() || c == '-' && rest[1..].starts_with(|d: char| d.is_ascii_digit()) => {
                        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
                        let mut end = rest[1..].find(|c| !word(c)).map_or(rest.len(), |e| e + 1);
                        // The exponent's sign belongs to the number.
                        if rest[..end].ends_with(['e', 'E']) && rest[end..].starts_with('-') {
                            end = rest[end + 1..].find(|c| !word(c)).map_or(rest.len(), |e| e + end + 1);
                        }
                        (Token::Number(rest[..end].to_owned()), &rest[end..])
                    }
                    c if c.is_ascii_alphabetic() || c == '_' => {
                        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
                        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                        (Token::Word(rest[..end].to_owned()), &rest[end..])
                    }
                    c => (Token::Sign(c), &rest[c.len_utf8()..]),
                };
                match token {
                    Token::Sign('(' | '[' | '{' | '<') => depth += 1,
                    Token::Sign(')' | ']' | '}' | '>') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth > DEPTH {
                    return Err(SyntaxError {
                        line: i + 1,
                        reason: format!("brackets are nested {depth} deep, at most {DEPTH}"),
                    });
                }
                tokens.push((i + 1, token));
                rest = after.trim_start();
            }
        }
        Ok(Lexer { tokens, at: 0 })
    }

    /// An error at the present line.
    pub fn error(&self, reason: impl Into<String>) -> SyntaxError {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        SyntaxError { line: self.tokens.get(at).map_or(1, |t| t.0), reason: reason.into() }
    }

    /// The next token, left where it is.
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.1)
    }

    /// The next token.
    pub fn next_token(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|t| t.1.clone());
        self.at += 1;
        token
    }

    /// Takes `sign` where it comes next.
    pub fn eat(&mut self, sign: char) -> bool {
        let here = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(here);
        here
    }

    /// Takes the word where it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let here = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(here);
        here
    }

    /// Takes `sign`.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn expect(&mut self, sign: char) -> Result<(), SyntaxError> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("'{sign}'"))) }
    }

    /// Takes the word.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn expect_word(&mut self, word: &str) -> Result<(), SyntaxError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("'{word}'"))) }
    }

    /// A word.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn word(&mut self) -> Result<String, SyntaxError> {
        match self.next_token() {
            Some(Token::Word(w)) => Ok(w),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a word"))
            }
        }
    }

    /// A quoted text.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn text(&mut self) -> Result<String, SyntaxError> {
        match self.next_token() {
            Some(Token::Text(t)) => Ok(t),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a quoted text"))
            }
        }
    }

    /// A `%number`.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn value(&mut self) -> Result<u32, SyntaxError> {
        match self.next_token() {
            Some(Token::Value(v)) => Ok(v),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// A number of the type asked for.
    ///
    /// # Errors
    /// Something else comes next.
    pub fn number<T: core::str::FromStr>(&mut self) -> Result<T, SyntaxError> {
        let text = match self.next_token() {
            Some(Token::Number(n) | Token::Word(n)) => n,
            Some(Token::Sign('-')) => format!("-{}", self.word()?),
            _ => String::new(),
        };
        text.parse().map_err(|_| {
            self.at -= 1;
            self.unexpected("a number")
        })
    }

    /// Everything up to a `,` or a closing bracket at this depth, as text: a dim.
    pub fn until_separator(&mut self) -> String {
        let mut depth = 0;
        let mut out = String::new();
        while let Some(token) = self.peek() {
            match token {
                Token::Sign(',' | ']' | ')' | '}' | '|') if depth == 0 => break,
                Token::Sign('(') => depth += 1,
                Token::Sign(')') => depth -= 1,
                _ => {}
            }
            match self.next_token() {
                Some(Token::Word(w) | Token::Number(w)) => out += &w,
                Some(Token::Sign(c)) => out.push(c),
                _ => {}
            }
        }
        out
    }

    fn unexpected(&self, wanted: &str) -> SyntaxError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Word(w) | Token::Number(w)) => format!("'{w}'"),
            Some(Token::Text(t)) => format!("\"{t}\""),
            Some(Token::Value(v)) => format!("%{v}"),
            Some(Token::Sign(c)) => format!("'{c}'"),
        };
        self.error(format!("expected {wanted}, found {found}"))
    }
}

/// Writes a text between quotes, so that the lexer reads it back.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out += "\\n",
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[i + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
    None
}
