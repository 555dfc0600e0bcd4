//! How the document is laid out: objects over lines, lists in one line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The document as text that both people and programs read, with a line end behind it.
pub(super) fn pretty(document: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 * 1024);
    let layout = Layout { objects: PrettyFormatter::new(), lists: 0 };
    let written = document.serialize(&mut Serializer::with_formatter(&mut bytes, layout));
    written.expect("memory can be written, and every key is a string or a number");
    bytes.push(b'\n');
    bytes
}

/// The usual layout, but columns of hundreds of numbers do not take a line for each.
struct Layout {
    objects: PrettyFormatter<'static>,
    /// How many lists the current place is in.
    lists: u32,
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.lists += 1;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.lists -= 1;
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.lists > 0 { writer.write_all(b"{") } else { self.objects.begin_object(writer) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.lists > 0 { writer.write_all(b"}") } else { self.objects.end_object(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.lists > 0 {
            return writer.write_all(if first { b"" } else { b", " });
        }
        self.objects.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.objects.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.lists > 0 { Ok(()) } else { self.objects.end_object_value(writer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_go_over_lines_and_lists_stay_in_one() {
        let document =
            serde_json::json!({"a": {"b": [1, 2.5, null], "c": {}}, "d": [], "e": [{"f": 1, "g": [2]}]});
        let expected = "{\n  \"a\": {\n    \"b\": [1, 2.5, null],\n    \"c\": {}\n  },\n  \"d\": [],\n  \
                        \"e\": [{\"f\": 1, \"g\": [2]}]\n}\n";
        assert_eq!(String::from_utf8_lossy(&pretty(&document)), expected);
    }
}
