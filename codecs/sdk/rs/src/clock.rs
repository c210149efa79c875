//! The time of a request in place of the machine's.
//!
//! The crates read the system clock themselves. On Linux the standard
//! library reads it by clock_gettime of the C library, and a symbol of that name in
//! the program comes before it. Other clocks stay the kernel's.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

static SECONDS: AtomicI64 = AtomicI64::new(i64::MIN);
static NANOSECONDS: AtomicI64 = AtomicI64::new(0);

/// Sets the system clock of this process to a Unix time with microseconds.
pub fn set(now: f64) {
    let whole = now.floor();
    NANOSECONDS.store((((now - whole) * 1e6).round() as i64).min(999_999) * 1000, SeqCst);
    SECONDS.store(whole as i64, SeqCst);
}

/// Reads the clock that `set` has set, and every other clock from the kernel.
///
/// # Safety
///
/// `out` points to a timespec, as for clock_gettime of the C library.
#[no_mangle]
pub unsafe extern "C" fn clock_gettime(id: libc::clockid_t, out: *mut libc::timespec) -> libc::c_int {
    let seconds = SECONDS.load(SeqCst);
    if id == libc::CLOCK_REALTIME && seconds != i64::MIN {
        (*out).tv_sec = seconds as libc::time_t;
        (*out).tv_nsec = NANOSECONDS.load(SeqCst) as _;
        return 0;
    }
    libc::syscall(libc::SYS_clock_gettime, id, out) as libc::c_int
}

/// Reports whether the standard library reads this clock.
pub fn works() -> bool {
    set(4_000_000_000.5);
    let read = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    matches!(read, Ok(d) if d.as_millis() == 4_000_000_000_500)
}
