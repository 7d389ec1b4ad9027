//! From a YAML node to a type that serde knows, with the place of whatever does not fit.
//!
//! Used twice: when this crate is built, for its own files, and at run time for the additions of a user.

use serde::de::value::{BorrowedStrDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use source::Span;
use yaml::{Entry, Node, ScalarKind, Value};

/// What is wrong with a node, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    pub message: String,
    /// The innermost node that does not fit; an unknown field points at its key.
    pub span: Option<Span>,
}

impl DecodeError {
    /// The same error, at `span` unless something further inside was blamed already.
    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }
}

impl de::Error for DecodeError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

/// Reads `node` as a `T`.
pub(crate) fn decode<'de, T: de::Deserialize<'de>>(node: &'de Node) -> Result<T, DecodeError> {
    T::deserialize(At(node))
}

#[derive(Clone, Copy)]
struct At<'de>(&'de Node);

impl<'de> At<'de> {
    fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.0.value {
            Value::Map(map) => visitor.visit_map(Entries { rest: map.iter(), value: None }),
            Value::Seq(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(At))),
            Value::Scalar(scalar) => match scalar.kind {
                ScalarKind::Null => visitor.visit_unit(),
                ScalarKind::Bool => visitor.visit_bool(self.0.as_bool() == Some(true)),
                ScalarKind::Int => match self.0.as_int() {
                    Some(number) => visitor.visit_i64(number),
                    None => visitor.visit_borrowed_str(&scalar.text),
                },
                ScalarKind::Float | ScalarKind::Str => visitor.visit_borrowed_str(&scalar.text),
            },
        }
    }

    /// Any scalar but null is text where text is asked for: `equals: true` means the text `true`.
    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0.text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.any(visitor),
        }
    }
}

impl<'de> IntoDeserializer<'de, DecodeError> for At<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for At<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.any(visitor).map_err(|error| error.at(self.0.span))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.text(visitor).map_err(|error| error.at(self.0.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let Some(text) = self.0.text() else { return self.deserialize_any(visitor) };
        visitor.visit_enum(text.into_deserializer()).map_err(|error: DecodeError| error.at(self.0.span))
    }

    /// By the names of its fields only: serde would take a list of their values as well.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if self.0.as_seq().is_some() {
            return Err(<DecodeError as de::Error>::custom("a list where a mapping is expected").at(self.0.span));
        }
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        let key = BorrowedStrDeserializer::<DecodeError>::new(&entry.key);
        seed.deserialize(key).map(Some).map_err(|error| error.at(entry.key_span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.value.take() {
            Some(node) => seed.deserialize(At(node)).map_err(|error| error.at(node.span)),
            None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }
}
