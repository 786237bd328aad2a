//! Many runs with random attacks.
