//! `gramjet report`: writes the page of a search anew.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::search;
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::output::whole::write_output;

/// Write the page of a search anew, from what its folder has.
///
/// So a search that was killed, or still runs, has a page; and one in whose folder several strategies were run, a page
/// with all of them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The folder of a `gramjet search`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: PathBuf,

    /// Write to this file in place of `report.html` in the folder.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// Writes the page.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let (page, view) = search::page_of(&args.folder)?;
    let place = match &args.output {
        Some(place) => {
            write_output(Some(place), page.as_bytes())?;
            place.clone()
        }
        // Somebody else may have filled the folder.
        None => view.write(search::PAGE, page.as_bytes())?,
    };
    say!("report: {}", shown(&place));
    Ok(())
}
