//! Types in mangled names.

use super::parser::{Parser, Type, Wrap, joined};

impl Parser<'_> {
    /// A type.
    pub(super) fn kind(&mut self) -> Option<Type> {
        self.nested(Self::any_kind)
    }

    fn any_kind(&mut self) -> Option<Type> {
        if let Some(builtin) = self.builtin() {
            return Some(Type::plain(builtin));
        }
        let found = match self.peek()? {
            b'r' | b'V' | b'K' => self.qualified()?,
            b'P' => self.pointer("*")?,
            b'R' => self.pointer("&")?,
            b'O' => self.pointer("&&")?,
            b'A' => self.array()?,
            b'F' => self.function()?,
            b'T' => {
                let parameter = self.template_parameter()?;
                if self.peek() == Some(b'I') {
                    self.remember(&parameter)?;
                    let arguments = self.template_arguments(false)?;
                    Type::plain(parameter.text() + &arguments)
                } else {
                    parameter
                }
            }
            b'S' if !self.rest().starts_with(b"St") => {
                let earlier = self.substitution()?;
                if self.peek() != Some(b'I') {
                    return Some(earlier);
                }
                let arguments = self.template_arguments(false)?;
                Type::plain(earlier.text() + &arguments)
            }
            b'U' if !matches!(self.rest().get(1), Some(b'l' | b't')) => {
                self.bump()?;
                let word = self.counted()?;
                let inner = self.kind()?;
                if inner.pack.is_some() {
                    return None;
                }
                Type { left: format!("{} {word}", inner.left), ..inner }
            }
            b'u' => {
                self.bump()?;
                Type::plain(self.counted()?)
            }
            b'D' => self.other()?,
            b'N' | b'Z' | b'S' | b'U' | b'0'..=b'9' => Type::plain(self.name(false)?.text),
            _ => return None,
        };
        self.remember(&found)?;
        Some(found)
    }

    fn builtin(&mut self) -> Option<&'static str> {
        let (length, word) = match self.rest() {
            [b'D', second, ..] => (
                2,
                match second {
                    b'h' => "half",
                    b'i' => "char32_t",
                    b's' => "char16_t",
                    b'u' => "char8_t",
                    b'a' => "auto",
                    b'n' => "std::nullptr_t",
                    b'F' if self.rest().starts_with(b"DF16_") => return self.eat(b"DF16_").then_some("_Float16"),
                    b'F' if self.rest().starts_with(b"DF16b") => {
                        return self.eat(b"DF16b").then_some("std::bfloat16_t");
                    }
                    _ => return None,
                },
            ),
            [letter, ..] => (
                1,
                match letter {
                    b'v' => "void",
                    b'w' => "wchar_t",
                    b'b' => "bool",
                    b'c' => "char",
                    b'a' => "signed char",
                    b'h' => "unsigned char",
                    b's' => "short",
                    b't' => "unsigned short",
                    b'i' => "int",
                    b'j' => "unsigned int",
                    b'l' => "long",
                    b'm' => "unsigned long",
                    b'x' => "long long",
                    b'y' => "unsigned long long",
                    b'n' => "__int128",
                    b'o' => "unsigned __int128",
                    b'f' => "float",
                    b'd' => "double",
                    b'e' => "long double",
                    b'g' => "__float128",
                    b'z' => "...",
                    _ => return None,
                },
            ),
            [] => return None,
        };
        for _ in 0..length {
            self.bump()?;
        }
        Some(word)
    }

    fn qualified(&mut self) -> Option<Type> {
        let mut words = [false; 3];
        for (letter, is_there) in [b"r", b"V", b"K"].into_iter().zip(&mut words) {
            *is_there = self.eat(letter);
        }
        let mut inner = self.kind()?;
        if inner.pack.is_some() {
            return None;
        }
        let [restrict, volatile, constant] = words;
        for (is_there, word) in [(constant, " const"), (volatile, " volatile"), (restrict, " restrict")] {
            if is_there && inner.wrap == Wrap::Function {
                inner.right += word;
            } else if is_there {
                inner.left += word;
            }
        }
        Some(inner)
    }

    fn pointer(&mut self, sign: &str) -> Option<Type> {
        self.bump()?;
        let inner = self.kind()?;
        if inner.pack.is_some() {
            return None;
        }
        Some(match inner.wrap {
            // A reference to a reference is one, to a left value if either is.
            Wrap::None if sign.starts_with('&') && inner.right.is_empty() && inner.left.ends_with('&') => {
                let bare = inner.left.trim_end_matches('&');
                let both = inner.left.ends_with("&&") && sign == "&&";
                Type { left: format!("{bare}{}", if both { "&&" } else { "&" }), ..inner }
            }
            Wrap::None => Type { left: inner.left + sign, ..inner },
            Wrap::Function => {
                Type { left: format!("{}({sign}", inner.left), right: format!("){}", inner.right), ..Type::default() }
            }
            Wrap::Array => {
                Type { left: format!("{} ({sign}", inner.left), right: format!("){}", inner.right), ..Type::default() }
            }
        })
    }

    fn array(&mut self) -> Option<Type> {
        self.bump()?;
        let length = if self.peek() == Some(b'_') { String::new() } else { self.number()?.to_string() };
        if !self.eat(b"_") {
            return None;
        }
        let inner = self.kind()?;
        if inner.pack.is_some() {
            return None;
        }
        let after = if inner.wrap == Wrap::Array { inner.right.trim_start().to_owned() } else { inner.right };
        Some(Type { left: inner.left, right: format!(" [{length}]{after}"), wrap: Wrap::Array, pack: None })
    }

    fn function(&mut self) -> Option<Type> {
        self.bump()?;
        self.eat(b"Y");
        let result = self.kind()?;
        let mut parameters = Vec::new();
        while !self.eat(b"E") {
            parameters.push(self.kind()?);
        }
        let parameters = if parameters == [Type::plain("void")] { String::new() } else { joined(&parameters) };
        Some(Type {
            left: format!("{} ", result.left),
            right: format!("({parameters}){}", result.right),
            wrap: Wrap::Function,
            pack: None,
        })
    }

    /// Types that begin with `D`.
    fn other(&mut self) -> Option<Type> {
        self.bump()?;
        match self.bump()? {
            b'p' => self.kind(),
            b'v' => {
                let length = self.number()?;
                if !self.eat(b"_") {
                    return None;
                }
                let inner = self.kind()?;
                Some(Type::plain(format!("{} vector[{length}]", inner.text())))
            }
            _ => None,
        }
    }

    /// `T_`, `T0_`, …
    pub(super) fn template_parameter(&mut self) -> Option<Type> {
        if !self.eat(b"T") {
            return None;
        }
        let index = self.index(10)?;
        let found = self.arguments.get(index)?.clone();
        self.spend(found.left.len() + found.right.len())?;
        Some(found)
    }

    /// `S_`, `S0_`, … and what has letters of its own.
    pub(super) fn substitution(&mut self) -> Option<Type> {
        if !self.eat(b"S") {
            return None;
        }
        let known = match self.peek()? {
            b'a' => "std::allocator",
            b'b' => "std::basic_string",
            b's' => "std::string",
            b'i' => "std::istream",
            b'o' => "std::ostream",
            b'd' => "std::iostream",
            _ => {
                let index = self.index(36)?;
                let found = self.seen.get(index)?.clone();
                self.spend(found.left.len() + found.right.len())?;
                return Some(found);
            }
        };
        self.bump()?;
        Some(Type::plain(known))
    }
}
