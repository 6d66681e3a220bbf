// Kernels of the tests, which the fake runtime runs as the host functions of kernels.rs. No header is needed:
// clang++ -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc --offload-arch=gfx942 -O3 -o kernels.hsaco kernels.hip
#define KERNEL __attribute__((global))
#define DEVICE __attribute__((device))

static DEVICE int place() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

DEVICE unsigned saxpy_calls;
DEVICE float saxpy_shift;
#ifdef AS_OTHER
DEVICE int AS_OTHER;
#endif

extern "C" KERNEL void add(float* sum, const float* term, int n) {
  int i = place();
  if (i < n) sum[i] += term[i];
}

extern "C" KERNEL void scale(float* out, const float* in, float factor, int n) {
  int i = place();
  if (i < n) out[i] = in[i] * factor;
}

template <typename T>
KERNEL void copy(T* to, const T* from, int n) {
  int i = place();
  if (i < n) to[i] = from[i];
}
template KERNEL void copy<float>(float*, const float*, int);

namespace blas {
KERNEL void saxpy(float* y, const float* x, float a, int n) {
  int i = place();
  if (i == 0) saxpy_calls += 1;
  if (i < n) y[i] += a * x[i] + saxpy_shift;
}
}  // namespace blas

extern "C" KERNEL void block_sums(float* sums, const float* values, int n) {
  extern __attribute__((shared)) float part[];
  int lane = __builtin_amdgcn_workitem_id_x();
  int i = place();
  part[lane] = i < n ? values[i] : 0;
  __builtin_amdgcn_s_barrier();
  if (lane == 0) {
    float sum = 0;
    for (int other = 0; other < (int)__builtin_amdgcn_workgroup_size_x(); ++other) sum += part[other];
    sums[__builtin_amdgcn_workgroup_id_x()] = sum;
  }
}

struct Node {
  Node* next;
  unsigned long value;
};

extern "C" KERNEL void chase(Node* node) {
  for (; node; node = node->next) node->value += 1;
}
