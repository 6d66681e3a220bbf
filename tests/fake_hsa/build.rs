//! Programs that are linked to the runtime of ROCm find this one by its name.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhsa-runtime64.so.1");
}
