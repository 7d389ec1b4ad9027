//! Edges that may close a circle, each kept as long as it does not: the stronger ones first.
//!
//! Knows numbers and pairs of them; what waits for what, and why, is for others to know.

/// Above this many edges inside of circles the rest is left out: no cluster that comes up has so many.
const TRIED_MAX: usize = 20_000;

/// Which edges (`from` comes after `to`) stay. The first `fixed` of them always do; of the others each stays unless it closes a circle with
/// those before it.
pub fn settled(nodes: usize, edges: &[(usize, usize)], fixed: usize) -> Vec<bool> {
    let mut kept = vec![true; edges.len()];
    let knots = in_circles(nodes, edges);
    if !knots.contains(&true) {
        return kept;
    }
    let is_inside = |(from, to): (usize, usize)| knots[from] && knots[to];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in edges[..fixed].iter().copied().filter(|edge| is_inside(*edge)) {
        after[from].push(to);
    }
    let mut seen = vec![0_usize; nodes];
    let doubtful = (fixed..edges.len()).filter(|at| is_inside(edges[*at]));
    for (round, at) in doubtful.enumerate() {
        let (from, to) = edges[at];
        let closes = round >= TRIED_MAX || reaches(&after, to, from, &mut seen, round + 1);
        kept[at] = !closes;
        if !closes {
            after[from].push(to);
        }
    }
    kept
}

/// Whether `from` comes, however indirectly, after `to`.
fn reaches(after: &[Vec<usize>], from: usize, to: usize, seen: &mut [usize], round: usize) -> bool {
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen[at] != round {
            seen[at] = round;
            next.extend(&after[at]);
        }
    }
    false
}

/// The nodes that stand in a circle, or between two of them: what is left when those that could come first or last have been taken
/// away, again and again.
pub fn in_circles(nodes: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut left = vec![true; nodes];
    for backwards in [false, true] {
        let end = |(from, to): (usize, usize)| if backwards { (to, from) } else { (from, to) };
        let mut degree = vec![0_usize; nodes];
        let mut others = vec![Vec::new(); nodes];
        for (from, to) in edges.iter().copied().map(end).filter(|(from, to)| left[*from] && left[*to]) {
            degree[from] += 1;
            others[to].push(from);
        }
        let mut next: Vec<usize> = (0..nodes).filter(|node| left[*node] && degree[*node] == 0).collect();
        while let Some(node) = next.pop() {
            left[node] = false;
            for other in &others[node] {
                degree[*other] -= 1;
                if degree[*other] == 0 {
                    next.push(*other);
                }
            }
        }
    }
    left
}

/// Every node after all that it comes after; an edge that closes a circle is passed over. `next` gives where the edges of a node lead, by
/// their places.
pub(crate) fn in_order(nodes: usize, next: impl Fn(usize, usize) -> Option<usize>) -> Vec<usize> {
    let mut opened = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    for root in 0..nodes {
        if opened[root] {
            continue;
        }
        opened[root] = true;
        let mut work = vec![(root, 0_usize)];
        while let Some((node, edge)) = work.pop() {
            match next(node, edge) {
                Some(to) => {
                    work.push((node, edge + 1));
                    if !opened[to] {
                        opened[to] = true;
                        work.push((to, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_edge_of_a_circle_goes() {
        let edges = [(0, 1), (1, 2), (2, 0)];
        assert_eq!(settled(3, &edges, 1), [true, true, false]);
        assert_eq!(settled(3, &edges[..2], 0), [true, true]);
    }

    #[test]
    fn what_is_fixed_stays_even_in_a_circle() {
        let edges = [(0, 1), (1, 0), (2, 0), (0, 2)];
        assert_eq!(settled(3, &edges, 2), [true, true, true, false]);
    }

    #[test]
    fn an_edge_between_two_circles_stays() {
        let edges = [(0, 1), (1, 0), (2, 3), (3, 2), (1, 2)];
        assert_eq!(settled(4, &edges, 0), [true, false, true, false, true]);
    }
}
