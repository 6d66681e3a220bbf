//! Determines the programming model of the source.

use super::advice::Facts;
use super::files::Language;
use super::summary::FileFound;

/// The programming model of the first matching rule; `Unknown` if the source is not about GPUs.
pub fn programming_model(facts: &Facts, files: &[FileFound]) -> &'static str {
    let hip: usize = files.iter().map(|file| file.found.hip_names).sum();
    let cuda: usize = files.iter().map(|file| file.found.cuda_names).sum();
    let has_language = |language| files.iter().any(|file| file.language == language);
    let has_gpu_files = has_language(Language::Gpu);
    let own = || if cuda > 0 && hip == 0 { "CUDA" } else { "HIP" };
    let kernels = facts.has(&["kernel"]);
    match () {
        () if facts.has(&["pytorch"]) => "PyTorch_HIP",
        () if facts.has(&["jax"]) => "JAX_HIP",
        () if !kernels && facts.has(&["opencl", "opencl_kernel"]) => "OpenCL",
        () if kernels && own() == "CUDA" => "CUDA",
        () if kernels && facts.has(&["library"]) => "HIP+ROCm_Libraries",
        () if kernels => "HIP",
        () if facts.has(&["triton", "python_kernel"]) => "Python_GPU",
        () if facts.has(&["kokkos"]) => "Kokkos",
        () if facts.has(&["sycl"]) => "SYCL",
        () if facts.has(&["openmp_target"]) => "OpenMP_Target",
        () if facts.has(&["openacc"]) => "OpenACC",
        () if facts.has(&["library", "collectives"]) && cuda == 0 => "HIP+ROCm_Libraries",
        () if hip + cuda > 0 || has_gpu_files => own(),
        () => "Unknown",
    }
}
