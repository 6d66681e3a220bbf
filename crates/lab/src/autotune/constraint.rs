//! Constraints that configurations meet: `BLOCK_M * BLOCK_N <= 16384 and layout != 'row'`.

use super::error::AutotuneError;
use super::value::Value;

const MAX_DEPTH: usize = 64;
/// Maximum number of words and signs. A chain of operators, such as `1 + 1 + 1`, is as deep as it is long.
const MAX_TOKENS: usize = 1000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Constraint {
    text: String,
    condition: Expression,
}

#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Value(Value),
    /// The index of a parameter.
    Parameter(usize),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Both(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Below,
    AtMost,
    Above,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divided,
    Remainder,
}

/// The operators by precedence, the loosest first. A longer operator comes before its own prefixes.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("||", Operator::Or), ("or", Operator::Or)],
    &[("&&", Operator::And), ("and", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("<", Operator::Below),
        (">", Operator::Above),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Divided), ("%", Operator::Remainder)],
];

impl Constraint {
    pub fn new(text: &str, names: &[String]) -> Result<Self, AutotuneError> {
        let fail = |reason| AutotuneError::Constraint { text: text.to_owned(), reason };
        let mut reader = Reader { tokens: tokens(text).map_err(fail)?, at: 0, names };
        let condition = reader.level(0, 0).map_err(fail)?;
        match reader.tokens.get(reader.at) {
            Some(token) => Err(fail(format!("`{}` is not expected", token.text()))),
            None => Ok(Self { text: text.to_owned(), condition }),
        }
    }

    /// Returns whether the values, in the order of the names, meet the constraint.
    pub fn is_met(&self, values: &[Value]) -> Result<bool, AutotuneError> {
        let fail = |reason| AutotuneError::Constraint { text: self.text.clone(), reason };
        match evaluate(&self.condition, values).map_err(fail)? {
            Value::Flag(flag) => Ok(flag),
            other => Err(fail(format!("it is {other}, neither true nor false; compare it with something"))),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Sign(&'static str),
    Value(Value),
}

impl Token {
    fn text(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Sign(sign) => (*sign).to_owned(),
            Self::Value(value) => value.to_string(),
        }
    }
}

const SIGNS: [&str; 16] = ["||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "!"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() >= MAX_TOKENS {
            return Err(format!("it has more than {MAX_TOKENS} words and signs; write several constraints"));
        }
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let taken = if first == '\'' || first == '"' {
            let inner = rest.strip_prefix(first).unwrap_or_default();
            let (inside, behind) = inner.split_once(first).ok_or_else(|| format!("the quote {first} is left open"))?;
            tokens.push(Token::Value(Value::Text(inside.to_owned())));
            behind
        } else if first.is_ascii_digit() || first == '.' {
            let mut before = ' ';
            let end = rest.find(|character: char| {
                let is_sign = (character == '-' || character == '+') && before.eq_ignore_ascii_case(&'e');
                before = character;
                !(is_word(character) || character == '.' || is_sign)
            });
            let (number, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let parsed: Option<f64> = number.parse().ok().filter(|number: &f64| number.is_finite());
            tokens.push(Token::Value(Value::of_number(parsed.ok_or_else(|| format!("`{number}` is not a number"))?)));
            behind
        } else if is_word(first) {
            let (word, behind) = rest.split_at(rest.find(|character| !is_word(character)).unwrap_or(rest.len()));
            tokens.push(Token::Word(word.to_owned()));
            behind
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
            let sign = sign.ok_or_else(|| format!("`{first}` is not known"))?;
            tokens.push(Token::Sign(sign));
            rest.strip_prefix(sign).unwrap_or_default()
        };
        rest = taken.trim_start();
    }
    Ok(tokens)
}

struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    names: &'a [String],
}

