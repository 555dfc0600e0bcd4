//! Whether a run, once warm, stayed what it was: only then is there one figure for it.
//!
//! ```text
//!   slices --> warm-up is set aside --> batches --> backlog? trend? spread of the halves? period? --> State
//! ```

use crate::percentile::Percentile;
use crate::period::period;
use crate::series::Series;
use crate::trend::{inflation, median, trend};
use crate::warmup::{filled, log, mean_log, warmup};

/// With fewer batches nothing is said.
const BATCHES: usize = 20;
/// A batch has so many replies in the mean, or its median says little.
const REPLIES: f64 = 10.0;
/// A trend that changes less than this over the whole run, as a part of the level, harms no figure.
const HARMLESS: f64 = 0.01;
/// A backlog grows if at least this part of what is offered is left undone, ...
const UNDONE: f64 = 0.001;
/// ... and the calls in flight grow by so many standard deviations of their steps, ...
const WANDERS: f64 = 2.5;
/// ... and the last third of the run has so many times the calls in flight of the first.
const GROWN: f64 = 1.5;
/// The halves differ in spread beyond this many standard deviations, ...
const SPREAD: f64 = 3.5;
/// ... and by this ratio of their variances, ...
const RATIO: f64 = 3.0;
/// ... and if the wider one moves at all: its standard deviation, as a part of the level.
const MOVES: f64 = 0.01;
/// With so many rounds in the run a period does not harm its figures: they are those of whole rounds.
const ROUNDS: f64 = 10.0;

/// Where the steady part is to begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warmup {
    /// Where the evidence says.
    Found,
    /// After so many seconds: what `--warmup` gave; 0 keeps everything.
    Given(f64),
}

/// What drifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The median of the times.
    Median,
    /// Replies per second.
    Rate,
}

impl Quantity {
    fn key(self) -> &'static str {
        match self {
            Quantity::Median => "p50",
            Quantity::Rate => "rate",
        }
    }
}

/// How the run behaved behind the cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It stayed what it was, as far as can be seen.
    Stationary,
    /// It went up or down.
    Drifting {
        /// What did.
        what: Quantity,
        /// By how much, in per cent of the level per minute.
        percent_per_min: f64,
        /// And over the whole steady part, in per cent.
        percent: f64,
    },
    /// It went from one level to another, all at once.
    LevelChanges {
        /// What did.
        what: Quantity,
        /// When, in seconds from the start of the run.
        at_s: f64,
        /// By how much, in per cent.
        percent: f64,
    },
    /// Calls came faster than they were done.
    BacklogGrows {
        /// Calls in flight that each second added.
        per_s: f64,
    },
    /// One half moved more than the other.
    SpreadChanges {
        /// Variance of the batch medians in the second half over that in the first.
        ratio: f64,
    },
    /// It went round and round.
    Periodic {
        /// How long a round takes, in seconds.
        period_s: f64,
        /// How many rounds there were.
        rounds: f64,
    },
    /// It is too short to say.
    TooShort {
        /// How long the whole run would have to be, in seconds, as far as this one tells; `None` if it has no
        /// replies.
        needed_s: Option<f64>,
    },
}

/// The steady part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Steady {
    /// Where it begins, in seconds from the start; 0 if nothing is set aside.
    pub from_s: f64,
    /// The first slice of it.
    pub from_slice: usize,
    /// How the cut was found, and what was looked for behind it.
    pub method: &'static str,
    /// What was found behind it.
    pub state: State,
}

impl Steady {
    /// What is set aside, in words.
    pub fn set_aside(&self) -> Option<String> {
        (self.from_slice > 0).then(|| format!("first {} s set aside (warm-up)", short(self.from_s)))
    }

    /// Whether one figure stands for all of it; `None` if it is too short to say.
    pub fn stationary(&self) -> Option<bool> {
        match self.state {
            State::TooShort { .. } => None,
            State::Stationary => Some(true),
            State::Periodic { rounds, .. } => Some(rounds >= ROUNDS),
            _ => Some(false),
        }
    }

    /// What a reader should know of its state; nothing if that is stationary.
    pub fn note(&self) -> Option<String> {
        match self.state {
            State::Stationary => None,
            State::Drifting { what, percent_per_min, percent } => Some(format!(
                "{} drifting {percent_per_min:+.*} %/min ({percent:+.*} % over the run)",
                what.key(),
                digits(percent_per_min),
                digits(percent)
            )),
            State::LevelChanges { what, at_s, percent } => Some(format!(
                "{} changes by {percent:+.*} % at {} s",
                what.key(),
                digits(percent),
                short(at_s)
            )),
            State::BacklogGrows { per_s } => {
                Some(format!("backlog grows by {per_s:.*} calls/s", digits(per_s)))
            }
            State::SpreadChanges { ratio } if ratio > 1.0 => {
                Some(format!("the second half varies more than the first (variance x {ratio:.1})"))
            }
            State::SpreadChanges { ratio } => {
                Some(format!("the first half varies more than the second (variance x {:.1})", 1.0 / ratio))
            }
            State::Periodic { period_s, rounds } => Some(format!(
                "periodic: a round takes {} s, the run has {rounds:.0} of them",
                short(period_s)
            )),
            State::TooShort { needed_s: Some(needed_s) } => {
                Some(format!("too short to tell whether it was steady, it takes about {} s", needed_s.ceil()))
            }
            State::TooShort { needed_s: None } => Some("no reply tells whether it was steady".into()),
        }
    }
}

/// One digit behind the point where that is all there is.
fn digits(value: f64) -> usize {
    if value.abs() < 3.0 { 1 } else { 0 }
}

