//! The containers against those of the standard library.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, Map, Set, sort_by_key};

#[test]
fn maps_are_those_of_the_standard_library() {
    let mut most = 0;
    arbtest::arbtest(|source| {
        let (mut map, mut expected) = (Map::new(), BTreeMap::new());
        let (mut last_map, mut last_expected) = (Map::new(), BTreeMap::new());
        while !source.is_empty() {
            let (key, value): (u8, u16) = source.arbitrary()?;
            match source.int_in_range(0..=11)? {
                0 | 1 => assert_eq!(map.insert(key, value), expected.insert(key, value)),
                2 | 3 => assert_eq!(map.remove(&key), expected.remove(&key)),
                4 => assert_eq!(map.entry(key).or_default(), expected.entry(key).or_default()),
                5 => {
                    let found = map.entry(key).and_modify(|found| *found ^= 1).or_insert(value);
                    assert_eq!(found, expected.entry(key).and_modify(|found| *found ^= 1).or_insert(value));
                }
                6 => {
                    let found = map.entry(key).or_insert_with_key(|&key| u16::from(key));
                    assert_eq!(found, expected.entry(key).or_insert_with_key(|&key| u16::from(key)));
                }
                7 => {
                    let found = match map.entry(key) {
                        Entry::Vacant(entry) => entry.insert(value),
                        Entry::Occupied(entry) => entry.into_mut(),
                    };
                    assert_eq!(found, expected.entry(key).or_insert(value));
                }
                8 => {
                    let items = (0..value % 40).map(|number| (key.wrapping_add(number as u8), number));
                    map.extend(items.clone());
                    expected.extend(items);
                }
                9 => {
                    map.values_mut().for_each(|value| *value ^= 5);
                    map.iter_mut().for_each(|(&key, value)| *value ^= u16::from(key));
                    expected.iter_mut().for_each(|(&key, value)| *value = *value ^ 5 ^ u16::from(key));
                }
                10 => assert_eq!(map.get_mut(&key), expected.get_mut(&key)),
                _ if value < 0x800 => {
                    map.clear();
                    expected.clear();
                }
                _ => {}
            }
            assert!(map.iter().eq(expected.iter()));
            assert_eq!(map.iter().size_hint(), expected.iter().size_hint());
            assert!(map.keys().eq(expected.keys()));
            assert!(map.values().eq(expected.values()));
            assert!(map.clone().into_iter().eq(expected.clone()));
            assert!(map.clone().into_keys().eq(expected.clone().into_keys()));
            assert!(map.clone().into_values().eq(expected.clone().into_values()));
            assert_eq!((map.len(), map.is_empty()), (expected.len(), expected.is_empty()));
            assert_eq!(map.get(&key), expected.get(&key));
            assert_eq!(map.contains_key(&key), expected.contains_key(&key));
            assert_eq!(map.get_key_value(&key), expected.get_key_value(&key));
            if expected.contains_key(&key) {
                assert_eq!(map[&key], expected[&key]);
            }
            assert_eq!(format!("{map:?} {map:#?}"), format!("{expected:?} {expected:#?}"));
            assert_eq!(map == last_map, expected == last_expected);
            assert_eq!(map, expected.iter().rev().map(|(&key, &value)| (key, value)).collect());
            most = most.max(map.len());
            (last_map, last_expected) = (map.clone(), expected.clone());
        }
        Ok(())
    })
    .size_min(100)
    .budget_ms(500);
    assert!(most > 20, "{most} keys");
}

#[test]
fn sets_are_those_of_the_standard_library() {
    let mut most = 0;
    arbtest::arbtest(|source| {
        let (mut set, mut expected) = (Set::new(), BTreeSet::new());
        let (mut last_set, mut last_expected) = (Set::new(), BTreeSet::new());
        while !source.is_empty() {
            let item: u8 = source.arbitrary()?;
            match source.int_in_range(0..=8)? {
                0 | 1 => assert_eq!(set.insert(item), expected.insert(item)),
                2 | 3 => assert_eq!(set.remove(&item), expected.remove(&item)),
                4 => assert_eq!(set.pop_first(), expected.pop_first()),
                5 | 6 => {
                    let items: Vec<u8> = (0..source.int_in_range(0..=40)?).map(|n| item.wrapping_add(n)).collect();
                    set.extend(&items);
                    expected.extend(items);
                }
                7 => {
                    set.retain(|other| other % 7 != item % 7);
                    expected.retain(|other| other % 7 != item % 7);
                }
                _ if item < 10 => {
                    set.clear();
                    expected.clear();
                }
                _ => {}
            }
            assert!(set.iter().eq(expected.iter()));
            assert_eq!(set.iter().size_hint(), expected.iter().size_hint());
            assert!(set.clone().into_iter().eq(expected.clone()));
            assert_eq!((set.len(), set.is_empty()), (expected.len(), expected.is_empty()));
            assert_eq!(set.first(), expected.first());
            assert_eq!(set.contains(&item), expected.contains(&item));
            assert_eq!(format!("{set:?} {set:#?}"), format!("{expected:?} {expected:#?}"));
            assert_eq!(set.cmp(&last_set), expected.cmp(&last_expected));
            assert_eq!(set == last_set, expected == last_expected);
            assert!(set.difference(&last_set).eq(expected.difference(&last_expected)));
            assert!(set.intersection(&last_set).eq(expected.intersection(&last_expected)));
            assert_eq!(set.is_disjoint(&last_set), expected.is_disjoint(&last_expected));
            assert_eq!(set, expected.iter().rev().copied().collect());
            most = most.max(set.len());
            if item.is_multiple_of(4) {
                (last_set, last_expected) = (set.clone(), expected.clone());
            }
        }
        Ok(())
    })
    .size_min(100)
    .budget_ms(500);
    assert!(most > 20, "{most} members");
}

#[test]
fn later_values_replace_earlier_ones() {
    assert_eq!(Map::from([(2, 'a'), (1, 'b'), (2, 'c')]).into_iter().collect::<Vec<_>>(), [(1, 'b'), (2, 'c')]);
    assert_eq!(Set::from([2, 1, 2]).into_iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn sorting_keeps_the_order_of_equals() {
    arbtest::arbtest(|source| {
        let items: Vec<(u8, u8)> = source.arbitrary()?;
        let (mut sorted, mut expected) = (items.clone(), items);
        sort_by_key(&mut sorted, |item| item.0 % 16);
        expected.sort_by_key(|item| item.0 % 16);
        assert_eq!(sorted, expected);
        Ok(())
    })
    .size_min(50)
    .budget_ms(200);
}
