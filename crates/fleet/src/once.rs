//! One frame: as a terminal would show it, or for machines.

use crate::draw::{draw, height};
use crate::survey::Survey;
use crate::view::View;
use crate::{Request, activity::Activity};
use jvm::{Error, Result};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde::Serialize;

/// What the JVMs did in a period.
#[derive(Serialize)]
pub struct Frame {
    /// The number of this structure's version.
    pub schema: u32,
    /// How long was looked.
    pub seconds: f64,
    pub jvms: Vec<Activity>,
    #[serde(skip)]
    view: View,
}

/// Looks twice, a period apart.
pub fn frame(request: &Request) -> Result<Frame> {
    let mut survey = Survey::of(&request.processes);
    let mut view = View::new(request.order);
    view.update(survey.look()?);
    std::thread::sleep(request.refresh);
    view.update(survey.look()?);
    if survey.have_ended() {
        return Err(Error::failed(
            "the process ended meanwhile; specify one that runs ('terrace top' lists them)",
        ));
    }
    Ok(Frame { schema: 1, seconds: request.refresh.as_secs_f64(), jvms: view.jvms.clone(), view })
}

impl Frame {
    /// As wide as a terminal, without colours and keys.
    pub fn text(&self, columns: u16) -> String {
        // The last line has the keys, of which there are none here.
        let area = Rect::new(0, 0, columns, height(&self.view).max(15));
        let mut buffer = Buffer::empty(area);
        draw(&self.view, false, area, &mut buffer);
        let line = |row: u16| {
            let cells = (0..columns).map(|column| buffer[(column, row)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        };
        let lines: Vec<String> = (0..area.height - 1).map(line).collect();
        format!("{}\n", lines.join("\n").trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::tests::look;
    use crate::agents::Agent;
    use crate::order::Order;
    use control::{Control, Mode, State};
    use hab::Counter;
    use ratatui::crossterm::event::KeyCode;
    use std::time::{Duration, Instant};

    fn frame(keys: &[KeyCode]) -> Frame {
        let control = Control::anonymous(&[2]).unwrap();
        control.set_settings(r#"{"levels":"core"}"#);
        control.set_state(State::Installed);
        control.set_mode(Mode::On);
        let begin = Instant::now();
        let mut view = View::new(Order::Allocated);
        for second in 0..5 {
            control.counters(0)[0].add(Counter::BufferBytes, 1_230_000 * second);
            control.counters(0)[0].add(Counter::Buffers, 12_345);
            control.counters(0)[0].add(Counter::Refills, 12);
            let at = begin + Duration::from_secs(second);
            view.update(vec![look(at, 5, None), look(at, 4711, Some(&control))]);
        }
        for key in keys {
            view.key(*key);
        }
        Frame { schema: 1, seconds: 1.0, jvms: view.jvms.clone(), view }
    }

    #[test]
    fn a_frame_fits_eighty_columns_and_says_everything() {
        let text = frame(&[]).text(80);
        assert!(
            text.starts_with("2 JVMs, 1 with terrace; together they allocate at least 4.92 MB/s\n"),
            "{text}"
        );
        for part in [
            "PROGRAM", "ALLOC/s*", "4711 App", "4.92 MB", "12.3 k", "12", "0.00 %", "core", "100 %", "stock",
            "-",
        ] {
            assert!(text.contains(part), "'{part}' in\n{text}");
        }
        assert!(text.contains('█'), "the last seconds in\n{text}");
        assert!(present::table::widest(&text) <= 80, "{text}");
        assert!(!text.contains("q quit"), "{text}");
    }

    #[test]
    fn where_nobody_tells_what_is_allocated_there_is_no_sum() {
        let mut view = View::new(Order::Allocated);
        view.update(vec![look(Instant::now(), 5, None)]);
        view.update(vec![look(Instant::now() + Duration::from_secs(1), 5, None)]);
        let text = Frame { schema: 1, seconds: 1.0, jvms: view.jvms.clone(), view }.text(80);
        assert!(text.starts_with("1 JVM, 0 with terrace; the allocation is not known\n"), "{text}");
    }

    #[test]
    fn domains_and_help_can_be_shown() {
        let domains = frame(&[KeyCode::Char('d')]).text(80);
        assert!(domains.contains("core 0") && domains.contains("foreign/s"), "{domains}");
        let help = frame(&[KeyCode::Char('?')]).text(90);
        assert!(help.contains("levels=none") && help.contains("an observer"), "{help}");
        let stock = frame(&[KeyCode::End]).text(120);
        assert!(stock.contains("'terrace doctor 5'"), "{stock}");
    }

    #[test]
    fn an_agent_of_another_version_is_not_stock() {
        let agent = Agent::start(&[1]);
        agent.is_newer();
        let request = crate::Request {
            processes: vec![agent.pid()],
            refresh: Duration::from_millis(1),
            order: Order::Pid,
        };
        let mut frame = super::frame(&request).unwrap();
        let text = frame.text(80);
        for part in ["1 JVM, 1 with terrace", " other version ", "'terrace status"] {
            assert!(text.contains(part), "'{part}' in\n{text}");
        }
        assert!(!text.contains("attach") && present::table::widest(&text) <= 80, "{text}");
        frame.view.key(KeyCode::Char('o'));
        assert!(frame.view.message.contains("another version"), "{}", frame.view.message);
    }

    #[test]
    fn without_a_jvm_it_says_so() {
        let view = View::new(Order::Pid);
        let text = Frame { schema: 1, seconds: 1.0, jvms: Vec::new(), view }.text(80);
        assert!(text.starts_with("no JVM of this user is running"), "{text}");
    }

    #[test]
    fn no_size_of_a_terminal_is_too_small() {
        let frame = frame(&[]);
        for (columns, rows) in [(1, 1), (10, 3), (79, 5), (80, 24), (300, 100)] {
            let area = Rect::new(0, 0, columns, rows);
            draw(&frame.view, true, area, &mut Buffer::empty(area));
        }
    }
}
