use super::*;
use crate::generate::random::Random;
use crate::shadow::column::{Form, VirtualColumn};
use crate::shadow::distribution::Distribution;
use crate::shadow::keys::KeyPlan;
use crate::shadow::measure::Goodness;
use crate::shadow::sampler::Access;
use crate::shadow::schema::{LinkPlan, NamedColumn, ReferencePlan, Schema, Table};
use std::collections::{BTreeMap, BTreeSet};

fn table(name: &str, count: u64, dynamic: f64, parent: Option<&str>) -> Table {
    let column = VirtualColumn::new(Form::Integer { first: 0, step: 1 }, count).unwrap();
    let link = LinkPlan::Drawn { distribution: Distribution::Uniform, dynamic_parents: true };
    let reference = |parent: &str| ReferencePlan { columns: vec!["p".into()], table: parent.into(), link };
    Table {
        name: name.into(),
        key: vec![NamedColumn { name: "id".into(), column }],
        keys: KeyPlan { count, dynamic, present: 0.5, access: Distribution::Uniform },
        attributes: Vec::new(),
        references: parent.map(reference).into_iter().collect(),
    }
}

fn shadow(tables: Vec<Table>, locking: Locking) -> Shadow {
    Shadow::new(Schema { tables }, locking, 1).unwrap()
}

fn sampler(seed: u64) -> Sampler {
    Sampler::new(Access::Independent, seed, &[])
}

fn begun(shadow: &Shadow) -> Instance {
    let mut instance = Instance::new();
    instance.begin(shadow.snapshot());
    instance
}

#[test]
fn own_writes_are_seen_at_once_and_others_only_after_commit() {
    let shadow = shadow(vec![table("t", 2, 0.5, None)], Locking::Early);
    let mut draws = sampler(1);
    let (mut a, mut b) = (begun(&shadow), begun(&shadow));
    // Half of one dynamic key, rounded: it exists.
    let gone = a.change(&shadow, 0, ChangeKind::Delete, Conversion::Never, &mut draws).unwrap();
    assert_eq!(gone.kind, ChangeKind::Delete);
    let touched = |instance: &mut Instance, draws: &mut Sampler| {
        let keys = (0..40).map(|_| instance.existing(&shadow, 0, draws).unwrap());
        keys.filter(|key| matches!(key.slot, Slot::Dynamic(_))).count()
    };
    assert_eq!((touched(&mut a, &mut draws), touched(&mut b, &mut draws)), (0, 0));
    let again = a.change(&shadow, 0, ChangeKind::Insert, Conversion::Never, &mut draws).unwrap();
    assert_eq!(again.key, gone.key);
    assert!(touched(&mut a, &mut draws) > 0);
    let twice = a.change(&shadow, 0, ChangeKind::Insert, Conversion::Never, &mut draws);
    assert_eq!(twice, Err(Refused { existence: DRAWS, ..Refused::default() }));
    assert_eq!(touched(&mut b, &mut draws), 0);
    assert_eq!((a.close_writes(&shadow), a.commit(&shadow)), (Ok(()), 1));
    // It is there, but was changed after the snapshot of b.
    assert_eq!(touched(&mut b, &mut draws), 0);
    b.advance(shadow.snapshot());
    assert!(touched(&mut b, &mut draws) > 0);
    b.abort(&shadow);
}

#[test]
fn an_abort_leaves_everything_as_it_was() {
    let shadow = shadow(vec![table("t", 100, 0.5, None)], Locking::Early);
    let before = shadow.tables()[0].keys().count_now();
    let mut a = begun(&shadow);
    let mut draws = sampler(2);
    for kind in [ChangeKind::Insert, ChangeKind::Insert, ChangeKind::Insert, ChangeKind::Delete] {
        a.change(&shadow, 0, kind, Conversion::Never, &mut draws).unwrap();
        a.existing(&shadow, 0, &mut draws).unwrap();
    }
    a.abort(&shadow);
    assert_eq!((shadow.tables()[0].keys().count_now(), shadow.snapshot()), (before, 0));
    assert!(all_free(&shadow, 0));
}

