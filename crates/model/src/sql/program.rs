//! Triggers, functions and procedures: texts that hold statements of their own. They have no tree; what is known of one is that it
//! is one, and where its body ends.

/// Words that say what a CREATE creates.
const PROGRAMS: [&str; 4] = ["TRIGGER", "FUNCTION", "PROCEDURE", "EVENT"];
const OTHERS: [&str; 9] =
    ["TABLE", "INDEX", "VIEW", "DATABASE", "SCHEMA", "USER", "ROLE", "SEQUENCE", "TYPE"];

/// Before that word stand at most OR REPLACE, DEFINER with an account, and a word or two more.
const WORDS_BEFORE: usize = 10;

/// Does this text create a trigger, a function or a procedure?
pub fn creates_program(text: &str) -> bool {
    let mut words = text.split(|c: char| !in_name(c)).filter(|word| !word.is_empty());
    let is = |word: &str, list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    words.next().is_some_and(|word| is(word, &["CREATE"]))
        && words
            .take(WORDS_BEFORE)
            .find(|word| is(word, &PROGRAMS) || is(word, &OTHERS))
            .is_some_and(|word| is(word, &PROGRAMS))
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The blocks of a body that are open: fed with the words and marks of a text from its beginning, without quotes and comments.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramBlocks {
    depth: usize,
    /// May a statement begin here? Then IF and REPEAT are no functions.
    begins: bool,
    /// Did END just close a block? The word after it says which.
    closed: bool,
}

impl ProgramBlocks {
    /// Does a `;` here belong to the body?
    pub fn is_open(self) -> bool {
        self.depth > 0
    }

    pub fn word(&mut self, word: &str) {
        let closed = std::mem::take(&mut self.closed);
        let begins = std::mem::take(&mut self.begins);
        match word.to_ascii_uppercase().as_str() {
            "IF" | "CASE" | "LOOP" | "WHILE" | "REPEAT" | "FOR" if closed => {}
            "BEGIN" => (self.depth, self.begins) = (self.depth + 1, true),
            "CASE" => self.depth += 1,
            "IF" | "WHILE" | "FOR" if begins => self.depth += 1,
            "LOOP" | "REPEAT" if begins => (self.depth, self.begins) = (self.depth + 1, true),
            "END" => (self.depth, self.closed) = (self.depth.saturating_sub(1), true),
            // ROW ends `FOR EACH ROW`, after which a trigger's body stands.
            "THEN" | "ELSE" | "DO" | "ROW" => self.begins = true,
            _ => {}
        }
    }

    pub fn mark(&mut self, mark: u8) {
        self.closed = false;
        // After a label, too.
        self.begins = matches!(mark, b';' | b':');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_creates_a_program() {
        for text in [
            "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
            "create definer=`root`@`localhost` procedure p() select 1",
            "CREATE OR REPLACE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql",
            "CREATE CONSTRAINT TRIGGER x AFTER INSERT ON t EXECUTE FUNCTION f()",
        ] {
            assert!(creates_program(text), "{text}");
        }
        for text in
            ["CREATE TABLE function(a INT)", "DROP TRIGGER x", "CREATE UNIQUE INDEX event ON t (a)", ""]
        {
            assert!(!creates_program(text), "{text}");
        }
    }
}
