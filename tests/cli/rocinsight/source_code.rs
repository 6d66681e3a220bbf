//! Facts 77 and 78: source code.

use serde_json::{Value, json};

use super::traces::Written;
use super::{Bug, Fact, Ours, Same, check, check_all, document, fact};

const SOURCE: &str = "__global__ void my_kernel(float* x) { x[0] = 1; }
int main() {
    hipLaunchKernelGGL(my_kernel, 1, 1, 0, 0, x);
    hipMemcpy(y, x, 4, hipMemcpyDeviceToHost);
}
";

pub const FACTS: &[Fact] = &[
    fact(77, Same, || {
        let tier = scanned(SOURCE);
        check(
            &tier,
            &[
                ("/kernel_count", json!(1)),
                ("/detected_kernels/0/name", json!("my_kernel")),
                ("/detected_kernels/0/line", json!(1)),
                ("/detected_kernels/0/launch_type", json!("GLOBAL_KERNEL_DEF")),
                ("/programming_model", json!("HIP")),
                (
                    "/suggested_counters",
                    json!([
                        "GRBM_COUNT",
                        "GRBM_GUI_ACTIVE",
                        "SQ_WAVES",
                        "SQ_INSTS_VMEM_RD",
                        "SQ_INSTS_VMEM_WR",
                        "SQ_INSTS_LDS",
                        "FETCH_SIZE",
                        "WRITE_SIZE"
                    ]),
                ),
            ],
        );
        let named = |list: &str, name: &str| -> Vec<String> {
            tier[list].as_array().unwrap().iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
        };
        assert!(named("detected_patterns", "pattern_id").contains(&"NO_STREAMS".to_owned()));
        let categories = named("recommendations", "category");
        assert_eq!(categories, ["Initial Profiling", "Memory Transfer", "No Streams", "Instrumentation"]);
    }),
    fact(
        77,
        Ours(
            "the baseline is a trace without counters, which make kernels run one after the other; they are runs of their own",
        ),
        || {
            let tier = scanned(SOURCE);
            let first = "rocprofv3 --sys-trace -d ./rocpd_output -o baseline -- ./app";
            check(&tier, &[("/suggested_first_command", json!(first))]);
            let commands = tier["recommendations"][0]["commands"].as_array().unwrap();
            let lines: Vec<&str> = commands.iter().map(|one| one["full_command"].as_str().unwrap()).collect();
            assert_eq!(lines[0], first);
            assert!(
                lines.len() > 1 && lines[1..].iter().all(|line| line.contains("--kernel-trace --pmc")),
                "{lines:?}"
            );
        },
    ),
    fact(78, Bug("attributes between the return type and the name of a kernel are passed over"), || {
        let tier = scanned("__global__ __launch_bounds__(256) void k2(int* x) { x[0] = 1; }\n");
        check(&tier, &[("/detected_kernels/0/name", json!("k2"))]);
    }),
];

fn scanned(source: &str) -> Value {
    let place = Written::empty();
    place.add("app.hip", source);
    document(&["--source-dir", &place.path()])["tier0"].clone()
}

#[test]
fn source_code() {
    check_all(FACTS);
}
