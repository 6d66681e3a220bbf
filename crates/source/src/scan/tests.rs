use std::collections::BTreeMap;

use super::c_scan::KernelMacros;
use super::commands::Target;
use super::file_matches::Mention;
use super::files::{Language, Limits, list};
use super::patterns::Patterns;
use super::tree::{scan, scan_bytes};

/// Matches as `pattern:line`, with `*` in a loop.
fn hits(language: Language, text: &str) -> Vec<String> {
    let found = scan_bytes(text.as_bytes(), language, &KernelMacros::new(), Patterns::builtin());
    let shown = |hit: &super::file_matches::Hit| {
        let id = &Patterns::builtin().get(hit.pattern).unwrap().id;
        format!("{id}:{}{}", hit.line, if hit.in_loop { "*" } else { "" })
    };
    found.hits.iter().map(shown).collect()
}

fn c(text: &str) -> Vec<String> {
    hits(Language::C, text)
}

fn python(text: &str) -> Vec<String> {
    hits(Language::Python, text)
}

/// Names of kernels with their facts.
fn kernels(text: &str) -> Vec<String> {
    let found = scan_bytes(text.as_bytes(), Language::C, &KernelMacros::new(), Patterns::builtin());
    let mention = |site: &super::file_matches::KernelSite| match site.mention {
        Mention::Definition => "def",
        Mention::Declaration => "decl",
        Mention::Launch => "launch",
        Mention::MaybeLaunch => "maybe",
    };
    found.kernels.iter().map(|site| format!("{} {}", mention(site), site.name)).collect()
}

#[test]
fn definitions_of_kernels() {
    for (text, expected) in [
        ("__global__ __launch_bounds__(256) void k2(int *a) {}", "def k2"),
        ("__global__ void __launch_bounds__(256, 2) k(int) {}", "def k"),
        ("static __global__ __attribute__((amdgpu_flat_work_group_size(1, 64))) void k() {}", "def k"),
        ("template <class T, int N = (3 > 2)> __global__ void ns::k(T, int (*f)(T)) noexcept {}", "def k"),
        ("template <> __global__ void k<Pair<int, float>>(int);", "decl k"),
        ("__global__ LAUNCH_BOUNDS(64) void k() {}", "def k"),
        ("__global__ void KERNEL(k)(int a) { }", "def KERNEL(k)"),
        ("__global__ auto k(int) -> void {}", "def k"),
        ("[[gnu::used]] __global__ [[maybe_unused]] void k(int a[3]) {}", "def k"),
        ("__global__ std::enable_if_t<A<B>::value, void> k(int) {}", "def k"),
        ("__global__\n#ifdef X\nvoid\n#endif\nk(void)\n{}", "def k"),
    ] {
        assert_eq!(kernels(text), [expected], "{text}");
    }
    for text in [
        "typedef __global__ void (*pointer)(int);",
        "// __global__ void k() {}",
        "/* __global__ void k() {} */ \"__global__ void k() {}\"",
        "#define K(n) __global__ void n() {}\n#define L(n) __global__ void n##_x() {} __global__ void x_##n() {}",
        "int __global__x; void k() {}",
        "__global__",
        "__global__ void k(",
        "#if 0\n__global__ void k() {}\n#endif",
        "#if 1\n#else\n__global__ void k() {}\n#endif",
    ] {
        assert_eq!(kernels(text), [""; 0], "{text}");
    }
}

