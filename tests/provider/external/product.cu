// C = A B, a thread for each element: nvcc -ptx -arch=sm_80 product.cu gave product.ptx. Its .version 9.0
// is 8.3 there: it uses nothing newer, and the ptxas of the Triton wheel takes no 9.0.
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(256)
    product(const half* A, const half* B, float* C, int N, int K, long long rows) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const long long row = blockIdx.y;
  if (column >= N || row >= rows) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __half2float(A[row * K + k]) * __half2float(B[static_cast<long long>(k) * N + column]);
  C[row * N + column] = sum;
}
