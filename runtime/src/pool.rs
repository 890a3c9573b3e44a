//! Who does the work.

#[cfg(feature = "std")]
use crate::call::SharedJob;

/// Threads that run tasks. An implementation over an own scheduler needs no more than this.
pub trait Pool: Send + Sync {
    /// How many workers there are: numbers below it are given to jobs.
    fn workers(&self) -> usize;

    /// Calls `job(task, worker)` for each task below `tasks`, in any order, and returns when all are done. No two
    /// calls at a time have one worker's number.
    fn run(&self, tasks: usize, job: &(dyn Fn(usize, usize) + Sync));
}

/// The caller's thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

impl Pool for Inline {
    fn workers(&self) -> usize {
        1
    }

    fn run(&self, tasks: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        (0..tasks).for_each(|task| job(task, 0));
    }
}

/// Threads that wait for work; the caller's thread is one of the workers. Handing out work allocates nothing. A job
/// must not hand work to the pool that runs it: one run goes on at a time.
#[cfg(feature = "std")]
pub struct Threads {
    shared: std::sync::Arc<Shared>,
    handles: std::vec::Vec<std::thread::JoinHandle<()>>,
    /// One run at a time.
    turn: std::sync::Mutex<()>,
}

#[cfg(feature = "std")]
struct Shared {
    state: std::sync::Mutex<State>,
    /// There is work, or an end.
    begin: std::sync::Condvar,
    /// A worker has finished.
    done: std::sync::Condvar,
    next: core::sync::atomic::AtomicUsize,
}

#[cfg(feature = "std")]
#[derive(Default)]
struct State {
    job: Option<(SharedJob, usize)>,
    /// Counts jobs, so that a worker takes each one once.
    number: u64,
    busy: usize,
    /// A job has panicked on a worker.
    panicked: bool,
    end: bool,
}

#[cfg(feature = "std")]
impl Threads {
    /// A pool of `workers`, at least one.
    pub fn new(workers: usize) -> Threads {
        let shared = std::sync::Arc::new(Shared {
            state: std::sync::Mutex::new(State::default()),
            begin: std::sync::Condvar::new(),
            done: std::sync::Condvar::new(),
            next: core::sync::atomic::AtomicUsize::new(0),
        });
        let handles = (1..workers.max(1))
            .map(|worker| {
                let shared = shared.clone();
                std::thread::spawn(move || shared.work(worker))
            })
            .collect();
        Threads { shared, handles, turn: std::sync::Mutex::new(()) }
    }
}

#[cfg(feature = "std")]
impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A job that panicked leaves the state as it was: counts are only changed outside of jobs.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn work(&self, worker: usize) {
        let mut seen = 0;
        loop {
            let (job, tasks) = {
                let mut state = self.lock();
                loop {
                    if state.end {
                        return;
                    }
                    match &state.job {
                        Some((job, tasks)) if state.number != seen => {
                            let found = (job.share(), *tasks);
                            seen = state.number;
                            state.busy += 1;
                            break found;
                        }
                        _ => {}
                    }
                    state = self.begin.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                }
            };
            let run = || self.tasks(tasks, &|task| job.call(task, worker));
            // A panic of a job is its caller's, who waits for it in `run`; the worker stays.
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            let mut state = self.lock();
            state.panicked |= result.is_err();
            state.busy -= 1;
            drop(state);
            self.done.notify_all();
        }
    }

    fn tasks(&self, tasks: usize, run: &dyn Fn(usize)) {
        loop {
            let task = self.next.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
            if task >= tasks {
                return;
            }
            run(task);
        }
    }
}

/// Takes the job back and waits until no worker runs it, also when the caller's part panics.
#[cfg(feature = "std")]
struct Retire<'a>(&'a Shared);

#[cfg(feature = "std")]
impl Drop for Retire<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.job = None;
        while state.busy > 0 {
            state = self.0.done.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}

#[cfg(feature = "std")]
impl Pool for Threads {
    fn workers(&self) -> usize {
        self.handles.len() + 1
    }

    fn run(&self, tasks: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        if tasks <= 1 || self.handles.is_empty() {
            return Inline.run(tasks, job);
        }
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        SharedJob::lend(job, |shared| {
            let retire = Retire(&self.shared);
            {
                let mut state = self.shared.lock();
                self.shared.next.store(0, core::sync::atomic::Ordering::Relaxed);
                state.job = Some((shared, tasks));
                state.number += 1;
                // A panic of an earlier job reached its caller by unwinding.
                state.panicked = false;
            }
            self.shared.begin.notify_all();
            self.shared.tasks(tasks, &|task| job(task, 0));
            drop(retire);
        });
        if std::mem::take(&mut self.shared.lock().panicked) {
            panic!("a task panicked on a worker");
        }
    }
}

#[cfg(feature = "std")]
impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock().end = true;
        self.shared.begin.notify_all();
        for handle in self.handles.drain(..) {
            let _ = handle.join();
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_task_runs_once_on_a_worker() {
        for workers in [1, 2, 5] {
            let pool = Threads::new(workers);
            for tasks in [0, 1, 2, 3, 100, 7] {
                let counts: std::vec::Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                pool.run(tasks, &|task, worker| {
                    assert!(worker < pool.workers());
                    counts[task].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let pool = Threads::new(3);
        for _ in 0..3 {
            let run = || pool.run(64, &|task, _| assert!(task != 40, "task 40"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
            let count = AtomicUsize::new(0);
            pool.run(64, &|_, _| {
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.load(Ordering::Relaxed), 64);
        }
    }

    /// The caller's own task and those of workers panic at a time; the next job is clean.
    #[test]
    fn panics_everywhere_are_forgotten() {
        let pool = Threads::new(3);
        for _ in 0..20 {
            let run = || pool.run(64, &|task, _| panic!("task {task}"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
            pool.run(64, &|_, _| {});
        }
    }

    #[test]
    fn pools_nest() {
        let (outer, inner) = (Threads::new(2), Threads::new(2));
        let count = AtomicUsize::new(0);
        outer.run(4, &|_, _| {
            inner.run(4, &|_, _| {
                count.fetch_add(1, Ordering::Relaxed);
            })
        });
        assert_eq!(count.load(Ordering::Relaxed), 16);
    }
}