#[test]
fn launches_of_kernels() {
    for (text, expected) in [
        ("k<<<a->b, c.d, e[1], f->g()>>>(x);", "launch k"),
        ("ns::k<T, U<V>><<<1, 2>>>(x);", "launch k"),
        ("k<(a > b), 1 << 4, sizeof(x)><<<n >> 2, 64>>>(x);", "launch k"),
        ("this->k<<<1, 1>>>();", "launch k"),
        ("k<<<(n + 1) / 2, dim3{1, 2}>>>(x);", "launch k"),
        ("KERNEL(k)<<<1, 1>>>();", "launch KERNEL(k)"),
        ("hipLaunchKernelGGL(k, 1, 1, 0, 0);", "launch k"),
        ("hipLaunchKernelGGL((k<int, 2>), 1, 1, 0, 0);", "launch k"),
        ("hipLaunchKernelGGL(ns::k<int, 2>, 1, 1, 0, 0);", "launch k"),
        ("hipLaunchKernel((void *)k<int>, 1, 1, 0, 0);", "launch k"),
        ("cudaLaunchKernel(reinterpret_cast<void const *>(&ns::k<int>), 1, 1, 0, 0);", "launch k"),
        ("cudaLaunchKernelEx(&config, k<3>, x);", "launch k"),
        ("hipExtLaunchKernel((const void*)(k), 1, 1, 0, 0);", "launch k"),
        ("hipModuleGetFunction(&f, m, \"k\");", "launch k"),
    ] {
        assert_eq!(kernels(text), [expected], "{text}");
    }
    for text in [
        "<<<<<<< HEAD\nx\n=======\n>>>>>>> other (x)",
        "out << a << b; operator<<<int>(x); a <<< b;",
        "if <<<1, 1>>>(x);",
        "hipLaunchKernelGGL(kernels[i], 1, 1, 0, 0); hipLaunchKernelGGL(",
        "hipError_t hipLaunchKernel(const void *f, dim3 g);",
        "#define L(k) k<<<1, 1>>>(); hipLaunchKernelGGL(k, 1, 1, 0, 0); k##_x<<<1, 1>>>()",
        "hipModuleGetFunction(&f, m, name.c_str());",
    ] {
        assert_eq!(kernels(text), [""; 0], "{text}");
    }
    assert_eq!(c("kernels[i]<<<1, 1>>>(x);"), ["TRIPLE_ANGLE_LAUNCH:1"], "launched, but nobody knows what");
}

#[test]
fn calls_and_what_only_looks_like_them() {
    for (text, expected) in [
        ("hipMemcpy(a, b, n, k);", "BLOCKING_MEMCPY:1"),
        ("CHECK(::hipMemcpy (a));", "BLOCKING_MEMCPY:1"),
        ("return hipMemcpy2D(a);", "BLOCKING_MEMCPY:1"),
        ("api->hipMemcpyPeer(a);", "BLOCKING_MEMCPY:1"),
        ("hip\\\nMemcpy\\\r\n(a);", "BLOCKING_MEMCPY:1"),
        ("x = hipMalloc<float>(&p, n);", "DEVICE_MALLOC:1"),
        ("#define C(x) \\\n  hipMemcpy(x)", "BLOCKING_MEMCPY:2"),
        ("#pragma omp target data map(x)", "OPENMP_TARGET:1"),
        ("#  include <sycl/sycl.hpp>", "SYCL:1"),
        ("sycl::queue q{};", "SYCL:1"),
        ("clEnqueueReadBuffer(q, b, CL_TRUE, 0);", "OPENCL_BLOCKING_COPY:1"),
    ] {
        assert_eq!(c(text), [expected], "{text}");
    }
    for text in [
        "hipError_t hipMemcpy(void *a);",
        "extern hipError_t (hipMemcpyX)(void *a);",
        "auto f = &hipMemcpy; hipMemcpyKind k;",
        "#define hipMemcpy(a) cudaX(a)\n#undef hipMemcpy\n#ifdef hipMemcpy(\n#endif",
        "a(\"hipMemcpy(\", 'h', L\"hipMemcpy(\", u8R\"q(hipMemcpy( )\" )q\");",
        "// hipMemcpy(a) \\\n hipMemcpy(b)",
        "/* hipMemcpy( // */ /* \" */",
        "#include <hipMemcpy(x)>\n#error hipMemcpy(it's)\n",
        "fence(); parallel_for(x);",
        "clEnqueueReadBuffer(q, b, blocking, 0);",
        "int n = 0x1p-3, m = 1'000'000; char c = '\\''; auto d = '\"'; // \" hipMemcpy(",
    ] {
        assert_eq!(c(text), [""; 0], "{text}");
    }
}

