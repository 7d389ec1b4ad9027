//! Terraform's functions, as far as they need no provider, no clock and no chance. What is not here is unknown.

mod collections;
pub(crate) mod encoding;
mod network;
mod numbers;
pub(crate) mod sets;
mod text;

use std::collections::BTreeMap;

use yaml::EcoString;

use super::value::Value;

/// Why a function has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It depends on what is not known.
    Unknown,
    /// Terraform would refuse it.
    Wrong,
}

pub(crate) type Outcome = Result<Value, Stop>;

/// What a function was given.
pub(crate) struct Arguments<'a>(pub(crate) &'a [Value]);

impl<'a> Arguments<'a> {
    pub(crate) fn get(&self, index: usize) -> Result<&'a Value, Stop> {
        match self.0.get(index) {
            Some(Value::Unknown) => Err(Stop::Unknown),
            Some(value) => Ok(value),
            None => Err(Stop::Wrong),
        }
    }

    fn optional(&self, index: usize) -> Option<&'a Value> {
        self.0.get(index)
    }

    pub(crate) fn text(&self, index: usize) -> Result<EcoString, Stop> {
        text_of(self.get(index)?)
    }

    fn number(&self, index: usize) -> Result<f64, Stop> {
        self.get(index)?.to_number().ok_or(Stop::Wrong)
    }

    fn integer(&self, index: usize) -> Result<i64, Stop> {
        super::value::whole(self.number(index)?).ok_or(Stop::Wrong)
    }

    fn size(&self, index: usize) -> Result<usize, Stop> {
        usize::try_from(self.integer(index)?).map_err(|_| Stop::Wrong)
    }

    /// A list, or what Terraform turns into one: nothing but a list.
    fn list(&self, index: usize) -> Result<&'a [Value], Stop> {
        self.get(index)?.as_list().ok_or(Stop::Wrong)
    }

    fn map(&self, index: usize) -> Result<&'a BTreeMap<EcoString, Value>, Stop> {
        match self.get(index)? {
            // What else is in it can't be told.
            Value::Map(map) if map.is_open => Err(Stop::Unknown),
            Value::Map(map) => Ok(&map.entries),
            _ => Err(Stop::Wrong),
        }
    }

    fn from(&self, index: usize) -> &'a [Value] {
        self.0.get(index..).unwrap_or_default()
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

fn text_of(value: &Value) -> Result<EcoString, Stop> {
    match value {
        Value::Unknown | Value::Encoded(_) => value.to_text().ok_or(Stop::Unknown),
        _ => value.to_text().ok_or(Stop::Wrong),
    }
}

/// All of them known, as wholes: what depends on how values compare needs that.
fn wholes(items: &[Value]) -> Result<&[Value], Stop> {
    if items.iter().all(Value::is_whole) { Ok(items) } else { Err(Stop::Unknown) }
}

/// Calls a function. What may be asked of the world around (files, templates) is not here.
pub(crate) fn call(name: &str, values: &[Value]) -> Outcome {
    let arguments = &Arguments(values);
    let tried = [text::call, collections::call, sets::call, numbers::call, network::call, encoding::call];
    let known = tried.into_iter().find_map(|family| family(name, arguments));
    known.unwrap_or(Err(Stop::Unknown))
}

#[cfg(test)]
mod tests {
    use hcl_edit::expr::Expression;

    use crate::terraform::evaluate::tests::value_of;
    use crate::terraform::value::Value;

    /// Every function beside what Terraform says of it; `unknown` and `wrong` are no values.
    #[test]
    fn functions_do_as_terraform_does() {
        for line in include_str!("functions.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (given, wanted) = line.rsplit_once(" => ").expect("a line is `expression => value`");
            let got = value_of(given);
            let said = match &got {
                Ok(Value::Unknown) => "unknown".to_owned(),
                Ok(value) => value.to_json().to_string(),
                Err(_) => "wrong".to_owned(),
            };
            assert_eq!(said, wanted, "{given}");
        }
    }

    #[test]
    fn a_function_that_is_not_here_is_unknown_and_every_one_that_is_can_be_called_with_nothing() {
        assert_eq!(value_of("timestamp()"), Ok(Value::Unknown));
        let names = include_str!("functions.txt").lines().filter_map(|line| line.split('(').next());
        for name in names.filter(|name| name.parse::<Expression>().is_ok()) {
            let _ = super::call(name, &[]);
            for odd in
                [Value::Null, Value::Bool(true), Value::Number(-1.5), Value::text("%[/"), Value::list(Vec::new())]
            {
                let _ = super::call(name, std::slice::from_ref(&odd));
                let _ = super::call(name, &[odd.clone(), odd.clone()]);
                let _ = super::call(name, &[odd.clone(), odd.clone(), odd]);
            }
        }
    }
}
