//! Makes Rust types of the ONNX schema, without protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto/onnx.proto");
    let files = protox::compile(["proto/onnx.proto"], ["proto"])?;
    let mut config = prost_build::Config::new();
    config.bytes(["."]);
    config.compile_fds(files)?;
    Ok(())
}
