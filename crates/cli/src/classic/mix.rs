//! The file of `--wmix`: it is read before the first packet, and a mistake in it is shown at its place.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use httperf::load::{Mix, MixError};

use crate::personality::httperf::options::Options;

/// The largest file: whoever names a device gets an answer.
const BYTES_MAX: u64 = 16 << 20;

/// The mix, if there is one. An error is complete lines for the user.
pub(super) fn mix(options: &Options, with_colours: bool) -> Result<Option<Arc<Mix>>, Vec<u8>> {
    let Some(file) = &options.wmix else { return Ok(None) };
    let text = read(file).map_err(|text| options.message(format!("--wmix: {text}").as_bytes()))?;
    let mix = Mix::parse(&text);
    let mix = mix.map_err(|error| show(&error, &text, file, &options.program, with_colours).into_bytes())?;
    Ok(Some(Arc::new(mix)))
}

fn read(file: &Path) -> Result<String, String> {
    let name = file.display();
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|open| open.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("failed to read {name}: {error}"))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("{name} is larger than {} MiB", BYTES_MAX >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{name}: line {line} is not UTF-8")
    })
}

/// The mistake, the line it is in, and what to do.
fn show(error: &MixError, text: &str, file: &Path, program: &[u8], with_colours: bool) -> String {
    let program = String::from_utf8_lossy(program);
    let place = AnnotationKind::Primary.span(error.span.clone());
    let snippet = Snippet::source(text).path(file.display().to_string()).annotation(place);
    let title = Level::ERROR.with_name(program).primary_title(&error.message);
    let group = title.element(snippet).elements(error.help.as_ref().map(|help| Level::HELP.message(help)));
    let renderer = if with_colours { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of the page's own example with a change.
    fn shown(from: &str, to: &str) -> String {
        let page = include_str!("../../../../docs/wmix.md");
        let whole = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert_eq!(whole.matches(from).count(), 1, "{from}");
        let text = whole.replace(from, to);
        let error = Mix::parse(&text).unwrap_err();
        show(&error, &text, Path::new("mix.toml"), b"httperf", false)
    }

    #[test]
    fn a_mistake_is_shown_at_its_place() {
        assert_eq!(
            shown("good = \"3s\"", "good = \"6s\""),
            "\
httperf: `tolerable` is shorter than `good`
 --> mix.toml:9:13
  |
9 | tolerable = \"5s\"
  |             ^^^^
"
        );
    }

    #[test]
    fn help_follows_it() {
        assert_eq!(
            shown("\"5s\", max", "\"5 s\", max"),
            "\
httperf: `mean` is not a duration: `5 s`
 --> mix.toml:5:48
  |
5 | think = { distribution = \"exponential\", mean = \"5 s\", max = \"60s\" }
  |                                                ^^^^^
  |
  = help: write a number and ns, us, ms, s, m or h: \"250ms\", \"1.5s\"
"
        );
    }

    #[test]
    fn a_terminal_gets_colours_and_no_escapes_of_the_file() {
        let text = "a = \"\x1b[2J\u{202e}\"";
        let error = Mix::parse(text).unwrap_err();
        let show = |colours| show(&error, text, Path::new("f"), b"httperf", colours);
        assert!(show(true).contains("\x1b[") && !show(true).contains("\x1b[2J"));
        assert!(!show(false).contains(['\x1b', '\u{202e}']), "{}", show(false));
    }
}
