//! Days of the calendar: which ones there are, and how they are written.

/// A day: year, month, day.
pub type Day = (i32, u8, u8);

/// How many days a month has.
pub fn days_in(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Is there such a day?
pub fn valid(year: i32, month: u8, day: u8) -> bool {
    (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
}

/// Reads `2020-02-29` and nothing else.
pub fn parse_day(text: &str) -> Option<Day> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, b)| match at {
            4 | 7 => *b == b'-',
            _ => b.is_ascii_digit(),
        });
    let number = |range: std::ops::Range<usize>| text[range].parse::<i32>().ok();
    let (year, month, day) =
        if shaped { (number(0..4)?, number(5..7)? as u8, number(8..10)? as u8) } else { return None };
    valid(year, month, day).then_some((year, month, day))
}

/// Reads `23:59:58` into seconds.
pub fn parse_time(text: &str) -> Option<u32> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 8
        && bytes.iter().enumerate().all(|(at, b)| match at {
            2 | 5 => *b == b':',
            _ => b.is_ascii_digit(),
        });
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().ok();
    let (hour, minute, second) =
        if shaped { (number(0..2)?, number(3..5)?, number(6..8)?) } else { return None };
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Reads `2020-02-29 23:59:58` and nothing else.
pub fn parse_moment(text: &str) -> Option<(Day, u32)> {
    let (day, time) = text.split_once(' ')?;
    Some((parse_day(day)?, parse_time(time)?))
}

/// `2020-02-29`
pub fn day_text(year: i32, month: u8, day: u8) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2020-02-29 23:59:58`
pub fn moment_text(year: i32, month: u8, day: u8, seconds: u32) -> String {
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{} {hour:02}:{minute:02}:{second:02}", day_text(year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar() {
        assert_eq!(parse_day("2020-02-29"), Some((2020, 2, 29)));
        assert_eq!(parse_day("2100-02-29"), None);
        assert_eq!(parse_day("2020-2-29"), None);
        assert_eq!(parse_moment("1999-12-31 23:59:58"), Some(((1999, 12, 31), 86398)));
        assert_eq!(moment_text(1999, 12, 31, 86398), "1999-12-31 23:59:58");
    }
}
