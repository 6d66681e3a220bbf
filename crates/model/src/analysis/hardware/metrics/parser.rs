//! Parses formulas.

use std::collections::BTreeMap;

use crate::analysis::hardware::metrics::expression::{
    Choice, Comparison, Counter, Expression, Function, Operator, Reduction,
};

/// Formulas nested deeper than this are refused; real ones are far shallower.
const DEEPEST: usize = 100;
/// Formulas of more words and signs than this are refused; real ones are far shorter.
const LONGEST: usize = 1_000;

/// Names that formulas may use in addition to counters.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Device constants.
    pub constants: Vec<String>,
    /// Facts about a dispatch that need no counters.
    pub dispatch: Vec<String>,
    /// Names for formulas.
    pub formulas: BTreeMap<String, Expression>,
}

/// Why a formula cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// A character that no formula has.
    #[error("`{0}` cannot stand in a formula")]
    Character(char),
    /// A word that is not the expected one.
    #[error("{found} where {expected} was expected")]
    Unexpected {
        found: String,
        /// Expected text.
        expected: &'static str,
    },
    /// A name in lower case that is neither a constant nor a function.
    #[error("`{0}` is not a device constant, property of a dispatch or function; counters are written in upper case")]
    Unknown(String),
    /// A function with another number of arguments.
    #[error("`{name}` takes {expected} arguments and has {found}")]
    Arguments {
        /// The function.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A reduction over instances of anything but a counter.
    #[error("`{0}` is over the instances of a counter and takes its name alone")]
    Reduction(String),
    /// Nested too deeply.
    #[error("the formula is nested deeper than {DEEPEST} levels")]
    Deep,
    /// Too long.
    #[error("the formula has more than {LONGEST} words and signs")]
    Long,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(&'static str),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Number(value) => format!("`{value}`"),
            Self::Name(name) => format!("`{name}`"),
            Self::Symbol(symbol) => format!("`{symbol}`"),
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 13] = ["!=", "==", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", ","];

fn tokens(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() >= LONGEST {
            return Err(FormulaError::Long);
        }
        let is_number = |character: &char| character.is_ascii_digit() || *character == '.';
        let is_name = |character: &char| character.is_ascii_alphanumeric() || "_[]".contains(*character);
        let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
        let length = if is_number(&first) {
            let digits: String = rest.chars().take_while(is_number).collect();
            let value = digits
                .parse()
                .map_err(|_| FormulaError::Unexpected { found: format!("`{digits}`"), expected: "a number" })?;
            tokens.push(Token::Number(value));
            digits.len()
        } else if first.is_ascii_alphabetic() || first == '_' {
            let name: String = rest.chars().take_while(is_name).collect();
            let length = name.len();
            tokens.push(Token::Name(name));
            length
        } else if let Some(symbol) = symbol {
            tokens.push(Token::Symbol(symbol));
            symbol.len()
        } else {
            return Err(FormulaError::Character(first));
        };
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

/// Reads a formula: numbers, names, `+ - * /`, parentheses, `min`, `max`, `round`, `floor`, `mod`, `if(a < b, c, d)`.
/// Over the hardware instances of a counter it has `sum_inst`, `max_inst`, `min_inst` and `avg_inst`, and `accum_hi` or
/// `accum_lo` for the value that the hardware accumulated of it.
///
/// # Errors
/// When it is not a formula, or names what the vocabulary does not have.
pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Expression, FormulaError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, vocabulary, depth: 0 };
    let expression = parser.sum()?;
    match parser.tokens.first() {
        None => Ok(expression),
        Some(token) => Err(FormulaError::Unexpected { found: token.shown(), expected: "the end" }),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    vocabulary: &'a Vocabulary,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let is_next = self.tokens.first().is_some_and(|token| matches!(token, Token::Symbol(next) if *next == symbol));
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), FormulaError> {
        if self.takes(symbol) {
            return Ok(());
        }
        let found = self.tokens.first().map_or_else(|| "the end".to_owned(), Token::shown);
        Err(FormulaError::Unexpected { found, expected: symbol })
    }

    fn sum(&mut self) -> Result<Expression, FormulaError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.takes("+") {
                Operator::Add
            } else if self.takes("-") {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Expression::binary(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expression, FormulaError> {
        let mut left = self.signed()?;
        loop {
            let operator = if self.takes("*") {
                Operator::Multiply
            } else if self.takes("/") {
                Operator::Divide
            } else {
                return Ok(left);
            };
            left = Expression::binary(operator, left, self.signed()?);
        }
    }

    fn signed(&mut self) -> Result<Expression, FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(FormulaError::Deep);
        }
        let value = if self.takes("-") {
            Expression::binary(Operator::Multiply, Expression::Number(-1.0), self.signed()?)
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<Expression, FormulaError> {
        match self.next() {
            Some(Token::Number(value)) => Ok(Expression::Number(*value)),
            Some(Token::Symbol("(")) => {
                let inner = self.sum()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Token::Name(name)) if self.takes("(") => self.call(name),
            Some(Token::Name(name)) => self.name(name),
            other => Err(FormulaError::Unexpected {
                found: other.map_or_else(|| "the end".to_owned(), Token::shown),
                expected: "a number, a name or a parenthesis",
            }),
        }
    }

    fn name(&self, name: &str) -> Result<Expression, FormulaError> {
        let known = |names: &[String]| names.iter().any(|known| known == name);
        if name == "denom" {
            Ok(Expression::Denominator)
        } else if known(&self.vocabulary.constants) {
            Ok(Expression::Constant(name.to_owned()))
        } else if known(&self.vocabulary.dispatch) {
            Ok(Expression::Dispatch(name.to_owned()))
        } else if let Some(formula) = self.vocabulary.formulas.get(name) {
            Ok(formula.clone())
        } else if name.starts_with(|first: char| first.is_ascii_uppercase()) {
            Ok(Expression::Counter(Counter { name: name.to_owned(), reduction: Reduction::Sum }))
        } else {
            Err(FormulaError::Unknown(name.to_owned()))
        }
    }

    fn call(&mut self, name: &str) -> Result<Expression, FormulaError> {
        let reduction = match name {
            "sum_inst" => Some(Reduction::Sum),
            "max_inst" => Some(Reduction::Max),
            "min_inst" => Some(Reduction::Min),
            "avg_inst" => Some(Reduction::Mean),
            _ => None,
        };
        if let Some(reduction) = reduction {
            return self.counter(name, reduction);
        }
        if name == "if" {
            return self.choice();
        }
        let function = match name {
            "min" => Function::Min,
            "max" => Function::Max,
            "round" => Function::Round,
            "floor" => Function::Floor,
            "mod" => Function::Remainder,
            _ => return Err(FormulaError::Unknown(name.to_owned())),
        };
        let mut arguments = vec![self.sum()?];
        while self.takes(",") {
            arguments.push(self.sum()?);
        }
        self.expect(")")?;
        let (expected, found) = (function.arguments(), arguments.len());
        if expected != found {
            return Err(FormulaError::Arguments { name: name.to_owned(), expected, found });
        }
        Ok(Expression::Call(function, arguments))
    }

    /// The counter that a reduction is over, up to its closing parenthesis.
    fn counter(&mut self, reduction_name: &str, reduction: Reduction) -> Result<Expression, FormulaError> {
        let wrong = || FormulaError::Reduction(reduction_name.to_owned());
        let Some(Token::Name(name)) = self.next() else { return Err(wrong()) };
        let name = if name == "accum_hi" || name == "accum_lo" {
            self.expect("(")?;
            let Some(Token::Name(inner)) = self.next() else { return Err(wrong()) };
            self.expect(")")?;
            format!("{inner}_ACCUM")
        } else {
            name.clone()
        };
        if !self.takes(")") || !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            return Err(wrong());
        }
        Ok(Expression::Counter(Counter { name, reduction }))
    }

    fn choice(&mut self) -> Result<Expression, FormulaError> {
        let left = self.sum()?;
        let comparison = match self.next() {
            Some(Token::Symbol("==")) => Comparison::Equal,
            Some(Token::Symbol("!=")) => Comparison::Different,
            Some(Token::Symbol("<")) => Comparison::Less,
            Some(Token::Symbol("<=")) => Comparison::AtMost,
            Some(Token::Symbol(">")) => Comparison::Greater,
            Some(Token::Symbol(">=")) => Comparison::AtLeast,
            other => {
                return Err(FormulaError::Unexpected {
                    found: other.map_or_else(|| "the end".to_owned(), Token::shown),
                    expected: "a comparison",
                });
            }
        };
        let right = self.sum()?;
        self.expect(",")?;
        let then = self.sum()?;
        self.expect(",")?;
        let otherwise = self.sum()?;
        self.expect(")")?;
        Ok(Expression::Choice(Box::new(Choice { left, comparison, right, then, otherwise })))
    }
}
