//! Go templates between `<<` and `>>`, read into parts. Knows the syntax; what names and functions mean is for
//! [`super::evaluate`].

use serde_json::Value;

use super::error::TemplateError;

/// How deep blocks and parentheses may nest.
pub(super) const NESTING_MAX: usize = 100;

#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    Print(Pipeline),
    /// `if`, `else if`, `else`; a `with` also makes its value the dot.
    Choice {
        is_with: bool,
        branches: Vec<(Pipeline, Vec<Part>)>,
        otherwise: Vec<Part>,
    },
    Range {
        variables: Vec<String>,
        over: Pipeline,
        body: Vec<Part>,
        otherwise: Vec<Part>,
    },
}

/// Commands, each fed the result of the one before; the result may be kept in a variable.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) variable: Option<String>,
    pub(super) commands: Vec<Vec<Expression>>,
}

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Literal(Value),
    Dot,
    Variable(String),
    Function(String),
    /// A value, and the names that lead into it.
    Field(Box<Expression>, Vec<String>),
    Nested(Pipeline),
}

/// Reads a whole template.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut pieces = split(text)?.into_iter();
    let (parts, end) = block(&mut pieces, 0)?;
    match end {
        End::Text => Ok(parts),
        _ => Err(TemplateError::UnopenedBlock),
    }
}

enum Piece {
    Text(String),
    Action(Vec<Token>),
}

/// Text and actions, the white space beside `<<-` and `->>` gone.
fn split(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut trim_next = false;
    loop {
        let (before, after) = rest.split_once("<<").map_or((rest, None), |(before, after)| (before, Some(after)));
        let before = if trim_next { before.trim_start() } else { before };
        let Some(after) = after else {
            pieces.push(Piece::Text(before.to_owned()));
            return Ok(pieces);
        };
        let dashed = after.strip_prefix('-').filter(|inner| inner.starts_with([' ', '\t', '\n', '\r']));
        pieces.push(Piece::Text(if dashed.is_some() { before.trim_end() } else { before }.to_owned()));
        let inner = dashed.unwrap_or(after);
        let close = close_of(inner).ok_or(TemplateError::UnclosedAction)?;
        let action = &inner[..close];
        rest = &inner[close + 2..];
        trim_next = action.strip_suffix('-').is_some_and(|inner| inner.ends_with([' ', '\t', '\n', '\r']));
        let action = if trim_next { &action[..action.len() - 1] } else { action };
        if !action.trim().starts_with("/*") {
            pieces.push(Piece::Action(tokens(action)?));
        }
    }
}

/// Where the `>>` of an action is, quoted text left aside.
fn close_of(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (None, open @ (b'"' | b'`')) => quote = Some(open),
            (None, b'>') if bytes.get(at + 1) == Some(&b'>') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Variable(String),
    /// `.name`, and whether it hangs on what stands before it.
    Field(String, bool),
    Dot,
    Literal(Value),
    Sign(char),
    Declare,
}

fn tokens(action: &str) -> Result<Vec<Token>, TemplateError> {
    let mut tokens = Vec::new();
    let mut rest = action.trim_start();
    let mut glued = false;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '"' => quoted(rest)?,
            '`' => {
                let end = rest[1..].find('`').ok_or(TemplateError::UnclosedQuote)?;
                (Token::Literal(Value::from(&rest[1..=end])), end + 2)
            }
            '|' | '(' | ')' | ',' | '=' => (Token::Sign(first), 1),
            ':' if rest.starts_with(":=") => (Token::Declare, 2),
            '.' | '$' => {
                let length = 1 + name_length(&rest[1..]);
                let name = rest[1..length].to_owned();
                let token = match first {
                    '$' => Token::Variable(name),
                    _ if name.is_empty() => Token::Dot,
                    _ => Token::Field(name, glued),
                };
                (token, length)
            }
            '0'..='9' | '-' | '+' => number(rest)?,
            _ if name_length(rest) > 0 => (Token::Word(rest[..name_length(rest)].to_owned()), name_length(rest)),
            _ => return Err(TemplateError::Unexpected(first.into())),
        };
        tokens.push(token);
        let after = &rest[length..];
        rest = after.trim_start();
        glued = rest.len() == after.len();
    }
    Ok(tokens)
}

fn name_length(text: &str) -> usize {
    text.find(|character: char| !(character.is_alphanumeric() || character == '_')).unwrap_or(text.len())
}

fn quoted(text: &str) -> Result<(Token, usize), TemplateError> {
    let mut literals = serde_json::Deserializer::from_str(text).into_iter::<String>();
    match literals.next() {
        Some(Ok(literal)) => Ok((Token::Literal(literal.into()), literals.byte_offset())),
        _ => Err(TemplateError::BadQuote),
    }
}

fn number(text: &str) -> Result<(Token, usize), TemplateError> {
    let length =
        text.find(|character: char| !(character.is_alphanumeric() || "+-._".contains(character))).unwrap_or(text.len());
    let digits = &text[..length];
    let value = digits.parse::<i64>().map(Value::from).or_else(|_| digits.parse::<f64>().map(Value::from));
    value.map(|value| (Token::Literal(value), length)).map_err(|_| TemplateError::NoNumber(digits.to_owned()))
}

/// What ended a block: the text, an `end`, or an `else` with what follows it.
enum End {
    Text,
    Closed,
    Else(Vec<Token>),
}

