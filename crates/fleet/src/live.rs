//! The terminal, until somebody has seen enough.

use crate::Request;
use crate::draw::draw;
use crate::survey::Survey;
use crate::view::{View, Wish};
use control::Mode;
use jvm::{Error, Result, os};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long a signal may go unseen.
const LOOK: Duration = Duration::from_millis(250);

/// Draws until a key or a signal ends it. The terminal is left as it was, whatever happens.
pub fn run(request: &Request) -> Result<()> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Error::usage(
            "not a terminal; use --once to print one frame, or --format json for programs",
        ));
    }
    let mut survey = Survey::of(&request.processes);
    let mut view = View::new(request.order);
    // What was asked for wrongly is told before the screen is taken.
    view.update(survey.look()?);
    os::note_signals();
    os::end_on_hangup();
    let mut terminal =
        ratatui::try_init().map_err(|error| Error::failed(format!("the terminal: {error}")))?;
    let done = follow(request, &mut survey, &mut view, &mut terminal);
    ratatui::restore();
    done
}

fn follow(
    request: &Request,
    survey: &mut Survey,
    view: &mut View,
    terminal: &mut DefaultTerminal,
) -> Result<()> {
    // https://no-color.org
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // The first rates come soon.
    let mut next = Instant::now() + request.refresh.min(LOOK);
    loop {
        let shown = terminal.draw(|frame| draw(view, colours, frame.area(), frame.buffer_mut()));
        shown.map_err(|error| Error::failed(format!("the terminal: {error}")))?;
        loop {
            if let Some(signal) = os::stopped_by() {
                return Err(Error::interrupted(signal));
            }
            let left = next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                next = Instant::now() + request.refresh;
                view.update(survey.look()?);
                if survey.have_ended() {
                    return Ok(());
                }
                break;
            }
            match pressed(left.min(LOOK))? {
                Some(Pressed::Key(key)) => match view.key(key) {
                    Wish::Quit => return Ok(()),
                    Wish::Switch(pid, mode) => view.message = switch(pid, mode),
                    Wish::Nothing => {}
                },
                Some(Pressed::Interrupt) => return Ok(()),
                Some(Pressed::Resized) => {}
                None => continue,
            }
            break;
        }
    }
}

enum Pressed {
    Key(KeyCode),
    Interrupt,
    Resized,
}

fn pressed(patience: Duration) -> Result<Option<Pressed>> {
    let failed = |error: std::io::Error| Error::failed(format!("the terminal: {error}"));
    // Not by crossterm: where the terminal has gone (a connection that was cut), it would read its end for ever.
    if !os::wait_for_input(&std::io::stdin(), patience) {
        return Err(Error::failed("the terminal was closed"));
    }
    match event::poll(Duration::ZERO) {
        Ok(true) => {}
        // A signal, which is looked at next.
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(None),
        Ok(false) => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    Ok(match event::read().map_err(failed)? {
        Event::Key(KeyEvent { code: KeyCode::Char('c'), modifiers: KeyModifiers::CONTROL, .. }) => {
            Some(Pressed::Interrupt)
        }
        Event::Key(key) if key.kind == KeyEventKind::Press => Some(Pressed::Key(key.code)),
        Event::Resize(..) => Some(Pressed::Resized),
        _ => None,
    })
}

fn switch(pid: u32, mode: Mode) -> String {
    let name = if mode == Mode::On { "on" } else { "off" };
    match jvm::switch::switch(pid, mode) {
        Ok(_) => format!("{pid}: buffers {name}"),
        Err(error) => error.to_string(),
    }
}
