//! rocprofv3 commands.

use std::collections::BTreeSet;
use std::path::Path;

use super::words;
use crate::interactive::programs::{Application, Profiling};
use wavesieve_model::analysis::counter_plan::check;

fn application(line: &str) -> Application {
    Application::of_words(words(line))
}

fn first(line: &str) -> String {
    Profiling::first(&application(line), Path::new("out")).line()
}

fn of(line: &str) -> Profiling {
    Profiling::of_words(&words(line), &application("./app"), Path::new("out")).unwrap()
}

#[test]
fn first_commands() {
    for (line, expected) in [
        ("./gemm", "rocprofv3 --sys-trace --output-format rocpd -o results_%pid% -d out -- ./gemm"),
        ("FOO=1 ./gemm", "FOO=1 rocprofv3 --sys-trace --output-format rocpd -o results_%pid% -d out -- ./gemm"),
        (
            "python train.py --model gpt",
            "rocprofv3 --runtime-trace --hip-trace --output-format rocpd -o results_%pid% -d out -- python train.py --model gpt",
        ),
        (
            "mpirun -n 4 ./a",
            "mpirun -n 4 rocprofv3 --sys-trace --output-format rocpd -o results_%nid%_%pid% -d out -- ./a",
        ),
        (
            "timeout 60 srun -N2 -n8 --mpi=pmix numactl -N 0 ./a -n 4",
            "timeout 60 srun -N2 -n8 --mpi=pmix rocprofv3 --sys-trace --output-format rocpd -o results_%nid%_%pid% -d out -- numactl -N 0 ./a -n 4",
        ),
        (
            "torchrun --nproc_per_node 8 t.py",
            "rocprofv3 --runtime-trace --hip-trace --output-format rocpd -o results_%nid%_%pid% -d out -- torchrun --nproc_per_node 8 t.py",
        ),
        (
            "srun -N 2 torchrun t.py",
            "srun -N 2 rocprofv3 --sys-trace --output-format rocpd -o results_%nid%_%pid% -d out -- torchrun t.py",
        ),
        (
            "env -i PATH=/bin ./a",
            "env -i PATH=/bin rocprofv3 --sys-trace --output-format rocpd -o results_%pid% -d out -- ./a",
        ),
        // An unknown option may take a value: then the start of the program is unknown.
        (
            "mpirun --what 4 ./a",
            "rocprofv3 --sys-trace --output-format rocpd -o results_%nid%_%pid% -d out -- mpirun --what 4 ./a",
        ),
        (
            "mpirun -n 1 ./a : -n 1 ./b",
            "rocprofv3 --sys-trace --output-format rocpd -o results_%nid%_%pid% -d out -- mpirun -n 1 ./a : -n 1 ./b",
        ),
        (
            "mpirun --mca btl self -x A=1 -np 2 -host a,b ./a",
            "mpirun --mca btl self -x A=1 -np 2 -host a,b rocprofv3 --sys-trace --output-format rocpd -o results_%nid%_%pid% -d out -- ./a",
        ),
    ] {
        assert_eq!(first(line), expected);
        assert!(!expected.contains("--process-sync"));
    }
}

#[test]
fn rocprofv3_takes_every_first_command() {
    for line in
        ["./a", "python x.py", "python torch.py", "python gpt.py", "torchrun x.py", "mpirun ./a", "vllm serve x"]
    {
        let command = Profiling::first(&application(line), Path::new("out"));
        let from = command.words.iter().position(|word| word == "rocprofv3").unwrap();
        assert!(check(&command.words[from..]).is_empty(), "{line}");
        assert!(command.collects().contains("hip-trace"), "{line}");
        assert_eq!(Profiling::of_words(&command.words, &application(line), Path::new("out")).unwrap(), command);
    }
}

#[test]
fn a_recommendation_gets_application_and_directory() {
    let application = application("A=1 mpirun -n 2 ./real --size 5");
    let directory = Path::new("/tmp/run 1");
    for placeholder in ["./app", "<app>", "APP", "./app -x --pmc Y -d no", ""] {
        let line = format!("B=2 rocprofv3 --pmc SQ_WAVES TCC_HIT_sum -d counters -o x -- {placeholder}");
        let made = Profiling::of_words(&words(&line), &application, directory).unwrap();
        assert_eq!(
            made.line(),
            "A=1 B=2 mpirun -n 2 rocprofv3 --pmc SQ_WAVES TCC_HIT_sum --output-format rocpd -o results_%nid%_%pid% -d '/tmp/run 1' -- ./real --size 5"
        );
    }
    let joined =
        "/opt/rocm/bin/rocprofv3 --output-directory=a --output-file=b --output-format csv rocpd --kernel-trace on";
    assert_eq!(
        of(joined).line(),
        "/opt/rocm/bin/rocprofv3 --output-format csv rocpd --kernel-trace on -o results_%pid% -d out -- ./app"
    );
    let thread_trace = "rocprofv3 --att --kernel-include-regex gemm -d thread_trace -- ./app";
    assert_eq!(of(thread_trace).line(), "rocprofv3 --att --kernel-include-regex gemm -d out -- ./app");
    let line = "mpirun -n 8 rocprofv3 --sys-trace -- './old app'";
    let made = Profiling::of_line(line, &Application::of_words(words("./app")), Path::new("out")).unwrap();
    assert_eq!(made.line(), "rocprofv3 --sys-trace --output-format rocpd -o results_%pid% -d out -- ./app");
}

