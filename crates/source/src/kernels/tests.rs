use super::*;

fn one(text: &str) -> SourceKernel {
    let [kernel] = <[SourceKernel; 1]>::try_from(kernels(text)).unwrap();
    kernel
}

fn names(text: &str) -> Vec<String> {
    kernels(text).iter().map(|kernel| [kernel.scopes.join("::"), kernel.name.clone()].join("::")).collect()
}

fn part<'a>(text: &'a str, range: &std::ops::Range<usize>) -> &'a str {
    text.get(range.clone()).unwrap()
}

/// The normalized types of parameters.
fn kinds(parameters: &str) -> Vec<String> {
    one(&format!("__global__ void k({parameters}) {{}}")).parameters.into_iter().map(|one| one.kind).collect()
}

#[test]
fn a_plain_kernel() {
    let text = "int x;\n/* __global__ void no() {} */\n__global__ void add(const float *a, float *b, int n) {\n  b[0] = a[n];\n}  // add\n";
    let kernel = one(text);
    assert_eq!((kernel.name.as_str(), kernel.line, kernel.is_c, kernel.is_torn), ("add", 3, false, false));
    assert_eq!(part(text, &kernel.signature), "__global__ void add(const float *a, float *b, int n)");
    assert_eq!(part(text, &kernel.body), "{\n  b[0] = a[n];\n}");
    assert_eq!(part(text, &kernel.whole), part(text, &(kernel.signature.start..kernel.body.end)));
    assert_eq!(kernel.qualifiers, ["__global__", "void"]);
    let names: Vec<_> = kernel.parameters.iter().map(|one| one.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["a", "b", "n"]);
}

#[test]
fn words_around_the_name() {
    let text = "extern \"C\" static inline __attribute__((used)) __global__ __launch_bounds__(BLOCK * (2 + 1), MIN<4>::value)\nvoid [[clang::foo]] k(int) {}";
    let kernel = one(text);
    assert!(kernel.is_c);
    assert_eq!(kernel.launch_bounds.as_deref(), Some("BLOCK*(2+1), MIN<4>::value"));
    assert_eq!(kernel.whole, 0..text.len());
    assert_eq!(
        kernel.qualifiers,
        [
            "static",
            "inline",
            "__attribute__((used))",
            "__global__",
            "__launch_bounds__(BLOCK*(2+1), MIN<4>::value)",
            "void",
            "[[clang::foo]]"
        ]
    );
    for text in [
        "__global__ void __launch_bounds__(256) k(int a) { }",
        "__global__ void k(int a) __launch_bounds__(256) { }",
        "__launch_bounds__(256) __global__ void k(int a) { }",
        "void __launch_bounds__(256) __global__ k(int a) { }",
        "__global__\n__launch_bounds__( 256 ) // why\nvoid\nk (int a)\n{ }",
        "__attribute__((global)) void __launch_bounds__(256) k(int a) noexcept {}",
        "__global__ void MY_ATTRIBUTE(64, 3) __launch_bounds__(256) k(int a) {}",
        "__global__ void MY_ATTRIBUTE(64, 3) other_attribute(2) __launch_bounds__(256) k(int a) {}",
        "__global__ auto __launch_bounds__(256) k(int a) -> void {}",
    ] {
        let kernel = one(text);
        assert_eq!((kernel.name.as_str(), kernel.launch_bounds.as_deref()), ("k", Some("256")), "{text}");
        assert_eq!((kernel.parameters.len(), kernel.whole), (1, 0..text.len()), "{text}");
    }
    let kernel = one("__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(__global float *a) { }");
    assert_eq!(kernel.parameters[0].kind, "__global float*");
}

