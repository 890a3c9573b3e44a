#![no_main]
#![allow(missing_docs)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    smalti_fuzz::module_load(data);
});
