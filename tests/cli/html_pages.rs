//! Pages for browsers: what can be tested without one. `tests/html` opens them.

use serde_json::Value;

use crate::common::run;

fn page(input: &str) -> String {
    let run = run(&["analyze", input, "--format", "html", "--quiet"]);
    assert!(matches!(run.code, 0 | 5), "{}", run.stderr);
    run.stdout
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    text.split_once(begin).unwrap().1.split_once(end).unwrap().0
}

#[test]
fn a_page_holds_its_document_as_json() {
    let page = page("fixtures/two_nodes");
    let held: Value =
        serde_json::from_str(between(&page, "id=\"wavesieve-document\">", "</script>")).expect("the page holds JSON");
    let asked = run(&["analyze", "fixtures/two_nodes", "--format", "json", "--top", "50"]);
    assert_eq!(held, serde_json::from_str::<Value>(&asked.stdout).expect("the document is JSON"));
}

#[test]
fn a_page_loads_nothing_and_runs_its_own_scripts_only() {
    for input in ["fixtures/two_nodes", "fixtures/hostile", "fixtures/counters"] {
        let page = page(input);
        assert!(page.starts_with("<!DOCTYPE html>"));
        let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src &#x27;none&#x27;; script-src &#x27;sha256-"), "{policy}");
        assert!(!policy.contains("http"), "{policy}");
        assert_eq!(page.matches("<script").count(), 4);
        assert_eq!(page.matches("</script").count(), 4, "nothing within a script ends it");
        for loaded in [" src=", "url(http", "@import", "href=\"http"] {
            assert!(!page.contains(loaded), "{input} has {loaded}");
        }
    }
}

#[test]
fn headings_and_ids_are_in_order() {
    let page = page("fixtures/two_nodes");
    let mut level = 0;
    for piece in page.split("<h").skip(1) {
        let Some(next) = piece.chars().next().and_then(|digit| digit.to_digit(10)) else { continue };
        assert!(next <= level + 1, "h{next} after h{level}");
        level = next;
    }
    for id in ["overview", "findings", "hotspots", "table/kernel_summary", "chart/time_breakdown", "appendix"] {
        let escaped = id.replace('/', "&#x2f;");
        assert_eq!(page.matches(&format!(" id=\"{escaped}\"")).count(), 1, "{id}");
    }
}

#[test]
fn webview_is_another_name_of_html() {
    let run = run(&["analyze", "fixtures/two_nodes", "--format", "webview", "--quiet"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout == page("fixtures/two_nodes"));
}