#[test]
fn templates_and_specializations() {
    let text = "
template <typename T, int N = 4, class U = std::map<T, std::array<int, (N > 2)>>>
__global__ void f(T *a, U u, std::array<T, N> b) { }
template <>
__global__ void f<float, 4>(float *a, int u, std::array<float, 4> b) { }
template __global__ void f<double>(double *, int, std::array<double, 4>);
template <class T> struct S { template <class V> static __global__ void m(T t, V v) { } };
template <typename T> requires std::integral<T> && (sizeof(T) > 2)
API static __global__ void g(T *a) { }
template <typename... Ts> __global__ void h(Ts... ts) { }
template <template <class> class C, auto V> __global__ void i(C<int> c) { }
template <class T> __global__ void j(T t) requires std::integral<T> { }
";
    let found = kernels(text);
    let names: Vec<&str> = found.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["f", "f", "m", "g", "h", "i", "j"]);
    let template = |at: usize| found[at].template.clone().unwrap();
    assert_eq!(template(0).parameters, ["typename T", "int N=4", "class U=std::map<T, std::array<int, (N>2)>>"]);
    assert_eq!(template(0).arguments, None);
    assert!(part(text, &found[0].whole).starts_with("template <typename T, int N"));
    let kinds = |at: usize| found[at].parameters.iter().map(|one| one.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(0), ["$0*", "$2", "std::array<$0, $1>"]);
    assert_eq!((template(1).parameters.len(), template(1).arguments.as_deref()), (0, Some("float, 4")));
    assert_eq!((found[2].scopes.as_slice(), kinds(2)), (&["S".to_owned()][..], vec!["T".to_owned(), "$0".to_owned()]));
    assert_eq!(template(3).constraint.as_deref(), Some("std::integral<T>&&(sizeof(T)>2)"));
    assert_eq!(found[3].qualifiers, ["API", "static", "__global__", "void"]);
    assert_eq!((template(4).kinds, kinds(4)), (vec!["typename...".to_owned()], vec!["$0...".to_owned()]));
    assert_eq!(kinds(5), ["$0<int>"]);
    for at in 0..found.len() {
        for other in 0..found.len() {
            assert_eq!(signature_difference(&found[at], &found[other]).is_none(), at == other, "{at} {other}");
        }
    }
}

#[test]
fn scopes() {
    let text = "
namespace a::b { inline namespace v1 {
namespace { __global__ void k1() { } }
class EXPORT Foo final : public Bar<int>, private Baz { public: static __global__ void k2() { } };
}
using namespace std; namespace c = a::b; namespace [[deprecated]] d { __global__ void k3() {} }
struct Foo f() { return {}; }
extern \"C\" { __global__ void k4() { } }
extern \"C\" __global__ void k5() { }
template <class T> class Q { enum class E : int { A }; __global__ static void k6(); };
enum class struct_ { };
__global__ void a::Foo::k7(int n) { }
template <class T> struct alignas(16) R<T *> { __global__ static void k8() { } };
} __global__ void k9() { }";
    let found = kernels(text);
    let shown: Vec<String> = names(text);
    assert_eq!(
        shown,
        [
            "a::b::v1::(anonymous)::k1",
            "a::b::v1::Foo::k2",
            "a::b::d::k3",
            "a::b::k4",
            "a::b::k5",
            "a::b::a::Foo::k7",
            "a::b::R::k8",
            "::k9"
        ]
    );
    let c: Vec<bool> = found.iter().map(|kernel| kernel.is_c).collect();
    assert_eq!(c, [false, false, false, true, true, false, false, false]);
}

#[test]
fn macros() {
    let text = "
#define KERNEL __global__
#define STATIC_KERNEL static KERNEL
#define BOUNDED(n, m) __global__ __launch_bounds__(n, m)
#define DEFINE(name) extern \"C\" __global__ void name(float *a, int n)
#define BRACED(name) __global__ void name() { }
#define HOT __attribute__((hot))
#define MANY(...) KERNEL __launch_bounds__(__VA_ARGS__) void
KERNEL void f(int *p) { }
STATIC_KERNEL HOT void g(int *p) { }
BOUNDED(256, (4 + 1)) void h(int *p) { }
DEFINE(i) { a[0] = n; }
BRACED(j)
MANY(64, 2) l(int *p) { }
DEFINE(m);
";
    let found = kernels(text);
    let names: Vec<&str> = found.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["f", "g", "h", "i", "l"]);
    assert_eq!(part(text, &found[0].whole), "KERNEL void f(int *p) { }");
    assert_eq!(found[1].qualifiers, ["static", "__global__", "__attribute__((hot))", "void"]);
    assert_eq!(found[2].launch_bounds.as_deref(), Some("256, (4+1)"));
    assert_eq!((part(text, &found[3].whole), found[3].is_c), ("DEFINE(i) { a[0] = n; }", true));
    assert_eq!(found[3].parameters.len(), 2);
    assert_eq!(found[4].launch_bounds.as_deref(), Some("64, 2"));
    // Macros that refer to themselves and to each other.
    let endless = "#define A B B __global__\n#define B A A\n#define C C __global__\nA void k() { }\nC void l() { }";
    assert_eq!(names_of(endless), ["k", "l"]);
}

