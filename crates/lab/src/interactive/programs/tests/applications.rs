//! Kinds of commands.

use super::words;
use crate::interactive::programs::Application;
use crate::interactive::programs::kind::ApplicationKind;

use ApplicationKind::{Distributed, HipCompute, LlmInference, Mpi, Python, PythonMl, Unknown};

fn assert_kinds(cases: &[(&str, ApplicationKind, bool)]) {
    for (line, kind, has_many_processes) in cases {
        let application = Application::of_words(words(line));
        assert_eq!((application.kind, application.has_many_processes), (*kind, *has_many_processes), "{line}");
    }
}

#[test]
fn every_row_of_the_table() {
    assert_kinds(&[
        ("mpirun -n 4 ./a", Mpi, true),
        ("mpiexec -n 4 ./a", Mpi, true),
        ("srun -N 2 ./a", Mpi, true),
        ("jsrun -n 4 ./a", Mpi, true),
        ("orterun ./a", Mpi, true),
        ("/usr/lib64/openmpi/bin/mpirun -np 2 python train.py", Mpi, true),
        ("flux run -n 4 ./a", Mpi, true),
        ("python train.py --model gpt", LlmInference, false),
        ("python3 -m vllm.entrypoints.openai.api_server", LlmInference, false),
        ("python serve_llm.py", LlmInference, false),
        ("python run.py --model meta-llama/Llama-3-8B", LlmInference, false),
        ("python run.py --arch=mistral", LlmInference, false),
        ("python falcon_eval.py", LlmInference, false),
        ("python train.py --model=gpt2", LlmInference, false),
        ("python finetune.py --base bert-large", LlmInference, false),
        ("python transformers_bench.py", LlmInference, false),
        ("python inference.py", LlmInference, false),
        ("python generate.py", LlmInference, false),
        ("python decode.py", LlmInference, false),
        ("./generate.py", LlmInference, false),
        ("python torch_bench.py", PythonMl, false),
        ("python -m pytorch_lightning", PythonMl, false),
        ("python tensorflow_bench.py", PythonMl, false),
        ("python x.py jax", PythonMl, false),
        ("python x.py --backend=onnx", PythonMl, false),
        ("python triton_kernel.py", PythonMl, false),
        ("python pretrain.py --deepspeed ds.json", PythonMl, true),
        ("python megatron.py --ddp", PythonMl, true),
        ("python paddle_x.py", PythonMl, false),
        ("python mxnet_x.py", PythonMl, false),
        ("python train.py", Python, false),
        ("python3.12 -u train.py", Python, false),
        ("./simulate.py", Python, false),
        ("python train_ddp.py", Python, true),
        ("python bench.py --backend nccl", Python, true),
        ("./gemm", HipCompute, false),
        ("FOO=1 ./gemm", HipCompute, false),
        ("", Unknown, false),
        ("FOO=1", Unknown, false),
        ("env A=1", Unknown, false),
        // Upstream takes these for native programs.
        ("torchrun t.py", Distributed, true),
        ("torchrun --nproc_per_node 8 t.py --model gpt", Distributed, true),
        ("deepspeed x.py", Distributed, true),
        ("accelerate launch x.py", Distributed, true),
        ("python -m torch.distributed.run x.py", Distributed, true),
        ("python -m torch.distributed.launch x.py", Distributed, true),
        ("vllm serve model", LlmInference, false),
    ]);
}

#[test]
fn names_are_whole_words() {
    assert_kinds(&[
        ("./srun_test", HipCompute, false),
        ("./mysrun", HipCompute, false),
        ("srun.bak ./a", HipCompute, false),
        ("./bin/mpirunner", HipCompute, false),
        ("/opt/python/bin/solver", HipCompute, false),
        ("./python-config", HipCompute, false),
        ("/home/gpt/llama/app", HipCompute, false),
        ("python /home/bert/torch/train.py", Python, false),
        ("python train.py --data /data/llama/x.bin", Python, false),
        ("python albert_einstein.py", Python, false),
        ("python storchester.py --ajaxed", Python, false),
        ("./app --launcher mpirun", HipCompute, false),
        ("./app torchrun", HipCompute, false),
        ("accelerate env", HipCompute, false),
        ("./gemm.pyx", HipCompute, false),
    ]);
}

