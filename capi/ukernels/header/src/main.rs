//! Prints the C header of libsmalti_ukernels.

use cbindgen::{Builder, Config, Language};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = Config {
        language: Language::C,
        include_guard: Some("SMALTI_UKERNELS_H".to_owned()),
        autogen_warning: Some("/* Made by cbindgen from src/native.rs. */".to_owned()),
        header: Some(HEAD.to_owned()),
        cpp_compat: true,
        usize_is_size_t: true,
        ..Config::default()
    };
    config.export.include = ["smalti_type", "smalti_op"].map(str::to_owned).to_vec();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/native.rs");
    Builder::new().with_config(config).with_src(source).generate()?.write(std::io::stdout());
    Ok(())
}

const HEAD: &str = "/* libsmalti_ukernels: hand-tuned microkernels for matmul and convolution.
 *
 * Select a kernel once, call it many times. No allocation, no state: every function may be called from any thread. Each says
 * what it does not check. Offsets and strides count elements.
 */";
