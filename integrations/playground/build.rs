//! Settings of the linker for WebAssembly: how much memory and stack the playground may take.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // 512 MiB in all, 8 MiB of it for the stack.
        println!("cargo:rustc-cdylib-link-arg=--max-memory=536870912");
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8388608");
    }
}
