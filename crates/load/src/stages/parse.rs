//! Stages as text: `ramp 0..2000/s over 30s, hold 60s, step 500/s every 10s to 4000/s`.

use httperf_engine::Nanos;

use super::Stage;

/// What is wrong with a text of stages, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {fault}")]
pub struct StagesError {
    /// The character at fault, counted from 1; one behind the text if something is missing.
    pub column: usize,
    /// How many characters are meant; 0 if something is missing.
    pub width: usize,
    /// What is wrong there.
    pub fault: StagesFault,
}

/// What can be wrong with a text of stages. Each says what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StagesFault {
    /// Something else stood there, or nothing.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A unit that is none.
    #[error("unknown unit; rates are `/s` or `/min`, times `ms`, `s`, `m` or `h`")]
    Unit,
    /// A number too large for what it is.
    #[error("too large; a rate is at most 1000000000/s, all stages together at most 10000h")]
    TooLarge,
    /// A stage of no length.
    #[error("a stage must last longer than 0")]
    Empty,
    /// `hold` without a rate.
    #[error("there is no rate to hold yet; write `hold RATE for TIME`")]
    NothingToHold,
    /// `step` that is already there.
    #[error("the rate is there already; write `hold TIME`")]
    NoStep,
    /// `step` by nothing, or by next to nothing.
    #[error("this takes more than 10000 steps; write a larger step, or `ramp A..B over TIME`")]
    TooManySteps,
    /// No arrival at all.
    #[error("no stage has a rate above 0")]
    NoArrivals,
}

const RATE_MAX: f64 = 1e9;
const TIME_MAX_S: f64 = 10_000.0 * 3600.0;
const STEPS_MAX: f64 = 10_000.0;

/// The stages of a text.
pub(super) fn stages(text: &str) -> Result<Vec<Stage>, StagesError> {
    let mut reader = Reader { text, at: 0 };
    let mut stages = Vec::new();
    loop {
        reader.stage(&mut stages)?;
        let total: f64 = stages.iter().map(|stage| stage.lasts as f64 / 1e9).sum();
        if total > TIME_MAX_S {
            return Err(reader.fault(reader.at..reader.at, StagesFault::TooLarge));
        }
        reader.blanks();
        if reader.rest().is_empty() {
            break;
        }
        if !reader.takes(",") {
            return Err(reader.expected("`,` and another stage, or the end"));
        }
    }
    if stages.iter().all(|stage| stage.from_per_s + stage.to_per_s <= 0.0) {
        return Err(reader.fault(0..text.len(), StagesFault::NoArrivals));
    }
    Ok(stages)
}

