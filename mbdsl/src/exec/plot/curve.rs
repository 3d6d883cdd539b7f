//! Reduces the points of a curve to those that change its picture.

type Point = (f64, f64);

/// Points of a curve whose `x` (px) ascends, in pieces between gaps: where a column of one pixel holds more than four
/// points, only the first, the lowest, the highest and the last remain, so an oscillation faster than the pixels
/// is drawn as the band that it fills (M4 aggregation, Jugel et al., *Proc. VLDB* 7, 2014). `None` is a gap.
#[must_use]
pub fn envelope(points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let mut column = Vec::new();
    for point in points {
        let Some(point) = point else {
            close_column(&mut column, &mut piece);
            if !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            continue;
        };
        if column.first().is_some_and(|first: &Point| first.0.floor() != point.0.floor()) {
            close_column(&mut column, &mut piece);
        }
        column.push(point);
    }
    close_column(&mut column, &mut piece);
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Moves what is to be seen of a column to the end of a piece.
fn close_column(column: &mut Vec<Point>, piece: &mut Vec<Point>) {
    if column.len() <= 4 {
        piece.append(column);
        return;
    }
    let by_height = |a: &&usize, b: &&usize| column[**a].1.total_cmp(&column[**b].1);
    let all: Vec<usize> = (0..column.len()).collect();
    let ends = [0, column.len() - 1];
    let mut seen: Vec<usize> =
        all.iter().min_by(by_height).into_iter().chain(all.iter().max_by(by_height)).copied().collect();
    seen.extend(ends);
    seen.sort_unstable();
    seen.dedup();
    piece.extend(seen.into_iter().map(|k| column[k]));
    column.clear();
}

/// A path from which no dropped point is farther than `tolerance` px (Douglas and Peucker, *Cartographica* 10, 1973).
#[must_use]
pub fn simplified(points: &[Point], tolerance: f64) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut is_kept = vec![false; points.len()];
    is_kept[0] = true;
    is_kept[points.len() - 1] = true;
    let mut spans = vec![(0, points.len() - 1)];
    while let Some((a, b)) = spans.pop() {
        let (mut farthest, mut distance) = (a, tolerance);
        for (k, p) in points.iter().enumerate().take(b).skip(a + 1) {
            let d = distance_to_segment(*p, points[a], points[b]);
            if d > distance {
                (farthest, distance) = (k, d);
            }
        }
        if farthest > a {
            is_kept[farthest] = true;
            spans.extend([(a, farthest), (farthest, b)]);
        }
    }
    points.iter().zip(is_kept).filter(|(_, kept)| *kept).map(|(p, _)| *p).collect()
}

fn distance_to_segment(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
    (p.0 - a.0 - along * dx).hypot(p.1 - a.1 - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_keeps_every_peak() {
        let wave = |k: usize| (k as f64 * 0.01, if k == 12_345 { 9.0 } else { (k as f64 * 1.7).sin() });
        let pieces = envelope((0..20_000).map(|k| Some(wave(k))));
        assert_eq!(pieces.len(), 1);
        let points = &pieces[0];
        assert!(points.len() <= 4 * 200 && points.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!((points[0], points[points.len() - 1]), (wave(0), wave(19_999)));
        assert!(points.contains(&wave(12_345)));
        for column in 0..200 {
            let inside = |p: &&Point| p.0.floor() as usize == column;
            let top = points.iter().filter(inside).map(|p| p.1).fold(f64::MIN, f64::max);
            assert!(top > 0.99);
        }
    }

    #[test]
    fn gaps_split_a_curve() {
        let points = [Some((0.0, 1.0)), Some((1.0, 1.0)), None, None, Some((4.0, 1.0))];
        let pieces = envelope(points.into_iter());
        assert_eq!(pieces, [vec![(0.0, 1.0), (1.0, 1.0)], vec![(4.0, 1.0)]]);
        assert!(envelope([None].into_iter()).is_empty());
    }

    #[test]
    fn a_simplified_path_stays_close() {
        let circle: Vec<Point> =
            (0..=4000).map(|k| f64::from(k) * 0.01).map(|a| (100.0 * a.cos(), 100.0 * a.sin())).collect();
        let short = simplified(&circle, 0.2);
        assert!(short.len() < 1200 && short[0] == circle[0] && short[short.len() - 1] == circle[4000]);
        for p in &circle {
            let nearest = short.windows(2).map(|w| distance_to_segment(*p, w[0], w[1])).fold(f64::MAX, f64::min);
            assert!(nearest <= 0.2);
        }
        assert_eq!(simplified(&[(1.0, 1.0); 5], 0.2), [(1.0, 1.0); 2]);
    }
}