fn block(pieces: &mut std::vec::IntoIter<Piece>, depth: usize) -> Result<(Vec<Part>, End), TemplateError> {
    if depth > NESTING_MAX {
        return Err(TemplateError::NestedTooDeep);
    }
    let mut parts = Vec::new();
    while let Some(piece) = pieces.next() {
        let tokens = match piece {
            Piece::Text(text) => {
                parts.push(Part::Text(text));
                continue;
            }
            Piece::Action(tokens) => tokens,
        };
        match tokens.first() {
            Some(Token::Word(word)) if word == "end" => return Ok((parts, End::Closed)),
            Some(Token::Word(word)) if word == "else" => return Ok((parts, End::Else(tokens[1..].to_vec()))),
            Some(Token::Word(word)) if word == "if" || word == "with" => {
                parts.push(choice(word == "with", &tokens[1..], pieces, depth)?);
            }
            Some(Token::Word(word)) if word == "range" => parts.push(range(&tokens[1..], pieces, depth)?),
            Some(Token::Word(word))
                if matches!(word.as_str(), "define" | "template" | "block" | "break" | "continue") =>
            {
                return Err(TemplateError::UnreadWord(word.clone()));
            }
            Some(_) => parts.push(Part::Print(pipeline(&tokens)?)),
            None => return Err(TemplateError::EmptyAction),
        }
    }
    Ok((parts, End::Text))
}

fn choice(
    is_with: bool,
    condition: &[Token],
    pieces: &mut std::vec::IntoIter<Piece>,
    depth: usize,
) -> Result<Part, TemplateError> {
    let mut branches = Vec::new();
    let mut condition = pipeline(condition)?;
    loop {
        let (body, end) = block(pieces, depth + 1)?;
        branches.push((condition, body));
        match end {
            End::Closed => return Ok(Part::Choice { is_with, branches, otherwise: Vec::new() }),
            End::Else(tokens) if tokens.is_empty() => {
                let otherwise = closed(block(pieces, depth + 1)?)?;
                return Ok(Part::Choice { is_with, branches, otherwise });
            }
            End::Else(tokens) => condition = pipeline(&tokens[1..])?,
            End::Text => return Err(TemplateError::UnclosedChoice),
        }
    }
}

fn range(head: &[Token], pieces: &mut std::vec::IntoIter<Piece>, depth: usize) -> Result<Part, TemplateError> {
    let declare = head.iter().position(|token| *token == Token::Declare);
    let variables = head[..declare.unwrap_or(0)].iter().filter_map(|token| match token {
        Token::Variable(name) => Some(name.clone()),
        _ => None,
    });
    let variables = variables.collect();
    let over = pipeline(&head[declare.map_or(0, |at| at + 1)..])?;
    let (body, end) = block(pieces, depth + 1)?;
    let otherwise = match end {
        End::Closed => Vec::new(),
        End::Else(_) => closed(block(pieces, depth + 1)?)?,
        End::Text => return Err(TemplateError::UnclosedRange),
    };
    Ok(Part::Range { variables, over, body, otherwise })
}

fn closed((parts, end): (Vec<Part>, End)) -> Result<Vec<Part>, TemplateError> {
    if matches!(end, End::Closed) { Ok(parts) } else { Err(TemplateError::UnclosedBlock) }
}

fn pipeline(tokens: &[Token]) -> Result<Pipeline, TemplateError> {
    let (variable, tokens) = match tokens {
        [Token::Variable(name), Token::Declare | Token::Sign('='), rest @ ..] => (Some(name.clone()), rest),
        _ => (None, tokens),
    };
    let mut rest = tokens;
    let commands = commands(&mut rest, 0)?;
    if !rest.is_empty() {
        return Err(TemplateError::UnopenedParenthesis);
    }
    Ok(Pipeline { variable, commands })
}

/// Commands up to the end or a `)`, which stays.
fn commands(rest: &mut &[Token], depth: usize) -> Result<Vec<Vec<Expression>>, TemplateError> {
    if depth > NESTING_MAX {
        return Err(TemplateError::NestedTooDeep);
    }
    let mut commands = vec![Vec::new()];
    while let Some((token, after)) = rest.split_first() {
        if *token == Token::Sign(')') {
            break;
        }
        *rest = after;
        let Some(command) = commands.last_mut() else { break };
        match token {
            Token::Sign('|') => commands.push(Vec::new()),
            Token::Sign('(') => {
                let inner = Pipeline { variable: None, commands: self::commands(rest, depth + 1)? };
                match rest.split_first() {
                    Some((_, after)) => *rest = after,
                    None => return Err(TemplateError::UnclosedParenthesis),
                }
                command.push(Expression::Nested(inner));
            }
            Token::Field(name, true) if !command.is_empty() => match command.pop().unwrap_or(Expression::Dot) {
                // A longer way is a longer list: boxes in boxes would be as deep as a file is long.
                Expression::Field(owner, mut names) => {
                    names.push(name.clone());
                    command.push(Expression::Field(owner, names));
                }
                owner => command.push(Expression::Field(Box::new(owner), vec![name.clone()])),
            },
            Token::Field(name, _) => command.push(Expression::Field(Box::new(Expression::Dot), vec![name.clone()])),
            Token::Word(word) => command.push(word_expression(word)),
            Token::Variable(name) => command.push(Expression::Variable(name.clone())),
            Token::Dot => command.push(Expression::Dot),
            Token::Literal(value) => command.push(Expression::Literal(value.clone())),
            Token::Sign(sign) => return Err(TemplateError::Unexpected((*sign).into())),
            Token::Declare => return Err(TemplateError::Unexpected(":=".to_owned())),
        }
    }
    if commands.iter().any(Vec::is_empty) { Err(TemplateError::MissingValue) } else { Ok(commands) }
}

fn word_expression(word: &str) -> Expression {
    match word {
        "true" => Expression::Literal(true.into()),
        "false" => Expression::Literal(false.into()),
        "nil" => Expression::Literal(Value::Null),
        _ => Expression::Function(word.to_owned()),
    }
}
