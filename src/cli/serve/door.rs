//! The door of the server: which request goes where, who may come in, and what every answer carries.

use super::answer::{Answer, Answered, Fault};
use super::shelf::Shelf;
use super::{metrics, modules, nodes, overview, runs, stacks};
use crate::base::Plain;
use crate::ui::page;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// What every answer carries: it is for this page alone, it is no other type than it says, and nobody keeps it.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];
/// What is no page is not to be shown as one.
const BARE: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const COOKIE: &str = "suil";
/// The longest form that is read, in bytes.
const FORM: usize = 4096;
/// So long a wrong token waits for its answer.
const WRONG: Duration = Duration::from_millis(400);

static APP: LazyLock<page::Page> = LazyLock::new(page::app);

pub fn router(shelf: Arc<Shelf>) -> Router {
    let open = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(metrics::ready))
        .route("/login", get(login).post(log_in))
        .route("/logout", axum::routing::post(log_out));
    let closed = Router::new()
        .route("/", get(app))
        .route("/metrics", get(metrics::metrics))
        .route("/v1/me", get(me))
        .route("/v1/overview", get(overview::overview))
        .route("/v1/repos", get(stacks::repos))
        .route("/v1/repos/{owner}/{name}", get(stacks::repo))
        .route("/v1/repos/{owner}/{name}/graph", get(stacks::graph))
        .route("/v1/repos/{owner}/{name}/stacks", get(stacks::of_repo))
        .route("/v1/repos/{owner}/{name}/runs", get(runs::of_repo))
        .route("/v1/runs", get(runs::all))
        .route("/v1/runs/{id}", get(runs::one))
        .route("/v1/runs/{id}/stacks/{key}/plan", get(runs::plan))
        .route("/v1/stacks/{id}", get(stacks::one))
        .route("/v1/stacks/{id}/runs", get(runs::of_stack))
        .route("/v1/locks", get(stacks::locks))
        .route("/v1/drift", get(stacks::drift))
        .route("/v1/modules", get(modules::all))
        .route("/v1/modules/{id}", get(modules::one))
        .route("/v1/audit", get(runs::audit))
        .route("/v1/nodes", get(nodes::all))
        .route("/v1/nodes/{name}", get(nodes::one))
        .route("/v1/node-runs", get(nodes::runs))
        .route("/v1/node-runs/{id}", get(nodes::run))
        .layer(from_fn_with_state(shelf.clone(), known));
    let lost = async || Fault::not_found("there is nothing here");
    open.merge(closed)
        .fallback(lost)
        .method_not_allowed_fallback(async || Fault::read_only())
        .layer(from_fn_with_state(shelf.clone(), dressed))
        .with_state(shelf)
}

/// Turns strange hosts away, and puts the headers on every answer, whatever it is.
async fn dressed(State(shelf): State<Arc<Shelf>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let mut response = match host.is_some_and(|host| is_own(host, &shelf.names)) {
        true => next.run(request).await,
        false => {
            Fault::forbidden("this server does not answer to that name; `suil serve --host NAME` says which it has")
                .into_response()
        }
    };
    shelf.count(response.status());
    let headers = response.headers_mut();
    for (name, value) in &HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(BARE));
    response
}

