//! The part of a run that a process makes: amounts, shards, and the blocks of inputs that follow from them.

use std::str::FromStr;
use std::time::Duration;

pub use gramjet_engine::auto::Amount;

/// Returns true if making this amount may take long enough to measure engines first.
pub fn may_take_long(amount: Amount) -> bool {
    match amount {
        Amount::Inputs(inputs) => inputs >= 256,
        Amount::Bytes(bytes) => bytes >= 1 << 20,
        Amount::Time(_) => true,
    }
}

/// Returns true if this amount is large enough for a separate thread that writes.
pub fn is_large(amount: Amount) -> bool {
    match amount {
        Amount::Inputs(inputs) => inputs >= 1 << 17,
        Amount::Bytes(bytes) => bytes >= 16 << 20,
        Amount::Time(_) => true,
    }
}

/// Part `index` (from 0) of `count` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// `--shard`: a part, or the part that the environment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardArgument {
    /// `auto`.
    Auto,
    /// `I/N`.
    Given(Shard),
}

impl FromStr for ShardArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardArgument, String> {
        if text == "auto" {
            return Ok(ShardArgument::Auto);
        }
        let expected = || "a shard is I/N with I from 0 to N - 1, or `auto`".to_string();
        let (index, count) = text.split_once('/').ok_or_else(expected)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| expected());
        Shard::new(number(index)?, number(count)?).map(ShardArgument::Given)
    }
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Returns part `index` of `count`.
    pub fn new(index: u64, count: u64) -> Result<Shard, String> {
        if index < count {
            Ok(Shard { index, count })
        } else if count == 0 {
            Err("there cannot be 0 shards".to_string())
        } else {
            Err(format!("shard {index} does not exist: the shards of {count} are 0 to {}", count - 1))
        }
    }

    /// Returns the part that the environment names: of a Slurm job array, or of an indexed Kubernetes job.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => match text.trim().parse::<u64>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("{name} is `{text}`, which is not a number")),
            },
        };
        if let Some(task) = number("SLURM_ARRAY_TASK_ID")? {
            let count = number("SLURM_ARRAY_TASK_COUNT")?
                .ok_or("SLURM_ARRAY_TASK_ID is set but SLURM_ARRAY_TASK_COUNT is not")?;
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
            let index = task
                .checked_sub(first)
                .ok_or_else(|| format!("SLURM_ARRAY_TASK_ID {task} is below SLURM_ARRAY_TASK_MIN {first}"))?;
            return Shard::new(index, count).map_err(|reason| {
                format!("the Slurm job array must be contiguous (such as --array=0-7 or 1-8): {reason}")
            });
        }
        if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            let count = match number("JOB_COMPLETIONS")? {
                Some(count) => Some(count),
                None => number("GRAMJET_SHARDS")?,
            };
            let count = count
                .ok_or("JOB_COMPLETION_INDEX is set, but neither JOB_COMPLETIONS nor GRAMJET_SHARDS says the count")?;
            return Shard::new(index, count);
        }
        Err("`--shard auto` needs SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, or JOB_COMPLETION_INDEX and \
             JOB_COMPLETIONS or GRAMJET_SHARDS, in the environment"
            .to_string())
    }

    /// Returns the end of this part if `total` things are divided evenly and in order; it starts where the one before
    /// ends.
    fn end_of(self, index: u64, total: u64) -> u64 {
        // The quotient is at most `total`.
        (u128::from(total) * u128::from(index) / u128::from(self.count)) as u64
    }

    /// Returns how many of `total` things are this part's.
    fn share(self, total: u64) -> u64 {
        self.end_of(self.index + 1, total) - self.end_of(self.index, total)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The inputs that one process makes. They are counted by *position*, from 0, in the order in which they are written;
/// [`Plan::number`] says which input of the whole run stands at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    first_block: u64,
    stride: u64,
    /// Number of inputs that a block has.
    pub block_inputs: u64,
    /// Greatest number of inputs that are made.
    pub inputs: u64,
    /// The run ends after this number of bytes.
    pub bytes: Option<u64>,
    /// Time that the run takes.
    pub time: Option<Duration>,
}

