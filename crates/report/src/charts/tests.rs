//! Properties for any values: nothing panics, and drawings are XML of bounded size and always the same.

use proptest::prelude::*;

use super::svg::escaped;
use super::*;

/// Numbers, NaN and infinities.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        5 => 0.0..1e9,
        1 => -1e6..1e6,
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, 1e-12]),
        1 => any::<f64>(),
    ]
}

/// Likely and unlikely names.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z_]{1,12}",
        1 => any::<String>(),
        1 => prop::sample::select(vec![
            String::new(),
            "</script><script>alert(\"1\")</script>&'".to_owned(),
            "核函数<双精度>".to_owned(),
            "\u{0}\u{1b}[31m\u{202e}\u{ffff}\u{fdd0}".to_owned(),
            "x".repeat(5000),
        ]),
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(vec![
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::Count,
        Unit::Percent,
        Unit::GigabytesPerSecond,
        Unit::Gflops,
        Unit::FlopsPerByte,
        Unit::Number,
    ])
}

fn axis() -> impl Strategy<Value = Axis> {
    (name(), unit()).prop_map(|(name, unit)| Axis::new(name, unit))
}

fn some<S: Strategy>(of: S) -> impl Strategy<Value = Vec<S::Value>> {
    prop::collection::vec(of, 0..20)
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    some((name(), some((value(), value()))).prop_map(|(name, points)| Line { name, points }))
}

fn chart() -> impl Strategy<Value = Chart> {
    let bars = || some((name(), value()).prop_map(|(label, value)| Bar::new(label, value)));
    let optional = || prop::option::of(value());
    prop_oneof![
        (name(), axis(), bars()).prop_map(|(title, axis, bars)| Chart::bars(title, axis, bars)),
        (name(), axis(), bars(), optional())
            .prop_map(|(title, axis, bars, total)| Chart::pareto(title, axis, bars, total)),
        (name(), axis(), some((name(), value()))).prop_map(|(title, axis, rows)| Chart::categories(title, axis, rows)),
        (name(), axis(), some((name(), 0_usize..12)), some((name(), some(value())))).prop_map(
            |(title, axis, parts, rows)| {
                let parts = parts.into_iter().map(|(name, role)| BarPart::new(name, Role::Series(role))).collect();
                Chart::stacked(title, axis, parts, rows)
            }
        ),
        (name(), axis(), axis(), any::<bool>(), some((value(), value(), value()))).prop_map(
            |(title, x, y, log, bins)| {
                Chart::histogram(title, x, y, if log { Scale::Logarithmic } else { Scale::Linear }, bins)
            }
        ),
        (
            name(),
            axis(),
            (value(), value()),
            some((name(), some(optional()))),
            axis(),
            prop::option::of((value(), value()))
        )
            .prop_map(|(title, x, (from, to), rows, value, range)| {
                let groups = if rows.len() % 2 == 0 { vec![0; rows.len()] } else { Vec::new() };
                Chart::heat_map(title, HeatMap { x, from, to, rows, value, range, groups })
            }),
        (name(), some((name(), optional(), optional(), optional())), optional(), some((name(), value()))).prop_map(
            |(title, points, gbps, gflops)| {
                let point = |(name, intensity, gflops, weight)| Point { name, intensity, gflops, weight };
                Chart::roofline(title, points.into_iter().map(point).collect(), Roofs { gbps, gflops })
            }
        ),
        (name(), some((name(), optional(), optional()))).prop_map(|(title, gauges)| {
            let gauge = |(label, achieved_pct, theoretical_pct)| Gauge { label, achieved_pct, theoretical_pct };
            Chart::gauges(title, gauges.into_iter().map(gauge))
        }),
        (name(), axis(), axis(), lines()).prop_map(|(title, x, y, lines)| Chart::steps(title, x, y, lines)),
        (name(), axis(), axis(), lines()).prop_map(|(title, x, y, lines)| Chart::pace(title, x, y, lines)),
    ]
}

