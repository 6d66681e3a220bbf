__global__ void my_kernel(float *data, int n) { data[threadIdx.x] *= n; }

int main() {
  float *data;
  hipMalloc(&data, 1024);
  hipMemcpy(data, data, 1024, hipMemcpyHostToDevice);
  hipLaunchKernelGGL(my_kernel, dim3(1), dim3(256), 0, 0, data, 2);
}
