//! Symmetric systems of linear equations, by Cholesky's method: A = L Lᵀ with L lower triangular. The matrices of ridge
//! regressions are positive definite, so rows need no pivoting.

/// A lower triangular matrix, by rows of rising length.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cholesky(Vec<Vec<f64>>);

pub fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

impl Cholesky {
    /// Decomposes a symmetric matrix given by its lower rows, with `ridge` added to the diagonal; `None` if it is not positive
    /// definite.
    pub fn new(lower: &[Vec<f64>], ridge: f64) -> Option<Self> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(lower.len());
        for (place, given) in lower.iter().enumerate() {
            let mut row: Vec<f64> = Vec::with_capacity(place + 1);
            for (value, earlier) in given.iter().zip(&rows) {
                let pivot = *earlier.last()?;
                row.push((value - dot(&row, earlier)) / pivot);
            }
            let rest = given.get(place)? + ridge - dot(&row, &row);
            if !(rest > 0.0 && rest.is_finite()) {
                return None;
            }
            row.push(rest.sqrt());
            rows.push(row);
        }
        Some(Self(rows))
    }

    /// Solves L z = b for z.
    pub fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(right.len());
        for (value, row) in right.iter().zip(&self.0) {
            let pivot = row.last().copied().unwrap_or(1.0);
            solved.push((value - dot(row, &solved)) / pivot);
        }
        solved
    }

    /// Solves Lᵀ x = z for x.
    fn backward(&self, right: &[f64]) -> Vec<f64> {
        let mut rest = right.to_vec();
        let mut solved: Vec<f64> = Vec::with_capacity(right.len());
        for row in self.0.iter().rev() {
            let (Some(value), Some((pivot, before))) = (rest.pop(), row.split_last()) else { break };
            let value = value / pivot;
            for (rest, factor) in rest.iter_mut().zip(before) {
                *rest -= factor * value;
            }
            solved.push(value);
        }
        solved.reverse();
        solved
    }

    /// Solves A x = b for x.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        self.backward(&self.forward(right))
    }

    /// Returns bᵀ A⁻¹ b.
    pub fn form(&self, vector: &[f64]) -> f64 {
        let solved = self.forward(vector);
        dot(&solved, &solved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        // A = [[4, 2, 0], [2, 5, 3], [0, 3, 6]] + 1 on the diagonal.
        let lower = vec![vec![4.0], vec![2.0, 5.0], vec![0.0, 3.0, 6.0]];
        let factor = Cholesky::new(&lower, 1.0).unwrap();
        let x = factor.solve(&[1.0, 2.0, 3.0]);
        let back = [5.0 * x[0] + 2.0 * x[1], 2.0 * x[0] + 6.0 * x[1] + 3.0 * x[2], 3.0 * x[1] + 7.0 * x[2]];
        for (found, given) in back.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - given).abs() < 1e-12);
        }
        assert!((factor.form(&[1.0, 2.0, 3.0]) - dot(&x, &[1.0, 2.0, 3.0])).abs() < 1e-12);
        assert_eq!(Cholesky::new(&[vec![1.0], vec![2.0, 1.0]], 0.0), None);
    }
}