fn all_free(shadow: &Shadow, table: usize) -> bool {
    let keys = shadow.tables()[table].keys();
    let seen = (0..keys.dynamic_count()).filter_map(|at| keys.word(at)).map(|word| word.see());
    seen.into_iter().all(|seen| !seen.claimed && seen.readers == 0)
}

#[test]
fn inserts_become_deletes_when_no_key_is_left() {
    let shadow = shadow(vec![table("t", 20, 0.5, None)], Locking::Early);
    let mut draws = sampler(3);
    let mut a = begun(&shadow);
    let kinds: Vec<ChangeKind> = (0..6)
        .map(|_| a.change(&shadow, 0, ChangeKind::Insert, Conversion::WhenNoneLeft, &mut draws).unwrap().kind)
        .collect();
    assert_eq!(kinds, [&[ChangeKind::Insert; 5][..], &[ChangeKind::Delete]].concat());
    a.abort(&shadow);
    // As the drawn key demands: about as many of each.
    a.begin(shadow.snapshot());
    let kinds: Vec<ChangeKind> = (0..400)
        .map(|_| a.change(&shadow, 0, ChangeKind::Insert, Conversion::OnDraw, &mut draws).unwrap().kind)
        .collect();
    let inserts = kinds.iter().filter(|kind| **kind == ChangeKind::Insert).count();
    assert!((190..210).contains(&inserts), "{inserts}");
    a.abort(&shadow);
}

#[test]
fn without_dynamic_keys_nothing_can_change_and_nothing_hangs() {
    let shadow = shadow(vec![table("t", 20, 0.0, None)], Locking::Early);
    let mut a = begun(&shadow);
    for conversion in [Conversion::Never, Conversion::WhenNoneLeft, Conversion::OnDraw] {
        let refused = a.change(&shadow, 0, ChangeKind::Insert, conversion, &mut sampler(1));
        assert_eq!(refused, Err(Refused::default()));
    }
    assert!(a.existing(&shadow, 0, &mut sampler(1)).is_ok());
}

#[test]
fn late_commits_wait_for_readers_in_key_order() {
    let shadow = shadow(vec![table("t", 3, 0.4, None)], Locking::Late);
    let mut draws = sampler(1);
    let mut reader = begun(&shadow);
    while !matches!(reader.existing(&shadow, 0, &mut draws).unwrap().slot, Slot::Dynamic(_)) {}
    let mut writer = begun(&shadow);
    let gone = writer.change(&shadow, 0, ChangeKind::Delete, Conversion::Never, &mut draws).unwrap();
    assert_eq!(gone.key.slot, Slot::Dynamic(0));
    assert_eq!(writer.close_writes(&shadow), Err(Place { table: 0, at: 0 }));
    // From now on nobody else gets in.
    let mut late = begun(&shadow);
    assert!((0..50).all(|_| matches!(late.existing(&shadow, 0, &mut draws).unwrap().slot, Slot::Static(_))));
    reader.abort(&shadow);
    assert_eq!((writer.close_writes(&shadow), writer.commit(&shadow)), (Ok(()), 1));
    assert_eq!(shadow.tables()[0].keys().count_now(), 2);
}

#[test]
fn abandoned_keys_are_nobodys_until_they_are_resolved() {
    let shadow = shadow(vec![table("t", 2, 0.5, None)], Locking::Early);
    let mut draws = sampler(1);
    let mut a = begun(&shadow);
    a.change(&shadow, 0, ChangeKind::Delete, Conversion::Never, &mut draws).unwrap();
    let lost = a.abandon(&shadow);
    a.begin(shadow.snapshot());
    let refused = a.change(&shadow, 0, ChangeKind::Delete, Conversion::Never, &mut draws);
    assert_eq!(refused, Err(Refused { locked: DRAWS, ..Refused::default() }));
    lost.iter().for_each(|place| shadow.resolve(place.table, place.at, true));
    a.advance(shadow.snapshot());
    assert!(a.change(&shadow, 0, ChangeKind::Delete, Conversion::Never, &mut draws).is_ok());
}

