//! Least squares for a handful of columns, by the modified Gram-Schmidt method (Björck 1967).

/// A column that keeps less than this share of its length once the earlier ones are projected out depends on them.
const DEPENDENT: f64 = 1e-9;

/// Returns the coefficients with which the sum of the columns comes closest to `target`, or `None` if the columns are
/// linearly dependent or not finite.
pub(super) fn solve(mut columns: Vec<Vec<f64>>, mut target: Vec<f64>) -> Option<Vec<f64>> {
    let count = columns.len();
    let mut triangle = vec![vec![0.0; count]; count];
    let mut right = vec![0.0; count];
    let before: Vec<f64> = columns.iter().map(|column| dot(column, column)).collect();
    for pivot in 0..count {
        let length = dot(&columns[pivot], &columns[pivot]);
        // Written so that it holds for NaN too.
        let depends = !(length > DEPENDENT * DEPENDENT * before[pivot] && length.is_finite());
        if depends {
            return None;
        }
        let (done, open) = columns.split_at_mut(pivot + 1);
        let unit = &done[pivot];
        for (column, entry) in open.iter_mut().zip(&mut triangle[pivot][pivot + 1..]) {
            *entry = project_out(column, unit, length);
        }
        right[pivot] = project_out(&mut target, unit, length);
    }
    for row in (0..count).rev() {
        right[row] -= (row + 1..count).map(|column| triangle[row][column] * right[column]).sum::<f64>();
    }
    right.iter().all(|value| value.is_finite()).then_some(right)
}

/// Returns the squared length of what is left of `target` when the columns have explained all of it that they can.
pub(super) fn unexplained(columns: Vec<Vec<f64>>, target: &[f64]) -> Option<f64> {
    let coefficients = solve(columns.clone(), target.to_vec())?;
    let rest = target.iter().enumerate().map(|(row, value)| {
        value - columns.iter().zip(&coefficients).map(|(column, by)| column[row] * by).sum::<f64>()
    });
    Some(rest.map(|rest| rest * rest).sum())
}

/// Returns how uncertain a value is that depends on the coefficients of the columns by `row`: its variance, as a
/// multiple of the variance of one entry of the target. `None` if the columns are linearly dependent.
pub(super) fn leverage(mut columns: Vec<Vec<f64>>, mut row: Vec<f64>) -> Option<f64> {
    let before: Vec<f64> = columns.iter().map(|column| dot(column, column)).collect();
    let mut sum = 0.0;
    for pivot in 0..columns.len() {
        let length = dot(&columns[pivot], &columns[pivot]);
        let depends = !(length > DEPENDENT * DEPENDENT * before[pivot] && length.is_finite());
        if depends {
            return None;
        }
        let (done, open) = columns.split_at_mut(pivot + 1);
        let entry = row[pivot];
        sum += entry * entry / length;
        for (column, other) in open.iter_mut().zip(&mut row[pivot + 1..]) {
            *other -= project_out(column, &done[pivot], length) * entry;
        }
    }
    sum.is_finite().then_some(sum)
}

/// Takes from `vector` its part along `along`, whose squared length is given, and returns that part's factor.
fn project_out(vector: &mut [f64], along: &[f64], length: f64) -> f64 {
    let factor = dot(vector, along) / length;
    for (value, along) in vector.iter_mut().zip(along) {
        *value -= factor * along;
    }
    factor
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_combination_is_found() {
        let columns = vec![vec![1.0; 4], vec![0.0, 1.0, 2.0, 3.0], vec![0.0, 1.0, 4.0, 9.0]];
        let target = vec![5.0, 4.0, 7.0, 14.0];
        let found = solve(columns.clone(), target.clone()).unwrap();
        let close = found.iter().zip([5.0, -3.0, 2.0]).all(|(found, expected)| (found - expected).abs() < 1e-12);
        assert!(close, "{found:?}");
        assert!(unexplained(columns, &target).unwrap() < 1e-20);
    }

    /// The variance of the value of a straight line through points at -1, 0 and 1 is that of a mean and of a slope.
    #[test]
    fn a_line_is_less_certain_the_farther_it_goes() {
        let columns = vec![vec![1.0; 3], vec![-1.0, 0.0, 1.0]];
        for size in [-1.0, 0.0, 1.0, 4.0] {
            let found = leverage(columns.clone(), vec![1.0, size]).unwrap();
            assert!((found - (1.0 / 3.0 + size * size / 2.0)).abs() < 1e-12, "{size}: {found}");
        }
        assert_eq!(leverage(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 1.0]), None);
    }

    #[test]
    fn dependent_columns_have_no_solution() {
        assert_eq!(solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 1.0]), None);
        assert_eq!(solve(vec![vec![0.0, 0.0]], vec![1.0, 1.0]), None);
        assert_eq!(solve(vec![vec![f64::NAN, 0.0]], vec![1.0, 1.0]), None);
    }
}
