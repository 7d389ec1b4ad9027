//! The date of an HTTP answer: `Sun, 06 Nov 1994 08:49:37 GMT`.

use crate::Moment;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_SECONDS: i64 = 86_400;

pub(crate) fn of_http(text: &str) -> Option<Moment> {
    let (_, rest) = text.split_once(", ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let [day, month, year, clock, "GMT"] = words[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let clock: Vec<i64> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hour, minute, second] = clock[..] else { return None };
    let days = days(year.parse().ok()?, i64::try_from(month).ok()? + 1, day.parse().ok()?);
    let seconds = days.checked_mul(DAY_SECONDS)?.checked_add(hour * 3600 + minute * 60 + second)?;
    Some(Moment::of_unix_milliseconds(seconds.checked_mul(1000)?))
}

/// Days since the beginning of 1970, in the calendar of today (Hinnant's `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year.clamp(1970, 9999) - i64::from(month <= 2);
    let (era, month) = (year / 400, (month + 9) % 12);
    let of_era = year - era * 400;
    let of_year = (153 * month + 2) / 5 + day.clamp(1, 31) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::of_http;

    fn seconds(text: &str) -> Option<i64> {
        of_http(text).map(|moment| moment.unix_milliseconds() / 1000)
    }

    #[test]
    fn dates_are_read_as_servers_write_them() {
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in ["", "now", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
