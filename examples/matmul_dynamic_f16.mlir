// A matmul whose number of rows is known only at run time: hone tune --dim M=512 ...
func.func @main(%a: tensor<?x1280xf16>, %b: tensor<1280x1024xf16>) -> tensor<?x1024xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x1280xf16>
  %e = tensor.empty(%m) : tensor<?x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x1280xf16>, tensor<1280x1024xf16>) outs(%f : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}
