//! Finds the answer to a request.

use std::sync::Arc;

use anyhow::Result;
use serde_json::Value;

use super::error::ApiError;
use super::{compare, complete, events, findings, lanes, picture, queries, query, sql};
use crate::http::{Guard, Head, Method, Reply, Response, Service, Status};
use crate::page::Page;
use crate::session::Session;

/// Message for an address without the token.
const NO_TOKEN: &str = "This address lacks its token. Use the address that wavesieve view printed.\n";

/// Answers requests about a session.
pub struct Api {
    session: Arc<Session>,
    guard: Guard,
    page: Page,
}

impl Api {
    /// Answers for requests that the guard lets through.
    ///
    /// # Errors
    /// When the page cannot be made.
    pub fn new(session: Arc<Session>, guard: Guard, in_frames: bool) -> Result<Self> {
        let title = session.side(0)?.side.words.join(" ");
        let page = Page::new(&title, session.sides.len() > 1, in_frames)?;
        Ok(Self { session, guard, page })
    }

    fn api(&self, head: &Head, body: &[u8]) -> Result<Vec<u8>, ApiError> {
        let session = &self.session;
        let bytes = |value: Value| Ok(value.to_string().into_bytes());
        let is_get = head.method == Method::Get;
        match head.target.path.as_str() {
            "/api/picture" if is_get => picture::answer(session, head),
            "/api/lanes" if is_get => lanes::answer(session, head),
            "/api/findings" if is_get => bytes(findings::answer(session, head)?),
            "/api/queries" if is_get => bytes(queries::answer(session, head)?),
            "/api/query" if is_get => bytes(query::answer(session, head)?),
            "/api/sql" if !is_get => bytes(sql::answer(session, body)?),
            "/api/complete" if is_get => bytes(complete::answer(head)?),
            "/api/compare" if is_get => bytes(compare::answer(session, head)?),
            path if KNOWN.contains(&path) => Err(ApiError(Status::METHOD_NOT_ALLOWED, "wrong method".to_owned())),
            _ => Err(ApiError(Status::NOT_FOUND, "unknown path".to_owned())),
        }
    }
}

/// Paths of this server.
const KNOWN: [&str; 10] = [
    "/",
    "/api/picture",
    "/api/lanes",
    "/api/findings",
    "/api/queries",
    "/api/query",
    "/api/sql",
    "/api/complete",
    "/api/compare",
    "/api/events",
];

impl Service for Api {
    fn answer(&self, head: &Head, body: &[u8]) -> Reply {
        let is_page = head.target.path == "/" && head.method == Method::Get;
        if let Err(status) = self.guard.check(head, is_page) {
            let is_lost = is_page && status == Status::UNAUTHORIZED;
            let refused = if is_lost { Response::text(status, NO_TOKEN) } else { Response::error(status, status.1) };
            return Reply::Whole(refused);
        }
        if is_page {
            let (body, policy) = (self.page.body.clone(), Some(self.page.policy.clone()));
            let content_type = "text/html; charset=utf-8";
            return Reply::Whole(Response { status: Status::OK, content_type, policy, body });
        }
        if head.target.path == "/api/events" && head.method == Method::Get {
            let session = Arc::clone(&self.session);
            return Reply::Events(Box::new(move |connection| events::stream(&session, connection)));
        }
        match self.api(head, body) {
            Ok(body) => Reply::Whole(Response::json(Status::OK, body)),
            Err(error) => Reply::Whole(error.response()),
        }
    }
}
