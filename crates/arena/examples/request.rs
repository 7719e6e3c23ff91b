//! An arena for each request, filled by serde: everything that a document holds lies in it, and is gone with it.
//!
//!     cargo run -p terrace-arena --example request

use allocator_api2::vec::Vec as ArenaVec;
use arena::Arena;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A document whose texts and lists live in an arena.
#[derive(Debug)]
pub enum Value<'a> {
    /// `null`, a truth value: nothing that this example looks at.
    Other,
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a str),
    /// A list.
    List(ArenaVec<Value<'a>, &'a Arena>),
    /// Names and their values.
    Map(ArenaVec<(&'a str, Value<'a>), &'a Arena>),
}

/// Makes values in an arena.
#[derive(Clone, Copy)]
struct Into<'a>(&'a Arena);

impl<'de, 'a> DeserializeSeed<'de> for Into<'a> {
    type Value = Value<'a>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value<'a>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, 'a> Visitor<'de> for Into<'a> {
    type Value = Value<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_unit<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'a>, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'a>, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'a>, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::Text(self.0.alloc_str(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value<'a>, A::Error> {
        let mut list = ArenaVec::new_in(self.0);
        while let Some(value) = from.next_element_seed(self)? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value<'a>, A::Error> {
        let mut map = ArenaVec::new_in(self.0);
        while let Some(name) = from.next_key::<&str>()? {
            let name: &str = self.0.alloc_str(name);
            map.push((name, from.next_value_seed(self)?));
        }
        Ok(Value::Map(map))
    }
}

/// The sum of all numbers of a document, and the length of all its texts and names.
fn sum(value: &Value<'_>) -> (f64, usize) {
    let add = |(a, b): (f64, usize), (c, d): (f64, usize)| (a + c, b + d);
    match value {
        Value::Other => (0.0, 0),
        Value::Number(number) => (*number, 0),
        Value::Text(text) => (0.0, text.len()),
        Value::List(list) => list.iter().map(sum).fold((0.0, 0), add),
        Value::Map(map) => {
            map.iter().map(|(name, value)| add(sum(value), (0.0, name.len()))).fold((0.0, 0), add)
        }
    }
}

/// Serves a thousand requests on four threads.
pub fn main() {
    let serve = |request: usize| {
        let text =
            format!(r#"{{"id":{request},"items":[{{"name":"bolt","price":0.5}},null,[1,2,3]],"on":true}}"#);
        let arena = Arena::new();
        let document = Into(&arena).deserialize(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        let (numbers, letters) = sum(&document);
        assert_eq!((numbers, letters), (request as f64 + 6.5, "iditemsnamepriceonbolt".len()));
    };
    std::thread::scope(|scope| {
        for first in 0..4 {
            scope.spawn(move || (first..1000).step_by(4).for_each(serve));
        }
    });
    println!("1000 requests; {} bytes were kept for the next ones", arena::trim());
}
