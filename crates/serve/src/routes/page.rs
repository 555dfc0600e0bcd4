//! A page with objects, as a browser or a page workload would fetch it, and a way to it.

use hyper::StatusCode;
use hyper::header::{HeaderValue, LOCATION};

use super::Answer;
use crate::message::{Body, Call, Reply};

/// Every way to name an object: absolute path and relative, each quote and none. The one on another
/// host is in a domain that can never be one (RFC 6761, section 6.4), so who asks for it learns
/// that.
const PAGE: &str = r#"<!DOCTYPE html>
<html>
<head><title>A page of httperf serve</title></head>
<body>
<img src="/bytes/1000" alt="an absolute path">
<img src="bytes/2000" alt="a relative path">
<img src=/bytes/3000 alt="no quotes">
<frame src="/bytes/4000">
<iframe src='/bytes/5000'></iframe>
<img src="http://elsewhere.invalid/bytes/6000" alt="on another host">
<a href="/bytes/7000">not a part of the page</a>
</body>
</html>
"#;

pub(super) fn page(_: &Call<'_>) -> Answer {
    Ok(Reply::empty(StatusCode::OK).body("text/html; charset=utf-8", Body::Text(PAGE.into())))
}

pub(super) fn redirect(_: &Call<'_>) -> Answer {
    let reply = Reply::text(StatusCode::FOUND, "the page is at /page\n");
    Ok(reply.field(LOCATION, HeaderValue::from_static("/page")))
}
