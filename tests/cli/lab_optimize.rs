//! `lab optimize` on a kernel that is really compiled, for the GPU and for the host that checks its results; the profiler is
//! not real, and the model is scripted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Run, finish, listing, program};
use crate::device_code::COMPILER;
use crate::models::Server;
use crate::profiler::link_in;
use crate::skipping::has_tools;

/// The norm is the same for each k: a planted inefficiency.
const KERNEL: &str = r#"#include "portable.h"

extern "C" __global__ void smooth(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        float norm = 0.0f;
        for (int j = 0; j < n; ++j) norm += in[j] * in[j];
        sum += in[k] * (i + 1) / (norm + 1.0f);
    }
    out[i] = sum;
}
"#;
/// One source for the GPU and for a host that runs work-item by work-item.
const PORTABLE: &str = r"#pragma once
struct Dim { unsigned x; };
#ifdef HOST
#define __global__
static Dim blockIdx, threadIdx, blockDim = {64};
#else
#define __global__ __attribute__((global))
#define blockIdx (Dim{__builtin_amdgcn_workgroup_id_x()})
#define threadIdx (Dim{__builtin_amdgcn_workitem_id_x()})
#define blockDim (Dim{64})
#endif
";
const MAIN: &str = r#"#include <cstdio>
#include "kernel.hip"
int main() {
    const int n = 128;
    float in[n], out[n];
    for (int i = 0; i < n; ++i) in[i] = 0.25f * (i % 7);
    for (blockIdx.x = 0; blockIdx.x < 2; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < 64; ++threadIdx.x) smooth(out, in, n);
    std::FILE* file = std::fopen("out.f32", "wb");
    std::fwrite(out, sizeof(float), n, file);
    std::fclose(file);
    return 0;
}
"#;
/// The kernel takes longer while the norm is within the loop over k.
const BUILD: &str = r#"#!/bin/sh
set -e
if command -v clang++-19 >/dev/null; then
    clang++-19 -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc -O2 --offload-arch=gfx942 -o kernel.hsaco kernel.hip
fi
c++ -DHOST -O1 -x c++ -o app main.cpp
ns=100000
if sed -n '/for (int k/,$p' kernel.hip | grep -q 'for (int j'; then :; else ns=60000; fi
if grep -q 'pragma unroll' kernel.hip; then ns=$((ns - 20000)); fi
if grep -q 'restrict' kernel.hip; then ns=$((ns + 500)); fi
echo "kernel smooth 40 $ns 1" > kernels.txt
echo "kernel other 40 ${OTHER_NS:-20000} 1" >> kernels.txt
"#;

