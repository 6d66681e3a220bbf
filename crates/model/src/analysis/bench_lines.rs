//! Lines in which hipBLASLt and rocBLAS log their calls, with the options of their benchmark programs. In ROCTx markers
//! (`HIPBLASLT_ENABLE_MARKER=2`) they name the problem that the kernels below them solve.

use std::collections::BTreeMap;

/// A matrix product, or several of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct GemmProblem<'a> {
    /// `hipblaslt` or `rocblas`.
    pub library: &'static str,
    /// Rows of the result, if all products of the call have equally many.
    pub m: Option<i64>,
    /// Columns of the result.
    pub n: Option<i64>,
    /// Length of the sums.
    pub k: Option<i64>,
    /// Products of each size.
    pub batch: Option<i64>,
    /// Sizes of a grouped call, otherwise 1.
    pub problems: i64,
    /// Whether A is transposed: N, T or C.
    pub trans_a: Option<&'a str>,
    /// Whether B is transposed.
    pub trans_b: Option<&'a str>,
    /// Type of the elements of A, such as `f16_r`.
    pub a_type: Option<&'a str>,
    /// Type of the elements of B.
    pub b_type: Option<&'a str>,
    /// Type of the elements of the result.
    pub d_type: Option<&'a str>,
    /// Type of the accumulation.
    pub compute_type: Option<&'a str>,
    /// Solution that the library chose, if it is logged.
    pub solution_index: Option<i64>,
    /// Floating point operations: 2·m·n·k of each product.
    pub flop: f64,
}

/// Whether a text can be such a line; a quick test for texts of any kind.
pub fn may_be_bench_line(text: &str) -> bool {
    text.contains("hipblaslt-bench ") || text.contains("rocblas-bench ")
}

/// The problem of a line; `None` if the line is of another function or lacks a size.
pub fn gemm_problem(text: &str) -> Option<GemmProblem<'_>> {
    let (library, options) = match text.split_once("hipblaslt-bench ") {
        Some((_, options)) => ("hipblaslt", options),
        None => ("rocblas", text.split_once("rocblas-bench ")?.1),
    };
    let options = Options::new(options);
    let function = options.text(&["-f", "--function"]);
    if library == "rocblas" && !function.is_some_and(|function| function.starts_with("gemm")) {
        return None;
    }
    let (m, n, k) =
        (options.sizes(&["-m", "--sizem"])?, options.sizes(&["-n", "--sizen"])?, options.sizes(&["-k", "--sizek"])?);
    if m.len() != n.len() || n.len() != k.len() {
        return None;
    }
    let batches = match options.values(&["--batch_count"]) {
        None => vec![1],
        Some(_) => options.sizes(&["--batch_count"])?,
    };
    let batch_of = |place: usize| batches.get(place).or(batches.first()).copied().unwrap_or(1);
    let flop_of = |(place, ((m, n), k)): (usize, ((&i64, &i64), &i64))| {
        2.0 * *m as f64 * *n as f64 * *k as f64 * batch_of(place) as f64
    };
    let of_all = options.text(&["-r", "--precision"]);
    let type_of = |names: &[&str]| options.text(names).or(of_all);
    Some(GemmProblem {
        library,
        m: common(&m),
        n: common(&n),
        k: common(&k),
        batch: common(&batches),
        problems: i64::try_from(m.len()).ok()?,
        trans_a: options.text(&["--transA", "--transposeA"]),
        trans_b: options.text(&["--transB", "--transposeB"]),
        a_type: type_of(&["--a_type"]),
        b_type: type_of(&["--b_type"]),
        d_type: type_of(&["--d_type", "--c_type"]),
        compute_type: type_of(&["--compute_type"]),
        solution_index: options.text(&["--solution_index"]).and_then(|index| index.parse().ok()),
        flop: m.iter().zip(&n).zip(&k).enumerate().map(flop_of).sum(),
    })
}

