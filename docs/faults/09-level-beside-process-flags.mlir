// fault: a session of the library that sets O3 loses its effects if the process has flags (two dispatches for one)
// process flags: --iree-codegen-transform-dialect-library=none.mlir
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-opt-level=O3
// fixed if: output lacks @main_dispatch_1
func.func @main(%x: tensor<128x256xf32>) -> tensor<128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<128xf32>) -> tensor<128xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<128x256xf32>) outs(%zeros : tensor<128xf32>) dimensions = [1]
  %again = linalg.generic {iterator_types = ["parallel", "reduction"],
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>]}
      ins(%x, %sum : tensor<128x256xf32>, tensor<128xf32>) outs(%zeros : tensor<128xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.subf %in, %s : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<128xf32>
  return %again : tensor<128xf32>
}
