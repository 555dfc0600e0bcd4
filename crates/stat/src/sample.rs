//! The periodic samples of the classic report: the reply rate every five seconds.

use httperf_engine::{Collector, Core, Event, Ticks, Time};

/// Replies of one loop since its sample before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The number of the sample, from 0.
    pub index: usize,
    /// Replies per second over the time that has really passed.
    pub reply_rate: f64,
    /// The loop has ended before this sample was due: what it adds to it, if other loops go on.
    pub last: bool,
}

/// Takes a sample at every tick. No partial sample is taken at the end.
#[derive(Debug)]
pub struct Samples<F> {
    tell: F,
    told: Vec<Sample>,
    /// How many of them are whole.
    taken: usize,
    replies: u64,
    since: Time,
}

impl<F: FnMut(Sample)> Samples<F> {
    /// Each sample is told at once.
    pub fn new(tell: F) -> Self {
        Self { tell, told: Vec::new(), taken: 0, replies: 0, since: Time::NEVER }
    }

    /// All that was told.
    pub fn into_samples(self) -> Vec<Sample> {
        self.told
    }

    fn take(&mut self, sample: Sample) {
        self.told.push(sample);
        (self.tell)(sample);
    }
}

impl<F: FnMut(Sample)> Collector for Samples<F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        match *event {
            Event::CallRecvStop { .. } => self.replies += 1,
            Event::Tick { at } => {
                let since = if self.since.is_set() { self.since } else { core.started_at() };
                let seconds = at.seconds_since(since);
                let reply_rate = if seconds > 0.0 { self.replies as f64 / seconds } else { 0.0 };
                self.take(Sample { index: self.taken, reply_rate, last: false });
                (self.taken, self.replies, self.since) = (self.taken + 1, 0, at);
            }
            Event::Stopped { .. } => {
                let span = |ticks: Ticks| if self.taken == 0 { ticks.first } else { ticks.every };
                let seconds = core.scenario().ticks.map_or(0.0, |ticks| span(ticks) as f64 / 1e9);
                let reply_rate = if seconds > 0.0 { self.replies as f64 / seconds } else { 0.0 };
                self.take(Sample { index: self.taken, reply_rate, last: true });
            }
            _ => {}
        }
    }
}

/// The samples of all loops, put together. A sample is whole when every loop has told its part; of a loop
/// that has ended nothing more is awaited, but what it had not yet told counts.
#[derive(Debug)]
pub struct Gathered {
    loops: usize,
    /// Of each sample, how many loops have told their part, and the sum of these.
    parts: Vec<(usize, f64)>,
    /// What loops that have ended add, and to which sample.
    rests: Vec<(usize, f64)>,
    rates: Vec<f64>,
}

impl Gathered {
    /// For so many loops.
    pub fn new(loops: usize) -> Self {
        Self { loops, parts: Vec::new(), rests: Vec::new(), rates: Vec::new() }
    }

    /// Takes the part of a loop, and tells the rates of all loops together that are whole now.
    pub fn add(&mut self, sample: Sample, mut tell: impl FnMut(f64)) {
        let Sample { index, reply_rate, last } = sample;
        if last {
            self.rests.push((index, reply_rate));
        } else {
            if self.parts.len() <= index {
                self.parts.resize(index + 1, (0, 0.0));
            }
            self.parts[index].0 += 1;
            self.parts[index].1 += reply_rate;
        }
        while let Some(rate) = self.whole(self.rates.len()) {
            self.rates.push(rate);
            tell(rate);
        }
    }

    /// The rates of all loops together, sample by sample.
    pub fn into_rates(self) -> Vec<f64> {
        self.rates
    }

    fn whole(&self, index: usize) -> Option<f64> {
        let (told, sum) = *self.parts.get(index)?;
        let ended = self.rests.iter().filter(|(next, _)| *next <= index).count();
        let rest: f64 = self.rests.iter().filter(|(next, _)| *next == index).map(|(_, rate)| rate).sum();
        // No loop has ticked: the run was over before.
        (told > 0 && told + ended >= self.loops).then_some(sum + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(loops: usize, samples: &[(usize, f64, bool)]) -> (Vec<f64>, Vec<f64>) {
        let mut gathered = Gathered::new(loops);
        let mut told = Vec::new();
        for &(index, reply_rate, last) in samples {
            gathered.add(Sample { index, reply_rate, last }, |rate| told.push(rate));
        }
        (told, gathered.into_rates())
    }

    #[test]
    fn one_loop_has_no_partial_sample_at_the_end() {
        let both = gather(1, &[(0, 5.0, false), (1, 6.0, false), (2, 3.0, true)]);
        assert_eq!(both, (vec![5.0, 6.0], vec![5.0, 6.0]));
        assert_eq!(gather(2, &[(0, 5.0, true), (0, 6.0, true)]).1, [0.0; 0]);
    }

    #[test]
    fn what_a_loop_had_not_told_when_it_ended_counts_where_others_go_on() {
        // The second ends before the first sample, the third before the second.
        let samples = [
            (0, 2.0, true),
            (0, 10.0, false),
            (0, 20.0, false),
            (1, 7.0, true),
            (1, 10.0, false),
            (2, 10.0, false),
        ];
        let (told, rates) = gather(3, &samples);
        assert_eq!(told, [32.0, 17.0, 10.0]);
        assert_eq!(rates, told);
        let mut others = samples;
        others.swap(0, 2);
        others.swap(3, 5);
        assert_eq!(gather(3, &others).1, rates);
    }
}
