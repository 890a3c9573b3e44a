//! The microkernels' C door: `libsmalti_ukernels`, static and shared.
//!
//! * [`native`]: `smalti_select`, `smalti_mmt4d`, `smalti_pack`, `smalti_unpack`, declared in `include/smalti_ukernels.h`.
//! * [`iree`]: the entry points of IREE's microkernel library, for programs that were compiled against its headers.
//!
//! No operating system, no allocation, no state. Apart from memcpy, memmove, memset, memcmp and bcmp nothing is left
//! undefined.
#![no_std]

pub mod iree;
pub mod native;

// The core library's objects name a personality routine, which nothing calls where panics abort. Weak, so that a program
// that has Rust's own keeps it.
core::arch::global_asm!(".weak rust_eh_personality", "rust_eh_personality:", options(raw));

/// Nothing here panics on what callers may pass; if it does all the same, the process ends at an instruction that traps.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        // SAFETY: traps, and so ends the process.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!("ud2", options(nomem, nostack))
        }
        // SAFETY: traps, and so ends the process.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!("brk #1", options(nomem, nostack))
        }
        // SAFETY: traps, and so ends the process.
        #[cfg(target_arch = "riscv64")]
        unsafe {
            core::arch::asm!("unimp", options(nomem, nostack))
        }
    }
}
