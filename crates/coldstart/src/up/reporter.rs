//! Tells what happens: a board that is drawn again and again on a terminal, lines elsewhere.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ::run::{Event, Line, Listener, Machine, Plan, Where};
use draw::board::{self, Board};
use draw::story::{self, Teller};

use crate::arguments::{TextOrJson, Up};
use crate::output;

/// A board that is drawn more often is not read.
const FRAME: Duration = Duration::from_millis(80);

pub(super) struct Reporter<'a> {
    plan: &'a Plan,
    format: TextOrJson,
    teller: Teller,
    screen: Option<Screen>,
    is_quiet: bool,
    is_simulated: bool,
    /// Everything that the journal keeps of this run.
    pub lines: Vec<Line>,
    /// A closed pipe, say: the run goes on, and this is said in the end.
    pub failure: Option<std::io::Error>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(options: &Up, plan: &'a Plan, world: &Where) -> Self {
        let color = output::wants_color(options.color);
        let has_room = |(columns, rows): &(usize, usize)| *columns >= board::COLUMNS_MIN && *rows >= board::ROWS_MIN;
        let size = output::size().filter(has_room);
        let is_watched = options.format == TextOrJson::Text && !options.plain && !options.quiet && !output::is_dumb();
        let mark = board::mark(world);
        let board = |(columns, rows)| Board { columns, rows, color, mark, is_over: false };
        Self {
            plan,
            format: options.format,
            teller: Teller::new(color),
            screen: size.filter(|_| is_watched).map(|size| Screen::new(board(size))),
            is_quiet: options.quiet && options.format == TextOrJson::Text,
            is_simulated: world.is_simulated(),
            lines: Vec::new(),
            failure: None,
        }
    }

    fn print(&mut self, text: &str) {
        if let Err(error) = output::print(text) {
            self.failure.get_or_insert(error);
        }
    }
}

impl Listener for Reporter<'_> {
    fn hear(&mut self, line: &Line, machine: &Machine<'_>) {
        if line.event.is_kept() {
            self.lines.push(line.clone());
        }
        let told = match self.format {
            TextOrJson::Text => self.teller.tell(line),
            TextOrJson::Json => story::json(line, self.is_simulated).ok(),
        };
        let Some(text) = told else { return };
        let text = match &mut self.screen {
            None if self.is_quiet && !is_news(&line.event) => return,
            None => text,
            // The board shows the rest.
            Some(screen) if is_news(&line.event) => {
                screen.board.is_over = matches!(line.event, Event::Ended { .. });
                screen.above(&text, self.plan, machine, line.time())
            }
            Some(_) => return,
        };
        self.print(&text);
    }

    fn pass(&mut self, machine: &Machine<'_>, now: Duration) {
        let drawn = self.screen.as_mut().and_then(|screen| screen.due(self.plan, machine, now));
        if let Some(text) = drawn {
            self.print(&text);
        }
    }
}

/// What stays on the screen when the board has moved on.
fn is_news(event: &Event) -> bool {
    matches!(
        event,
        Event::Began { .. } | Event::Tried { .. } | Event::Failed { .. } | Event::Stopping | Event::Ended { .. }
    )
}

/// The board on a terminal: drawn over itself.
struct Screen {
    board: Board,
    /// Lines of the board that stand above the cursor.
    shown: usize,
    drawn_at: Option<Instant>,
}

impl Screen {
    fn new(board: Board) -> Self {
        Self { board, shown: 0, drawn_at: None }
    }

    /// The board anew, unless it was drawn a moment ago.
    fn due(&mut self, plan: &Plan, machine: &Machine<'_>, now: Duration) -> Option<String> {
        if self.drawn_at.is_some_and(|at| at.elapsed() < FRAME) {
            return None;
        }
        Some(self.above("", plan, machine, now))
    }

    /// A text, and the board anew below it. Each line is cleared as it is written over, and only what is left of a longer board at the
    /// end: terminals keep a screen that is cleared from its first line, and would keep every frame.
    #[expect(clippy::disallowed_methods, reason = "a board is drawn anew so often in real time")]
    fn above(&mut self, text: &str, plan: &Plan, machine: &Machine<'_>, now: Duration) -> String {
        if let Some(size) = output::size() {
            (self.board.columns, self.board.rows) = size;
        }
        let mut out = String::new();
        if self.shown > 0 {
            let _ = write!(out, "\u{1b}[{}A", self.shown);
        }
        out.push('\r');
        let lines = self.board.lines(plan, machine, now);
        for line in text.lines().chain(lines.iter().map(String::as_str)) {
            let _ = writeln!(out, "{line}\u{1b}[K");
        }
        out.push_str("\u{1b}[J");
        self.shown = lines.len();
        self.drawn_at = Some(Instant::now());
        out
    }
}
