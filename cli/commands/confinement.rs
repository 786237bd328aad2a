//! `gramjet confinement`: what a program under test is kept from on this machine.

use clap::Args;
use gramjet_harness::{Permission, protections};
use serde_json::json;

use crate::failure::Failure;
use crate::output::whole::write_output;

/// Say what a program under test is kept from on this machine.
///
/// Each line is a thing that a confined program cannot do, by what that is enforced, and which permission switches it
/// off. A line with `not enforced` says what the kernel or the container lacks.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Write one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Writes the list.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let mut text = String::new();
    let protections = protections();
    let width = protections.iter().map(|protection| protection.what.len()).max().unwrap_or(0);
    for protection in &protections {
        let (what, permission) = (protection.what, protection.permission);
        if args.json {
            let (by, why) = (protection.by.ok(), protection.by.err());
            text += &format!("{}\n", json!({ "what": what, "by": by, "why_not": why, "permission": permission }));
            continue;
        }
        let by = match protection.by {
            Ok(by) => format!("enforced by {by}"),
            Err(why) => format!("not enforced: {why}"),
        };
        let off = permission.map_or(String::new(), |permission| format!("; `--allow {permission}` switches it off"));
        text += &format!("{what:width$}  {by}{off}\n");
    }
    if !args.json {
        text += "\nPermissions:\n";
        for (name, about) in Permission::ALL {
            text += &format!("  --allow {name:<14} {about}\n");
        }
    }
    write_output(None, text.as_bytes())
}
