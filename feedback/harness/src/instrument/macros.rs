//! AFL++'s macros, with which authors of programs choose where a fork server starts and how many inputs a process
//! takes.

/// Definitions for a compiler. They are not in a header, so that lists of dependencies do not change.
///
/// `fork_server/detect.rs` looks for the texts in them.
pub(super) const MACROS: [&str; 7] = [
    "-D__AFL_HAVE_MANUAL_CONTROL=1",
    "-D__AFL_COMPILER=1",
    "-D__AFL_FUZZ_INIT()=extern int gramjet_takes_shared_input; int gramjet_takes_shared_input = 1",
    "-D__AFL_FUZZ_TESTCASE_BUF=(__extension__({ \
        unsigned char *gramjet_testcase_(void) __asm__(\"gramjet_testcase\"); \
        gramjet_testcase_(); }))",
    "-D__AFL_FUZZ_TESTCASE_LEN=(__extension__({ \
        unsigned gramjet_testcase_length_(void) __asm__(\"gramjet_testcase_length\"); \
        gramjet_testcase_length_(); }))",
    "-D__AFL_LOOP(rounds)=(__extension__({ \
        static const char *volatile gramjet_mark_ __attribute__((used)) = \"##SIG_GRAMJET_PERSISTENT##\"; \
        int gramjet_loop_(unsigned) __asm__(\"gramjet_loop\"); \
        (void)gramjet_mark_; gramjet_loop_(rounds); }))",
    "-D__AFL_INIT()=do { \
        static const char *volatile gramjet_mark_ __attribute__((used)) = \"##SIG_GRAMJET_DEFERRED##\"; \
        void gramjet_serve_(void) __asm__(\"gramjet_serve\"); \
        (void)gramjet_mark_; gramjet_serve_(); } while (0)",
];