impl Reader<'_> {
    fn take(&mut self, text: &str) -> bool {
        let is_next = match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) => *sign == text,
            Some(Token::Word(word)) => word == text,
            _ => false,
        };
        self.at += usize::from(is_next);
        is_next
    }

    fn level(&mut self, level: usize, depth: usize) -> Result<Expression, String> {
        let Some(operators) = LEVELS.get(level) else { return self.single(depth) };
        let mut left = self.level(level + 1, depth)?;
        while let Some((_, operator)) = operators.iter().find(|(text, _)| self.take(text)) {
            let right = self.level(level + 1, depth)?;
            left = Expression::Both(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn single(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deep".to_owned());
        }
        if self.take("(") {
            let inner = self.level(0, depth + 1)?;
            return if self.take(")") { Ok(inner) } else { Err("`)` is missing".to_owned()) };
        }
        if self.take("-") {
            return Ok(Expression::Minus(Box::new(self.single(depth + 1)?)));
        }
        if self.take("!") {
            return Ok(Expression::Not(Box::new(self.single(depth + 1)?)));
        }
        // `not` applies to a whole comparison, as in Python.
        if self.take("not") {
            return Ok(Expression::Not(Box::new(self.level(2, depth + 1)?)));
        }
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        match token {
            Some(Token::Value(value)) => Ok(Expression::Value(value)),
            Some(Token::Word(word)) if word == "true" || word == "false" => {
                Ok(Expression::Value(Value::Flag(word == "true")))
            }
            Some(Token::Word(word)) => match self.names.iter().position(|name| *name == word) {
                Some(place) => Ok(Expression::Parameter(place)),
                None => Err(format!("`{word}` is not a parameter; choose from {}", self.names.join(", "))),
            },
            Some(Token::Sign(sign)) => Err(format!("`{sign}` is not expected")),
            None => Err("it ends too early".to_owned()),
        }
    }
}

fn evaluate(expression: &Expression, values: &[Value]) -> Result<Value, String> {
    let flag = |expression| match evaluate(expression, values)? {
        Value::Flag(flag) => Ok(flag),
        other => Err(format!("{other} is neither true nor false")),
    };
    let number = |value: &Value| value.number().ok_or_else(|| format!("`{value}` is not a number"));
    match expression {
        Expression::Value(value) => Ok(value.clone()),
        Expression::Parameter(place) => values.get(*place).cloned().ok_or_else(|| "a value is missing".to_owned()),
        Expression::Not(inner) => Ok(Value::Flag(!flag(inner)?)),
        Expression::Minus(inner) => Ok(Value::of_number(-number(&evaluate(inner, values)?)?)),
        Expression::Both(Operator::Or, left, right) => Ok(Value::Flag(flag(left)? || flag(right)?)),
        Expression::Both(Operator::And, left, right) => Ok(Value::Flag(flag(left)? && flag(right)?)),
        Expression::Both(operator, left, right) => {
            let (left, right) = (evaluate(left, values)?, evaluate(right, values)?);
            let is_same = match (left.number(), right.number()) {
                (Some(one), Some(two)) => one == two,
                _ => left.to_string() == right.to_string(),
            };
            match operator {
                Operator::Equal => return Ok(Value::Flag(is_same)),
                Operator::NotEqual => return Ok(Value::Flag(!is_same)),
                _ => {}
            }
            let (one, two) = (number(&left)?, number(&right)?);
            if two == 0.0 && matches!(operator, Operator::Divided | Operator::Remainder) {
                return Err(format!("{one} is divided by zero"));
            }
            Ok(match operator {
                Operator::Below => Value::Flag(one < two),
                Operator::AtMost => Value::Flag(one <= two),
                Operator::Above => Value::Flag(one > two),
                Operator::AtLeast => Value::Flag(one >= two),
                Operator::Plus => Value::of_number(one + two),
                Operator::Minus => Value::of_number(one - two),
                Operator::Times => Value::of_number(one * two),
                Operator::Divided => Value::of_number(one / two),
                _ => Value::of_number(one % two),
            })
        }
    }
}