#[test]
fn loops_of_c() {
    for (text, looped) in [
        ("for (;;) S;", true),
        ("for (S; a; b) c;", false),
        ("for (a; S; b) c;", true),
        ("for (auto x : S) c;", false),
        ("for (a; b; S) c; ", true),
        ("while (S) ;", true),
        ("while (a) { if (b) S; }", true),
        ("while (a) { } S;", false),
        ("do S; while (a);", true),
        ("do { S; } while (0);", false),
        ("do { S; } while (false);", false),
        ("do { } while (S);", true),
        ("do { for (;;) { S; } } while (0);", true),
        ("for (;;) if (a) b; else S;", true),
        ("for (;;) if (a) b; S;", false),
        ("for (;;) for (;;) { } S;", false),
        ("if (a) for (;;) b; else S;", false),
        ("while (0) { S; }", false),
        ("for (;;) { auto f = [&](int i) { S; }; f(1); }", true),
        ("for (;;) switch (a) { case 1: S; }", true),
        ("for (;;) { ( } S;", false),
        ("#ifdef A\nfor (;;) {\n#else\nwhile (1) {\n#endif\n a; }\nS;", false),
        ("#ifdef A\nfor (;;) {\n#else\nwhile (1) {\n#endif\n S; }", true),
        ("#ifdef A\nif (a) {\n#endif\nb;\n#ifdef A\n}\n#endif\nS;", false),
        ("#define M(x) do { S; } while (0)", false),
        ("#define M(x) for (;;) { S; }", true),
        ("for (;;) {\n#define M(x) S\n}", false),
        ("for (;;) {\n#if 0\n}\n#endif\nS; }", true),
        ("#if 0\n}\n#elif A\nfor (;;) {\n#else\nwhile (1) {\n#endif\n S; }", true),
        ("#if 1\nfor (;;) {\n#else\n}\n#endif\n S; }", true),
        ("}}}) for (;;) { S; }", true),
    ] {
        let found = c(&text.replace('S', "hipDeviceSynchronize()"));
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].ends_with('*'), looped, "{text}: {found:?}");
    }
}

#[test]
fn loops_and_names_of_python() {
    for (text, expected) in [
        ("import torch\nfor x in y:\n  torch.cuda.synchronize()", "DEVICE_SYNC:3*"),
        ("import torch\nfor x in y: torch.cuda.synchronize()", "DEVICE_SYNC:2*"),
        ("import torch\nfor x in torch.cuda.synchronize(): pass", "DEVICE_SYNC:2"),
        ("import torch\nwhile torch.cuda.synchronize(): pass", "DEVICE_SYNC:2*"),
        ("import torch\nfor x in y:\n\tpass\ntorch.cuda.synchronize()", "DEVICE_SYNC:4"),
        ("import torch\nfor x in y:\n  def f():\n    torch.cuda.synchronize()", "DEVICE_SYNC:4"),
        ("import torch\nfor x in y:\n  if z:\n    f(\n1,\n)\n    torch.cuda.synchronize()", "DEVICE_SYNC:7*"),
        ("import torch\nfor x in y:\n  pass\nelse:\n  torch.cuda.synchronize()", "DEVICE_SYNC:5"),
        ("from torch import cuda as c\nc.synchronize()", "DEVICE_SYNC:2"),
        ("from torch.cuda import (\n  synchronize as s, # (\n)\ns()", "DEVICE_SYNC:4"),
        ("import torch\nx = a//b; torch.cuda.synchronize() # torch.cuda.synchronize()", "DEVICE_SYNC:2"),
        ("import torch\nx = 'http://a#b'; torch.cuda.synchronize()", "DEVICE_SYNC:2"),
        ("import torch\nx = rb'\\'; y'; torch.cuda.synchronize()", "DEVICE_SYNC:2"),
        ("import torch\nx = f\"{a[\"b\"]} {{ {c!r:>{d}}\"; torch.cuda.synchronize()", "DEVICE_SYNC:2"),
        ("import torch\n'''\n''' ; torch.cuda.\\\n  synchronize()", "DEVICE_SYNC:4"),
        ("import torch.distributed as dist\ndist.all_reduce(x)", "TORCH_DISTRIBUTED:2"),
        ("import torch\nmodel.cuda()", "TORCH_CUDA_DEVICE:2"),
        ("import torch\nf(x).to(device='cuda:1')", "TORCH_TO_DEVICE:2"),
        ("from hip import hip\nhip.hipMemcpy(a)", "BLOCKING_MEMCPY:2"),
    ] {
        assert_eq!(python(text), [expected], "{text}");
    }
    for text in [
        "synchronize(); cuda.synchronize()",
        "import torch\n\"\"\"torch.cuda.synchronize()\n'''\n\"\"\"",
        "import torch\nx = '''\ntorch.cuda.synchronize()",
        "import torch\nx.to('cpu')\ntorch.cuda.synchronize",
        "import numpy\nx.item(); x.cuda()",
        "import torch\ndef synchronize(): pass",
    ] {
        assert_eq!(python(text), [""; 0], "{text}");
    }
}

