// fault: two dispatches that need a tuning spec at the same time can wait for each other for ever (a race)
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --iree-codegen-tuning-spec-path={here}/contraction.spec --compile-to=executable-configurations
// fixed if: ends 60 times
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x1024xf32>, %c: tensor<1024x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<512x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%wide : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %d = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x1024xf32>)
    outs(%zeros : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %empty = tensor.empty() : tensor<512x512xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %e = linalg.matmul ins(%d, %c : tensor<512x1024xf32>, tensor<1024x512xf32>)
    outs(%fill : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %e : tensor<512x512xf32>
}
