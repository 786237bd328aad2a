//! The procedural macro behind gramjet::grammar!.