/// Requirements that every SVG must meet.
fn check(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(root.has_attribute("aria-label") && root.has_attribute("viewBox"));
    assert!(svg.len() < 150_000, "{}", svg.len());
    assert!(!svg.contains("<script") && !svg.contains("NaN") && !svg.contains("\"inf"), "{svg}");
    for (tag, attributes) in [("rect", ["x", "y", "width", "height"]), ("text", ["x", "y", "x", "y"])] {
        for shape in document.descendants().filter(|node| node.has_tag_name(tag)) {
            for number in attributes.into_iter().filter_map(|name| shape.attribute(name)) {
                assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{number} in {svg}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_chart_is_drawn(chart in chart(), width in 200.0..1500.0) {
        let layout = Layout { width, captions: true };
        let svg = chart.svg(layout).unwrap();
        check(&svg);
        prop_assert_eq!(&svg, &chart.svg(layout).unwrap());
        let page = chart.page_svg(layout).unwrap();
        check(&page);
        prop_assert!(!page.contains(" width=\"") || page.find(" width=\"") > page.find("<title>"));
        chart.all_notes();
        for color in [false, true] {
            let text = characters(&chart, Terminal { width: 80, color });
            let escapes = text.contains(char::from(27));
            prop_assert!(!escapes || color);
        }
    }

    #[test]
    fn names_of_columns_fit(label in name(), value in value()) {
        let bars = Chart::bars("t", Axis::time("time"), [Bar::new(label, value)]);
        let text = characters(&bars, Terminal { width: 60, color: false });
        for line in text.lines() {
            prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= 62, "{line}");
        }
    }
}

proptest! {
    // Pictures are slow to draw without optimization.
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn any_chart_is_a_picture(chart in chart()) {
        let png = chart.png(Layout { width: 240.0, captions: true }).unwrap();
        prop_assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    }
}

#[test]
fn a_thousand_ranks_are_grouped() {
    let cells = |rank: usize| (0..500).map(|bin| Some(((rank * 7919 + bin * 104_729) % 101) as f64)).collect();
    let map = Chart::utilization("map", (0.0, 1e9), (0..1000).map(|rank| (format!("rank {rank}"), cells(rank))));
    check(&map.svg(Layout::WIDE).unwrap());
    assert_eq!(
        map.all_notes(),
        [
            "each cell is the mean of up to 10 columns of 500",
            "up to 16 of 1000 rows share one: each cell is the one that deviates most; rows that stand out have their own"
        ]
    );
    let times = Chart::time_by_rank("times", (0..1000).map(|rank| (format!("rank {rank}"), [1.0, 2.0, 3.0, 4.0])));
    let svg = times.svg(Layout::WIDE).unwrap();
    check(&svg);
    assert!(svg.contains("one of up to 16 neighbors of 1000 that deviates most"), "{svg}");
    let bars = Chart::bars("bars", Axis::time("time"), (0..1000).map(|bar| Bar::new(format!("kernel {bar}"), 1e6)));
    assert_eq!(bars.all_notes(), ["968 more not drawn, they add up to 968\u{a0}ms"]);
    let noise = |line: usize| (0..20_000).map(|x| (x as f64, ((x * 7919 + line * 31) % 1013) as f64)).collect();
    let lines: Vec<Line> = (0..100).map(|line| Line { name: format!("gpu {line}"), points: noise(line) }).collect();
    for chart in [Chart::steps, Chart::pace] {
        check(&chart("lines", Axis::time("time"), Axis::bytes("bytes"), lines.clone()).svg(Layout::WIDE).unwrap());
    }
    let points = (0..1000).map(|point| Point {
        name: format!("a_kernel_with_quite_a_long_name_{point}"),
        intensity: Some(1.0 + point as f64),
        gflops: Some(1000.0),
        weight: Some(1.0),
    });
    let roofs = Roofs { gbps: Some(5300.0), gflops: vec![("vector".to_owned(), 163_400.0)] };
    check(&Chart::roofline("roofline", points.collect(), roofs).svg(Layout::NARROW).unwrap());
}

/// Rank 37 of 64 is a quarter slower: every kind of chart shows it, and says so.
#[test]
fn a_slow_rank_of_many_is_seen() {
    let label = |rank: usize| format!("rank {rank}");
    let slow =
        |rank: usize, usual: f64| if rank == 37 { 1.25 * usual } else { usual + (rank % 5) as f64 * 0.001 * usual };
    let cells = |rank: usize| (0..60).map(|bin| Some(slow(rank, 60.0) + f64::from(bin % 7) * 0.1)).collect();
    for ranks in [64, 1000] {
        let map = Chart::utilization("busy", (0.0, 1e9), (0..ranks).map(|rank| (label(rank), cells(rank))));
        let times = Chart::time_by_rank("time", (0..ranks).map(|rank| (label(rank), [slow(rank, 8e6), 1e6, 0.0, 1e6])));
        for chart in [&map, &times] {
            assert!(chart.alternative().contains("; stands out: rank 37 ("), "{}", chart.alternative());
            assert!(chart.svg(Layout::WIDE).unwrap().contains(">rank 37<"), "its row has its name");
            let text = characters(chart, Terminal { width: 100, color: false });
            assert!(text.lines().any(|line| line.starts_with("rank 37 ")), "{text}");
        }
        let lines = (0..ranks).map(|rank| {
            let points = (0..60).map(|x| (f64::from(x), slow(rank, 8e6))).collect();
            Line { name: label(rank), points }
        });
        let pace = Chart::pace("pace", Axis::count("iteration"), Axis::time("duration"), lines.collect());
        assert!(pace.svg(Layout::WIDE).unwrap().contains(">rank 37<"), "a line with a color");
        check(&pace.svg(Layout::WIDE).unwrap());
        assert!(pace.alternative().contains("rank 37 median 10\u{a0}ms"), "{}", pace.alternative());
    }
}

#[test]
fn a_histogram_of_one_bar_is_a_sentence() {
    let bins = [(512.0, 1024.0, 0.0), (1024.0, 2048.0, 12.0)];
    let chart = Chart::histogram("h", Axis::time("duration"), Axis::count("calls"), Scale::Logarithmic, bins);
    assert!(chart.is_empty());
    assert_eq!(chart.alternative(), "h: all 12 calls lie between 1.02\u{a0}µs and 2.05\u{a0}µs");
    assert!(chart.svg(Layout::WIDE).unwrap().contains(">all 12 calls lie between"));
    assert_eq!(
        characters(&chart, Terminal { width: 80, color: false }),
        "all 12 calls lie between 1.02\u{a0}µs and 2.05\u{a0}µs\n"
    );
}

#[test]
fn bars_are_as_long_as_their_values() {
    let chart =
        Chart::bars("b", Axis::time("time"), [("a", 4e6), ("b", 1e6)].map(|(label, value)| Bar::new(label, value)));
    let svg = chart.svg(Layout::WIDE).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let widths: Vec<f64> = document
        .descendants()
        .filter(|node| node.has_tag_name("rect") && node.attribute("fill") == Some("#0072b2"))
        .map(|node| node.attribute("width").unwrap().parse().unwrap())
        .collect();
    assert!(matches!(widths.as_slice(), [long, short] if (long / short - 4.0).abs() < 0.01), "{widths:?}");
    let tips: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect();
    assert_eq!(tips, ["b", "a: 4\u{a0}ms", "b: 1\u{a0}ms"]);
}

#[test]
fn pages_have_variables_and_both_themes() {
    let chart = Chart::time_by_rank("t", [("rank 0".to_owned(), [4.0, 3.0, 2.0, 1.0])]);
    let page = chart.page().unwrap();
    for variable in ["compute", "communication", "copy", "idle", "ink", "grid"] {
        assert!(page.contains(&format!("var(--chart-{variable},#")), "{variable}: {page}");
        assert_eq!(style_sheet().matches(&format!("--chart-{variable}:")).count(), 3, "{variable}");
    }
    assert_eq!(page.matches("<svg").count(), 2);
    for color in super::palette::Color::all() {
        let rule = format!("--chart-{}: {};", color.variable().unwrap(), color.hex());
        assert!(style_sheet().contains(&rule), "{rule}");
    }
}

#[test]
fn names_are_escaped() {
    assert_eq!(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    let bar = Bar::new("k<float>(\"</title></svg>\")", 1.0);
    let svg = Chart::bars("t", Axis::time("time"), [bar]).svg(Layout::WIDE).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert!(texts.contains(&"k<float>(\"</title></svg>\")"), "{texts:?}");
}

#[test]
fn charts_in_words_have_their_numbers() {
    let chart = Chart::pareto(
        "Hotspots",
        Axis::time("total"),
        [("a", 3e6), ("b", 1e6)].map(|(name, value)| Bar::new(name, value)),
        Some(8e6),
    );
    assert_eq!(
        chart.alternative(),
        "Hotspots: 2 bars of total with cumulative shares; greatest a 3\u{a0}ms, b 1\u{a0}ms; 8\u{a0}ms in all"
    );
    let svg = chart.svg(Layout::WIDE).unwrap();
    assert!(svg.contains("37.5%") && svg.contains("50.0%"), "{svg}");
}

#[test]
fn charts_of_characters() {
    let drawn = |chart: &Chart| characters(chart, Terminal { width: 60, color: false });
    let rows = [("rank 0", [4e6, 2e6, 0.0, 2e6]), ("rank 1", [2e6, 0.0, 0.0, 2e6])];
    let chart = Chart::time_by_rank("t", rows.map(|(label, values)| (label.to_owned(), values)));
    insta::assert_snapshot!("stacked_bars_of_characters", drawn(&chart));
    let (x, y) = (Axis::time("duration"), Axis::count("calls"));
    let bins = [(512.0, 1024.0, 3.0), (1024.0, 2048.0, 12.0)];
    insta::assert_snapshot!("histogram_of_characters", drawn(&Chart::histogram("h", x, y, Scale::Logarithmic, bins)));
    let cells = vec![Some(0.0), Some(50.0), None, Some(100.0)];
    let chart = Chart::utilization("u", (0.0, 1e9), [("rank 0".to_owned(), cells)]);
    insta::assert_snapshot!("heat_map_of_characters", drawn(&chart));
}