#[test]
fn hostile_texts_take_no_long() {
    let size = 128 * 1024;
    for part in [
        "(",
        "{",
        "[",
        ")",
        "<",
        "<<<",
        "for(;;)",
        "do ",
        "if(a)",
        "#if 1\n",
        "#else\n",
        "R\"x(",
        "/*",
        "\"",
        "'",
        "\\\n",
        "\n",
        "k<",
        "k<<<1>>>",
        "__global__ ",
        "__global__ void k(",
        "hipLaunchKernelGGL(",
        "hipLaunchKernelGGL(k,",
        "@triton.jit\n",
        "@triton.jit\ndef f():\n ",
        "import a,",
        "a.",
        "f'{",
        "'''",
        "for x in y:\n ",
        "#define k(a) k<",
        "x=&x;",
        "while(",
        "a=k;k<<<1,1>>>(x);",
        "#if 0\n",
        "\t",
        "lambda:",
        "\u{feff}",
        "{#if a\n",
        "(#else\n(",
    ] {
        let text = part.repeat(size / part.len());
        for language in [Language::Gpu, Language::OpenCl, Language::Python] {
            let begun = std::time::Instant::now();
            hits(language, &text);
            let seconds = begun.elapsed().as_secs_f64();
            assert!(seconds < 10.0, "{part:?} takes {seconds:.1} s as {language:?}");
        }
    }
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}

fn target() -> Target {
    Target { architecture: "gfx942".to_owned(), ..Target::default() }
}