/// A database of snapshots, as simple as can be: for each stamp, which dynamic keys exist.
struct Toy {
    states: BTreeMap<u64, BTreeSet<u64>>,
}

impl Toy {
    fn at(&self, snapshot: u64) -> &BTreeSet<u64> {
        self.states.range(..=snapshot).next_back().unwrap().1
    }
}

struct Running {
    instance: Instance,
    snapshot: u64,
    own: BTreeMap<u64, bool>,
}

/// Many transactions, interleaved at random: whatever is drawn is valid in the transaction's snapshot (with its own
/// writes) *and* in the newest state, and inserts never collide.
#[test]
fn whatever_is_drawn_is_valid() {
    for locking in [Locking::Early, Locking::Late] {
        let shadow = shadow(vec![table("t", 60, 0.7, None)], locking);
        let start = (0..60).filter(|key| shadow.tables()[0].keys().exists_at_start(*key)).collect();
        let mut toy = Toy { states: BTreeMap::from([(0, start)]) };
        let (mut random, mut draws) = (Random::new(5, &[]), sampler(5));
        let mut sessions: Vec<Running> =
            (0..8).map(|_| Running { instance: begun(&shadow), snapshot: 0, own: BTreeMap::new() }).collect();
        let (mut done, mut changed) = (0, 0);
        for _ in 0..20_000 {
            let session = &mut sessions[random.below(8)];
            match random.below(8) {
                0 => done += usize::from(finish(session, &shadow, &mut toy, random.chance(3, 4))),
                1..=4 => read(session, &shadow, &toy, &mut draws),
                _ => changed += usize::from(write(session, &shadow, &toy, &mut draws, random.chance(1, 2))),
            }
        }
        assert!(done > 1_000 && changed > 1_000, "{locking:?}: {done} {changed}");
        sessions.iter_mut().for_each(|session| session.instance.abort(&shadow));
        assert!(all_free(&shadow, 0));
        let newest = toy.at(u64::MAX).len() as u64;
        assert_eq!(shadow.tables()[0].keys().count_now(), newest);
    }
}

fn read(session: &mut Running, shadow: &Shadow, toy: &Toy, draws: &mut Sampler) {
    let Ok(key) = session.instance.existing(shadow, 0, draws) else { return };
    let seen = |state: &BTreeSet<u64>| session.own.get(&key.number).copied().unwrap_or(state.contains(&key.number));
    assert!(seen(toy.at(session.snapshot)) && seen(toy.at(u64::MAX)));
}

fn write(session: &mut Running, shadow: &Shadow, toy: &Toy, draws: &mut Sampler, insert: bool) -> bool {
    let kind = if insert { ChangeKind::Insert } else { ChangeKind::Delete };
    let Ok(change) = session.instance.change(shadow, 0, kind, Conversion::WhenNoneLeft, draws) else { return false };
    let key = change.key.number;
    let seen = |state: &BTreeSet<u64>| session.own.get(&key).copied().unwrap_or(state.contains(&key));
    let expect = change.kind == ChangeKind::Delete;
    assert_eq!((seen(toy.at(session.snapshot)), seen(toy.at(u64::MAX))), (expect, expect));
    session.own.insert(key, !expect);
    true
}

fn finish(session: &mut Running, shadow: &Shadow, toy: &mut Toy, commit: bool) -> bool {
    let committed = commit && session.instance.close_writes(shadow).is_ok();
    if committed {
        let mut state = toy.at(u64::MAX).clone();
        for (key, exists) in &session.own {
            if *exists {
                state.insert(*key)
            } else {
                state.remove(key)
            };
        }
        let stamp = session.instance.commit(shadow);
        if !session.own.is_empty() {
            toy.states.insert(stamp, state);
        }
    } else {
        session.instance.abort(shadow);
    }
    session.own.clear();
    session.snapshot = shadow.snapshot();
    session.instance.begin(session.snapshot);
    committed
}