struct Reader<'a> {
    text: &'a str,
    /// Bytes of it that were read.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn fault(&self, bytes: std::ops::Range<usize>, fault: StagesFault) -> StagesError {
        let column = self.text[..bytes.start].chars().count() + 1;
        StagesError { column, width: self.text[bytes].chars().count(), fault }
    }

    /// Here stands something other than it should.
    fn expected(&self, what: &'static str) -> StagesError {
        let rest = self.rest();
        let word = |c: char| !c.is_whitespace() && c != ',';
        let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
        self.fault(self.at..self.at + length, StagesFault::Expected(what))
    }

    fn takes(&mut self, token: &str) -> bool {
        self.blanks();
        let there = self.rest().starts_with(token);
        self.at += if there { token.len() } else { 0 };
        there
    }

    fn word(&mut self, word: &'static str, what: &'static str) -> Result<(), StagesError> {
        self.blanks();
        let length = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        if &self.rest()[..length] != word {
            return Err(self.expected(what));
        }
        self.at += length;
        Ok(())
    }

    fn stage(&mut self, stages: &mut Vec<Stage>) -> Result<(), StagesError> {
        self.blanks();
        let before = stages.last().map(|stage: &Stage| stage.to_per_s);
        let length = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        let (from, word) = (self.at, &self.rest()[..length]);
        match word {
            "ramp" => {
                self.at += length;
                stages.push(self.ramp()?);
            }
            "hold" => {
                self.at += length;
                stages.push(self.hold(from, before)?);
            }
            "step" => {
                self.at += length;
                self.steps(before.unwrap_or(0.0), stages)?;
            }
            _ => return Err(self.expected("`ramp`, `hold` or `step`")),
        }
        Ok(())
    }

    fn ramp(&mut self) -> Result<Stage, StagesError> {
        const RANGE: &str = "two rates, as in `ramp 0..2000/s over 30s`";
        let (from, scale) = self.number(RANGE).and_then(|number| Ok((number, self.per_s()?)))?;
        if !self.takes("..") {
            return Err(self.expected("`..` and the rate to reach, as in `ramp 0..2000/s over 30s`"));
        }
        let to = self.number(RANGE)?;
        let to_scale = self.per_s()?;
        // `10..50/min`: the unit is that of both.
        let scale = scale.or(to_scale).unwrap_or(1.0);
        let from_per_s = self.rate_of(from, scale)?;
        let to_per_s = self.rate_of(to, to_scale.unwrap_or(scale))?;
        self.word("over", "`over` and a time, as in `over 30s`")?;
        Ok(Stage { from_per_s, to_per_s, lasts: self.time()? })
    }

    fn hold(&mut self, from: usize, before: Option<f64>) -> Result<Stage, StagesError> {
        let started = {
            self.blanks();
            self.at
        };
        let number = self.number("a time, as in `hold 60s`, or a rate, as in `hold 500/s for 60s`")?;
        let scale = self.per_s()?;
        let mut ahead = Reader { text: self.text, at: self.at };
        if scale.is_some() || ahead.word("for", "").is_ok() {
            let per_s = self.rate_of(number, scale.unwrap_or(1.0))?;
            self.word("for", "`for` and a time, as in `hold 500/s for 60s`")?;
            return Ok(Stage { from_per_s: per_s, to_per_s: per_s, lasts: self.time()? });
        }
        let Some(per_s) = before else {
            return Err(self.fault(from..from + "hold".len(), StagesFault::NothingToHold));
        };
        self.at = started;
        Ok(Stage { from_per_s: per_s, to_per_s: per_s, lasts: self.time()? })
    }

    fn steps(&mut self, before: f64, stages: &mut Vec<Stage>) -> Result<(), StagesError> {
        let begin = {
            self.blanks();
            self.at
        };
        let step = self.rate("the height of a step, as in `step 500/s every 10s to 4000/s`")?;
        let end = self.at;
        self.word("every", "`every` and a time, as in `every 10s`")?;
        let lasts = self.time()?;
        self.word("to", "`to` and the last rate, as in `to 4000/s`")?;
        let goal_at = {
            self.blanks();
            self.at
        };
        let goal = self.rate("the last rate, as in `to 4000/s`")?;
        let way = goal - before;
        if way == 0.0 {
            return Err(self.fault(goal_at..self.at, StagesFault::NoStep));
        }
        let count = (way.abs() / step - 1e-9).ceil();
        if !count.is_finite() || count > STEPS_MAX {
            return Err(self.fault(begin..end, StagesFault::TooManySteps));
        }
        // Multiplied, not added up: the last one is the goal to the digit.
        stages.extend((1..=count as u32).map(|k| {
            let there = f64::from(k) >= count;
            let per_s = if there { goal } else { before + step.copysign(way) * f64::from(k) };
            Stage { from_per_s: per_s, to_per_s: per_s, lasts }
        }));
        Ok(())
    }

    /// A number and where it stands.
    fn number(&mut self, what: &'static str) -> Result<(f64, std::ops::Range<usize>), StagesError> {
        self.blanks();
        let rest = self.rest().as_bytes();
        let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = digits(0);
        // The first of two dots begins a range.
        if rest.get(length) == Some(&b'.') && rest.get(length + 1).is_some_and(u8::is_ascii_digit) {
            length += 1 + digits(length + 1);
        }
        match self.rest()[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok((number, self.at - length..self.at))
            }
            Err(_) => Err(self.expected(what)),
        }
    }

    /// The unit of a rate, if there is one, as a factor.
    fn per_s(&mut self) -> Result<Option<f64>, StagesError> {
        if !self.rest().starts_with('/') {
            return Ok(None);
        }
        let length = 1 + self.rest()[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let factor = match &self.rest()[..length] {
            "/s" => 1.0,
            "/min" => 1.0 / 60.0,
            _ => return Err(self.fault(self.at..self.at + length, StagesFault::Unit)),
        };
        self.at += length;
        Ok(Some(factor))
    }

    fn rate_of(&self, (number, at): (f64, std::ops::Range<usize>), factor: f64) -> Result<f64, StagesError> {
        // 3/min is 3 / 60: division keeps whole results whole.
        let per_s = if factor < 1.0 { number / factor.recip().round() } else { number };
        if per_s <= RATE_MAX { Ok(per_s) } else { Err(self.fault(at, StagesFault::TooLarge)) }
    }

    fn rate(&mut self, what: &'static str) -> Result<f64, StagesError> {
        let number = self.number(what)?;
        let factor = self.per_s()?.unwrap_or(1.0);
        self.rate_of(number, factor)
    }

    fn time(&mut self) -> Result<Nanos, StagesError> {
        let (number, at) = self.number("a time, as in `30s`")?;
        let length =
            self.rest().bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'/').count();
        let factor = match &self.rest()[..length] {
            "" | "s" => 1.0,
            "ms" => 1e-3,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(self.fault(self.at..self.at + length, StagesFault::Unit)),
        };
        self.at += length;
        let seconds: f64 = number * factor;
        if seconds > TIME_MAX_S {
            return Err(self.fault(at, StagesFault::TooLarge));
        }
        let nanos = (seconds * 1e9).round() as Nanos;
        if nanos == 0 { Err(self.fault(at.start..self.at, StagesFault::Empty)) } else { Ok(nanos) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    /// From, to, seconds.
    fn read(text: &str) -> Vec<(f64, f64, f64)> {
        let stages = stages(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        stages.iter().map(|it| (it.from_per_s, it.to_per_s, it.lasts as f64 / 1e9)).collect()
    }

    #[test]
    fn the_example_of_the_manual_is_what_it_says() {
        let stages = read("ramp 0..2000/s over 30s, hold 60s, step 500/s every 10s to 4000/s");
        assert_eq!(stages[..2], [(0.0, 2000.0, 30.0), (2000.0, 2000.0, 60.0)]);
        let levels: Vec<_> = stages[2..].iter().map(|it| (it.0, it.1, it.2)).collect();
        assert_eq!(levels, [2500.0, 3000.0, 3500.0, 4000.0].map(|rate| (rate, rate, 10.0)));
    }

    #[test]
    fn units_are_understood_and_bare_numbers_are_seconds() {
        assert_eq!(read("ramp 60..120/min over 500ms"), [(1.0, 2.0, 0.5)]);
        assert_eq!(read("ramp 1/s..120/min over 2m"), [(1.0, 2.0, 120.0)]);
        assert_eq!(read(" hold 2.5 for 1h ,hold 3"), [(2.5, 2.5, 3600.0), (2.5, 2.5, 3.0)]);
        assert_eq!(read("ramp 1.5..2.5 over 1"), [(1.5, 2.5, 1.0)]);
    }

    #[test]
    fn steps_go_down_too_and_the_last_one_ends_at_the_goal() {
        let levels = |text| read(text).iter().skip(1).map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(levels("hold 10/s for 1s, step 3/s every 1s to 1/s"), [7.0, 4.0, 1.0]);
        assert_eq!(levels("hold 1/s for 1s, step 4/s every 1s to 10/s"), [5.0, 9.0, 10.0]);
        assert_eq!(levels("hold 1/s for 1s, step 0.1/s every 1s to 2/s").len(), 10);
        assert_eq!(read("step 5/s every 1s to 10/s"), [(5.0, 5.0, 1.0), (10.0, 10.0, 1.0)]);
    }

    #[test]
    fn errors_point_at_what_is_wrong() {
        for (text, column, width, says) in [
            ("", 1, 0, "expected `ramp`, `hold` or `step`"),
            ("rump 0..1 over 1s", 1, 4, "expected `ramp`"),
            ("ramp 0..2000/x over 30s", 13, 2, "unknown unit"),
            ("ramp 0 2000 over 30s", 8, 4, "expected `..`"),
            ("ramp 0..2000/s for 30s", 16, 3, "expected `over`"),
            ("ramp 0..2000/s over 30d", 23, 1, "unknown unit"),
            ("ramp 0..2000/s over", 20, 0, "expected a time"),
            ("ramp 0..2/s over 0s", 18, 2, "longer than 0"),
            ("hold 60s", 1, 4, "hold RATE for TIME"),
            ("hold 1/s 60s", 10, 3, "expected `for`"),
            ("hold 1/s for 60s; hold 1s", 17, 1, "expected `,`"),
            ("hold 1/s for 60s,", 18, 0, "expected `ramp`"),
            ("hold -1/s for 60s", 6, 4, "expected a time"),
            ("hold 1/s for 1s, step 1/s every 1s to 1/s", 39, 3, "there already"),
            ("hold 1/s for 1s, step 0/s every 1s to 9/s", 23, 3, "10000 steps"),
            ("hold 1/s for 1s, step 0.001/s every 1s to 99/s", 23, 7, "10000 steps"),
            ("hold 0/s for 1s", 1, 15, "no stage has a rate"),
            ("hold 1000000001/s for 1s", 6, 10, "too large"),
            ("hold 1/s for 10001h", 14, 5, "too large"),
            ("hold 1/s for 9000h, hold 9000h", 31, 0, "too large"),
            ("hold 1/s for 60ſ", 16, 1, "expected `,`"),
            ("é", 1, 1, "expected `ramp`"),
        ] {
            let error = stages(text).expect_err(text);
            assert_eq!((error.column, error.width), (column, width), "{text}: {error}");
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn no_text_is_a_panic() {
        let good = "ramp 0..2000/s over 30s, hold 60s, step 500/s every 10s to 4000/s";
        for cut in 0..=good.len() {
            for odd in ["", "é", "..", "/", ",", " ", "9999999999999999999999", "0", "-"] {
                let text = format!("{}{odd}{}", &good[..cut], &good[(cut + odd.len()).min(good.len())..]);
                if let Ok(stages) = stages(&text) {
                    assert!(
                        stages.iter().all(|stage| stage.lasts > 0 && stage.lasts < u64::MAX / 4 + SECOND)
                    );
                }
            }
        }
    }
}
