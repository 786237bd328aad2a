//! `gen`: how many inputs, in which order, and where they go.

use super::*;

#[test]
#[ignore = "run by ci/test"]
fn the_bulk_engine_makes_the_same_with_any_number_of_threads_and_shards() {
    let place = place("bulk");
    let bulk = |arguments: &[&str]| place.generate(&[&["--engine", "bulk"], arguments].concat());
    let expected = bulk(&["-n", "50000"]);
    assert!(expected.len() > 100_000);
    for jobs in ["2", "3"] {
        assert!(bulk(&["-n", "50000", "--jobs", jobs]) == expected, "{jobs} jobs");
    }
    let shards = ["0/3", "1/3", "2/3"].map(|shard| bulk(&["-n", "50000", "--shard", shard]));
    assert!(shards.concat() == expected);
    assert!(expected.starts_with(&bulk(&["-n", "5"])));
    let some = bulk(&["--bytes", "70k"]);
    assert!(expected.starts_with(&some) && some.len() >= 70_000 && some.ends_with(b"\n"));
    assert!(bulk(&["--time", "0s"]).is_empty());
    // The same inputs as other engines could make, after their lengths and in files.
    let framed = inputs_of(&bulk(&["-n", "1000", "--separator", "len32"]));
    assert_eq!(framed.len(), 1000);
    let folder = place.path("files/");
    bulk(&["-n", "300", "-o", &folder]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 300);
    // With more work at the tables too the number of threads makes no difference.
    let larger = bulk(&["-n", "50000", "--optimise", "3"]);
    assert!(larger == bulk(&["-n", "50000", "--optimise", "3", "--jobs", "2"]));
    let refused = run(&["gen", place.grammar(), "--engine", "bulk", "--optimise", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    let refused = run(&["gen", place.grammar(), "--engine", "bulk", "--max-len", "50"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn engines_are_measured_only_where_the_output_may_depend_on_them() {
    let place = place("measured");
    // The rest of the output is not read.
    let said = |arguments: &[&str]| {
        let mut run = gramjet();
        run.args(["gen", place.grammar(), "-v"]).args(arguments);
        let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(run.stdout.take());
        text(&run.wait_with_output().unwrap().stderr).lines().next().unwrap().to_string()
    };
    // Either engine may be faster here; the message names the measurement.
    let unseeded = said(&["--bytes", "20G"]);
    assert!(unseeded.contains("bulk") && unseeded.contains("MiB/s"), "{unseeded}");
    let limited = said(&["--bytes", "20G", "--max-len", "1000"]);
    assert!(limited.contains("not bulk, as a limit on the length"), "{limited}");
    for arguments in [&["--bytes", "20G", "--seed", "1"][..], &["-n", "10"], &["--bytes", "20G", "--engine", "vm"]] {
        let said = said(arguments);
        assert!(!said.contains("bulk"), "{said}");
    }
}

#[test]
fn the_output_depends_on_the_seed_alone() {
    let place = place("seed");
    let expected = place.generate(&["-n", "3000"]);
    assert!(expected.len() > 10_000);
    for jobs in ["1", "2", "3", "auto"] {
        assert!(place.generate(&["-n", "3000", "--jobs", jobs]) == expected, "{jobs} jobs");
    }
    for engine in ENGINES {
        assert!(place.generate(&["-n", "3000", "--engine", engine]) == expected, "{engine}");
    }
    let start = place.generate(&["-n", "300"]);
    assert!(expected.starts_with(&start));
    assert!(stdout(&["gen", place.grammar(), "-n", "3000", "--seed", "8"]) != expected);
    let random = || stdout(&["gen", place.grammar(), "-n", "100"]);
    assert!(random() != random());
}

#[test]
fn shards_are_the_run() {
    let place = place("shards");
    let whole = place.generate(&["-n", "3000"]);
    let shards = |count: u32| (0..count).map(move |index| format!("{index}/{count}"));
    for count in [1, 3, 20] {
        let union: Vec<u8> =
            shards(count).flat_map(|shard| place.generate(&["-n", "3000", "--shard", &shard])).collect();
        assert!(union == whole, "{count} shards");
    }
    // Blocks of 256 inputs take turns; the first shard's first block is the run's.
    let first = place.generate(&["--bytes", "20k", "--shard", "0/2"]);
    let second = place.generate(&["--bytes", "20k", "--shard", "1/2", "--jobs", "2"]);
    assert!(whole.starts_with(&place.generate(&["-n", "256"])));
    assert!(first.starts_with(&place.generate(&["-n", "256"])));
    let second_block = &place.generate(&["-n", "512"])[place.generate(&["-n", "256"]).len()..];
    assert!(second.len() >= 10_000 && second.starts_with(&second_block[..second_block.len().min(10_000)]));

    let slurm = gramjet()
        .args(["gen", place.grammar(), "--seed", "7", "-n", "3000", "--shard", "auto"])
        .env("SLURM_ARRAY_TASK_ID", "3")
        .env("SLURM_ARRAY_TASK_MIN", "1")
        .env("SLURM_ARRAY_TASK_COUNT", "3")
        .output()
        .unwrap();
    assert!(slurm.stdout == place.generate(&["-n", "3000", "--shard", "2/3"]));
    let none = run(&["gen", place.grammar(), "--seed", "7", "--shard", "auto"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("SLURM_ARRAY_TASK_ID"));
}

#[test]
fn separators() {
    let place = place("separators");
    let all = |separator| place.generate(&["-n", "300", "--separator", separator]);
    let inputs = inputs_of(&all("len32"));
    assert_eq!(inputs.len(), 300);
    assert!(all("none") == inputs.concat());
    let joined = |byte| inputs.iter().flat_map(|input| input.iter().copied().chain([byte])).collect::<Vec<u8>>();
    assert!(all("newline") == joined(b'\n'));
    assert!(all("nul") == joined(0));
    assert!(place.generate(&["-n", "300"]) == joined(b'\n'));
}

#[test]
fn amounts() {
    let place = place("amounts");
    assert!(place.generate(&["-n", "1"]) == place.generate(&[]));
    for nothing in [["-n", "0"], ["--bytes", "0"]] {
        assert!(place.generate(&nothing).is_empty());
    }
    let many = place.generate(&["-n", "2000", "--separator", "none"]);
    for (size, bytes) in [("1", 1), ("2000", 2000), ("3KiB", 3072), ("5kB", 5000)] {
        let made = place.generate(&["--bytes", size, "--separator", "none"]);
        assert!(made.len() >= bytes && many.starts_with(&made), "{size}");
        assert!(place.generate(&["--bytes", size, "--separator", "none", "--jobs", "3"]) == made, "{size}");
    }
    // The last input is the one that reaches the size.
    let mut total = 0;
    let whole = inputs_of(&place.generate(&["-n", "2000", "--separator", "len32"]));
    let ends = whole.iter().map(|input| {
        total += input.len();
        total
    });
    let expected = ends.into_iter().find(|&end| end >= 4999);
    assert_eq!(Some(place.generate(&["--bytes", "4999", "--separator", "none"]).len()), expected);
    let timed = place.generate(&["--time", "50ms"]);
    assert!(timed.starts_with(&place.generate(&["-n", "1"])) && timed.ends_with(b"]\n"));
}

#[test]
fn files() {
    let place = place("files");
    let expected = place.generate(&["-n", "2000"]);
    for arguments in [&[][..], &["--mmap"], &["--no-mmap"], &["--write-mode", "mmap"], &["--jobs", "2", "--mmap"]] {
        if cfg!(not(target_os = "linux")) && arguments.iter().any(|argument| argument.ends_with("mmap")) {
            continue;
        }
        let file = place.path("output");
        // Whatever was there before is gone.
        fs::write(&file, vec![0; 1 << 20]).unwrap();
        let out = place.generate(&[&["-n", "2000", "-o", &file], arguments].concat());
        assert!(out.is_empty() && fs::read(&file).unwrap() == expected, "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn large_files_by_mmap() {
    let place = place("large");
    let (written, mapped) = (place.path("written"), place.path("mapped"));
    // Long words make many windows in little time, so that the file has to grow.
    fs::write(&place.grammar, format!("long ::= ('{}' | '{}')+", "a".repeat(9999), "b".repeat(8888))).unwrap();
    place.generate(&["--bytes", "40M", "-o", &written, "--no-mmap"]);
    place.generate(&["--bytes", "40M", "-o", &mapped, "--mmap", "--jobs", "2"]);
    let written = fs::read(written).unwrap();
    assert!(written.len() >= 40_000_000 && fs::read(mapped).unwrap() == written);
}

#[test]
fn directories() {
    let place = place("directories");
    let folder = place.path("corpus/deep");
    let inputs = |folder: &str| {
        let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    };
    place.generate(&["-n", "600", "-o", &folder, "--ext", "txt"]);
    let names = inputs(&folder);
    assert_eq!(names.len(), 600);
    assert!(names[0].ends_with("00000000.txt") && names[599].ends_with("00000599.txt"));
    let content: Vec<u8> = names.iter().flat_map(|name| fs::read(name).unwrap()).collect();
    assert!(content == place.generate(&["-n", "600", "--separator", "none"]));

    let shared = place.path("shared/");
    for shard in ["0/3", "1/3", "2/3"] {
        place.generate(&["-n", "600", "-o", &shared, "--shard", shard, "--jobs", "2"]);
    }
    let names = inputs(&shared);
    assert_eq!(names.len(), 600);
    assert!(names.iter().flat_map(|name| fs::read(name).unwrap()).eq(content));
}

#[test]
fn limits_are_kept_and_told() {
    let place = place("limits");
    let told = |arguments: &[&str]| {
        let output = run(&[&["gen", place.grammar(), "-v", "-n", "50"], arguments].concat());
        assert!(output.status.success());
        text(&output.stderr)
    };
    assert!(told(&[]).contains("maximum depth 32 (default"), "{}", told(&[]));
    assert!(told(&[]).contains("(random)"));
    assert!(told(&["--max-depth", "none"]).contains("no maximum depth"));
    assert!(told(&["--max-depth", "3"]).contains("maximum depth 3,"));
    let message = told(&["--max-len", "1KiB", "--max-choices", "9", "--seed", "0x10"]);
    for part in ["no maximum depth", "maximum length 1024 bytes", "at most 9 choice bytes", "seed 16,", "50 inputs ("] {
        assert!(message.contains(part), "{message}");
    }
    let framed = place.generate(&["-n", "500", "--max-len", "6", "--separator", "len32"]);
    assert!(inputs_of(&framed).iter().all(|input| (2..=6).contains(&input.len())));
    let directive = place.path("directive.ebnf");
    fs::write(&directive, format!("%max-depth 5\n{GRAMMAR}")).unwrap();
    let output = run(&["gen", &directive, "-v"]);
    assert!(text(&output.stderr).contains("maximum depth 5,"), "{}", text(&output.stderr));
}