fn short(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

/// The steady part of a run, from its slices since the start with their response times.
pub fn steady(series: &Series, warmup_is: Warmup) -> Steady {
    let (from_slice, method) = match warmup_is {
        Warmup::Found => (
            warmup(series),
            "MSER on 1 s batches of rate and log response time, confirmed by a change of p50, p99 or rate; \
             Mann-Kendall trend, spread of the halves, period, backlog",
        ),
        Warmup::Given(seconds) => {
            let slices = (seconds.max(0.0) / series.slice_s()).ceil() as usize;
            let method = "warm-up as given; Mann-Kendall trend, spread of the halves, period, backlog";
            (slices.min(series.slices().len()), method)
        }
    };
    let from_s = from_slice as f64 * series.slice_s();
    Steady { from_s, from_slice, method, state: state(&series.behind(from_slice), from_s) }
}

fn state(series: &Series, from_s: f64) -> State {
    let slices = series.slices();
    let replies: u64 = slices.iter().map(|slice| slice.replies).sum();
    if replies == 0 {
        return State::TooShort { needed_s: None };
    }
    let a_batch = (REPLIES * slices.len() as f64 / replies as f64).ceil() as usize;
    let batches = series.coarser(a_batch.max(slices.len() / 30));
    let count = batches.slices().len();
    if count < BATCHES {
        let needed_s = from_s + BATCHES as f64 * a_batch as f64 * series.slice_s();
        return State::TooShort { needed_s: Some(needed_s) };
    }
    let medians: Vec<Option<f64>> =
        batches.slices().iter().map(|batch| log(batch, Percentile::P50)).collect();
    let medians = filled(&medians);
    backlog(&batches)
        .or_else(|| drift(&batches, &medians, from_s))
        .or_else(|| spread(&medians))
        .or_else(|| rounds(&series.coarser(a_batch.max(slices.len() / 120))))
        .unwrap_or(State::Stationary)
}

/// Calls in flight wander like a sum of chances, so the trend is that of their steps: where the run began and
/// ended, against what as many steps of that size come to by chance.
fn backlog(batches: &Series) -> Option<State> {
    let in_flight: Vec<f64> = batches.slices().iter().map(|batch| batch.in_flight).collect();
    let steps: Vec<f64> = in_flight.windows(2).map(|two| two[1] - two[0]).collect();
    let count = steps.len() as f64;
    let step = steps.iter().sum::<f64>() / count;
    let squares: f64 = steps.iter().map(|one| (one - step).powi(2)).sum();
    let score = step * count / (squares / (count - 1.0) * count).sqrt().max(f64::MIN_POSITIVE);
    let third = in_flight.len() / 3;
    let of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (of(&in_flight[..third]), of(&in_flight[in_flight.len() - third..]));
    let rate = batches.whole().replies as f64 / batches.length_s();
    let per_s = step / batches.slice_s();
    let grows = score > WANDERS && per_s > UNDONE * rate && last > GROWN * first;
    grows.then_some(State::BacklogGrows { per_s })
}

fn drift(batches: &Series, medians: &[f64], from_s: f64) -> Option<State> {
    let mean = batches.slices().iter().map(|batch| batch.replies as f64).sum::<f64>() / medians.len() as f64;
    let rates: Vec<f64> = batches.slices().iter().map(|batch| batch.replies as f64 / mean).collect();
    let found = |what: Quantity, row: &[f64]| {
        let trend = trend(row);
        // Times are in logarithms, rates in parts of their mean.
        let percent = |part: f64| 100.0 * if what == Quantity::Median { part.exp_m1() } else { part };
        let (change, state) = match trend.step {
            Some(step) => {
                let at_s = from_s + step.at as f64 * batches.slice_s();
                (step.height, State::LevelChanges { what, at_s, percent: percent(step.height) })
            }
            None => {
                let change = trend.slope * row.len() as f64;
                let percent_per_min = percent(trend.slope / batches.slice_s() * 60.0);
                (change, State::Drifting { what, percent_per_min, percent: percent(change) })
            }
        };
        (trend.is_significant() && change.abs() >= HARMLESS).then_some((change.abs(), state))
    };
    let both = [found(Quantity::Median, medians), found(Quantity::Rate, &rates)];
    both.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, state)| state)
}

/// Brown and Forsythe's test (1974): the distances from the median of each half, compared.
fn spread(row: &[f64]) -> Option<State> {
    let (first, second) = row.split_at(row.len() / 2);
    let [first, second] = [first, second].map(|half| {
        let middle = median(&mut half.to_vec());
        half.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>()
    });
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let error = |row: &[f64]| {
        let level = mean(row);
        let squares: f64 = row.iter().map(|value| (value - level).powi(2)).sum();
        let count = row.len() as f64;
        squares / (count - 1.0) / count * inflation(row)
    };
    let squares = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>() / row.len() as f64;
    let (of_first, of_second) = (squares(&first), squares(&second));
    let apart = (mean(&first) - mean(&second)).abs();
    let wide = of_first.max(of_second);
    let found = apart > SPREAD * (error(&first) + error(&second)).sqrt()
        && wide > RATIO * of_first.min(of_second)
        && wide.sqrt() > MOVES;
    // A half that does not move at all has no ratio to speak of.
    found.then(|| State::SpreadChanges { ratio: of_second.max(wide / 1e6) / of_first.max(wide / 1e6) })
}

fn rounds(batches: &Series) -> Option<State> {
    let row: Vec<Option<f64>> = batches.slices().iter().map(mean_log).collect();
    let period = period(&filled(&row))?;
    Some(State::Periodic { period_s: period * batches.slice_s(), rounds: row.len() as f64 / period })
}
