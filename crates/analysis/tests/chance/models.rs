//! Servers whose figures are known by formula, as the slices a run against them would leave.

use std::f64::consts::TAU;

use httperf_analysis::{Series, Slice};
use httperf_engine::sim::Random;
use httperf_stat::Distribution;

use crate::seeds;

/// Numbers from the distributions that are needed.
pub(crate) struct Chance(Random);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(Random::new(seed))
    }

    /// Between 0 and 1, neither included.
    pub(crate) fn part(&mut self) -> f64 {
        ((self.0.draw() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn exponential(&mut self) -> f64 {
        -self.part().ln()
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (TAU * self.part()).cos()
    }
}

/// When calls are due.
#[derive(Clone, Copy)]
pub(crate) enum Arrivals {
    Constant,
    Poisson,
}

/// What a server makes of them.
#[derive(Clone, Copy)]
pub(crate) enum Server {
    /// Log-normal times around 10 ms, the logarithm a first-order process: its correlation from call to call
    /// and its spread.
    Process { correlation: f64, spread: f64 },
    /// Four of five calls take about 1 ms, the others about 50 ms.
    Bimodal,
    /// One queue with exponential service, this busy.
    Queue { busy: f64 },
}

/// A run.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) server: Server,
    pub(crate) arrivals: Arrivals,
    pub(crate) rate: f64,
    pub(crate) seconds: f64,
    /// By what the times are multiplied, at a second of the run.
    pub(crate) slowness: fn(f64) -> f64,
}

/// Before it begins to be watched a queue has run for so many calls.
const SETTLED: f64 = 2_000.0;

impl Model {
    /// A server that stays what it is.
    pub(crate) fn steady(server: Server, arrivals: Arrivals, rate: f64, seconds: f64) -> Model {
        Model { server, arrivals, rate, seconds, slowness: |_| 1.0 }
    }

    /// What a run leaves.
    pub(crate) fn run(&self, seed: u64) -> Series {
        let mut chance = Chance::new(seed);
        // As the timeline does it, but with fewer and wider ones where there is no time for more.
        let most = if seeds(0) >= 1_000 { 1_200.0 } else { 150.0 };
        let width = [0.1, 0.2, 1.0].into_iter().find(|width| self.seconds / width <= most).unwrap_or(2.0);
        let mut slices = Slices::new(width, (self.seconds / width).round() as usize);
        let (mut due, mut free, mut state) = (0.0, f64::NEG_INFINITY, chance.normal());
        if let Server::Queue { .. } = self.server {
            due = -SETTLED / self.rate;
        }
        loop {
            due += match self.arrivals {
                Arrivals::Constant => 1.0 / self.rate,
                Arrivals::Poisson => chance.exponential() / self.rate,
            };
            if due > self.seconds {
                return slices.series();
            }
            let slow = (self.slowness)(due.max(0.0));
            let end = match self.server {
                Server::Process { correlation, spread } => {
                    state = correlation * state + (1.0 - correlation * correlation).sqrt() * chance.normal();
                    due + 0.01 * slow * (spread * state).exp()
                }
                Server::Bimodal => {
                    let middle = if chance.part() < 0.8 { 0.001 } else { 0.05 };
                    due + slow * middle * (0.1 * chance.normal()).exp()
                }
                Server::Queue { busy } => {
                    free = free.max(due) + chance.exponential() * slow * busy / self.rate;
                    free
                }
            };
            slices.add(due, end);
        }
    }

    /// Rate, mean, p50, p75, p90, p95 and p99 by formula.
    pub(crate) fn truth(&self) -> [f64; 7] {
        let log_normal = |spread: f64| (spread * spread / 2.0).exp();
        let [mean, p50, p75, p90, p95, p99] = match self.server {
            Server::Process { spread, .. } => {
                let at = |normal: f64| 0.01 * (spread * normal).exp();
                [0.01 * log_normal(spread), at(0.0), at(0.67449), at(1.28155), at(1.64485), at(2.32635)]
            }
            Server::Bimodal => {
                // 50 % and 75 % of all are 62.5 % and 93.75 % of the quick ones; 10, 5 and 1 % of all
                // are 50, 25 and 5 % of the slow ones.
                let at = |middle: f64, normal: f64| middle * (0.1 * normal).exp();
                let mean = (0.8 * 0.001 + 0.2 * 0.05) * log_normal(0.1);
                let [quick, slow] = [0.001, 0.05];
                [
                    mean,
                    at(quick, 0.31864),
                    at(quick, 1.53412),
                    at(slow, 0.0),
                    at(slow, 0.67449),
                    at(slow, 1.64485),
                ]
            }
            Server::Queue { busy } => {
                let mean = busy / self.rate / (1.0 - busy);
                let at = |beyond: f64| -mean * beyond.ln();
                [mean, at(0.5), at(0.25), at(0.1), at(0.05), at(0.01)]
            }
        };
        [self.rate, mean, p50, p75, p90, p95, p99]
    }
}

/// What is gathered of a run.
struct Slices {
    width: f64,
    times: Vec<Vec<u64>>,
    in_flight: Vec<f64>,
}

impl Slices {
    fn new(width: f64, count: usize) -> Slices {
        Slices { width, times: vec![Vec::new(); count], in_flight: vec![0.0; count] }
    }

    fn add(&mut self, due: f64, end: f64) {
        if end < 0.0 {
            return;
        }
        let last = (end / self.width) as usize;
        for slice in (due.max(0.0) / self.width) as usize..=last.min(self.times.len() - 1) {
            let from = due.max(slice as f64 * self.width);
            let to = end.min((slice + 1) as f64 * self.width);
            self.in_flight[slice] += (to - from).max(0.0) / self.width;
        }
        if let Some(times) = self.times.get_mut(last) {
            times.push(((end - due) * 1e9) as u64);
        }
    }

    fn series(self) -> Series {
        let slice = |(times, in_flight): (Vec<u64>, f64)| Slice {
            replies: times.len() as u64,
            in_flight,
            times: Distribution { done: times.into_iter().collect(), ..Distribution::default() },
        };
        Series::new(self.width, self.times.into_iter().zip(self.in_flight).map(slice).collect())
    }
}
