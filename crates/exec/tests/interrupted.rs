//! What Ctrl-C ends. By itself: it ends what other tests of the same program would run.
#![cfg(unix)]

use coldstart_exec as exec;
use exec::{Ending, Finished, Group, Program, Runner as _, System, end_all};

#[test]
fn all_groups_end_when_asked() {
    let program = Program::new("sh").arguments(["-c", "echo started; exec sleep 300"]).group(Group::Own);
    let ran = System.run_reading(&program, &mut |from| {
        from.read_exact(&mut [0; 8])?;
        end_all();
        from.read_to_end(&mut Vec::new()).map(drop)
    });
    assert!(matches!(ran, Ok(Finished { ending: Ending::Signal(15), .. })), "{ran:?}");
}