#[test]
fn wrappers_are_seen_through() {
    assert_kinds(&[
        ("numactl -N 0 --membind=0 python train.py --model gpt", LlmInference, false),
        ("numactl --cpunodebind 0 mpirun -n 2 ./a", Mpi, true),
        ("taskset -c 0-3 torchrun x.py", Distributed, true),
        ("taskset 0xf python x.py", Python, false),
        ("nice -n 5 srun ./a", Mpi, true),
        ("nice -10 srun ./a", Mpi, true),
        ("time -f %e python x.py", Python, false),
        ("timeout -k 5 60 mpiexec -n 2 ./a", Mpi, true),
        ("timeout 60 ./python_like", HipCompute, false),
        ("stdbuf -o L python x.py", Python, false),
        ("stdbuf -oL python x.py", Python, false),
        ("env A=1 B=2 python x.py", Python, false),
        ("env -u X -i A=1 srun ./a", Mpi, true),
        ("A=1 env B=2 nohup time timeout 5 python torch_x.py", PythonMl, false),
        ("uv run python x.py", Python, false),
        ("conda run -n env python x.py", Python, false),
        ("hwloc-bind core:0 -- mpirun ./a", Mpi, true),
        ("mpirun -n 2 numactl -N 0 python x.py", Mpi, true),
    ]);
}

#[test]
fn variables_in_front_become_the_environment() {
    let application = Application::of_words(words("A=1 B=x=y env A=2 C= ./gemm D=4"));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(application.environment, [pair("B", "x=y"), pair("A", "2"), pair("C", "")]);
    assert_eq!(application.words, ["./gemm", "D=4"]);
    assert_eq!(application.line(), "B=x=y A=2 C='' ./gemm D=4");
    // An option of env changes what it does.
    let application = Application::of_words(words("env -i A=1 ./gemm"));
    assert!(application.environment.is_empty());
    assert_eq!(application.words, words("env -i A=1 ./gemm"));
}

#[test]
fn a_command_that_profiles_is_that_of_its_application() {
    let application = Application::of_words(words("A=1 mpirun -n 2 rocprofv3 --sys-trace -d x -- B=2 ./app -n 4"));
    assert_eq!(application.words, words("mpirun -n 2 ./app -n 4"));
    assert_eq!(application.kind, Mpi);
    assert_eq!(application.environment.len(), 2);
}

#[test]
fn lines_are_read_as_a_shell_does() {
    let read = |line: &str| Application::of_line(line).map(|application| application.words);
    assert_eq!(
        read(r#"./app 'a b' "c \" d" e\ f $'g\n' "\d""#).unwrap(),
        ["./app", "a b", "c \" d", "e f", "g\n", r"\d"]
    );
    assert_eq!(read("./app '$HOME' '*' 'a|b' \"x;y&z\" --a={1} a~b 5#6").unwrap().len(), 8);
    for (line, what) in [
        ("./a | tee log", "|"),
        ("./a > log", ">"),
        ("./a < log", "<"),
        ("./a; ./b", ";"),
        ("./a && ./b", "&&"),
        ("./a || ./b", "||"),
        ("./a &", "&"),
        ("./a $(pwd)", "$("),
        ("./a `pwd`", "`"),
        ("./a \"`pwd`\"", "`"),
        ("./a *.txt", "*"),
        ("./a x?", "?"),
        ("./a [ab]", "["),
        ("./a $HOME", "$H"),
        ("./a \"x$HOME\"", "$H"),
        ("./a ${X}", "${"),
        ("~/a", "~"),
        ("./a {1,2}", "{"),
        ("(./a)", "("),
        ("./a # note", "#"),
        ("./a\n./b", "a second line"),
    ] {
        let error = read(line).unwrap_err().to_string();
        assert!(error.contains(&format!("needs a shell for `{what}`")), "{line}: {error}");
    }
    assert!(read("./a 'b").unwrap_err().to_string().contains("quote"));
    assert!(read("  ").is_err() && read("A=1").is_err());
}

#[test]
fn what_is_written_is_read_again() {
    for line in ["A='x y' ./app 'a b' '' $'c\\n'", "mpirun -n 4 ./a", "./app '$HOME' '`x`' '*' 'it'\\''s'"] {
        let application = Application::of_line(line).unwrap();
        assert_eq!(Application::of_line(&application.line()).unwrap(), application, "{line}");
    }
}

#[test]
fn kinds_have_words() {
    assert_eq!(serde_json::to_string(&LlmInference).unwrap(), "\"llm_inference\"");
    assert!(Mpi.description().contains("trace of its own"));
}
