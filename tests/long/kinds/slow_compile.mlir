// Forty products of different sizes, a second or more of compiling each set of flags.
func.func @slow(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zp0 = arith.constant 0.0 : f32
  %ep0 = tensor.empty() : tensor<64x64xf32>
  %fp0 = linalg.fill ins(%zp0 : f32) outs(%ep0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p0 : tensor<64x64xf32>) outs(%ep0 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 1.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.tanh %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp1 = arith.constant 0.0 : f32
  %ep1 = tensor.empty() : tensor<64x64xf32>
  %fp1 = linalg.fill ins(%zp1 : f32) outs(%ep1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p1 = linalg.matmul ins(%c0, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p1 : tensor<64x64xf32>) outs(%ep1 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 2.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.exp %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp2 = arith.constant 0.0 : f32
  %ep2 = tensor.empty() : tensor<64x64xf32>
  %fp2 = linalg.fill ins(%zp2 : f32) outs(%ep2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p2 = linalg.matmul ins(%c1, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p2 : tensor<64x64xf32>) outs(%ep2 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 3.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.erf %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp3 = arith.constant 0.0 : f32
  %ep3 = tensor.empty() : tensor<64x64xf32>
  %fp3 = linalg.fill ins(%zp3 : f32) outs(%ep3 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p3 = linalg.matmul ins(%c2, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp3 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p3 : tensor<64x64xf32>) outs(%ep3 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 4.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.rsqrt %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp4 = arith.constant 0.0 : f32
  %ep4 = tensor.empty() : tensor<64x64xf32>
  %fp4 = linalg.fill ins(%zp4 : f32) outs(%ep4 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p4 = linalg.matmul ins(%c3, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp4 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p4 : tensor<64x64xf32>) outs(%ep4 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 5.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.sin %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp5 = arith.constant 0.0 : f32
  %ep5 = tensor.empty() : tensor<64x64xf32>
  %fp5 = linalg.fill ins(%zp5 : f32) outs(%ep5 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p5 = linalg.matmul ins(%c4, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp5 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p5 : tensor<64x64xf32>) outs(%ep5 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 6.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.cos %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp6 = arith.constant 0.0 : f32
  %ep6 = tensor.empty() : tensor<64x64xf32>
  %fp6 = linalg.fill ins(%zp6 : f32) outs(%ep6 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p6 = linalg.matmul ins(%c5, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp6 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c6 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p6 : tensor<64x64xf32>) outs(%ep6 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 7.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.log1p %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp7 = arith.constant 0.0 : f32
  %ep7 = tensor.empty() : tensor<64x64xf32>
  %fp7 = linalg.fill ins(%zp7 : f32) outs(%ep7 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p7 = linalg.matmul ins(%c6, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp7 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c7 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p7 : tensor<64x64xf32>) outs(%ep7 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 8.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.atan %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp8 = arith.constant 0.0 : f32
  %ep8 = tensor.empty() : tensor<64x64xf32>
  %fp8 = linalg.fill ins(%zp8 : f32) outs(%ep8 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p8 = linalg.matmul ins(%c7, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp8 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c8 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p8 : tensor<64x64xf32>) outs(%ep8 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 9.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.absf %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp9 = arith.constant 0.0 : f32
  %ep9 = tensor.empty() : tensor<64x64xf32>
  %fp9 = linalg.fill ins(%zp9 : f32) outs(%ep9 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p9 = linalg.matmul ins(%c8, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp9 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c9 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p9 : tensor<64x64xf32>) outs(%ep9 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 10.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.sqrt %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp10 = arith.constant 0.0 : f32
  %ep10 = tensor.empty() : tensor<64x64xf32>
  %fp10 = linalg.fill ins(%zp10 : f32) outs(%ep10 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p10 = linalg.matmul ins(%c9, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp10 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c10 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p10 : tensor<64x64xf32>) outs(%ep10 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 11.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.tanh %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp11 = arith.constant 0.0 : f32
  %ep11 = tensor.empty() : tensor<64x64xf32>
  %fp11 = linalg.fill ins(%zp11 : f32) outs(%ep11 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p11 = linalg.matmul ins(%c10, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp11 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c11 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p11 : tensor<64x64xf32>) outs(%ep11 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 12.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.exp %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp12 = arith.constant 0.0 : f32
  %ep12 = tensor.empty() : tensor<64x64xf32>
  %fp12 = linalg.fill ins(%zp12 : f32) outs(%ep12 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p12 = linalg.matmul ins(%c11, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp12 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c12 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p12 : tensor<64x64xf32>) outs(%ep12 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 13.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.erf %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp13 = arith.constant 0.0 : f32
  %ep13 = tensor.empty() : tensor<64x64xf32>
  %fp13 = linalg.fill ins(%zp13 : f32) outs(%ep13 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p13 = linalg.matmul ins(%c12, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp13 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c13 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p13 : tensor<64x64xf32>) outs(%ep13 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 14.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.rsqrt %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp14 = arith.constant 0.0 : f32
  %ep14 = tensor.empty() : tensor<64x64xf32>
  %fp14 = linalg.fill ins(%zp14 : f32) outs(%ep14 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p14 = linalg.matmul ins(%c13, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp14 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c14 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p14 : tensor<64x64xf32>) outs(%ep14 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 15.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.sin %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp15 = arith.constant 0.0 : f32
  %ep15 = tensor.empty() : tensor<64x64xf32>
  %fp15 = linalg.fill ins(%zp15 : f32) outs(%ep15 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p15 = linalg.matmul ins(%c14, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp15 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c15 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p15 : tensor<64x64xf32>) outs(%ep15 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 16.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.cos %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp16 = arith.constant 0.0 : f32
  %ep16 = tensor.empty() : tensor<64x64xf32>
  %fp16 = linalg.fill ins(%zp16 : f32) outs(%ep16 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p16 = linalg.matmul ins(%c15, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp16 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c16 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p16 : tensor<64x64xf32>) outs(%ep16 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 17.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.log1p %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp17 = arith.constant 0.0 : f32
  %ep17 = tensor.empty() : tensor<64x64xf32>
  %fp17 = linalg.fill ins(%zp17 : f32) outs(%ep17 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p17 = linalg.matmul ins(%c16, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp17 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c17 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p17 : tensor<64x64xf32>) outs(%ep17 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 18.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.atan %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp18 = arith.constant 0.0 : f32
  %ep18 = tensor.empty() : tensor<64x64xf32>
  %fp18 = linalg.fill ins(%zp18 : f32) outs(%ep18 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p18 = linalg.matmul ins(%c17, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp18 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c18 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p18 : tensor<64x64xf32>) outs(%ep18 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 19.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.absf %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp19 = arith.constant 0.0 : f32
  %ep19 = tensor.empty() : tensor<64x64xf32>
  %fp19 = linalg.fill ins(%zp19 : f32) outs(%ep19 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p19 = linalg.matmul ins(%c18, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp19 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c19 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p19 : tensor<64x64xf32>) outs(%ep19 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 20.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.sqrt %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp20 = arith.constant 0.0 : f32
  %ep20 = tensor.empty() : tensor<64x64xf32>
  %fp20 = linalg.fill ins(%zp20 : f32) outs(%ep20 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p20 = linalg.matmul ins(%c19, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp20 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c20 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p20 : tensor<64x64xf32>) outs(%ep20 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 21.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.tanh %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp21 = arith.constant 0.0 : f32
  %ep21 = tensor.empty() : tensor<64x64xf32>
  %fp21 = linalg.fill ins(%zp21 : f32) outs(%ep21 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p21 = linalg.matmul ins(%c20, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp21 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c21 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p21 : tensor<64x64xf32>) outs(%ep21 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 22.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.exp %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp22 = arith.constant 0.0 : f32
  %ep22 = tensor.empty() : tensor<64x64xf32>
  %fp22 = linalg.fill ins(%zp22 : f32) outs(%ep22 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p22 = linalg.matmul ins(%c21, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp22 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c22 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p22 : tensor<64x64xf32>) outs(%ep22 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 23.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.erf %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp23 = arith.constant 0.0 : f32
  %ep23 = tensor.empty() : tensor<64x64xf32>
  %fp23 = linalg.fill ins(%zp23 : f32) outs(%ep23 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p23 = linalg.matmul ins(%c22, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp23 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c23 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p23 : tensor<64x64xf32>) outs(%ep23 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 24.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.rsqrt %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp24 = arith.constant 0.0 : f32
  %ep24 = tensor.empty() : tensor<64x64xf32>
  %fp24 = linalg.fill ins(%zp24 : f32) outs(%ep24 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p24 = linalg.matmul ins(%c23, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp24 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c24 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p24 : tensor<64x64xf32>) outs(%ep24 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 25.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.sin %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp25 = arith.constant 0.0 : f32
  %ep25 = tensor.empty() : tensor<64x64xf32>
  %fp25 = linalg.fill ins(%zp25 : f32) outs(%ep25 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p25 = linalg.matmul ins(%c24, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp25 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c25 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p25 : tensor<64x64xf32>) outs(%ep25 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 26.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.cos %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp26 = arith.constant 0.0 : f32
  %ep26 = tensor.empty() : tensor<64x64xf32>
  %fp26 = linalg.fill ins(%zp26 : f32) outs(%ep26 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p26 = linalg.matmul ins(%c25, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp26 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c26 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p26 : tensor<64x64xf32>) outs(%ep26 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 27.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.log1p %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp27 = arith.constant 0.0 : f32
  %ep27 = tensor.empty() : tensor<64x64xf32>
  %fp27 = linalg.fill ins(%zp27 : f32) outs(%ep27 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p27 = linalg.matmul ins(%c26, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp27 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c27 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p27 : tensor<64x64xf32>) outs(%ep27 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 28.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.atan %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp28 = arith.constant 0.0 : f32
  %ep28 = tensor.empty() : tensor<64x64xf32>
  %fp28 = linalg.fill ins(%zp28 : f32) outs(%ep28 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p28 = linalg.matmul ins(%c27, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp28 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c28 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p28 : tensor<64x64xf32>) outs(%ep28 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 29.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.absf %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  %zp29 = arith.constant 0.0 : f32
  %ep29 = tensor.empty() : tensor<64x64xf32>
  %fp29 = linalg.fill ins(%zp29 : f32) outs(%ep29 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p29 = linalg.matmul ins(%c28, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fp29 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c29 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p29 : tensor<64x64xf32>) outs(%ep29 : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant 30.0e-3 : f32
    %m = arith.mulf %x, %k : f32
    %h = math.sqrt %m : f32
    linalg.yield %h : f32
  } -> tensor<64x64xf32>
  return %c29 : tensor<64x64xf32>
}