fn names_of(text: &str) -> Vec<String> {
    kernels(text).into_iter().map(|kernel| kernel.name).collect()
}

#[test]
fn braces_that_are_none() {
    let text = r####"
__global__ void k(int n, const char *c = "){") {
  const char *a = "}"; char b = '}'; // }
  /* } */ auto r = R"x(} )" )x"; int big = 1'000'000;
#if 0
  }
#endif
#define CLOSE }
#ifdef FAST
  if (n > 1) {
#else
  if (n > 2) {
#endif
    n = 3;
  }
} // end of k {
__global__ void next() { }
"####;
    let found = kernels(text);
    assert_eq!(names_of(text), ["k", "next"]);
    assert!(part(text, &found[0].body).ends_with("n = 3;\n  }\n}"));
    assert!(!found[0].is_torn);
    assert_eq!(found[0].parameters[1].default.as_deref(), Some("\"){\""));
}

#[test]
fn alternatives_that_share_a_body() {
    let text = "
#ifdef DOUBLE
__global__ void k(double *a) {
#else
__global__ void k(float *a) {
#endif
  a[0] = 1;
}
__global__ void l(
#ifdef DOUBLE
  double *a
#else
  float *a
#endif
) { }
#ifdef X
__global__ void m() { }
#else
__global__ void m(int) { }
#endif
#if 0
__global__ void n() { }
#endif
template <int N>
#ifdef HIP
#ifdef FAST
__launch_bounds__(N, 2)
#endif // FAST
#else
__launch_bounds__(N, 1)
#endif
static __global__ void o(int *a) { }
";
    let found = kernels(text);
    let shown: Vec<(&str, &str, bool)> = found
        .iter()
        .map(|kernel| (kernel.name.as_str(), kernel.parameters.first().map_or("", |one| &one.kind), kernel.is_torn))
        .collect();
    assert_eq!(
        shown,
        [
            ("k", "double*", true),
            ("k", "float*", true),
            ("l", "double*", true),
            ("m", "", false),
            ("m", "int", false),
            ("o", "int*", false)
        ]
    );
    assert_eq!(found[5].launch_bounds.as_deref(), Some("N, 2"));
    assert!(part(text, &found[5].whole).starts_with("template <int N>"));
    assert_eq!(found[0].body.end, found[1].body.end);
}

#[test]
fn ranges_are_those_of_the_text() {
    let text =
        "\u{feff}// ü\r\n__global__ void \\\r\nk(int a, \\  \n int b)\r\n{ /* ü */ }\r\n__global__ void l() { }\r";
    let found = kernels(text);
    assert_eq!(names_of(text), ["k", "l"]);
    assert_eq!(part(text, &found[0].whole), "__global__ void \\\r\nk(int a, \\  \n int b)\r\n{ /* ü */ }");
    assert_eq!(part(text, &found[0].body), "{ /* ü */ }");
    assert_eq!(part(text, &found[1].whole), "__global__ void l() { }");
    assert_eq!((found[0].line, found[1].line), (3, 6));
}

#[test]
fn no_kernels() {
    for text in [
        "",
        "__global__",
        "__global__ void k(int a);",
        "__global__ void k(int a",
        "__global__ void k(int a) {",
        "typedef __global__ void (*F)(int) ; void f() { }",
        "const char *s = \"__global__ void k() { }\";",
        "// __global__ void k() { }",
        "void f() { k<<<1, 2>>>(3); }",
        "__device__ void f() { }",
        "#define K __global__ void k() { }\n",
    ] {
        assert_eq!(kernels(text), [], "{text}");
    }
}

#[test]
fn types_have_one_spelling() {
    for (parameter, kind) in [
        ("float const *__restrict__ x", "const float*"),
        ("const float*x", "const float*"),
        ("const float * const x", "const float*"),
        ("float *const *x", "float* const*"),
        ("long unsigned int const n", "unsigned long"),
        ("unsigned", "unsigned int"),
        ("unsigned n", "unsigned int"),
        ("long long int n", "long long"),
        ("short int", "short"),
        ("signed char c", "signed char"),
        ("volatile int *p", "volatile int*"),
        ("int volatile const *p", "const volatile int*"),
        ("struct Params p", "Params"),
        ("Params", "Params"),
        ("const Params", "Params"),
        ("ns::Params", "ns::Params"),
        ("typename T::type x", "T::type"),
        ("std::array<float, 3> x", "std::array<float, 3>"),
        ("std::array<float,3>", "std::array<float, 3>"),
        ("float a[16]", "float*"),
        ("const float a[4][8]", "const float(*)[8]"),
        ("float (*a)[8]", "float(*)[8]"),
        ("void (*f)(int, float)", "void(*)(int, float)"),
        ("int (&a)[4]", "int(&)[4]"),
        ("int &&r", "int&&"),
        ("decltype(x) y", "decltype(x)"),
        ("[[maybe_unused]] int n /* why */", "int"),
        ("__grid_constant__ const Params p", "Params"),
        ("int n = f(1, 2)", "int"),
        ("float4 *v", "float4*"),
        ("T<a < b> x", "T<a<b>"),
    ] {
        assert_eq!(kinds(parameter), [kind], "{parameter}");
    }
    assert_eq!(kinds("void"), [] as [&str; 0]);
    assert_eq!(kinds("int a, float"), ["int", "float"]);
    assert!(one("__global__ void k(float *__restrict__ a) { }").parameters[0].is_restrict);
}

#[test]
fn what_callers_notice() {
    let difference = |old: &str, new: &str| signature_difference(&one(old), &one(new));
    let old = "namespace n { template <typename T> __global__ void k(T *a, const float *b, int n = 3) { } }";
    for same in [
        "namespace n { template <class U> __launch_bounds__(64) __global__ void k(U *out, float const *__restrict__ in, const int size = 3) { return; } }",
        "namespace n {\ntemplate<typename T>\n__global__ inline void k(T* a, // first\n const float* b, int n=3) { } }",
    ] {
        assert_eq!(difference(old, same), None);
    }
    for (new, message) in [
        ("template <typename T> __global__ void k(T *a, const float *b, int n = 3) { }", "it is k instead of n::k"),
        (
            "namespace n { template <typename T> __global__ void l(T *a, const float *b, int n = 3) { } }",
            "it is n::l instead of n::k",
        ),
        ("namespace n { __global__ void k(float *a, const float *b, int n = 3) { } }", "it is no longer a template"),
        (
            "namespace n { template <int T> __global__ void k(float *a, const float *b, int n = 3) { } }",
            "its template parameters are <int T> instead of <typename T>",
        ),
        (
            "namespace n { template <typename T> static __global__ void k(T *a, const float *b, int n = 3) { } }",
            "it is static now",
        ),
        (
            "namespace n { template <typename T> __global__ void k(T *a, const float *b) { } }",
            "it has 2 parameters instead of 3 parameters",
        ),
        (
            "namespace n { template <typename T> __global__ void k(T *a, float *b, int n = 3) { } }",
            "parameter 2 (b) is float* instead of const float*",
        ),
        (
            "namespace n { template <typename T> __global__ void k(const float *b, T *a, int n = 3) { } }",
            "parameter 1 (a) is const float* instead of T*",
        ),
        (
            "namespace n { template <typename T> __global__ void k(T *a, const float *b, long n = 3) { } }",
            "parameter 3 (n) is long instead of int",
        ),
        (
            "namespace n { template <typename T> __global__ void k(T *a, const float *b, int n) { } }",
            "parameter 3 (n) has the default none instead of 3",
        ),
        (
            "namespace n { template <typename T> __global__ void k(T *a, const float *b, int &n) { } }",
            "parameter 3 (n) is int& instead of int",
        ),
    ] {
        assert_eq!(difference(old, new).as_deref(), Some(message), "{new}");
    }
    let c = "extern \"C\" __global__ void k() { }";
    assert_eq!(difference(c, "__global__ void k() { }").unwrap(), "it is no longer extern \"C\"");
}

#[test]
fn kernels_by_traced_names() {
    let text = "
namespace a { __global__ void k(int *p) { } __global__ void k(float *p, int n) { } }
namespace b { template <class T> __global__ void k(T *p) { } template <> __global__ void k<float>(float *p) { } }
namespace { __global__ void k(double x) { } }
extern \"C\" __global__ void plain(int n) { }
namespace a { struct P { }; __global__ void l(P p) { } __global__ void l(const P *p) { } }
";
    let found = kernels(text);
    let places = |traced: &str| -> Vec<usize> {
        named(&found, traced)
            .into_iter()
            .map(|kernel| found.iter().position(|other| other == kernel).unwrap())
            .collect()
    };
    for (traced, place) in [
        ("a::k(int*)", vec![0]),
        ("_ZN1a1kEPfi", vec![1]),
        ("a::k(float*, int) [clone .kd]", vec![1]),
        ("void b::k<double>(double*)", vec![2]),
        ("_ZN1b1kIfEEvPT_", vec![3]),
        ("(anonymous namespace)::k(double)", vec![4]),
        ("_ZN12_GLOBAL__N_11kEd.kd", vec![4]),
        ("plain", vec![5]),
        ("plain.kd", vec![5]),
        ("a::l(a::P)", vec![6]),
        ("a::l(a::P const*)", vec![7]),
        ("k", vec![0, 1, 2, 3, 4]),
        ("nothing", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(places(traced), place, "{traced}");
    }
}

#[test]
fn kernels_of_a_code_object() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/code_object");
    let found = kernels(&std::fs::read_to_string(folder.join("kernels.hip")).unwrap());
    assert_eq!(found.len(), 4);
    let code = std::fs::read(folder.join("kernels.hsaco")).unwrap();
    let object = crate::objects::code_objects(&code).unwrap().remove(0);
    for kernel in &object.kernels {
        for name in [&kernel.name, &kernel.symbol, kernel.demangled().as_ref()] {
            let [definition] = named(&found, name)[..] else { panic!("{name}") };
            assert_eq!(definition.parameters.len(), kernel.own_arguments().count(), "{name}");
            let bounds = definition.launch_bounds.as_ref().map_or(1024, |bounds| bounds.parse().unwrap());
            assert_eq!(bounds, kernel.max_work_items, "{name}");
        }
    }
}

#[test]
fn macros_of_headers() {
    let header = "#pragma once\n#define KERNEL(bounds) /* two\nlines */ static __global__ \\\n  __launch_bounds__((bounds)) void\n#define OTHER { }\nvoid f() {\n";
    let text = "\u{feff}#include \"kernel.h\"\ntemplate <int N, typename T>\nKERNEL(N)\naxpy_kernel(int n, const T *x, T *y)\n{ y[0] = x[n]; }\n__global__ void next() { }\n";
    assert_eq!(names_of(text), ["next"]);
    let found = kernels_with(text, &["", header]);
    let [axpy, next] = &found[..] else { panic!("{found:?}") };
    assert_eq!((axpy.name.as_str(), axpy.line, axpy.launch_bounds.as_deref()), ("axpy_kernel", 4, Some("(N)")));
    assert!(
        part(text, &axpy.whole).starts_with("template <int N") && part(text, &axpy.whole).ends_with("y[0] = x[n]; }")
    );
    assert_eq!((part(text, &next.whole), next.line), ("__global__ void next() { }", 6));
}
