//! The periodic samples of the classic report: the rates of replies and sessions every five seconds.

use std::mem::take;
use std::ops::AddAssign;

use httperf_engine::{Collector, Core, Event, Outcome, Ticks, Time};

/// What one loop adds to a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<T = Rates> {
    /// The number of the sample, from 0.
    pub index: usize,
    /// What happened in the loop since its sample before.
    pub part: T,
    /// The loop has ended before this sample was due: what it adds to it, if other loops go on.
    pub last: bool,
}

/// Counts since the sample before, over the time that has really passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Replies per second.
    pub replies: f64,
    /// Sessions per second that succeeded.
    pub sessions: f64,
}

impl AddAssign for Rates {
    fn add_assign(&mut self, other: Self) {
        self.replies += other.replies;
        self.sessions += other.sessions;
    }
}

/// When samples are due, and which is the next: what collectors of samples have in common.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// How many samples are whole.
    taken: usize,
    since: Time,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { taken: 0, since: Time::NEVER }
    }
}

impl Sampler {
    /// If a sample is due, `part` makes it from the seconds since the one before. At the end there is one
    /// that counts only where other loops go on: it is made from the seconds of a whole one.
    #[inline(always)]
    pub(crate) fn on<T>(
        &mut self,
        event: &Event,
        core: &Core,
        part: impl FnOnce(f64) -> T,
    ) -> Option<Sample<T>> {
        match *event {
            Event::Tick { at } => {
                let since = if self.since.is_set() { self.since } else { core.started_at() };
                let part = part(at.seconds_since(since));
                let sample = Sample { index: self.taken, part, last: false };
                (self.taken, self.since) = (self.taken + 1, at);
                Some(sample)
            }
            Event::Stopped { .. } => {
                let span = |ticks: Ticks| if self.taken == 0 { ticks.first } else { ticks.every };
                let seconds = core.scenario().ticks.map_or(0.0, |ticks| span(ticks) as f64 / 1e9);
                Some(Sample { index: self.taken, part: part(seconds), last: true })
            }
            _ => None,
        }
    }
}

/// A count per second; 0 in no time.
pub(crate) fn per_s(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// Takes a sample at every tick. No partial sample is taken at the end.
#[derive(Debug)]
pub struct Samples<F> {
    tell: F,
    told: Vec<Sample>,
    sampler: Sampler,
    replies: u64,
    sessions: u64,
}

impl<F: FnMut(Sample)> Samples<F> {
    /// Each sample is told at once.
    pub fn new(tell: F) -> Self {
        Self { tell, told: Vec::new(), sampler: Sampler::default(), replies: 0, sessions: 0 }
    }

    /// All that was told.
    pub fn into_samples(self) -> Vec<Sample> {
        self.told
    }
}

impl<F: FnMut(Sample)> Collector for Samples<F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        match *event {
            Event::CallRecvStop { .. } => self.replies += 1,
            Event::SessionEnded { outcome: Outcome::Succeeded, .. } => self.sessions += 1,
            Event::Tick { .. } | Event::Stopped { .. } => {
                let (replies, sessions) = (take(&mut self.replies), take(&mut self.sessions));
                let rates =
                    |seconds| Rates { replies: per_s(replies, seconds), sessions: per_s(sessions, seconds) };
                if let Some(sample) = self.sampler.on(event, core, rates) {
                    self.told.push(sample);
                    (self.tell)(sample);
                }
            }
            _ => {}
        }
    }
}

/// The samples of all loops, put together. A sample is whole when every loop has told its part; of a loop
/// that has ended nothing more is awaited, but what it had not yet told counts.
#[derive(Debug)]
pub struct Gathered<T = Rates> {
    loops: usize,
    /// Of each sample, how many loops have told their part, and the sum of these.
    parts: Vec<(usize, T)>,
    /// What loops that have ended add, and to which sample.
    rests: Vec<(usize, T)>,
    whole: Vec<T>,
}

impl<T: Copy + Default + AddAssign> Gathered<T> {
    /// For so many loops.
    pub fn new(loops: usize) -> Self {
        Self { loops, parts: Vec::new(), rests: Vec::new(), whole: Vec::new() }
    }

    /// Takes the part of a loop, and tells the samples of all loops together that are whole now.
    pub fn add(&mut self, sample: Sample<T>, mut tell: impl FnMut(T)) {
        let Sample { index, part, last } = sample;
        if last {
            self.rests.push((index, part));
        } else {
            if self.parts.len() <= index {
                self.parts.resize(index + 1, (0, T::default()));
            }
            self.parts[index].0 += 1;
            self.parts[index].1 += part;
        }
        while let Some(sum) = self.sum(self.whole.len()) {
            self.whole.push(sum);
            tell(sum);
        }
    }

    /// The samples of all loops together.
    pub fn into_samples(self) -> Vec<T> {
        self.whole
    }

    fn sum(&self, index: usize) -> Option<T> {
        let (told, mut sum) = *self.parts.get(index)?;
        let ended = self.rests.iter().filter(|(next, _)| *next <= index).count();
        // No loop has ticked: the run was over before.
        if told == 0 || told + ended < self.loops {
            return None;
        }
        self.rests.iter().filter(|(next, _)| *next == index).for_each(|(_, rest)| sum += *rest);
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(loops: usize, samples: &[(usize, f64, bool)]) -> (Vec<f64>, Vec<f64>) {
        let mut gathered = Gathered::new(loops);
        let mut told = Vec::new();
        for &(index, replies, last) in samples {
            let part = Rates { replies, sessions: replies / 2.0 };
            gathered.add(Sample { index, part, last }, |rates| {
                assert_eq!(rates.sessions, rates.replies / 2.0);
                told.push(rates.replies);
            });
        }
        (told, gathered.into_samples().iter().map(|rates| rates.replies).collect())
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
