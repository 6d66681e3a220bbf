//! Names of functions and types in mangled names.

use super::parser::{Parser, Type, joined};

/// A name, and what decides whether the type of a result follows.
pub(super) struct Name {
    pub text: String,
    /// Whether it ends with template arguments.
    pub is_template: bool,
    /// Whether it is that of a constructor, destructor or conversion, which have no type of a result.
    pub is_special: bool,
    /// ` const` and the like of a member function.
    pub qualifiers: String,
}

impl Parser<'_> {
    /// A function with its parameters, or a variable.
    pub(super) fn encoding(&mut self) -> Option<String> {
        // The template arguments of a function around a type are not those of the function that has the type.
        let outer = std::mem::take(&mut self.arguments);
        let found = self.nested(Self::function_or_variable);
        self.arguments = outer;
        found
    }

    fn function_or_variable(&mut self) -> Option<String> {
        let name = self.name(true)?;
        if matches!(self.peek(), None | Some(b'E' | b'.')) {
            return Some(name.text);
        }
        let result = if name.is_template && !name.is_special { Some(self.kind()?) } else { None };
        let mut parameters = Vec::new();
        while !matches!(self.peek(), None | Some(b'E' | b'.')) {
            parameters.push(self.kind()?);
        }
        let parameters = if parameters == [Type::plain("void")] { String::new() } else { joined(&parameters) };
        let (before, after) =
            result.map_or_else(Default::default, |result| (format!("{} ", result.left.trim_end()), result.right));
        Some(format!("{before}{}({parameters}){}{after}", name.text, name.qualifiers))
    }

    /// A name. `is_own` if it is that of the function, whose template arguments its types refer to.
    pub(super) fn name(&mut self, is_own: bool) -> Option<Name> {
        self.nested(|parser| match parser.peek()? {
            b'N' => parser.nested_name(is_own),
            b'Z' => parser.local_name(is_own),
            _ => parser.unscoped_name(is_own),
        })
    }

    fn unscoped_name(&mut self, is_own: bool) -> Option<Name> {
        let mut text;
        if self.peek() == Some(b'S') && !self.rest().starts_with(b"St") {
            text = self.substitution()?.text();
            if self.peek() != Some(b'I') {
                return None;
            }
        } else {
            let prefix = if self.eat(b"St") { "std::" } else { "" };
            self.eat(b"L");
            let own = self.unqualified("")?;
            text = format!("{prefix}{own}");
            if self.peek() == Some(b'I') {
                self.remember(&Type::plain(text.clone()))?;
            }
        }
        let is_template = self.peek() == Some(b'I');
        if is_template {
            text += &self.template_arguments(is_own)?;
        }
        Some(Name { text, is_template, is_special: false, qualifiers: String::new() })
    }

    fn local_name(&mut self, is_own: bool) -> Option<Name> {
        self.bump()?;
        let outside = self.encoding()?;
        if !self.eat(b"E") || self.peek() == Some(b's') {
            return None;
        }
        let mut name = self.name(is_own)?;
        // Which of several of the same name it is.
        if self.eat(b"__") {
            self.number()?;
            self.eat(b"_");
        } else if self.eat(b"_") {
            self.number()?;
        }
        name.text = format!("{outside}::{}", name.text);
        Some(name)
    }

    fn nested_name(&mut self, is_own: bool) -> Option<Name> {
        self.bump()?;
        let mut qualifiers = String::new();
        for (letter, word) in [(b"r", " restrict"), (b"V", " volatile"), (b"K", " const"), (b"R", " &"), (b"O", " &&")]
        {
            if self.eat(letter) {
                qualifiers += word;
            }
        }
        let mut text = String::new();
        let mut last = String::new();
        let (mut is_template, mut is_special) = (false, false);
        while !self.eat(b"E") {
            match self.peek()? {
                b'S' if self.rest().starts_with(b"St") => {
                    self.eat(b"St");
                    text = "std".to_owned();
                    last = text.clone();
                    continue;
                }
                b'S' => {
                    text = self.substitution()?.text();
                    last = base(&text).to_owned();
                    continue;
                }
                b'T' => {
                    text = self.template_parameter()?.text();
                }
                b'I' => {
                    text += &self.template_arguments(is_own)?;
                    is_template = true;
                    self.remember(&Type::plain(text.clone()))?;
                    continue;
                }
                _ => {
                    self.eat(b"L");
                    is_special = matches!(self.peek(), Some(b'C' | b'D'));
                    let part = self.unqualified(&last)?;
                    if !text.is_empty() {
                        text += "::";
                    }
                    text += &part;
                    last = part;
                }
            }
            is_template = false;
            self.remember(&Type::plain(text.clone()))?;
        }
        // The whole name is remembered by who reads it as a type.
        self.seen.pop()?;
        (!text.is_empty()).then_some(Name { text, is_template, is_special, qualifiers })
    }

    /// One part of a name. `class` is the part before it, for constructors.
    fn unqualified(&mut self, class: &str) -> Option<String> {
        let mut text = match self.peek()? {
            b'0'..=b'9' => match self.counted()? {
                name if name.starts_with("_GLOBAL__N") => "(anonymous namespace)".to_owned(),
                name => name.to_owned(),
            },
            b'C' => {
                self.bump()?;
                self.bump()?;
                class.to_owned()
            }
            b'D' => {
                self.bump()?;
                self.bump()?;
                format!("~{class}")
            }
            b'U' if self.eat(b"Ul") => {
                let mut parameters = Vec::new();
                while !self.eat(b"E") {
                    parameters.push(self.kind()?);
                }
                let parameters = if parameters == [Type::plain("void")] { String::new() } else { joined(&parameters) };
                format!("'lambda{}'({parameters})", self.ordinal()?)
            }
            b'U' if self.eat(b"Ut") => format!("'unnamed{}'", self.ordinal()?),
            _ => self.operator()?,
        };
        while self.eat(b"B") {
            text += &format!("[abi:{}]", self.counted()?);
        }
        Some(text)
    }

    /// Which of several it is, as it is written.
    fn ordinal(&mut self) -> Option<String> {
        let number = self.number().map(|number| number.to_string()).unwrap_or_default();
        self.eat(b"_").then_some(number)
    }

    fn operator(&mut self) -> Option<String> {
        let two = self.rest().get(..2)?;
        let sign = match two {
            b"cl" => "()",
            b"ix" => "[]",
            b"pl" => "+",
            b"mi" => "-",
            b"ml" => "*",
            b"dv" => "/",
            b"eq" => "==",
            b"ne" => "!=",
            b"lt" => "<",
            b"gt" => ">",
            b"aS" => "=",
            _ => return None,
        };
        self.eat(two);
        Some(format!("operator{sign}"))
    }

    /// `<…>`.
    pub(super) fn template_arguments(&mut self, is_own: bool) -> Option<String> {
        let types = self.nested(|parser| {
            if !parser.eat(b"I") {
                return None;
            }
            if is_own {
                parser.arguments.clear();
            }
            let mut types = Vec::new();
            while !parser.eat(b"E") {
                let argument = parser.template_argument()?;
                if is_own {
                    parser.arguments.push(argument.clone());
                }
                types.push(argument);
            }
            Some(types)
        })?;
        let text = joined(&types);
        self.spend(text.len())?;
        Some(format!("<{text}>"))
    }

    fn template_argument(&mut self) -> Option<Type> {
        match self.peek()? {
            b'L' => self.literal(),
            b'X' => {
                self.bump()?;
                let sign = if self.eat(b"ad") { "&" } else { "" };
                if self.peek() != Some(b'L') {
                    return None;
                }
                let value = self.literal()?.text();
                self.eat(b"E").then(|| Type::plain(format!("{sign}{value}")))
            }
            b'J' => self.nested(|parser| {
                parser.bump()?;
                let mut types = Vec::new();
                while !parser.eat(b"E") {
                    types.push(parser.template_argument()?);
                }
                Some(Type { pack: Some(types), ..Type::default() })
            }),
            _ => self.kind(),
        }
    }

    fn literal(&mut self) -> Option<Type> {
        self.bump()?;
        if self.eat(b"_Z") {
            let name = self.encoding()?;
            return self.eat(b"E").then(|| Type::plain(name));
        }
        let kind = self.kind()?.text();
        let sign = if self.eat(b"n") { "-" } else { "" };
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() && **byte != b'E').count();
        let digits = String::from_utf8_lossy(self.rest().get(..digits)?).into_owned();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.eat(digits.as_bytes());
        if !self.eat(b"E") {
            return None;
        }
        let text = match (kind.as_str(), digits.as_str()) {
            ("bool", "0") => "false".to_owned(),
            ("bool", "1") => "true".to_owned(),
            ("int", _) => format!("{sign}{digits}"),
            ("unsigned int", _) => format!("{sign}{digits}u"),
            ("long", _) => format!("{sign}{digits}l"),
            ("unsigned long", _) => format!("{sign}{digits}ul"),
            ("long long", _) => format!("{sign}{digits}ll"),
            ("unsigned long long", _) => format!("{sign}{digits}ull"),
            _ => format!("({kind}){sign}{digits}"),
        };
        Some(Type::plain(text))
    }
}

/// The last part of a name, without template arguments.
fn base(text: &str) -> &str {
    let without = text.split('<').next().unwrap_or(text);
    without.rsplit("::").next().unwrap_or(without)
}