/// Children refer to parents that come and go, and never to one that is gone.
#[test]
fn a_parent_stays_as_long_as_a_child_refers_to_it() {
    let shadow = shadow(vec![table("parent", 20, 0.8, None), table("child", 40, 0.8, Some("parent"))], Locking::Early);
    let (mut random, mut draws) = (Random::new(9, &[]), sampler(9));
    let mut parents: BTreeSet<u64> = (0..20).filter(|key| shadow.tables()[0].keys().exists_at_start(*key)).collect();
    let mut refers: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut dynamic, mut deleted) = (0, 0);
    for _ in 0..3_000 {
        let mut instance = begun(&shadow);
        let (mut new_parents, mut new_refers) = (parents.clone(), refers.clone());
        for _ in 0..1 + random.below(4) {
            let (at, kind) = (random.below(2), [ChangeKind::Insert, ChangeKind::Delete][random.below(2)]);
            let Ok(change) = instance.change(&shadow, at, kind, Conversion::Never, &mut draws) else { continue };
            let key = change.key.number;
            match (at, kind) {
                (0, ChangeKind::Insert) => assert!(new_parents.insert(key)),
                (0, ChangeKind::Delete) => {
                    assert!(new_parents.remove(&key) && !new_refers.values().any(|parent| *parent == key));
                    deleted += 1;
                }
                (_, ChangeKind::Insert) => {
                    let parent = instance.parent(&shadow, 1, 0, change.key, true, &mut draws);
                    assert!(new_parents.contains(&parent));
                    dynamic += usize::from(matches!(shadow.tables()[0].keys().slot(parent), Slot::Dynamic(_)));
                    new_refers.insert(key, parent);
                }
                _ => drop(new_refers.remove(&key)),
            }
        }
        if random.chance(4, 5) {
            instance.commit(&shadow);
            (parents, refers) = (new_parents, new_refers);
        } else {
            instance.abort(&shadow);
        }
    }
    assert!(dynamic > 300 && deleted > 300, "{dynamic} {deleted}");
    // Every share that is left is the pin of a child that exists.
    let keys = shadow.tables()[0].keys();
    for at in 0..keys.dynamic_count() {
        let parent = keys.key(Slot::Dynamic(at)).number;
        let children = refers.values().filter(|found| **found == parent).count() as u64;
        assert_eq!(keys.word(at).unwrap().see().readers, children);
    }
}

/// Dynamic keys that are missing or locked cost draws, and static ones are still accessed as the distribution says.
#[test]
fn accesses_to_static_keys_fit_whatever_happens_to_the_others() {
    for (access, distribution, bar) in [
        (Access::Even, Distribution::Uniform, -100.0),
        (Access::Even, Distribution::Zipf(0.4), -12.0),
        (Access::Independent, Distribution::Zipf(0.4), 0.0),
    ] {
        let mut table = table("y", 2_000, 0.2, None);
        table.keys.access = distribution.clone();
        let shadow = shadow(vec![table], Locking::Early);
        let keys = shadow.tables()[0].keys();
        let ranks = keys.access().statics().unwrap();
        let mut classes: Vec<(u64, f64)> = (0..ranks.count()).map(|rank| (0, ranks.probability(rank))).collect();
        let (mut reads, mut changes) = (Sampler::new(access, 4, &[0]), Sampler::new(access, 4, &[1]));
        let mut instances = [begun(&shadow), begun(&shadow), begun(&shadow)];
        for at in 0..20_000 {
            let instance = &mut instances[at % 3];
            if let Slot::Static(rank) = instance.existing(&shadow, 0, &mut reads).unwrap().slot {
                classes[rank as usize].0 += 1;
            }
            if at % 8 == 0 {
                let _ = instance.change(&shadow, 0, ChangeKind::Insert, Conversion::OnDraw, &mut changes);
            }
            if at % 16 == 0 {
                instance.commit(&shadow);
                instance.begin(shadow.snapshot());
            }
        }
        let goodness = Goodness::of(&classes);
        assert!(goodness.accesses < 19_000 && goodness.miss_log10() <= bar, "{distribution:?}: {goodness:?}");
        assert!(access == Access::Even || (0.001..0.999).contains(&goodness.beta()), "{goodness:?}");
    }
}

#[test]
fn the_shadow_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Shadow>();
    fn sent<T: Send>() {}
    sent::<(Instance, Sampler)>();
}
