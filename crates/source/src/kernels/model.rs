//! A kernel in source code.

use std::ops::Range;

/// A kernel definition. All ranges are bytes of the searched text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceKernel {
    pub name: String,
    /// Enclosing namespaces and classes, the outermost first; an anonymous namespace is `(anonymous)`.
    pub scopes: Vec<String>,
    /// Set for a template, or a specialization of one.
    pub template: Option<Template>,
    /// Words and attributes before the name as written, without `template <…>`: `static`, `__global__`, `void`, …
    pub qualifiers: Vec<String>,
    /// Whether it has, or is in, `extern "C"`.
    pub is_c: bool,
    /// The text in the parentheses of `__launch_bounds__`.
    pub launch_bounds: Option<String>,
    pub parameters: Vec<Parameter>,
    /// From the first word of the declaration to the closing brace.
    pub whole: Range<usize>,
    /// From the first word to the last before the body.
    pub signature: Range<usize>,
    /// The body with its braces.
    pub body: Range<usize>,
    /// Line of the name, from 1.
    pub line: u32,
    /// Whether its parameters contain preprocessor alternatives, or its body is shared with another definition, so that
    /// it cannot be replaced alone.
    pub is_torn: bool,
}

/// The parts that make a kernel a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// The parameters as written, in order: `typename T`, `int N = 4`.
    pub parameters: Vec<String>,
    /// The parameters in a normalized spelling without their names.
    pub kinds: Vec<String>,
    /// The text after `requires`.
    pub constraint: Option<String>,
    /// The arguments of a specialization, such as `float, 4`.
    pub arguments: Option<String>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// The type in a normalized spelling, without qualifiers of the parameter itself: `const float*` for `float const
    /// *__restrict__ x`. Parameters of the template are numbered: `$0`.
    pub kind: String,
    /// The type as written, without comments.
    pub written: String,
    pub name: Option<String>,
    /// The text after `=`.
    pub default: Option<String>,
    /// Whether the pointer itself is `__restrict__`.
    pub is_restrict: bool,
}
