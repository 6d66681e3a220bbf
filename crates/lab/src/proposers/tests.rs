//! Tests of the transforms: their changes and refusals.

use super::facts::KernelFacts;
use super::transform::Transform;
use super::unroll;
use wavesieve_source::kernels::kernels;

const PLAIN: &str = "\
__global__ void sum(float *out, const float* in, int n) {
    float total = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        total += in[i];
    }
    out[threadIdx.x] = total;
}
";

fn facts() -> KernelFacts {
    KernelFacts { work_items: Some(256), ..KernelFacts::default() }
}

fn tried(transform: Transform, text: &str) -> Result<String, String> {
    let found = kernels(text);
    let kernel = found.first().expect("a kernel");
    transform.apply(text, kernel, &facts()).map(|done| done.text).map_err(|refusal| refusal.0)
}

fn with_loop(body: &str) -> String {
    PLAIN.replace("total += in[i];", body)
}

#[test]
fn unrolling_repeats_the_innermost_loop() {
    let done = tried(Transform::Unroll, PLAIN).unwrap();
    assert_eq!(done, PLAIN.replace("    for", "    #pragma unroll 4\n    for"));
    // An existing pragma is replaced; an equal one stays.
    let other = PLAIN.replace("    for", "    #pragma unroll 2\n    for");
    assert_eq!(tried(Transform::Unroll, &other).unwrap(), done);
    assert_eq!(tried(Transform::Unroll, &done).unwrap_err(), "the loop is unrolled by 4 already");
    // The inner of two loops, and one without braces after another statement.
    let nested = with_loop("for (int k = 0; k < 4; ++k) total += in[i + k];");
    assert!(tried(Transform::Unroll, &nested).unwrap().contains("        #pragma unroll 4\n        for (int k"));
    let inline = PLAIN.replace("float total = 0;\n    for", "float total = 0; for");
    assert!(tried(Transform::Unroll, &inline).unwrap().contains("float total = 0;\n    #pragma unroll 4\n    for"));
    // Loops in comments and strings, and loops of other kernels, do not count.
    let elsewhere = "__global__ void f(int* p) { /* for (;;) {} */ p[0] = 1; }\nvoid g() { for (;;) {} }\n";
    assert_eq!(tried(Transform::Unroll, elsewhere).unwrap_err(), "the kernel has no loop");
}

#[test]
fn factors_are_those_of_the_spec() {
    for (stall, factor) in [(0.0, 4), (0.24, 4), (0.25, 5), (0.5, 6), (1.0, 8), (2.0, 8)] {
        assert_eq!(unroll::factor(stall), factor, "{stall}");
    }
}

#[test]
fn loops_with_barriers_atomics_and_breaks_are_left() {
    for word in [
        "__syncthreads();",
        "__syncthreads_or(1);",
        "__builtin_amdgcn_s_barrier();",
        "atomicAdd(out, in[i]);",
        "__hip_atomic_fetch_add(out, 1, 0, 0);",
        "__threadfence();",
        "unsafeAtomicAdd(out, in[i]);",
        "g.sync();",
        "__builtin_amdgcn_wave_barrier();",
        "if (i > 3) break;",
        "return;",
        "goto end;",
        "asm volatile(\"s_nop 0\");",
    ] {
        let refusal = tried(Transform::Unroll, &with_loop(word)).unwrap_err();
        assert!(refusal.starts_with("the loop has "), "{word}: {refusal}");
    }
    // The same for a loop after an else, and in a loop without braces.
    let behind_else = PLAIN.replace(
        "i += blockDim.x) {\n        total += in[i];\n    }",
        "i += 1) if (i) { total += in[i]; } else { __syncthreads(); }",
    );
    assert_eq!(tried(Transform::Unroll, &behind_else).unwrap_err(), "the loop has __syncthreads");
    // Existing pragmas, in any spelling.
    for (pragma, refusal) in [
        ("#  pragma unroll 4", "the loop is unrolled by 4 already"),
        ("#pragma clang loop unroll(disable)\n    // slow", "the loop has a pragma of its own"),
    ] {
        let text = PLAIN.replace("    for", &format!("    {pragma}\n    for"));
        assert!(tried(Transform::Unroll, &text).unwrap_err().starts_with(refusal), "{pragma}");
    }
    let in_macro = PLAIN.replace("for (int i", "TWICE(for (int i").replace("    out[", "    ) out[");
    assert!(tried(Transform::Unroll, &in_macro).unwrap_err().contains("in parentheses"));
    // Words in comments do not count.
    assert!(tried(Transform::Unroll, &with_loop("total += in[i]; // no __syncthreads, no break")).is_ok());
}

#[test]
fn launch_bounds_are_those_of_the_launches() {
    let done = tried(Transform::LaunchBounds, PLAIN).unwrap();
    assert_eq!(done, PLAIN.replace("void sum", "void __launch_bounds__(256) sum"));
    assert_eq!(tried(Transform::LaunchBounds, &done).unwrap_err(), "the kernel has __launch_bounds__(256)");
    let kernel = &kernels(PLAIN)[0];
    for work_items in [None, Some(1024), Some(0)] {
        let facts = KernelFacts { work_items, ..KernelFacts::default() };
        assert!(Transform::LaunchBounds.apply(PLAIN, kernel, &facts).is_err(), "{work_items:?}");
    }
}