#[test]
fn files_and_limits() {
    let kernel = "__global__ void k() {}";
    let directory = tree(&[
        ("b.cu", kernel),
        ("a/z.hip", kernel),
        ("a.CU", kernel),
        ("build/x.cu", kernel),
        (".hidden/x.cu", kernel),
        ("third_party/x.cu", kernel),
        ("note.txt", kernel),
        ("large.cpp", &" ".repeat(2000)),
    ]);
    std::os::unix::fs::symlink("/", directory.path().join("root")).unwrap();
    std::os::unix::fs::symlink(directory.path(), directory.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("b.cu", directory.path().join("link.cu")).unwrap();
    let limits = Limits { files: 2, file_bytes: 1000 };
    let listing = list(directory.path(), limits).unwrap();
    let names: Vec<String> = listing.files.iter().map(|file| file.below.display().to_string()).collect();
    assert_eq!(names, ["a/z.hip", "a.CU"]);
    assert_eq!((listing.beyond, listing.links, listing.large.len()), (2, 3, 0));
    let whole = scan(directory.path(), Limits { files: 100, ..limits }, &target(), &()).unwrap();
    assert_eq!((whole.scan.files_scanned, whole.scan.files_skipped), (3, 1));
    assert_eq!(whole.scan.kernel_count, 1, "one name in three files");
    assert_eq!(whole.scan.detected_kernels[0].definition_count, 3);
}

#[test]
fn kernels_are_related_by_name_over_files() {
    let directory = tree(&[
        (
            "a.cpp",
            "void f() { auto kernel = &sum<int>; if (w) kernel = wide; kernel<<<1, 1>>>(x); missing<<<1, 1>>>(); }",
        ),
        ("config.hpp", "#define KERNEL __global__ static\n"),
        ("k.cpp", "template <class T> KERNEL void sum(T *x) {}\nKERNEL void wide(int *x) {}\n"),
        ("p.py", "table[0](x); step[grid](x)\n"),
        ("t.py", "import triton\n@triton.jit\ndef step(x):\n  pass\n@triton.jit\ndef helper(x):\n  return x\n"),
    ]);
    let found = scan(directory.path(), Limits::default(), &target(), &()).unwrap().scan;
    let shown: Vec<String> = found
        .detected_kernels
        .iter()
        .map(|kernel| format!("{} {}:{} {}", kernel.name, kernel.file, kernel.line, kernel.launches.join(",")))
        .collect();
    assert_eq!(shown, ["missing a.cpp:1 a.cpp:1", "sum k.cpp:1 a.cpp:1", "wide k.cpp:2 a.cpp:1", "step t.py:3 p.py:1"]);
}

#[test]
fn what_rocpd_tells_of_the_same_source() {
    let source = "__global__ void my_kernel(int *a) {}\nvoid f() {\n  hipLaunchKernelGGL(my_kernel, 1, 1, 0, 0, a);\n  \
                  hipMemcpy(a, b, 1, k);\n}\n";
    let directory = tree(&[("a.hip", source)]);
    let found = scan(directory.path(), Limits::default(), &target(), &()).unwrap().scan;
    let kernel = &found.detected_kernels[0];
    assert_eq!((found.kernel_count, kernel.launch_type.as_str(), kernel.line), (1, "GLOBAL_KERNEL_DEF", 1));
    assert_eq!(found.programming_model, "HIP");
    assert!(found.detected_patterns.iter().any(|pattern| pattern.pattern_id == "NO_STREAMS"));
    assert_eq!(
        found.suggested_counters.join(" "),
        "GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVES SQ_INSTS_VMEM_RD SQ_INSTS_VMEM_WR SQ_INSTS_LDS FETCH_SIZE WRITE_SIZE"
    );
    let categories: Vec<&str> = found.recommendations.iter().map(|advice| advice.category.as_str()).collect();
    assert_eq!(categories, ["Initial Profiling", "Memory Transfer", "No Streams", "Instrumentation"]);
    // Times come from a run without counters.
    let first = found.suggested_first_command.unwrap();
    assert_eq!(first, "rocprofv3 --sys-trace -d ./rocpd_output -o baseline -- ./app");
    // SQ has room for eight counters, so two passes are enough where rocpd plans three.
    assert_eq!(found.recommendations[0].commands.len(), 1 + 2);
}

#[test]
fn five_waits_in_a_row_are_no_loop() {
    let waits = "hipDeviceSynchronize(); ".repeat(9);
    let ids = |text: String| -> BTreeMap<String, usize> {
        let directory = tree(&[("a.cpp", text.as_str())]);
        let found = scan(directory.path(), Limits::default(), &target(), &()).unwrap().scan;
        found.detected_patterns.into_iter().map(|pattern| (pattern.pattern_id, pattern.count)).collect()
    };
    assert_eq!(ids(format!("void f() {{ {waits} }}")).get("LOOP_DEVICE_SYNC"), None);
    assert_eq!(ids(format!("void f() {{ for (;;) {{ {waits} }} }}")).get("LOOP_DEVICE_SYNC"), Some(&9));
}

#[test]
fn passes_are_the_same_on_all_of_cdna() {
    let counters: Vec<String> = ["GRBM_COUNT", "SQ_WAVES", "FETCH_SIZE", "WRITE_SIZE"].map(str::to_owned).into();
    let passes = |architecture| super::commands::passes(&counters, architecture);
    for architecture in ["gfx908", "gfx90a", "gfx942", "gfx950"] {
        assert_eq!(passes(architecture), passes("gfx942"));
    }
}