#[test]
fn what_rocprofv3_refuses_is_refused() {
    let refused =
        |line: &str| Profiling::of_line(line, &application("./app"), Path::new("out")).unwrap_err().to_string();
    for (line, expected) in [
        ("rocprofv3 --pc-sampling -- ./app", "no flag --pc-sampling"),
        ("rocprofv3 --kernel-names x -- ./app", "no flag --kernel-names"),
        ("rocprofv3 --hip-api-trace -- ./app", "no flag --hip-api-trace"),
        ("rocprofv3 --att --pmc SQ_WAVES -- ./app", "do not go together"),
        ("rocprofv3 --sys-trace stray -- ./app", "does not take stray"),
        ("rocprof-compute profile -n x -- ./app", "does not run rocprofv3"),
        ("./app -- rocprofv3", "does not run rocprofv3"),
        ("rocprofv3 --sys-trace -- ./app | tee x", "needs a shell"),
        ("", "does not run rocprofv3"),
    ] {
        let error = refused(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn what_commands_collect() {
    let set = |items: &[&str]| -> BTreeSet<String> { items.iter().map(|item| (*item).to_owned()).collect() };
    assert_eq!(of("rocprofv3 --pmc A B --kernel-trace -- x").collects(), set(&["pmc:A", "pmc:B", "kernel-trace"]));
    assert_eq!(of("rocprofv3 --pmc=A --pmc B,C -- x").collects(), set(&["pmc:A", "pmc:B", "pmc:C"]));
    assert_eq!(of("rocprofv3 --att -- x").collects(), set(&["att"]));
    let sampling = "rocprofv3 --pc-sampling-beta-enabled --pc-sampling-unit cycles --pc-sampling-method stochastic --pc-sampling-interval 1048576 -- x";
    assert_eq!(of(sampling).collects(), set(&["pc-sampling"]));
    assert_eq!(
        of("rocprofv3 --hip-trace --hsa-trace off -- x").collects(),
        set(&["hip-trace", "hip-runtime-trace", "hip-compiler-trace"])
    );
    let all = of("rocprofv3 -s -- x").collects();
    assert!(
        ["sys-trace", "runtime-trace", "hip-trace", "rccl-trace", "memory-copy-trace"]
            .iter()
            .all(|name| all.contains(*name))
    );
    assert_eq!(of("rocprofv3 --stats --summary -- x").collects(), set(&[]));
    // Words after -- belong to the program.
    assert_eq!(of("rocprofv3 --kernel-trace -- x --pmc A").collects(), set(&["kernel-trace"]));
}

#[test]
fn commands_that_repeat() {
    let history = [of("rocprofv3 --sys-trace -- x"), of("rocprofv3 --pmc A B -- x")];
    for (line, expected) in [
        ("rocprofv3 --pmc A -- x", true),
        ("rocprofv3 --pmc A C -- x", false),
        ("rocprofv3 --hip-trace -- x", true),
        ("rocprofv3 --runtime-trace -- x", true),
        ("rocprofv3 --kernel-trace --pmc B A -- x", true),
        ("rocprofv3 --kernel-trace --stats -- x", true),
        ("rocprofv3 --ompt-trace all -- x", false),
        ("rocprofv3 --att -- x", false),
        ("rocprofv3 --pmc A --kernel-include-regex k -- x", true),
        // It collects no known data.
        ("rocprofv3 --stats -- x", false),
    ] {
        assert_eq!(of(line).repeats(&history), expected, "{line}");
    }
    assert!(!of("rocprofv3 --pmc A -- x").repeats(&[]));
    let att = [of("rocprofv3 --att --kernel-include-regex a -- x")];
    assert!(of("rocprofv3 --att --kernel-include-regex a -- x").repeats(&att));
    assert!(!of("rocprofv3 --att --kernel-include-regex b -- x").repeats(&att));
    assert!(!of("rocprofv3 --att -- x").repeats(&att));
}

#[test]
fn traces_are_found_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("b")).unwrap();
    std::fs::copy("../../fixtures/merged/merged.db", path("b/x.db")).unwrap();
    std::fs::copy("../../fixtures/merged/merged.db", path("a_results.db")).unwrap();
    std::fs::copy("../../fixtures/thread_trace/stats_ui_output_agent_4_dispatch_3.csv", path("stats_x.csv")).unwrap();
    std::fs::write(path("garbage.db"), "no database").unwrap();
    std::fs::write(path("empty.db"), "").unwrap();
    std::fs::write(path("results.txt"), "text").unwrap();
    std::fs::write(path("code.json"), "{}").unwrap();
    let command = of("rocprofv3 -s -- x");
    assert_eq!(command.traces(folder.path()), [path("a_results.db"), path("b/x.db"), path("stats_x.csv")]);
    assert!(command.traces(&path("missing")).is_empty());
    let text = serde_json::to_string(&command).unwrap();
    assert_eq!(serde_json::from_str::<Profiling>(&text).unwrap(), command);
}