/// The common value, if all are equal.
fn common(values: &[i64]) -> Option<i64> {
    let (first, others) = values.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

/// Options of a line by name, each with its values in order.
struct Options<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Options<'a> {
    fn new(text: &'a str) -> Self {
        let mut options: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut name = None;
        for word in text.split_ascii_whitespace() {
            // A negative number is a value.
            let is_name = word.starts_with('-') && word.parse::<f64>().is_err();
            match (is_name, name) {
                (true, _) => {
                    options.entry(word).or_default();
                    name = Some(word);
                }
                (false, Some(name)) => options.entry(name).or_default().push(word),
                (false, None) => {}
            }
        }
        Self(options)
    }

    fn values(&self, names: &[&str]) -> Option<&[&'a str]> {
        names.iter().find_map(|name| self.0.get(*name)).map(Vec::as_slice)
    }

    fn text(&self, names: &[&str]) -> Option<&'a str> {
        // The first of several names that has a value counts.
        names.iter().find_map(|name| self.0.get(*name)?.first().copied())
    }

    /// The sizes under a name, when all are positive numbers.
    fn sizes(&self, names: &[&str]) -> Option<Vec<i64>> {
        let sizes: Option<Vec<i64>> = self.values(names)?.iter().map(|value| value.parse().ok()).collect();
        sizes.filter(|sizes| !sizes.is_empty() && sizes.iter().all(|size| *size > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_hipblaslt_is_read() {
        let line = "hipblaslt-bench --api_method c -m 1 -n 200 -k 24 --lda 24 --alpha 1.000000 --beta -1.5 --transA T --transB N \
                    --batch_count 800  --a_type f16_r --b_type bf16_r --c_type f32_r --d_type f32_r --compute_type f32_r \
                    --solution_index 303082";
        let problem = gemm_problem(line).unwrap();
        assert_eq!((problem.m, problem.n, problem.k, problem.batch), (Some(1), Some(200), Some(24), Some(800)));
        assert_eq!((problem.trans_a, problem.trans_b), (Some("T"), Some("N")));
        assert_eq!((problem.a_type, problem.b_type, problem.d_type), (Some("f16_r"), Some("bf16_r"), Some("f32_r")));
        assert_eq!(problem.solution_index, Some(303_082));
        assert_eq!(problem.flop, 2.0 * 200.0 * 24.0 * 800.0);
    }

    #[test]
    fn a_line_of_rocblas_is_read_and_only_products_are() {
        let line = "./rocblas-bench -f gemm_strided_batched -r f32_r --transposeA N --transposeB T -m 8 -n 4 -k 2 --batch_count 3";
        let problem = gemm_problem(line).unwrap();
        assert_eq!((problem.library, problem.flop), ("rocblas", 2.0 * 8.0 * 4.0 * 2.0 * 3.0));
        assert_eq!((problem.a_type, problem.d_type, problem.trans_b), (Some("f32_r"), Some("f32_r"), Some("T")));
        assert_eq!(gemm_problem("./rocblas-bench -f trsm -r f32_r -m 8 -n 4 -k 2"), None);
    }

    #[test]
    fn sizes_of_a_grouped_call_add_up() {
        let problem = gemm_problem("hipblaslt-bench --grouped_gemm -m 2 -n 3 -k 4 -m 5 -n 3 -k 4 -r f16_r").unwrap();
        assert_eq!((problem.m, problem.n, problem.problems), (None, Some(3), 2));
        assert_eq!(problem.flop, 2.0 * (2.0 * 3.0 * 4.0 + 5.0 * 3.0 * 4.0));
    }

    #[test]
    fn what_lacks_a_size_is_no_problem() {
        for line in [
            "",
            "hipblaslt-bench ",
            "hipblaslt-bench -m 1 -n 2",
            "hipblaslt-bench -m 0 -n 2 -k 3",
            "hipblaslt-bench -m x -n 2 -k 3",
            "forward -m 1 -n 2 -k 3",
        ] {
            assert_eq!(gemm_problem(line), None, "{line}");
        }
    }
}
