//! What is selected and shown, and what a key does to it.

use crate::activity::{Activity, OTHER_VERSION};
use crate::history::History;
use crate::order::Order;
use crate::survey::Look;
use control::Mode;
use ratatui::crossterm::event::KeyCode;

/// Everything on the screen but its size.
#[derive(Default)]
pub struct View {
    pub jvms: Vec<Activity>,
    pub history: History,
    pub order: Order,
    /// Number and start of a process.
    selected: Option<(u32, u64)>,
    /// Whether the selected JVM's domains are shown, or its levels.
    pub domains: bool,
    pub help: bool,
    /// What came of the last key.
    pub message: String,
    before: Vec<Look>,
}

/// What is left to do after a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Wish {
    Nothing,
    Quit,
    Switch(u32, Mode),
}

impl View {
    pub fn new(order: Order) -> View {
        View { order, ..View::default() }
    }

    /// What has been seen now. A JVM that has just come is shown with its next look.
    pub fn update(&mut self, looks: Vec<Look>) {
        let same = |a: &Look, b: &Look| (a.pid, a.started) == (b.pid, b.started);
        let pairs = looks.iter().filter_map(|now| {
            let before = self.before.iter().find(|before| same(before, now))?;
            Some(Activity::between(before, now))
        });
        self.jvms = pairs.collect();
        self.order.sort(&mut self.jvms);
        self.history.add(&self.jvms);
        self.before = looks;
    }

    /// The place of the selected JVM; the first, if that has ended.
    pub fn selected(&self) -> usize {
        let is = |jvm: &Activity| Some((jvm.pid, jvm.started)) == self.selected;
        self.jvms.iter().position(is).unwrap_or(0)
    }

    fn select(&mut self, at: usize) {
        self.selected = self.jvms.get(at).map(|jvm| (jvm.pid, jvm.started));
    }

    pub fn key(&mut self, key: KeyCode) -> Wish {
        self.message.clear();
        let at = self.selected();
        match key {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Esc if self.help => self.help = false,
            KeyCode::Esc => return Wish::Quit,
            KeyCode::Down | KeyCode::Char('j') => {
                self.select((at + 1).min(self.jvms.len().saturating_sub(1)))
            }
            KeyCode::Up | KeyCode::Char('k') => self.select(at.saturating_sub(1)),
            KeyCode::Home => self.select(0),
            KeyCode::End => self.select(self.jvms.len().saturating_sub(1)),
            KeyCode::Enter | KeyCode::Char('d') => self.domains = !self.domains,
            KeyCode::Char('s') => {
                self.select(at);
                self.order = self.order.next();
                self.order.sort(&mut self.jvms);
            }
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Char('o') => return self.switch(at),
            _ => {}
        }
        Wish::Nothing
    }

    fn switch(&mut self, at: usize) -> Wish {
        let Some(jvm) = self.jvms.get(at) else { return Wish::Nothing };
        let pid = jvm.pid;
        self.selected = Some((pid, jvm.started));
        match jvm.buffers.as_str() {
            "on" | "bound" => Wish::Switch(pid, Mode::Off),
            "off" => Wish::Switch(pid, Mode::On),
            OTHER_VERSION => {
                self.message = format!("{pid} has another version of terrace; use that release's command");
                Wish::Nothing
            }
            _ => {
                self.message = format!("{pid} has no buffers; 'terrace attach {pid}' adds them");
                Wish::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::tests::look;
    use control::{Control, State};
    use std::time::{Duration, Instant};

    fn two() -> View {
        let control = Control::anonymous(&[1]).unwrap();
        control.set_state(State::Installed);
        control.set_mode(Mode::Off);
        let begin = Instant::now();
        let mut view = View::new(Order::Pid);
        for second in 0..2 {
            let at = begin + Duration::from_secs(second);
            view.update(vec![look(at, 5, None), look(at, 6, Some(&control))]);
        }
        view
    }

    #[test]
    fn rates_need_two_looks() {
        let mut view = View::new(Order::Pid);
        view.update(vec![look(Instant::now(), 5, None)]);
        assert!(view.jvms.is_empty());
        assert_eq!(two().jvms.len(), 2);
    }

    #[test]
    fn the_selection_stays_with_its_jvm() {
        let mut view = two();
        assert_eq!(view.selected(), 0);
        view.key(KeyCode::Down);
        view.key(KeyCode::Down);
        assert_eq!(view.jvms[view.selected()].pid, 6);
        view.jvms.reverse();
        assert_eq!(view.jvms[view.selected()].pid, 6);
        view.jvms.remove(0);
        assert_eq!(view.selected(), 0, "it has ended");
        view.jvms.clear();
        for key in [KeyCode::Down, KeyCode::Up, KeyCode::End, KeyCode::Char('o')] {
            assert_eq!(view.key(key), Wish::Nothing);
        }
    }

    #[test]
    fn keys_switch_sort_and_leave() {
        let mut view = two();
        assert_eq!(view.key(KeyCode::Char('o')), Wish::Nothing);
        assert!(view.message.contains("'terrace attach 5'"), "{}", view.message);
        view.key(KeyCode::End);
        assert_eq!(view.key(KeyCode::Char('o')), Wish::Switch(6, Mode::On));
        assert!(view.message.is_empty());
        view.key(KeyCode::Char('s'));
        assert_eq!((view.order, view.jvms[view.selected()].pid), (Order::Allocated, 6));
        view.key(KeyCode::Char('?'));
        assert_eq!((view.key(KeyCode::Esc), view.help), (Wish::Nothing, false));
        assert_eq!(view.key(KeyCode::Esc), Wish::Quit);
    }
}
