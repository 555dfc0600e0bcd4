//! The requests of a run: those of the scenario, rendered once, and patched ones that live while somebody
//! needs them.
//!
//! Buffers of patched requests are used again: a URI that changes with every call costs a copy and no
//! allocation.

use std::sync::Arc;

use httperf_wire::Request;

/// The number of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub u32);

/// How a request differs from one of the scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patch<'a> {
    /// Another target; `None` leaves it.
    pub uri: Option<&'a [u8]>,
    /// Complete field lines, put before the empty line.
    pub fields: &'a [u8],
}

/// All requests that can be issued.
#[derive(Debug)]
pub(crate) struct Requests {
    fixed: Arc<[Request]>,
    patched: Vec<Patched>,
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Patched {
    request: Request,
    /// Who needs it: the workload, and each call that was issued with it.
    holders: u32,
}

/// Buffers larger than this are not kept for another use.
const KEEP: usize = 64 * 1024;

impl Requests {
    pub(crate) fn new(fixed: Arc<[Request]>) -> Self {
        Self { fixed, patched: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn get(&self, id: RequestId) -> &Request {
        let index = id.0 as usize;
        match self.fixed.get(index) {
            Some(request) => request,
            None => &self.patched[index - self.fixed.len()].request,
        }
    }

    /// A patched request with one holder.
    pub(crate) fn patch(&mut self, of: RequestId, patch: Patch<'_>) -> RequestId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.patched.push(Patched::default());
            self.patched.len() as u32 - 1
        });
        let mut request = std::mem::take(&mut self.patched[slot as usize].request);
        request.patch(self.get(of), patch.uri, patch.fields);
        self.patched[slot as usize] = Patched { request, holders: 1 };
        RequestId(self.fixed.len() as u32 + slot)
    }

    #[inline]
    pub(crate) fn hold(&mut self, id: RequestId) {
        if let Some(index) = (id.0 as usize).checked_sub(self.fixed.len()) {
            self.patched[index].holders += 1;
        }
    }

    #[inline]
    pub(crate) fn release(&mut self, id: RequestId) {
        if let Some(index) = (id.0 as usize).checked_sub(self.fixed.len()) {
            self.let_go(index);
        }
    }

    fn let_go(&mut self, index: usize) {
        let patched = &mut self.patched[index];
        patched.holders -= 1;
        if patched.holders == 0 {
            if patched.request.bytes().len() > KEEP {
                patched.request = Request::default();
            }
            self.free.push(index as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use httperf_wire::RequestSpec;

    fn requests() -> Requests {
        let spec = RequestSpec { uri: b"/".to_vec(), ..RequestSpec::default() };
        Requests::new([Request::render(&spec)].into())
    }

    #[test]
    fn a_patched_request_lives_as_long_as_somebody_holds_it() {
        let mut requests = requests();
        let fixed = RequestId(0);
        let one = requests.patch(fixed, Patch { uri: Some(b"/one"), ..Patch::default() });
        requests.hold(one);
        requests.release(one);
        let two = requests.patch(fixed, Patch { uri: Some(b"/two"), ..Patch::default() });
        assert_eq!(
            (requests.get(one).uri(), requests.get(two).uri()),
            (b"/one".as_slice(), b"/two".as_slice())
        );
        requests.release(one);
        let three = requests.patch(two, Patch { fields: b"A: b\r\n", ..Patch::default() });
        assert_eq!(three, one, "its slot is used again");
        assert_eq!(requests.get(three).bytes(), b"GET /two HTTP/1.1\r\nA: b\r\n\r\n");
        requests.hold(fixed);
        requests.release(fixed);
        assert_eq!(requests.get(fixed).uri(), b"/");
    }
}
