//! A class of URIs: how often it is called, and with what request.

use toml::Spanned;

use super::MixError;
use super::draws::Draws;
use super::file::{self, fault};
use super::pick::{Drawn, PICKS_MAX, Pick};
use super::template::Template;

/// Header fields that say where the body ends: they are written from the body itself (RFC 9112 section 6).
const FRAMING: &[&str] = &["content-length", "transfer-encoding"];

const WEIGHT_MAX: f64 = 1e9;

/// One `[[class]]` of a mix.
#[derive(Clone, Debug)]
pub struct MixClass {
    /// Its name, unlike all others.
    pub name: String,
    /// The part of all calls that fall to it; those of all classes add up to 1.
    pub share: f64,
    /// Whether its replies are made for each request.
    pub dynamic: bool,
    /// The method.
    pub method: String,
    /// Its header fields: complete lines, each with its CRLF; a Content-Length among them if there is a body.
    pub fields: Vec<u8>,
    /// The body; empty without one.
    pub body: Vec<u8>,
    uri: Template,
    picks: Box<[Pick]>,
}

impl MixClass {
    /// A class of the file. Its share is its weight until all are known; tables are taken out of `room`.
    pub(super) fn new(source: &str, class: &file::Class, room: &mut u64) -> Result<Self, MixError> {
        let name = class.name.get_ref();
        if name.is_empty() || name.chars().any(char::is_control) {
            return fault(source, class.name.span(), "`name` must be some text on one line");
        }
        let weight = *class.weight.get_ref();
        if !(weight > 0.0 && weight <= WEIGHT_MAX) {
            let message = format!("`weight` must be more than 0 and at most {WEIGHT_MAX}, not {weight}");
            let error = MixError::new(source, class.weight.span(), message);
            return Err(if weight == 0.0 { error.help("leave the class out instead") } else { error });
        }
        if let Some((name, _)) = class.pick.iter().nth(PICKS_MAX) {
            return fault(source, name.span(), format!("a class has at most {PICKS_MAX} picks"));
        }
        let picks = class.pick.iter().map(|(name, pick)| Pick::new(source, name, pick, room));
        let picks = picks.collect::<Result<Box<[Pick]>, _>>()?;
        let uri = Template::parse(source, &class.uri, &picks)?;
        if let Some((_, (name, _))) = class.pick.iter().enumerate().find(|(index, _)| !uri.names(*index)) {
            let message = format!("`{{{}}}` does not stand in the URI", name.get_ref());
            return Err(
                MixError::new(source, name.span(), message).help("write it there, or leave the pick out")
            );
        }
        Ok(Self {
            name: name.clone(),
            share: weight,
            dynamic: class.dynamic,
            method: method(source, class)?,
            fields: fields(source, class)?,
            body: class.body.clone().unwrap_or_default().into_bytes(),
            uri,
            picks,
        })
    }

    /// Draws what is to be drawn and appends the URI.
    pub(super) fn write_uri(&self, session: u64, call: u64, draws: &mut Draws, uri: &mut Vec<u8>) {
        let mut drawn = Drawn::default();
        for (rank, pick) in drawn.iter_mut().zip(&self.picks) {
            *rank = pick.draw(draws);
        }
        self.uri.render(session, call, &self.picks, &drawn, uri);
    }
}

fn method(source: &str, class: &file::Class) -> Result<String, MixError> {
    let Some(method) = &class.method else {
        return Ok(if class.body.is_some() { "POST" } else { "GET" }.to_owned());
    };
    if !is_token(method.get_ref()) {
        let message = format!("`{}` cannot be a method", method.get_ref().escape_debug());
        return fault(source, method.span(), message);
    }
    Ok(method.get_ref().clone())
}

fn fields(source: &str, class: &file::Class) -> Result<Vec<u8>, MixError> {
    let mut fields = Vec::new();
    for header in &class.headers {
        fields.extend_from_slice(field(source, header)?.as_bytes());
        fields.extend_from_slice(b"\r\n");
    }
    if let Some(body) = &class.body {
        fields.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    Ok(fields)
}

/// A field line without its CRLF (RFC 9112 section 5).
fn field<'a>(source: &str, header: &'a Spanned<String>) -> Result<&'a str, MixError> {
    let text = header.get_ref();
    let Some((name, value)) = text.split_once(':').filter(|(name, _)| is_token(name)) else {
        let message = format!("`{}` is no header field", text.escape_debug());
        return Err(MixError::new(source, header.span(), message).help("write \"Name: value\""));
    };
    if FRAMING.contains(&name.to_ascii_lowercase().as_str()) {
        let message = format!("`{name}` is written from `body`");
        return Err(MixError::new(source, header.span(), message).help("leave it out"));
    }
    if let Some(bad) = value.chars().find(|&letter| letter.is_control() && letter != '\t') {
        let message = format!("a header field cannot contain `{}`", bad.escape_debug());
        return fault(source, header.span(), message);
    }
    Ok(text)
}

/// RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}
