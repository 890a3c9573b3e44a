//! Short bursts in turns, so that what disturbs the machine disturbs all of them: ratios hold where times don't.

use std::time::Instant;

/// What bursts are timed: calls that are repeated until a burst has its length.
pub struct Burst<'a> {
    call: &'a mut dyn FnMut(),
    calls: usize,
    times: Vec<f64>,
}

/// Length of a burst, in seconds.
const LENGTH: f64 = 60e-6;

impl<'a> Burst<'a> {
    /// Finds how many calls a burst has.
    pub fn new(call: &'a mut dyn FnMut()) -> Burst<'a> {
        let mut calls = 1;
        loop {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            let time = start.elapsed().as_secs_f64();
            if time > LENGTH || calls > 1 << 24 {
                return Burst { call, calls, times: Vec::new() };
            }
            calls *= 2;
        }
    }

    /// A burst has so many calls.
    pub fn of(calls: usize, call: &'a mut dyn FnMut()) -> Burst<'a> {
        Burst { call, calls, times: Vec::new() }
    }

    fn run(&mut self) {
        let start = Instant::now();
        (0..self.calls).for_each(|_| (self.call)());
        self.times.push(start.elapsed().as_secs_f64() / self.calls as f64);
    }

    /// Seconds of a call in the best burst.
    pub fn best(&self) -> f64 {
        self.times.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Runs so many bursts of each, in turns.
pub fn in_turns(rounds: usize, bursts: &mut [&mut Burst<'_>]) {
    for _ in 0..rounds {
        bursts.iter_mut().for_each(|b| b.run());
    }
}

/// The median over the rounds of one burst's time over another's.
pub fn median_ratio(of: &Burst<'_>, over: &Burst<'_>) -> f64 {
    let mut ratios: Vec<f64> = of.times.iter().zip(&over.times).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}
