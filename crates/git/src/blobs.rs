//! Many stored files at once, by `git cat-file --batch`: a program for each of them would take minutes.

use std::io::{self, BufRead, BufReader, Read as _};

use exec::{Input, Stream};

use crate::command::Git;
use crate::failure::GitError;

/// What comes of one answer.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Blob(Vec<u8>),
    /// It is larger than it may be.
    LeftOut,
    /// The clone does not hold it.
    Missing,
    EndedEarly,
}

impl Git<'_> {
    /// Gives the bytes of stored files to `take`, one after the other, each with its place among `objects`. Those that are
    /// larger than `bytes_max` are left out, and those that the clone does not hold: says how many these were.
    pub fn blobs<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o str>,
        bytes_max: u64,
        take: &mut (dyn FnMut(usize, Vec<u8>) -> io::Result<()> + Send),
    ) -> Result<usize, GitError> {
        let asked: String = objects.into_iter().flat_map(|object| [object, "\n"]).collect();
        let count = asked.lines().count();
        let program = self.program(["cat-file", "--batch"], &[]);
        let program = program.input(Input::Bytes(asked.as_bytes())).complaint(Stream::Dropped);
        let (mut failure, mut missing) = (None, 0);
        let ran = self.runner.run_reading(&program, &mut |from| {
            let mut answers = BufReader::new(from);
            for at in 0..count {
                let given = match answer(&mut answers, bytes_max) {
                    Ok(Answer::LeftOut) => Ok(()),
                    Ok(Answer::Missing) => {
                        missing += 1;
                        Ok(())
                    }
                    Ok(Answer::Blob(bytes)) => take(at, bytes).map_err(GitError::Write),
                    Ok(Answer::EndedEarly) => Err(GitError::EndedEarly),
                    Err(error) => Err(GitError::Write(error)),
                };
                if let Err(error) = given {
                    failure = Some(error);
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            Ok(())
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(ran.map(|_| missing)?),
        }
    }
}

/// The next answer: `<object> blob <size>\n<bytes>\n`, or `<object> missing\n`.
fn answer(answers: &mut impl BufRead, bytes_max: u64) -> io::Result<Answer> {
    let mut head = String::new();
    if answers.read_line(&mut head)? == 0 {
        return Ok(Answer::EndedEarly);
    }
    let Some(size) = head.trim().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok()) else {
        return Ok(Answer::Missing);
    };
    // With the line end after it.
    let mut bytes = answers.take(size + 1);
    if size > bytes_max {
        io::copy(&mut bytes, &mut io::sink())?;
        return Ok(Answer::LeftOut);
    }
    let mut blob = Vec::new();
    bytes.read_to_end(&mut blob)?;
    blob.pop();
    Ok(if blob.len() as u64 == size { Answer::Blob(blob) } else { Answer::EndedEarly })
}

#[cfg(test)]
mod tests {
    use super::{Answer, answer};

    #[test]
    fn answers_are_read_one_by_one_and_a_large_blob_is_left_out() {
        let mut answers = &b"aa blob 3\nx: \nbb missing\ncc blob 0\n\ndd blob 5\n12345\nee blob 9\n123"[..];
        let mut next = || answer(&mut answers, 4).unwrap();
        assert_eq!(next(), Answer::Blob(b"x: ".to_vec()));
        assert_eq!(next(), Answer::Missing);
        assert_eq!(next(), Answer::Blob(Vec::new()));
        assert_eq!(next(), Answer::LeftOut, "larger than it may be");
        assert_eq!(answer(&mut answers, 99).unwrap(), Answer::EndedEarly);
        assert_eq!(answer(&mut answers, 99).unwrap(), Answer::EndedEarly);
    }
}
