//! Searches that share a folder.

use super::*;

#[test]
fn searches_share_a_folder() {
    let place = names("search-shared");
    let node = |name: &str, runs: &str, strategy: &str| {
        let options = ["-n", runs, "-o", "shared", "--name", name, "--strategy", strategy, "--study", "0s", "--json"];
        let found = search(&place, &options);
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        last_event(&found.stdout, "end")["cost"].as_u64().expect("a cost")
    };
    let kept = |name: &str, what: &str| kept(&place, &format!("shared/{name}/{what}"));
    // afl-fuzz has no folder of best texts, and may have texts that do not conform.
    fs::create_dir_all(place.path("shared/afl/queue")).unwrap();
    fs::write(place.path("shared/afl/queue/id:000000,orig:a"), "a,b,c").unwrap();
    fs::write(place.path("shared/afl/queue/id:000001,op:havoc"), "\0,,").unwrap();
    let best = node("one", "2000", "portfolio");
    assert!(kept("one", "queue").iter().any(|name| name.contains("op:sync") && name.contains(",sync:afl,src:000000")));
    // Random texts alone would cost far less within these runs.
    assert!(node("two", "60", "random") >= best);
    let from_one = kept("two", "best").into_iter().filter(|name| name.contains(",sync:one,src:"));
    assert!(from_one.count() > 0, "{:?}", kept("two", "best"));
    // What was taken over stays, and a search does not take its own texts back.
    assert!(node("two", "0", "random") >= best);
    node("one", "60", "portfolio");
    let own = [kept("one", "best"), kept("one", "queue")].concat();
    assert!(own.iter().all(|name| !name.contains("sync:one")), "{own:?}");
    let refused = search(&place, &["-n", "1", "-o", "shared", "--name", "a/b"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

/// Returns a search that runs until it is interrupted.
fn node(place: &Place, name: &str, strategy: &str) -> Running {
    let begin = ["search", "names.ebnf", "--max-len", "400", "--no-progress", "--study", "0s", "-o", "shared"];
    let command = [&begin[..], &["--name", name, "--strategy", strategy, "--", "./names"]].concat();
    let said = fs::File::create(place.path(&format!("{name}.log"))).unwrap();
    Running::start(within(interruptible().args(command), place).stderr(said))
}

/// Returns the texts that a search has from another one.
fn from(place: &Place, name: &str, other: &str) -> Vec<String> {
    let source = format!(",sync:{other},src:");
    let all = ["best", "queue"].map(|what| {
        kept(place, &format!("shared/{name}/{what}")).into_iter().map(move |kept| format!("{what}/{kept}"))
    });
    all.into_iter().flatten().filter(|kept| kept.contains(&source)).collect()
}

#[test]
fn searches_at_the_same_time_take_texts_from_each_other() {
    let place = names("search-both");
    // Texts at random cost little. So there is something to take for each of them.
    let one = node(&place, "one", "random");
    wait_for("a text of the first search", || kept(&place, "shared/one/best").pop());
    let two = node(&place, "two", "portfolio");
    for (name, other) in [("two", "one"), ("one", "two")] {
        wait_for("a text of the other search", || from(&place, name, other).pop());
    }
    for (name, mut running) in [("one", one), ("two", two)] {
        let said = || fs::read_to_string(place.path(&format!("{name}.log"))).unwrap();
        assert_eq!(running.interrupt(), Some(130), "{}", said());
    }
    for (name, other) in [("one", "two"), ("two", "one")] {
        for taken in from(&place, name, other) {
            let number = taken.split(",src:").nth(1).unwrap().split(',').next().unwrap();
            let here = fs::read_to_string(place.path(&format!("shared/{name}/{taken}"))).unwrap();
            // It is from one of two folders of the other search.
            let is_there = ["best", "queue"].iter().any(|what| {
                let mut of_other = kept(&place, &format!("shared/{other}/{what}")).into_iter();
                let source = of_other.find(|kept| kept.starts_with(&format!("id:{number},")));
                let source = source.map(|source| format!("shared/{other}/{what}/{source}"));
                source.is_some_and(|source| fs::read_to_string(place.path(&source)).unwrap() == here)
            });
            assert!(is_there, "{name} has {taken}");
        }
        let page = run_in(&place, &["report", &format!("shared/{name}")]);
        assert_eq!(page.status.code(), Some(0), "{}", text(&page.stderr));
    }
}