impl Plan {
    /// Returns the plan for the part `shard` of a run of `amount`, made in blocks of `block_inputs` inputs.
    pub fn new(amount: Amount, shard: Shard, block_inputs: u64) -> Plan {
        let strided = Plan {
            first_block: shard.index,
            stride: shard.count,
            block_inputs,
            // The last input whose number fits 64 bits in every shard.
            inputs: (u64::MAX / block_inputs / shard.count).saturating_mul(block_inputs),
            bytes: None,
            time: None,
        };
        match amount {
            Amount::Inputs(total) => {
                let blocks = total.div_ceil(block_inputs);
                let first_block = shard.end_of(shard.index, blocks);
                let behind = shard.end_of(shard.index + 1, blocks).saturating_mul(block_inputs).min(total);
                // An empty shard at the end may start in place of the last, incomplete block, never after it.
                let inputs = behind - first_block.saturating_mul(block_inputs).min(behind);
                Plan { first_block, stride: 1, block_inputs, inputs, bytes: None, time: None }
            }
            Amount::Bytes(total) => Plan { bytes: Some(shard.share(total)), ..strided },
            Amount::Time(time) => Plan { time: Some(time), ..strided },
        }
    }

    /// Returns the number of the block of the whole run that this process makes as its `ordinal`-th.
    pub fn block(&self, ordinal: u64) -> u64 {
        self.first_block.saturating_add(ordinal.saturating_mul(self.stride))
    }

    /// Returns how many blocks the inputs are in.
    pub fn blocks(&self) -> u64 {
        self.inputs.div_ceil(self.block_inputs)
    }

    /// Returns the number in the whole run of the input at `position`.
    pub fn number(&self, position: u64) -> u64 {
        self.block(position / self.block_inputs)
            .saturating_mul(self.block_inputs)
            .saturating_add(position % self.block_inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(count: u64) -> impl Iterator<Item = Shard> {
        (0..count).map(move |index| Shard { index, count })
    }

    #[test]
    fn shards_of_a_count_are_the_whole_in_order() {
        for total in [0, 1, 255, 256, 257, 1000, 10_000, 65_536] {
            for count in [1, 2, 3, 7, 40, 1000] {
                let mut numbers = Vec::new();
                for shard in shards(count) {
                    let plan = Plan::new(Amount::Inputs(total), shard, 256);
                    numbers.extend((0..plan.inputs).map(|position| plan.number(position)));
                }
                assert!(numbers.iter().copied().eq(0..total), "{total} in {count}");
            }
        }
    }

    #[test]
    fn shards_of_bytes_share_the_bytes_and_no_input() {
        for count in [1, 2, 3, 10] {
            let plans: Vec<Plan> = shards(count).map(|shard| Plan::new(Amount::Bytes(1001), shard, 256)).collect();
            assert_eq!(plans.iter().filter_map(|plan| plan.bytes).sum::<u64>(), 1001);
            let mut numbers: Vec<u64> =
                plans.iter().flat_map(|plan| (0..512).map(|position| plan.number(position))).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..512 * count));
        }
    }

    #[test]
    fn nothing_overflows() {
        for shard in [Shard::WHOLE, Shard { index: u64::MAX - 1, count: u64::MAX }, Shard { index: 1, count: 3 }] {
            for amount in [Amount::Inputs(u64::MAX), Amount::Bytes(u64::MAX), Amount::Time(Duration::MAX)] {
                let plan = Plan::new(amount, shard, 256);
                plan.number(plan.inputs.saturating_sub(1));
                plan.number(u64::MAX);
            }
        }
    }

    #[test]
    fn arguments() {
        assert_eq!("2/8".parse(), Ok(ShardArgument::Given(Shard { index: 2, count: 8 })));
        assert_eq!("auto".parse(), Ok(ShardArgument::Auto));
        for text in ["", "8/8", "0/0", "1", "-1/2", "a/b", "1/2/3", "1/"] {
            assert!(text.parse::<ShardArgument>().is_err(), "{text}");
        }
    }

    #[test]
    fn environments() {
        let shard = |variables: &[(&str, &str)]| {
            Shard::from_environment(|name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.to_string())
            })
        };
        let (task, count, min) = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN");
        assert_eq!(shard(&[(task, "3"), (count, "4")]), Shard::new(3, 4));
        assert_eq!(shard(&[(task, "4"), (count, "4"), (min, "1")]), Shard::new(3, 4));
        assert!(shard(&[(task, "0"), (count, "4"), (min, "1")]).is_err());
        assert!(shard(&[(task, "6"), (count, "4"), (min, "0")]).is_err());
        assert!(shard(&[(task, "1")]).is_err());
        assert!(shard(&[(task, "x"), (count, "4")]).is_err());
        assert_eq!(shard(&[("JOB_COMPLETION_INDEX", "1"), ("JOB_COMPLETIONS", "2")]), Shard::new(1, 2));
        assert_eq!(shard(&[("JOB_COMPLETION_INDEX", "1"), ("GRAMJET_SHARDS", "2")]), Shard::new(1, 2));
        assert!(shard(&[("JOB_COMPLETION_INDEX", "1")]).is_err());
        assert!(shard(&[]).is_err());
    }
}
