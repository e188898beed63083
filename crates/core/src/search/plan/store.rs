//! What is seen on a store: as little as possible, as much, or whatever the solver wants.

use super::arrange::Interleaving;
use super::scene::{Hop, Scene};
use super::steps::Call;
use super::{Apart, Plan};
use crate::search::conflicts::Kind;
use crate::search::level::closure::{Frame, Visibility};
use crate::search::level::{Axioms, Target};

/// How much is seen, of all that may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    /// What the cycle needs, and what follows from that.
    Least,
    /// All that the cycle does not forbid.
    Most,
    /// What the solver says.
    Open,
}

/// Whether the axioms allow an order of the cycle's statements, as far as these alone tell. What they derive without
/// the other statements, they derive with them; only what depends on where transactions end is left out.
pub(super) fn may_hold(calls: &[Call], hops: &[Hop], order: &Interleaving) -> bool {
    let mut frame = Frame::default();
    for (call, number) in order {
        let step = calls[*call].nodes[*number];
        let Target::Store(axioms) = calls[*call].transaction(step).level else { return false };
        frame.call.push(*call as u32);
        frame.transaction.push((call << 16 | calls[*call].steps[step].transaction) as u32);
        frame.end.push(0);
        frame.level.push(axioms);
    }
    let place = |node: (usize, usize)| order.iter().position(|one| *one == node).unwrap_or(0);
    let places: Vec<(&Hop, usize, usize)> = hops.iter().map(|hop| (hop, place(hop.from), place(hop.to))).collect();
    demanded(&places, &frame).is_some()
}

/// The plan for an order, if what the cycle needs keeps the axioms.
pub(super) fn plan(scene: &Scene<'_>, amount: Amount) -> Option<Plan> {
    let frame = frame(scene)?;
    let mut visibility = needed(scene, &frame)?;
    if amount == Amount::Open {
        let nothing = vec![Vec::new(); scene.items.len()];
        return scene.plan(nothing, Vec::new()).map(|plan| Plan { is_open: true, roams: roams(scene), ..plan });
    }
    if amount == Amount::Most {
        visibility = widened(scene, visibility);
    }
    let sees = |place: usize| (0..place).filter(|write| is_seen(scene, &visibility, *write, place)).collect();
    let sees: Vec<Vec<usize>> = (0..scene.items.len()).map(sees).collect();
    scene.plan(sees, apart(scene, &visibility)).map(|plan| Plan { roams: roams(scene), ..plan })
}

/// Whether each statement may be answered by any node.
fn roams(scene: &Scene<'_>) -> bool {
    (0..scene.items.len()).any(|place| axioms(scene, place).is_some_and(|axioms| !axioms.sticky))
}

/// Whether it is for the level to say if a write is seen at a place: not if it is of the same call, which stays on its
/// node.
fn is_for_level(scene: &Scene<'_>, write: usize, place: usize) -> bool {
    scene.is_other_call(write, place) || axioms(scene, place).is_some_and(|axioms| !axioms.sticky)
}

/// Whether a write counts for who is at a place.
fn is_seen(scene: &Scene<'_>, visibility: &Visibility<'_>, write: usize, place: usize) -> bool {
    is_for_level(scene, write, place)
        && scene.step(place).site.is_some()
        && scene.is_write(write)
        && visibility.sees(write, place)
        && !scene.is_undone_before(write, place)
}

/// The statements as the axioms see them; `None` if somebody is no store.
fn frame(scene: &Scene<'_>) -> Option<Frame> {
    let mut frame = Frame::default();
    for place in 0..scene.items.len() {
        let (call, _) = scene.items[place];
        frame.call.push(call as u32);
        let before: usize = scene.calls[..call].iter().map(|call| call.transactions.len()).sum();
        frame.transaction.push((before + scene.step(place).transaction) as u32);
        frame.end.push(scene.end(place));
        frame.level.push(axioms(scene, place)?);
    }
    Some(frame)
}

fn axioms(scene: &Scene<'_>, place: usize) -> Option<&'static Axioms> {
    if let Target::Store(axioms) = scene.transaction(place).level { Some(axioms) } else { None }
}

/// What the hops need and forbid, closed.
fn needed<'f>(scene: &Scene<'_>, frame: &'f Frame) -> Option<Visibility<'f>> {
    let places: Vec<(&Hop, usize, usize)> =
        scene.hops.iter().map(|hop| (hop, scene.node(hop.from), scene.node(hop.to))).collect();
    let is_gone = |(hop, from, to): &(&Hop, usize, usize)| hop.kind == Kind::Wr && scene.is_undone_before(*from, *to);
    if places.iter().any(is_gone) { None } else { demanded(&places, frame) }
}

/// What hops between these places need and forbid, closed.
fn demanded<'f>(hops: &[(&Hop, usize, usize)], frame: &'f Frame) -> Option<Visibility<'f>> {
    let forbids = |(hop, ..): &&(&Hop, usize, usize)| hop.kind == Kind::Rw;
    let forbidden: Vec<(usize, usize)> = hops.iter().filter(forbids).map(|(_, from, to)| (*to, *from)).collect();
    let mut visibility = Visibility::new(frame, &forbidden)?;
    for (hop, from, to) in hops {
        if hop.is_ordered() && from >= to {
            return None;
        }
        let meets_openly = hop.kind == Kind::Ww && excludes(frame.level[*from], frame.level[*to]);
        if hop.kind == Kind::Wr || meets_openly {
            visibility.add(*from, *to)?;
        }
    }
    Some(visibility)
}

/// Whether transactions of these levels that write the same row are never concurrent.
fn excludes(a: &Axioms, b: &Axioms) -> bool {
    a.no_conflict && b.no_conflict
}

/// Adds whatever can be seen, earlier writes and readers first.
fn widened<'f>(scene: &Scene<'_>, mut visibility: Visibility<'f>) -> Visibility<'f> {
    for place in 0..scene.items.len() {
        for write in (0..place).filter(|write| scene.is_write(*write) && is_for_level(scene, *write, place)) {
            if visibility.sees(write, place) || !visibility.may_see(write, place) {
                continue;
            }
            let mut wider = visibility.clone();
            if wider.add(write, place).is_some() {
                visibility = wider;
            }
        }
    }
    visibility
}

/// Writes of concurrent transactions that must not be of the same row.
fn apart(scene: &Scene<'_>, visibility: &Visibility<'_>) -> Vec<Apart> {
    let mut apart = Vec::new();
    for second in 0..scene.items.len() {
        for first in (0..second).filter(|first| scene.is_other_call(*first, second)) {
            let levels = (axioms(scene, first), axioms(scene, second));
            let (Some(a), Some(b)) = levels else { continue };
            let is_kept =
                [first, second].iter().all(|place| scene.transaction(*place).commits && scene.is_write(*place));
            if !is_kept || !excludes(a, b) || visibility.sees(first, second) {
                continue;
            }
            let both_write = |table: &&u16| {
                let name = &scene.question.conflicts.tables[usize::from(**table)];
                let writes = |place: usize| scene.touches(place).iter().any(|one| one.table == *name && one.is_write());
                writes(first) && writes(second)
            };
            let tables = scene.meetings(first, second).iter().filter(both_write);
            apart.extend(tables.map(|table| Apart { first, second, table: *table }));
        }
    }
    apart
}
