//! The answers of the Linux kernel, and of the processor where the kernel lets programs ask it.

use core::arch::asm;

/// The machine itself.
pub(super) struct Kernel;

const AT_HWCAP: u64 = 16;

/// A value that the kernel gave the program at its start; 0 where there is none.
fn auxiliary(key: u64) -> u64 {
    unsafe extern "C" {
        /// Of every C library for Linux: glibc since 2.16, musl since 1.0.
        safe fn getauxval(key: core::ffi::c_ulong) -> core::ffi::c_ulong;
    }
    getauxval(key)
}

#[cfg(target_arch = "aarch64")]
impl super::aarch64::Probe for Kernel {
    fn hwcaps(&self) -> [u64; 2] {
        const AT_HWCAP2: u64 = 26;
        [AT_HWCAP, AT_HWCAP2].map(auxiliary)
    }

    fn midr(&self) -> u64 {
        let midr;
        // SAFETY: the caller has seen that the kernel emulates reads of identification registers.
        unsafe { asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack, preserves_flags)) };
        midr
    }
}

#[cfg(target_arch = "riscv64")]
impl super::riscv64::Probe for Kernel {
    fn hwcap(&self) -> u64 {
        auxiliary(AT_HWCAP)
    }

    fn hwprobe(&self, key: i64) -> Option<u64> {
        const RISCV_HWPROBE: usize = 258;
        #[repr(C)]
        struct Pair {
            key: i64,
            value: u64,
        }
        let mut pair = Pair { key, value: 0 };
        // SAFETY: the call writes to one pair, which is there; no set of processors stands for all of them.
        let status = unsafe { syscall(RISCV_HWPROBE, [&raw mut pair as usize, 1, 0, 0, 0]) };
        // The key of a question that the kernel does not know, or that processors answer differently, becomes -1; so
        // does the value of the latter.
        (status == 0 && pair.key == key && pair.value != u64::MAX).then_some(pair.value)
    }

    fn vector_control(&self) -> i64 {
        const PRCTL: usize = 167;
        const PR_RISCV_V_GET_CONTROL: usize = 70;
        // SAFETY: the call reads a setting of the calling thread.
        unsafe { syscall(PRCTL, [PR_RISCV_V_GET_CONTROL, 0, 0, 0, 0]) as i64 }
    }

    fn vlmax(&self, vtype: u64) -> u64 {
        let length;
        // SAFETY: the caller has seen that there are vectors. The instruction writes its register, vl and vtype, none of
        // which the compiler keeps across it.
        unsafe {
            asm!(
                ".option push",
                ".option arch, +v",
                "vsetvl {}, zero, {}",
                ".option pop",
                out(reg) length,
                in(reg) vtype,
                options(nomem, nostack),
            );
        }
        length
    }
}

/// # Safety
/// As the call's.
#[cfg(target_arch = "riscv64")]
unsafe fn syscall(number: usize, arguments: [usize; 5]) -> isize {
    let mut result = arguments[0];
    // SAFETY: the caller's. The kernel keeps fewer registers than a function does: not the vector registers.
    unsafe {
        asm!(
            "ecall",
            inlateout("a0") result,
            in("a1") arguments[1],
            in("a2") arguments[2],
            in("a3") arguments[3],
            in("a4") arguments[4],
            in("a7") number,
            clobber_abi("C"),
            options(nostack),
        );
    }
    result as isize
}
