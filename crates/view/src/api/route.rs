//! Finds the answer to a request.

use std::sync::Arc;

use anyhow::Result;
use serde_json::Value;

use super::error::ApiError;
use super::{compare, complete, findings, lanes, news, picture, queries, query, sql};
use crate::http::{Guard, Head, Method, Response, Service, Status};
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

    fn api(&self, head: &Head, body: &[u8]) -> Result<Response, ApiError> {
        let session = &self.session;
        let json = |body: Vec<u8>| Response::json(Status::OK, body);
        let bytes = |value: Value| Ok(json(value.to_string().into_bytes()));
        let is_get = head.method == Method::Get;
        match head.target.path.as_str() {
            "/api/picture" if is_get => picture::answer(session, head).map(json),
            "/api/lanes" if is_get => lanes::answer(session, head).map(json),
            "/api/findings" if is_get => bytes(findings::answer(session, head)?),
            "/api/queries" if is_get => bytes(queries::answer(session, head)?),
            "/api/query" if is_get => bytes(query::answer(session, head)?),
            "/api/sql" if !is_get => sql::answer(session, body),
            "/api/complete" if is_get => bytes(complete::answer(head)?),
            "/api/compare" if is_get => bytes(compare::answer(session, head)?),
            "/api/news" if is_get => bytes(news::answer(session, head)?),
            "/api/closed" if !is_get => bytes(news::closed(session, head)?),
            "/api/stop" if !is_get => bytes(news::stopped(session, head)?),
            path if KNOWN.contains(&path) => Err(ApiError(Status::METHOD_NOT_ALLOWED, "wrong method".to_owned())),
            _ => Err(ApiError(Status::NOT_FOUND, "unknown path".to_owned())),
        }
    }
}

/// Paths of this server.
const KNOWN: [&str; 12] = [
    "/",
    "/api/picture",
    "/api/lanes",
    "/api/findings",
    "/api/queries",
    "/api/query",
    "/api/sql",
    "/api/complete",
    "/api/compare",
    "/api/news",
    "/api/closed",
    "/api/stop",
];

impl Service for Api {
    fn answer(&self, head: &Head, body: &[u8]) -> Response {
        let is_page = head.target.path == "/" && head.method == Method::Get;
        if let Err(status) = self.guard.check(head, is_page) {
            let is_lost = is_page && status == Status::UNAUTHORIZED;
            return if is_lost { Response::text(status, NO_TOKEN) } else { Response::error(status, status.1) };
        }
        if is_page {
            let (body, policy) = (self.page.body.clone(), Some(self.page.policy.clone()));
            let content_type = "text/html; charset=utf-8";
            return Response { status: Status::OK, content_type, policy, body };
        }
        self.api(head, body).unwrap_or_else(|error| error.response())
    }
}