/// True for an address, for `localhost`, and for the names that were given. A page of somebody else can make its own name
/// lead here, but not one of these.
fn is_own(host: &str, names: &[String]) -> bool {
    if host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok() {
        return true;
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    bare.is_some_and(|address| address.parse::<IpAddr>().is_ok())
        || name.eq_ignore_ascii_case("localhost")
        || names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Lets in whoever has the token or a session; all, where no token is demanded.
async fn known(State(shelf): State<Arc<Shelf>>, request: Request, next: Next) -> Response {
    let Some(token) = &shelf.token else { return next.run(request).await };
    let bearer = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(bearer) = bearer {
        let (scheme, word) = bearer.split_once(' ').unwrap_or_default();
        if scheme.eq_ignore_ascii_case("bearer") && token.is(word.trim()) {
            return next.run(request).await;
        }
        tokio::time::sleep(WRONG).await;
        return Fault::unauthorized().into_response();
    }
    if session(request.headers()).is_some_and(|session| token.knows(session)) {
        return next.run(request).await;
    }
    match request.uri().path() {
        "/" => Redirect::to("/login").into_response(),
        _ => Fault::unauthorized().into_response(),
    }
}

/// The session that the cookie names.
fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

fn shown(page: &page::Page) -> Response {
    let mut response = Html(page.html.clone()).into_response();
    // The policy is made of words and digests.
    if let Ok(policy) = HeaderValue::from_str(&page.policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

async fn app() -> Response {
    shown(&APP)
}

async fn login(State(shelf): State<Arc<Shelf>>, request: Request) -> Response {
    match &shelf.token {
        Some(token) if !session(request.headers()).is_some_and(|session| token.knows(session)) => {
            shown(&page::login(false))
        }
        _ => Redirect::to("/").into_response(),
    }
}

/// Takes the token from the form, and gives a cookie that only this page sends back.
async fn log_in(State(shelf): State<Arc<Shelf>>, request: Request) -> Result<Response, Fault> {
    let Some(token) = &shelf.token else { return Ok(Redirect::to("/").into_response()) };
    let secure = request.headers().get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let word = form(request.into_body()).await?;
    if !token.is(word.trim()) {
        tokio::time::sleep(WRONG).await;
        return Ok((StatusCode::FORBIDDEN, shown(&page::login(true))).into_response());
    }
    let session = token.begin().ok_or_else(|| Fault::internal("the system gives no random bytes"))?;
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200{secure}");
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response())
}

async fn log_out(State(shelf): State<Arc<Shelf>>, headers: HeaderMap) -> Response {
    if let (Some(token), Some(session)) = (&shelf.token, session(&headers)) {
        token.end(session);
    }
    let cookie = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/login")).into_response()
}

/// The field `token` of a form.
async fn form(body: Body) -> Result<zeroize::Zeroizing<String>, Fault> {
    let bytes = to_bytes(body, FORM).await.map_err(|_| Fault::too_large())?;
    let text = std::str::from_utf8(&bytes).map_err(|_| Fault::invalid("the form is no text"))?;
    let field = text.split('&').find_map(|pair| pair.strip_prefix("token="));
    let field = field.ok_or_else(|| Fault::invalid("the form has no field `token`"))?;
    Ok(zeroize::Zeroizing::new(decoded(field)))
}

/// A value of a form without its escapes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
        match (first, tail) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, tail @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push(high << 4 | low);
                    rest = tail;
                }
                _ => bytes.push(b'%'),
            },
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the page asks first: whether there is somebody to log out.
async fn me(State(shelf): State<Arc<Shelf>>) -> Answered {
    Ok(Answer(Plain::from_iter([("token", Plain::from(shelf.token.is_some()))])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_the_given_names_are_own_and_no_other_is() {
        let names = ["suil.example.com".to_owned()];
        for own in [
            "127.0.0.1:8420",
            "127.0.0.1",
            "[::1]:8420",
            "[::1]",
            "localhost",
            "LOCALHOST:1",
            "localhost.",
            "192.0.2.7:80",
            "suil.example.com",
            "Suil.Example.com:443",
        ] {
            assert!(is_own(own, &names), "{own}");
        }
        for strange in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8420",
            "suil.example.com.evil",
            "a:b",
            "[x]",
        ] {
            assert!(!is_own(strange, &names), "{strange}");
        }
    }

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        assert_eq!(decoded("a%2Bb+c%25%zz%4"), "a+b c%%zz%4");
        assert_eq!(decoded("%C3%A9"), "é");
    }

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        assert_eq!(session(&headers), None);
        headers.insert(header::COOKIE, HeaderValue::from_static("xsuil=1; suil=abc; suil2=2"));
        assert_eq!(session(&headers), Some("abc"));
    }
}
