//! Pages for a browser: one document each, with everything that it needs inside.
//!
//! A page asks nothing of anybody: its content security policy names the digests of its own script and style, and
//! forbids the rest. Data goes in as JSON that cannot end the element it stands in.

use crate::base::clock;
use crate::base::mask::without_passwords;
use crate::infra::graph::{Affected, Graph};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Serialize;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page/style.css");
const DRAWING: [&str; 6] = [
    include_str!("page/dom.js"),
    include_str!("page/layout.js"),
    include_str!("page/model.js"),
    include_str!("page/draw.js"),
    include_str!("page/details.js"),
    include_str!("page/graph.js"),
];
const EXPORT: &str = include_str!("page/export.js");
const APP: &str = include_str!("page/app.js");
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' \
                    r='6.5' fill='none' stroke='%231f6feb' stroke-width='2'/%3E%3Ccircle cx='8' cy='8' r='2.6' fill='%231f6feb'/%3E%3C/svg%3E";

/// A document, and the policy that its answer carries as a header.
pub struct Page {
    pub html: String,
    pub policy: String,
}

#[derive(Serialize)]
struct Data<'a> {
    graph: &'a Graph,
    affected: Option<&'a Affected>,
    /// When the page was made.
    made: String,
    version: String,
}

/// The page of a graph, and of what a change touches in it: complete in itself, for a file or an attachment.
pub fn export(graph: &Graph, affected: Option<&Affected>) -> String {
    let version = concat!("suil ", env!("CARGO_PKG_VERSION")).to_owned();
    let data = Data { graph, affected, made: clock::stamp(clock::now()), version };
    // Strings, numbers, lists and maps with words as keys: nothing of it fails to become JSON.
    let data = serde_json::to_string(&data).unwrap_or_default();
    let data = without_passwords(&data);
    let script = script(&[&DRAWING[..], &[EXPORT]].concat());
    let title = if graph.repo.is_empty() { "Stack graph".to_owned() } else { format!("{}: stack graph", graph.repo) };
    let rest = "default-src 'none'; img-src data:; form-action 'none'; base-uri 'none'";
    let policy = policy(rest, &script);
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n");
    let body = format!(
        "<noscript>This page is drawn by its script, which needs no network.</noscript>\n<div id=\"page\"></div>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>{script}</script>",
        inert(&data)
    );
    document(&title, &meta, &body)
}

/// The page of `suil serve`, which asks the server it came from and nobody else.
pub fn app() -> Page {
    let script = script(&[&DRAWING[..], &[APP]].concat());
    let rest = "default-src 'none'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                frame-ancestors 'none'";
    let body = format!(
        "<noscript>This page is drawn by its script; the same is at /v1/overview as JSON.</noscript>\n\
         <div id=\"page\"></div>\n<script>{script}</script>"
    );
    Page { html: document("suil", "", &body), policy: policy(rest, &script) }
}

/// The page that asks for the token; `wrong` after one that was not it.
pub fn login(wrong: bool) -> Page {
    let rest = "default-src 'none'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let told = if wrong { "<p class=\"warning\" role=\"alert\">That is not the token.</p>" } else { "" };
    let body = format!(
        "<div id=\"page\"><form class=\"login\" method=\"post\" action=\"/login\"><span class=\"brand\">suil</span>{told}\
         <input name=\"username\" value=\"suil\" autocomplete=\"username\" hidden><label for=\"token\">Token</label><input id=\"token\" name=\"token\" type=\"password\" required autofocus \
         autocomplete=\"current-password\"><button class=\"main\">Log in</button></form></div>"
    );
    Page { html: document("Log in to suil", "", &body), policy: policy(rest, "") }
}

fn script(parts: &[&str]) -> String {
    format!("\"use strict\";\n(() => {{\n{}}})();\n", parts.concat())
}

/// `rest`, and the script and the style of the page as the only ones.
fn policy(rest: &str, script: &str) -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    let script = match script {
        "" => "'none'".to_owned(),
        script => format!("'sha256-{}'", digest(script)),
    };
    format!("{rest}; script-src {script}; style-src 'sha256-{}'", digest(STYLE))
}

fn document(title: &str, meta: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n{meta}<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"{ICON}\">\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n\
         </body>\n</html>\n"
    )
}

/// JSON in which no character can end a `<script>`, begin a comment in it, or end a line of JavaScript.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Text as it stands in HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::graph::Stack;

    fn hostile() -> Graph {
        let key = "stacks/</script><script>alert(1)</script><!--\u{2028}&\"'".to_owned();
        let stack = Stack { key: key.clone(), path: key, ..Stack::default() };
        Graph { repo: "a/<b>".to_owned(), stacks: vec![stack], ..Graph::default() }
    }

    #[test]
    fn no_name_ends_the_element_that_it_stands_in() {
        let page = export(&hostile(), None);
        assert_eq!(page.matches("</script>").count(), 2, "that of the data and that of the script");
        assert!(
            !page.contains("<!--")
                && !page.contains('\u{2028}')
                && page.contains("<title>a/&lt;b&gt;: stack graph</title>")
        );
        let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
        let read: serde_json::Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(read["graph"]["stacks"][0]["key"], hostile().stacks[0].key.as_str());
    }

    #[test]
    fn a_page_names_no_address_and_allows_none() {
        let page = export(&Graph::default(), None);
        let strange = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!strange.contains("http:") && !strange.contains("https:") && !strange.contains("src=\"//"));
        assert!(
            page.contains("default-src 'none'") && !page.contains("unsafe-inline") && !page.contains("connect-src")
        );
    }

    #[test]
    fn the_policy_names_the_very_script_and_style() {
        let page = export(&hostile(), None);
        let between =
            |from: &str, to: &str| page.split(from).nth(1).and_then(|rest| rest.split(to).next()).unwrap_or_default();
        for (what, text) in [("script", between("\n<script>", "</script>")), ("style", between("<style>", "</style>"))]
        {
            let digest = BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
            assert!(!text.is_empty() && page.contains(&format!("{what}-src 'sha256-{digest}'")), "{what}");
        }
    }
}