#[test]
fn restrict_is_for_several_pointers_that_stay() {
    let done = tried(Transform::Restrict, PLAIN).unwrap();
    let expected = PLAIN.replace("*out", "* __restrict__ out").replace("* in", "* __restrict__ in");
    assert_eq!(done, expected);
    assert_eq!(tried(Transform::Restrict, &done).unwrap_err(), "all pointers are __restrict__");
    for (text, refusal) in [
        (PLAIN.replace("float *out, ", ""), "fewer than two pointers"),
        (with_loop("atomicAdd(out, in[i]);"), "the kernel has atomicAdd"),
        (with_loop("__syncthreads();"), "the kernel has __syncthreads"),
        (PLAIN.replace("float total = 0;", "float total = 0; if (out == in) return;"), "out is set or compared"),
        (PLAIN.replace("float total = 0;", "float total = 0; in = out;"), "in is set or compared"),
    ] {
        let found = tried(Transform::Restrict, &text).unwrap_err();
        assert!(found.starts_with(refusal), "{found}");
    }
}

#[test]
fn neighbors_of_aligned_arrays_are_loaded_at_once() {
    let text = |declared: &str, first: &str| {
        format!(
            "__global__ void f(float* out, int i) {{\n    {declared}\n    __syncthreads();\n    float a = s[{first}];\n    float b = s[4 * i + 1];\n    float c = s[4 * i + 2];\n    float d = s[4 * i + 3];\n    out[i] = a + b + c + d;\n}}\n"
        )
    };
    let aligned = text("__shared__ __align__(16) float s[256];", "4 * i");
    let done = tried(Transform::VectorLoads, &aligned).unwrap();
    assert!(
        done.contains("const float4 s_quad_0 = *reinterpret_cast<const float4*>(&s[4 * (i)]); float a = s_quad_0.x;")
    );
    assert!(done.contains("float d = s_quad_0.w;"));
    assert!(tried(Transform::VectorLoads, &text("alignas(16) __shared__ float s[256];", "4 * i + 0")).is_ok());
    let assumed = "const float* s = (const float*)__builtin_assume_aligned(out, 16);";
    assert!(tried(Transform::VectorLoads, &text(assumed, "4 * i")).is_ok());
    // No alignment, a smaller one, another place, an index with a side effect, an array that is assigned again.
    for (declared, first) in [
        ("__shared__ float s[256];", "4 * i"),
        ("__shared__ __align__(8) float s[256];", "4 * i"),
        ("volatile __shared__ __align__(16) float s[256];", "4 * i"),
        ("alignas(16) double s[256];", "4 * i"),
        ("const float* s = (const float*)__builtin_assume_aligned(out, 16); ++s;", "4 * i"),
        ("const float* s = (const float*)__builtin_assume_aligned(out, 16); move(&s);", "4 * i"),
        ("const float* s = (const float*)__builtin_assume_aligned(out, 16); move(s);", "4 * i"),
        ("__shared__ __align__(16) float s[256];", "4 * i + 1"),
        ("__shared__ __align__(16) float s[256];", "4 * i++"),
        ("const float* s = (const float*)__builtin_assume_aligned(out, 16); s = out + 1;", "4 * i"),
    ] {
        assert!(tried(Transform::VectorLoads, &text(declared, first)).is_err(), "{declared} {first}");
    }
    assert!(tried(Transform::VectorLoads, &aligned.replace("float b", "__syncthreads();\n    float b")).is_err());
}

#[test]
fn what_nothing_asks_for_is_not_tried() {
    let kernel = &kernels(PLAIN)[0];
    let limited = |id: &str| KernelFacts { bottlenecks: Some(vec![id.to_owned()]), ..facts() };
    assert!(Transform::Unroll.apply(PLAIN, kernel, &limited("latency")).is_ok());
    let refusal = Transform::Unroll.apply(PLAIN, kernel, &limited("lds_conflicts")).unwrap_err();
    assert_eq!(refusal.0, "nothing asks for it: the kernel is limited by lds_conflicts");
    // Every id that suggests a transform exists in these tables.
    let known = concat!(data!("share/bottlenecks.toml"), data!("share/lab.toml"));
    for id in Transform::ALL.into_iter().flat_map(Transform::asked_by) {
        assert!(known.contains(&format!("id = \"{id}\"")), "{id}");
    }
}

#[test]
fn profiles_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("analysis.json"), text).unwrap();
    assert!(KernelFacts::of_profile(folder.path()).unwrap_err().to_string().contains("lab profile -o"));
    write("{\"schema_version\": \"1.0\"}");
    assert!(KernelFacts::of_profile(folder.path()).unwrap_err().to_string().contains("is not an analysis"));
    write(
        r#"{"kernel": "sum", "bottlenecks": [{"bottleneck": "latency", "state": "yes"}, {"bottleneck": "divergence", "state": "no"}],
        "att": {"stall_fraction": 0.5}}"#,
    );
    let (facts, kernel) = KernelFacts::of_profile(folder.path()).unwrap();
    assert_eq!((kernel.as_str(), facts.stall), ("sum", Some(0.5)));
    assert_eq!(facts.bottlenecks, Some(vec!["latency".to_owned()]));
}

#[test]
fn joined_lines_are_left() {
    let joined = PLAIN.replace("float total = 0;", "float total = \\\n 0;");
    for transform in [Transform::Unroll, Transform::Restrict] {
        assert!(tried(transform, &joined).unwrap_err().contains("joined lines"));
    }
}

#[test]
fn line_ends_of_windows_stay() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    for transform in [Transform::Unroll, Transform::Restrict, Transform::LaunchBounds] {
        assert_eq!(tried(transform, &windows(PLAIN)), tried(transform, PLAIN).map(|text| windows(&text)));
    }
    let mixed = PLAIN.replacen('\n', "\r\n", 2);
    assert_eq!(tried(Transform::Unroll, &mixed).unwrap_err(), "the kernel has joined lines, or line ends of two kinds");
}
