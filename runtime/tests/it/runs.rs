//! Runs of inputs (E4), choice sources, and the bounds on choice bytes and memory.

use gramjet::{BLOCK_INPUTS, ChoiceSource, Choices, Inputs, Limits, Producer};

gramjet::grammar! {
    mod words = ebnf "words ::= (word ' ')* word  word ::= [a-z] [a-z]*";
    mod nested = ebnf "nested ::= 'a' | '[' text nested text ']'  text ::= 'some' | 'words' 'x'{90}";
    mod nested_checked = ebnf "nested ::= 'a' | '[' text nested text ']'  text ::= 'some' | 'words' 'x'{90}"
        { forbid_unsafe: true };
}

#[test]
fn every_block_can_be_made_without_the_others() {
    let all: Vec<Vec<u8>> = Inputs::new(words::Producer::new(), 11).take(3 * BLOCK_INPUTS as usize).collect();
    for block in [2, 0, 1] {
        let mut inputs = Inputs::new(words::Producer::new(), 11);
        inputs.seek_block(block);
        assert_eq!(inputs.position(), block * BLOCK_INPUTS);
        for (index, expected) in all.iter().skip((block * BLOCK_INPUTS) as usize).enumerate() {
            assert_eq!(inputs.next().as_ref(), Some(expected), "{block} {index}");
        }
    }
    assert_ne!(Inputs::new(words::Producer::new(), 12).next(), all.first().cloned());
}

/// Hands out its bytes a few at a time.
struct Trickle<'b>(&'b [u8]);

impl ChoiceSource for Trickle<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let count = buffer.len().min(self.0.len()).min(3);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        count
    }
}

#[test]
fn a_source_that_trickles_is_read_like_a_slice() {
    let bytes: Vec<u8> = (0..5000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut trickle = Trickle(&bytes);
    let (mut slow, mut fast) = (Choices::from_source(&mut trickle), Choices::replay(&bytes));
    let mut total = 0;
    for _ in 0..400 {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let read = words::Producer::new().produce(&mut slow, &mut left);
        assert_eq!(read, words::Producer::new().produce(&mut fast, &mut right));
        assert_eq!(left, right);
        total += read;
    }
    assert_eq!(total, 5000);
}

#[test]
fn the_bound_on_choice_bytes_ends_an_input_and_leaves_the_rest_to_the_next() {
    let bytes = vec![255; 100];
    let mut choices = Choices::replay(&bytes);
    let mut producer = words::Producer::new();
    for bound in [0, 1, 7, 40] {
        producer.set_limits(Limits::new().max_choices(bound)).expect("there is no other limit");
        let mut output = Vec::new();
        assert_eq!(producer.produce(&mut choices, &mut output), bound);
        let mut cut = Vec::new();
        producer.produce(&mut Choices::replay(&bytes[..bound as usize]), &mut cut);
        assert_eq!(output, cut);
    }
    let mut output = Vec::new();
    producer.set_limits(Limits::new()).expect("there is no limit");
    assert_eq!(producer.produce(&mut choices, &mut output), 100 - 48);
}

#[test]
fn outputs_are_appended() {
    let mut output = b"before ".to_vec();
    words::Producer::new().produce(&mut Choices::replay(&[]), &mut output);
    assert_eq!(output, b"before a");
}

#[test]
fn the_bound_on_memory_completes_an_input_and_leaves_shorter_ones_alone() {
    const BOUND: u64 = 10_000;
    let producers: [&mut dyn Producer; 2] = [&mut nested::Producer::new(), &mut nested_checked::Producer::new()];
    for producer in producers {
        for levels in [20, 54, 58, 1000, 100_000] {
            let choices = vec![255; 3 * levels];
            let mut run = |limits| {
                producer.set_limits(limits).expect("there is no other limit");
                // The bound is on the input alone.
                let mut output = vec![b'#'; 15_000];
                let read = producer.produce(&mut Choices::replay(&choices), &mut output);
                assert!(output[..15_000].iter().all(|&byte| byte == b'#'));
                (output.split_off(15_000), read)
            };
            let (whole, _) = run(Limits::new());
            let (output, read) = run(Limits::new().max_output(BOUND));
            if whole.len() as u64 <= BOUND {
                assert_eq!(output, whole);
            } else {
                assert!(output.len() as u64 > BOUND && read < 3 * levels as u64);
                assert!(levels < 100_000 || output.len() < 3 * BOUND as usize + levels * 50, "{}", output.len());
                // It is a sentence: as many brackets are closed as were opened.
                let count = |wanted| output.iter().filter(|&&byte| byte == wanted).count();
                assert!(count(b'[') == count(b']') && output.ends_with(b"]"));
            }
            // A longer length limit is the bound then.
            assert_eq!(run(Limits::new().max_output(BOUND).max_len(1 << 30)).0, whole);
        }
    }
}

/// Panics after this number of bytes.
struct Fragile(usize);

impl ChoiceSource for Fragile {
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let count = buffer.len().min(self.0);
        assert!(count > 0, "as told");
        buffer[..count].fill(255);
        self.0 -= count;
        count
    }
}

#[test]
fn a_source_that_panics_leaves_nothing_in_the_output() {
    let producers: [&mut dyn Producer; 2] = [&mut nested::Producer::new(), &mut nested_checked::Producer::new()];
    for producer in producers {
        producer.set_limits(Limits::new()).expect("there is no limit");
        for bytes in [0, 1, 100, 5000, 100_000] {
            let mut output = b"before".to_vec();
            let mut source = Fragile(bytes);
            let run = || producer.produce(&mut Choices::from_source(&mut source), &mut output);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
            assert_eq!(output, b"before", "{bytes}");
        }
    }
}
