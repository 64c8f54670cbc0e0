//! The time of day, for names and dates: the one place of the command that asks for it, beside what measures.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Since 1970.
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// `2026-11-16`, in UTC.
pub fn today() -> String {
    stamp(now().as_secs()).chars().take_while(|c| *c != 'T').collect()
}

/// `2026-11-16 14:31 UTC`
pub fn minute(seconds: u64) -> String {
    let stamp = stamp(seconds);
    let (day, time) = stamp.split_once('T').unwrap_or((&stamp, ""));
    format!("{day} {} UTC", time.replace('-', ":"))
}

/// `2026-11-16T14-31`, in UTC.
pub fn stamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have their odd day at their end.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * march + 2) / 5 + 1, if march < 10 { march + 3 } else { march - 9 });
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}T{:02}-{:02}", rest / 3600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_as_a_name() {
        assert_eq!(stamp(0), "1970-01-01T00-00");
        assert_eq!(stamp(951_782_400), "2000-02-29T00-00");
        assert_eq!(stamp(1_794_839_460), "2026-11-16T14-31");
        assert_eq!(stamp(4_107_542_399), "2100-02-28T23-59");
        assert_eq!(stamp(4_107_542_400), "2100-03-01T00-00");
        assert_eq!(minute(1_794_839_460), "2026-11-16 14:31 UTC");
        assert_eq!(today().len(), "2026-11-16".len());
    }
}
