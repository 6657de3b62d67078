//! Answers: values as JSON, and what went wrong as `{code, message, details}`.

use crate::base::mask::without_passwords;
use crate::base::problem::Kind;
use crate::base::{Plain, Problem, Problems};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A value; `version` is put before it.
pub struct Answer(pub Plain);

/// What every call gives.
pub type Answered = Result<Answer, Fault>;

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut whole = Plain::from_iter([("version", Plain::Int(crate::ui::output::VERSION))]);
        if let Plain::Map(map) = self.0 {
            map.into_iter().for_each(|(key, value)| whole.set(key, value));
        }
        json(StatusCode::OK, &whole)
    }
}

/// A value that becomes JSON by itself; `version` is put before it.
pub struct Whole<'a, T>(pub &'a T);

impl<T: serde::Serialize> IntoResponse for Whole<'_, T> {
    fn into_response(self) -> Response {
        #[derive(serde::Serialize)]
        struct Versioned<'a, T> {
            version: i64,
            #[serde(flatten)]
            rest: &'a T,
        }
        match serde_json::to_string(&Versioned { version: crate::ui::output::VERSION, rest: self.0 }) {
            Ok(json) => text(StatusCode::OK, &json),
            Err(_) => Fault::internal("the value is no JSON").into_response(),
        }
    }
}

fn json(status: StatusCode, value: &Plain) -> Response {
    text(status, &value.to_json_line())
}

/// No address in it has a password, whoever wrote it there.
fn text(status: StatusCode, json: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], format!("{}\n", without_passwords(json))).into_response()
}

/// Why there is no answer. The words are for people, the code is for programs.
#[derive(Debug)]
pub struct Fault {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Vec<String>,
    header: Option<(HeaderName, &'static str)>,
}

impl Fault {
    fn of(status: StatusCode, code: &'static str, message: impl Into<String>) -> Fault {
        Fault { status, code, message: message.into(), details: Vec::new(), header: None }
    }

    /// The request makes no sense.
    pub fn invalid(message: impl Into<String>) -> Fault {
        Fault::of(StatusCode::BAD_REQUEST, "invalid", message)
    }

    pub fn too_large() -> Fault {
        Fault::of(StatusCode::PAYLOAD_TOO_LARGE, "invalid", "the request is too large")
    }

    pub fn unauthorized() -> Fault {
        let message = "a token is needed: send `Authorization: Bearer TOKEN`";
        let header = Some((header::WWW_AUTHENTICATE, "Bearer realm=\"suil\""));
        Fault { header, ..Fault::of(StatusCode::UNAUTHORIZED, "unauthorized", message) }
    }

    pub fn forbidden(message: impl Into<String>) -> Fault {
        Fault::of(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub fn not_found(message: impl Into<String>) -> Fault {
        Fault::of(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub fn read_only() -> Fault {
        let message = "this server only reads: use GET or HEAD, and the command line to change something";
        let header = Some((header::ALLOW, "GET, HEAD"));
        Fault { header, ..Fault::of(StatusCode::METHOD_NOT_ALLOWED, "invalid", message) }
    }

    pub fn internal(message: impl Into<String>) -> Fault {
        Fault::of(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub fn unavailable(message: impl Into<String>) -> Fault {
        Fault::of(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault::from(vec![problem])
    }
}

impl From<Problems> for Fault {
    /// What the workspace or the store says of itself; the first line is the message, each line one of the details.
    fn from(problems: Problems) -> Fault {
        let told = |problem: &Problem| match problem.place {
            Some(place) => format!("{place}: {}", problem.what),
            None => problem.what.clone(),
        };
        let refused = problems.iter().any(|problem| problem.kind == Kind::Refused);
        let message = problems.first().map_or("it failed".to_owned(), told);
        let details = problems.iter().flat_map(|problem| {
            std::iter::once(told(problem))
                .chain(problem.notes.iter().map(|note| note.text.clone()))
                .chain(problem.help.clone())
        });
        let fault = match refused {
            true => Fault::of(StatusCode::CONFLICT, "refused", message),
            false => Fault::unavailable(message),
        };
        Fault { details: details.collect(), ..fault }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let value = Plain::from_iter([
            ("code", Plain::from(self.code)),
            ("message", Plain::from(self.message)),
            ("details", self.details.into_iter().map(Plain::from).collect()),
        ]);
        let mut response = json(self.status, &value);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
        }
        response
    }
}
