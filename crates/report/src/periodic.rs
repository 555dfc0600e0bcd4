//! The line of `--periodic-stats` (an option of httperf 0.9.1): what happened since the line before.

use httperf_stat::Period;

/// One line, with its end. Rates are of the period, times are means over what ended in it.
pub fn periodic(period: &Period) -> String {
    let Period { end_s, connections_per_s, requests_per_s, replies_per_s, errors, connect, response } =
        period;
    format!(
        "Periodic stats: t {end_s:.1} s conn {connections_per_s:.1}/s req {requests_per_s:.1}/s \
         reply {replies_per_s:.1}/s errors {errors} connect {:.1} ms response {:.1} ms\n",
        1e3 * connect.mean_s(),
        1e3 * response.mean_s()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use httperf_stat::MeanTime;

    #[test]
    fn a_period_is_one_line() {
        let period = Period {
            end_s: 5.0,
            connections_per_s: 20.0,
            requests_per_s: 20.0,
            replies_per_s: 19.8,
            errors: 1,
            connect: MeanTime { count: 10, sum_ns: 1_000_000 },
            response: MeanTime { count: 2, sum_ns: 1_000_000 },
        };
        assert_eq!(
            periodic(&period),
            "Periodic stats: t 5.0 s conn 20.0/s req 20.0/s reply 19.8/s errors 1 connect 0.1 ms response 0.5 ms\n"
        );
        assert_eq!(
            periodic(&Period::default()),
            "Periodic stats: t 0.0 s conn 0.0/s req 0.0/s reply 0.0/s errors 0 connect 0.0 ms response 0.0 ms\n"
        );
    }
}