/// Sources in a repository, a profiler.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("code")).unwrap();
        link_in(place.folder.path());
        let settings = format!(
            "FAKE_ROCPROFV3_KERNELS=kernels.txt\nFAKE_ROCPROFV3_COUNTER={}\nFAKE_ROCPROFV3_SEED=1\n",
            place.path("bin/runs").display()
        );
        fs::write(place.path("bin/fake_rocprofv3.env"), settings).unwrap();
        for (name, text) in [("kernel.hip", KERNEL), ("portable.h", PORTABLE), ("main.cpp", MAIN)] {
            fs::write(place.path("code").join(name), text).unwrap();
        }
        place.script("build.sh", BUILD);
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["add", "."]);
        place.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.path("code").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(self.path("code")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the verb in the folder of the code, with its results next to it.
    fn optimize(&self, options: &[&str]) -> Run {
        let lab = self.path("lab");
        drop(fs::remove_dir_all(&lab));
        let usual = ["lab", "optimize", "kernel.hip", "--build", "./build.sh", "--runs", "4", "-o"];
        let arguments = [&usual[..], &[lab.to_str().unwrap()], options, &["--", "./app"]].concat();
        let mut command = program(&arguments);
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.path("code")).env("PATH", path).env("HOME", self.folder.path()).stdin(Stdio::null());
        finish(command)
    }

    fn attempts(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("lab/attempts.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The gates of an attempt with their verdicts.
fn verdicts(attempt: &Value) -> Vec<String> {
    let gates = attempt["gates"].as_array().unwrap();
    gates.iter().map(|one| format!("{} {}", one["gate"].as_str().unwrap(), one["verdict"].as_str().unwrap())).collect()
}

fn says(text: &str, finish: &str) -> (u16, String) {
    let answer = json!({"model": "tiny-1", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10}});
    (200, answer.to_string())
}

fn edit(from: &str, to: &str) -> (u16, String) {
    let text =
        format!("It takes less time.\n\nFILE: kernel.hip\n<<<<<<< SEARCH\n{from}\n=======\n{to}\n>>>>>>> REPLACE\n");
    says(&text, "stop")
}

const LOOPS: &str = "    for (int k = 0; k < n; ++k) {
        float norm = 0.0f;
        for (int j = 0; j < n; ++j) norm += in[j] * in[j];
        sum";
const HOISTED: &str = "    float norm = 0.0f;
    for (int j = 0; j < n; ++j) norm += in[j] * in[j];
    for (int k = 0; k < n; ++k) {
        sum";

/// A model that breaks the interface, then does not compile, then is wrong, then is right.
#[test]
fn a_model_is_held_to_all_gates() {
    if !has_tools(&COMPILER) {
        return;
    }
    let place = Place::new();
    let whole = |start: &str| format!("{start} += in[k] * (i + 1) / (norm + 1.0f);");
    let server = Server::new(vec![
        edit(
            "extern \"C\" __global__ void smooth(float* out, const float* in, int n) {",
            "extern \"C\" __global__ void smooth(float* out, const float* in, long n) {",
        ),
        edit(&whole(LOOPS), &whole(&HOISTED.replace("float norm = 0.0f;", "float norm = 0.0f"))),
        edit(&whole(LOOPS), &whole(&HOISTED.replace("j < n", "j < n - 1"))),
        says("FILE: kernel.hip\n<<<<<<< SEARCH\n    float sum", "length"),
        edit(&whole(LOOPS), &whole(HOISTED)),
    ]);
    let before = listing(&place.path("code"));
    let model = ["--llm", "local:tiny-1", "--llm-url", &server.url, "--llm-share", "source"];
    let run = place.optimize(
        &[&model[..], &["--transform", "none", "--attempts", "3", "--repairs", "2", "--output-file", "out.f32:f32"]]
            .concat(),
    );
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let attempts = place.attempts();
    let found: Vec<Vec<String>> = attempts.iter().map(verdicts).collect();
    assert_eq!(found[0], ["builds pass", "interface fail"]);
    assert_eq!(found[1], ["builds fail"]);
    assert_eq!(found[2], ["builds pass", "interface pass", "resources pass", "correct fail"]);
    assert_eq!(found[3], [""; 0]);
    let all = ["builds", "interface", "resources", "correct", "faster", "others"].map(|gate| format!("{gate} pass"));
    assert_eq!(found[4], all);
    assert!(attempts[0]["gates"][1]["reason"].as_str().unwrap().contains("signature"), "{}", attempts[0]);
    assert!(attempts[1]["build"]["output"].as_str().unwrap().contains("error: expected ';'"), "{}", attempts[1]);
    assert!(
        attempts[2]["gates"][3]["reason"].as_str().unwrap().contains("128 of 128 elements differ"),
        "{}",
        attempts[2]
    );
    assert!(attempts[3]["refused"].as_str().unwrap().contains("cut off"));
    let facts = &attempts[4]["gates"][4]["facts"];
    assert!((facts["gain_pct"].as_f64().unwrap() - 40.0).abs() < 2.0, "{facts}");
    assert!(facts["ratio_high"].as_f64().unwrap() < 1.0);
    assert_eq!(attempts[4]["gates"][1]["facts"]["symbols"], json!(["smooth.kd"]));
    // Errors go back to the model.
    let asked = server.got();
    assert!(asked[1].contains("was not accepted") && asked[1].contains("signature"), "{}", asked[1]);
    assert!(asked[2].contains("expected ';'"), "{}", asked[2]);
    // Prompts and replies are kept; the sources are as they were; the patch applies.
    assert!(attempts[4]["prompt"].as_str().unwrap().contains("smooth") && attempts[4]["reply"].is_string());
    assert_eq!(listing(&place.path("code")), before);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    let patch = place.path("lab/optimized.patch");
    place.git(&["apply", "--check", patch.to_str().unwrap()]);
    place.git(&["apply", patch.to_str().unwrap()]);
    let expected = KERNEL.replace(&whole(LOOPS), &whole(HOISTED));
    assert_eq!(fs::read_to_string(place.path("code/kernel.hip")).unwrap(), expected);
}

/// Transforms go through the same gates.
#[test]
fn transforms_are_held_to_all_gates() {
    let place = Place::new();
    let has_objects = has_tools(&COMPILER);
    let more: &[&str] = if has_objects { &[] } else { &["--accept-unverified"] };
    let run = place.optimize(&[&["--output-file", "out.f32:f32", "-f", "json"], more].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let by = |name: &str| summary["attempts"].as_array().unwrap().iter().find(|one| one["proposer"] == name).cloned();
    assert_eq!(by("unroll").unwrap()["is_accepted"], true);
    // Slower by half a percent: not surely faster.
    let restrict = by("restrict").unwrap();
    assert_eq!(restrict["gates"].as_array().unwrap().last().unwrap()["gate"], "faster");
    assert_eq!(restrict["is_accepted"], false);
    assert_eq!(summary["not_applicable"][0]["transform"], "vector_loads");
    let patch = fs::read_to_string(place.path("lab/optimized.patch")).unwrap();
    assert!(
        patch.lines().any(|line| line.strip_prefix('+').is_some_and(|added| added.trim() == "#pragma unroll 4")),
        "{patch}"
    );
    assert!(!patch.contains("restrict"), "{patch}");
}

/// A candidate that nothing checks is not promoted unasked.
#[test]
fn what_is_unverified_is_not_promoted() {
    let place = Place::new();
    let run = place.optimize(&["--transform", "unroll"]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    let attempts = place.attempts();
    assert!(verdicts(&attempts[0]).contains(&"correct unverified".to_owned()), "{attempts:?}");
    assert!(run.stdout.contains("not accepted, unverified: ") && !place.path("lab/optimized.patch").exists());
    let run = place.optimize(&["--transform", "unroll", "--accept-unverified"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    // A check is enough.
    let run = place.optimize(&["--transform", "unroll", "--check", "./app", "--accept-unverified"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(verdicts(&place.attempts()[0]).contains(&"correct pass".to_owned()));
}

/// Another kernel that becomes slower refuses a candidate; so do limits of resources.
#[test]
fn other_kernels_and_resources_count() {
    let place = Place::new();
    place.script(
        "build.sh",
        &BUILD.replace("${OTHER_NS:-20000}", "$(grep -q 'pragma unroll' kernel.hip && echo 30000 || echo 20000)"),
    );
    let run = place.optimize(&["--transform", "unroll", "--accept-unverified"]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    let last = place.attempts()[0]["gates"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((last["gate"].as_str(), last["verdict"].as_str()), (Some("others"), Some("fail")), "{last}");
    if has_tools(&COMPILER) {
        let run = place.optimize(&["--transform", "unroll", "--accept-unverified", "--max-vgpr", "2"]);
        assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
        assert!(
            place.attempts()[0]["gates"][2]["reason"].as_str().unwrap().contains("vector registers are more than 2")
        );
    }
}

/// Errors of the program as it is, or of the command line, are reported before anything is tried.
#[test]
fn what_is_wrong_before_any_candidate() {
    let place = Place::new();
    let before = listing(&place.path("code"));
    for (options, code, said) in [
        (&["--check", "false"][..], 1, "fails its check"),
        (&["--output-file", "nothing.f32:f32"], 1, "does not write nothing.f32"),
        (&["--output-file", "../out.f32"], 2, "not a file below"),
        (&["--kernel", "other"], 2, "no kernel other in the source; it has smooth"),
        (&["--transform", "magic"], 2, "not known"),
        (&["--transform", "none"], 2, "needs a model"),
        (&["--attempts", "0"], 2, "0"),
        (&["--object", "/etc/passwd"], 2, "is not below"),
        (&["--tolerance", "x"], 2, "ABS,REL"),
        (&["--object", "none.hsaco"], 1, "no code object in none.hsaco"),
        (&["--min-gain", "200"], 2, "percent"),
        (&["--source-dir", "/usr"], 2, "is not below /usr"),
    ] {
        let run = place.optimize(options);
        assert_eq!(run.code, code, "{options:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(said), "{options:?}: {}", run.stderr);
    }
    assert_eq!(listing(&place.path("code")), before);
    // A build that fails, hangs, or is missing.
    place.script("build.sh", "#!/bin/sh\necho 'no rule' >&2\nexit 2\n");
    assert!(place.optimize(&[]).stderr.contains("does not build: ./build.sh ended with code 2:\n  no rule"));
    place.script("build.sh", "#!/bin/sh\nsleep 60\n");
    assert!(place.optimize(&["--time-limit", "1"]).stderr.contains("within 1 s"));
    fs::remove_file(place.path("code/build.sh")).unwrap();
    assert!(place.optimize(&[]).stderr.contains("was not found"));
    // The next run finds no folder in its way.
    assert!(!place.path("lab").exists());
}

/// A build that leaves the copy is stopped, not believed.
#[test]
fn commands_that_write_into_the_sources_are_found() {
    let place = Place::new();
    let leaving = format!("{BUILD}\ntouch {}\n", place.path("code/left_behind").display());
    place.script("build.sh", &leaving);
    let run = place.optimize(&["--transform", "unroll"]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("left_behind changed in the sources while `./build.sh` ran"), "{}", run.stderr);
    // The copy has the sources as they were.
    assert!(place.path("lab/base/kernel.hip").exists());
}

/// Results that differ from run to run prove nothing.
#[test]
fn results_that_do_not_repeat_are_no_reference() {
    let place = Place::new();
    place.script("app.sh", "#!/bin/sh\ndate +%N > out.txt\n");
    let lab = place.path("lab");
    let arguments = [
        "lab",
        "optimize",
        "kernel.hip",
        "--build",
        "./build.sh",
        "--output-file",
        "out.txt",
        "-o",
        lab.to_str().unwrap(),
        "--",
        "./app.sh",
    ];
    let mut command = program(&arguments);
    command.current_dir(place.path("code")).env("PATH", std::env::var("PATH").unwrap());
    let run = finish(command);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("does not repeat its results (out.txt: 1 of 1 elements differ"), "{}", run.stderr);
}

/// Nothing runs with `--dry-run`: the first change, or what a model would be sent.
#[test]
fn a_dry_run_shows_what_comes_first() {
    let place = Place::new();
    let run = place.optimize(&["--dry-run", "--transform", "unroll"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.starts_with("diff --git a/kernel.hip b/kernel.hip") && run.stdout.contains("#pragma unroll 4"));
    let server = Server::new(Vec::new());
    let run =
        place.optimize(&["--dry-run", "--llm", "local:tiny-1", "--llm-url", &server.url, "--llm-share", "source"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("FILE: kernel.hip") && run.stdout.contains("norm"), "{}", run.stdout);
    assert!(server.got().is_empty() && !place.path("lab").exists());
    let run = place.optimize(&["--dry-run", "--llm", "local:tiny-1", "--llm-url", &server.url]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--llm-share source"), "{}", run.stderr);
}

/// An error in the command line leaves nothing that would stand in the way of the next run, whenever it is noticed.
#[test]
fn usage_errors_leave_no_folder() {
    let place = Place::new();
    let server = Server::new(vec![says("unused", "stop")]);
    let model = ["--llm", "local:tiny-1", "--llm-url", &server.url];
    for (options, said) in [
        (&["--transform", "none"][..], "needs a model"),
        (&["--object", "/etc/passwd"], "is not below"),
        (&["--kernel", "other"], "no kernel other"),
        (&model[..], "--llm-share source"),
    ] {
        let run = place.optimize(options);
        assert_eq!(run.code, 2, "{options:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(said), "{options:?}: {}", run.stderr);
        assert!(!place.path("lab").exists(), "{options:?}");
    }
    assert!(server.got().is_empty());
}

/// A model that gives an answer again which was not accepted is not asked any more.
#[test]
fn the_same_unusable_answer_ends_the_questions() {
    let answers = [
        says("I would rather not.", "stop"),
        says("FILE: kernel.hip\n<<<<<<< SEARCH\n    float sum", "length"),
        edit("no such line", "int x;"),
    ];
    for answer in answers {
        let place = Place::new();
        let server = Server::new(vec![answer]);
        let model = ["--llm", "local:tiny-1", "--llm-url", &server.url, "--llm-share", "source"];
        let run = place.optimize(&[&model[..], &["--transform", "none", "--repairs", "3"]].concat());
        assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
        assert_eq!(server.got().len(), 2, "{}", run.stderr);
        assert!(run.stderr.contains("repeated a rejected answer"), "{}", run.stderr);
        assert_eq!(place.attempts().len(), 2);
    }
}
