//! Renders an SVG file from standard input on 100 times 100 pixels.

use std::io::Read;
use std::process::ExitCode;

use resvg::{tiny_skia, usvg};

fn main() -> ExitCode {
    let mut text = Vec::new();
    if std::io::stdin().read_to_end(&mut text).is_err() {
        return ExitCode::FAILURE;
    }
    let tree = match usvg::Tree::from_data(&text, &usvg::Options::default()) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut pixels = tiny_skia::Pixmap::new(100, 100).expect("a hundred is not zero");
    let (width, height) = (100.0 / tree.size().width(), 100.0 / tree.size().height());
    resvg::render(&tree, tiny_skia::Transform::from_scale(width, height), &mut pixels.as_mut());
    println!("{}", pixels.pixels().iter().filter(|pixel| pixel.alpha() > 0).count());
    ExitCode::SUCCESS
}
