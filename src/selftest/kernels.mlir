func.func @product_f16(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>) -> tensor<64x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf16>, tensor<64x128xf16>) outs(%f : tensor<64x128xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
func.func @product_f16_odd(%a: tensor<33x45xf16>, %b: tensor<45x31xf16>) -> tensor<33x31xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x31xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<33x31xf32>) -> tensor<33x31xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<33x45xf16>, tensor<45x31xf16>) outs(%f : tensor<33x31xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<33x31xf32>
  return %r : tensor<33x31xf32>
}
func.func @product_bf16(%a: tensor<64x128xbf16>, %b: tensor<128x64xbf16>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %xw = arith.extf %x : bf16 to f32
    %yw = arith.extf %y : bf16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
func.func @product_f32(%a: tensor<48x64xf32>, %b: tensor<64x96xf32>) -> tensor<48x96xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x96xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<48x64xf32>, tensor<64x96xf32>) outs(%f : tensor<48x96xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<48x96xf32>
  return %r : tensor<48x96xf32>
}
func.func @product_i16(%a: tensor<32x48xi16>, %b: tensor<48x32xi16>) -> tensor<32x32xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x32xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<32x32xi32>) -> tensor<32x32xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x48xi16>, tensor<48x32xi16>) outs(%f : tensor<32x32xi32>) {
  ^bb0(%x: i16, %y: i16, %s: i32):
    %xw = arith.extsi %x : i16 to i32
    %yw = arith.extsi %y : i16 to i32
    %p = arith.muli %xw, %yw : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<32x32xi32>
  return %r : tensor<32x32xi32>
}
func.func @product_i8(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%f : tensor<64x64xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
func.func @product_transposed_f16(%a: tensor<64x96xf16>, %b: tensor<64x96xf16>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x96xf16>, tensor<64x96xf16>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
func.func @batch_product_f16(%a: tensor<3x32x48xf16>, %b: tensor<3x48x64xf16>) -> tensor<3x32x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x32x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x32x48xf16>, tensor<3x48x64xf16>)
      outs(%f : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return %r : tensor<3x32x64xf32>
}
func.func @matvec_f16(%a: tensor<128x256xf16>, %b: tensor<256xf16>) -> tensor<128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %r = linalg.matvec ins(%a, %b : tensor<128x256xf16>, tensor<256xf16>) outs(%f : tensor<128xf32>) -> tensor<128xf32>
  return %r : tensor<128xf32>
}
func.func @product_bias_relu_f16(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64xf16>) -> tensor<64x64xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %h = tensor.empty() : tensor<64x64xf16>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %c : tensor<64x64xf32>, tensor<64xf16>) outs(%h : tensor<64x64xf16>) {
  ^bb0(%x: f32, %y: f16, %o: f16):
    %w = arith.extf %y : f16 to f32
    %s = arith.addf %x, %w : f32
    %m = arith.maximumf %s, %z : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}
func.func @conv_nhwc_f16(%a: tensor<1x10x10x16xf16>, %b: tensor<3x3x16x32xf16>) -> tensor<1x8x8x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x8x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %b : tensor<1x10x10x16xf16>, tensor<3x3x16x32xf16>) outs(%f : tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  return %r : tensor<1x8x8x32xf32>
}
func.func @conv_nchw_f32(%a: tensor<1x8x12x12xf32>, %b: tensor<16x8x3x3xf32>) -> tensor<1x16x10x10xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x10x10xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x10x10xf32>) -> tensor<1x16x10x10xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %b : tensor<1x8x12x12xf32>, tensor<16x8x3x3xf32>) outs(%f : tensor<1x16x10x10xf32>) -> tensor<1x16x10x10xf32>
  return %r : tensor<1x16x10x10xf32>
}
func.func @conv_strided_i8(%a: tensor<1x13x13x8xi8>, %b: tensor<3x3x8x16xi8>) -> tensor<1x6x6x16xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x6x6x16xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<1x6x6x16xi32>) -> tensor<1x6x6x16xi32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%a, %b : tensor<1x13x13x8xi8>, tensor<3x3x8x16xi8>) outs(%f : tensor<1x6x6x16xi32>) -> tensor<1x6x6x16xi32>
  return %r : tensor<1x6x6x16xi32>
}
func.func @conv_depthwise_f32(%a: tensor<1x10x10x24xf32>, %b: tensor<3x3x24xf32>) -> tensor<1x8x8x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x8x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x24xf32>) -> tensor<1x8x8x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %b : tensor<1x10x10x24xf32>, tensor<3x3x24xf32>) outs(%f : tensor<1x8x8x24xf32>) -> tensor<1x8x8x24xf32>
  return %r : tensor<1x8x8x24xf32>
}
func.func @max_pool_f32(%a: tensor<1x9x9x16xf32>) -> tensor<1x4x4x16xf32> {
  %z = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x4x4x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%a, %w : tensor<1x9x9x16xf32>, tensor<3x3xf32>) outs(%f : tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  return %r : tensor<1x4x4x16xf32>
}
func.func @sum_rows_f32(%a: tensor<48x1000xf32>) -> tensor<48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<48xf32>) -> tensor<48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<48x1000xf32>) outs(%f : tensor<48xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<48xf32>
  return %r : tensor<48xf32>
}
func.func @sum_columns_i32(%a: tensor<300x80xi32>) -> tensor<80xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<80xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<80xi32>) -> tensor<80xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["reduction", "parallel"]} ins(%a : tensor<300x80xi32>) outs(%f : tensor<80xi32>) {
  ^bb0(%x: i32, %s: i32):
    %t = arith.addi %s, %x : i32
    linalg.yield %t : i32
  } -> tensor<80xi32>
  return %r : tensor<80xi32>
}
func.func @sum_rows_f16(%a: tensor<32x640xf16>) -> tensor<32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<32x640xf16>) outs(%f : tensor<32xf32>) {
  ^bb0(%x: f16, %s: f32):
    %w = arith.extf %x : f16 to f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  return %r : tensor<32xf32>
}
func.func @max_rows_f32(%a: tensor<64x333xf32>) -> tensor<64xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x333xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.maximumf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
func.func @argmax_f32(%a: tensor<40x200xf32>) -> tensor<40xi32> {
  %z = arith.constant 0xFF800000 : f32
  %n = arith.constant 0 : i32
  %e = tensor.empty() : tensor<40xf32>
  %i = tensor.empty() : tensor<40xi32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %g = linalg.fill ins(%n : i32) outs(%i : tensor<40xi32>) -> tensor<40xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<40x200xf32>) outs(%f, %g : tensor<40xf32>, tensor<40xi32>) {
  ^bb0(%x: f32, %s: f32, %at: i32):
    %d = linalg.index 1 : index
    %c = arith.index_cast %d : index to i32
    %m = arith.maximumf %x, %s : f32
    %b = arith.cmpf ogt, %x, %s : f32
    %t = arith.select %b, %c, %at : i32
    linalg.yield %m, %t : f32, i32
  } -> (tensor<40xf32>, tensor<40xi32>)
  return %r#1 : tensor<40xi32>
}
func.func @fused_f32(%a0: tensor<40x77xf32>, %a1: tensor<40x77xf32>, %a2: tensor<40x77xf32>) -> tensor<40x77xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x77xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%a0, %a1, %a2 : tensor<40x77xf32>, tensor<40x77xf32>, tensor<40x77xf32>) outs(%e : tensor<40x77xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %o: f32):
    %m = arith.mulf %x0, %x1 : f32
    %s = arith.addf %m, %x2 : f32
    %t = arith.maximumf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<40x77xf32>
  return %r : tensor<40x77xf32>
}
func.func @select_f16(%a0: tensor<1000xf16>, %a1: tensor<1000xf16>) -> tensor<1000xf16> {
  %e = tensor.empty() : tensor<1000xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<1000xf16>, tensor<1000xf16>) outs(%e : tensor<1000xf16>) {
  ^bb0(%x0: f16, %x1: f16, %o: f16):
    %c = arith.cmpf olt, %x0, %x1 : f16
    %s = arith.addf %x0, %x1 : f16
    %d = arith.subf %x0, %x1 : f16
    %t = arith.select %c, %s, %d : f16
    linalg.yield %t : f16
  } -> tensor<1000xf16>
  return %r : tensor<1000xf16>
}
func.func @bits_i32(%a0: tensor<777xi32>, %a1: tensor<777xi32>) -> tensor<777xi32> {
  %c = arith.constant -1640531527 : i32
  %k = arith.constant 15 : i32
  %e = tensor.empty() : tensor<777xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<777xi32>, tensor<777xi32>) outs(%e : tensor<777xi32>) {
  ^bb0(%x0: i32, %x1: i32, %o: i32):
    %h = arith.muli %x0, %c : i32
    %u = arith.shrui %h, %k : i32
    %v = arith.xori %h, %u : i32
    %w = arith.addi %v, %x1 : i32
    linalg.yield %w : i32
  } -> tensor<777xi32>
  return %r : tensor<777xi32>
}
func.func @divide_i32(%a0: tensor<600xi32>) -> tensor<600xi32> {
  %c = arith.constant 7 : i32
  %k = arith.constant 100003 : i32
  %e = tensor.empty() : tensor<600xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a0 : tensor<600xi32>) outs(%e : tensor<600xi32>) {
  ^bb0(%x0: i32, %o: i32):
    %h = arith.muli %x0, %k : i32
    %q = arith.divsi %h, %c : i32
    %m = arith.remsi %h, %c : i32
    %w = arith.subi %q, %m : i32
    linalg.yield %w : i32
  } -> tensor<600xi32>
  return %r : tensor<600xi32>
}
func.func @convert_i8(%a0: tensor<512xf32>) -> tensor<512xi8> {
  %c = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<512xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a0 : tensor<512xf32>) outs(%e : tensor<512xi8>) {
  ^bb0(%x0: f32, %o: i8):
    %m = arith.mulf %x0, %c : f32
    %t = arith.fptosi %m : f32 to i8
    linalg.yield %t : i8
  } -> tensor<512xi8>
  return %r : tensor<512xi8>
}
func.func @convert_bf16(%a0: tensor<515xf32>) -> tensor<515xbf16> {
  %c = arith.constant 1.00390625 : f32
  %e = tensor.empty() : tensor<515xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a0 : tensor<515xf32>) outs(%e : tensor<515xbf16>) {
  ^bb0(%x0: f32, %o: bf16):
    %m = arith.mulf %x0, %c : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<515xbf16>
  return %r : tensor<515xbf16>
}
func.func @round_f32(%a0: tensor<400xf32>) -> tensor<400xf32> {
  %c = arith.constant 0.375 : f32
  %e = tensor.empty() : tensor<400xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a0 : tensor<400xf32>) outs(%e : tensor<400xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %m = arith.mulf %x0, %c : f32
    %d = math.floor %m : f32
    %u = math.ceil %m : f32
    %t = arith.subf %u, %d : f32
    %w = arith.addf %t, %d : f32
    linalg.yield %w : f32
  } -> tensor<400xf32>
  return %r : tensor<400xf32>
}
func.func @transpose_f32(%a0: tensor<70x96xf32>) -> tensor<96x70xf32> {
  %e = tensor.empty() : tensor<96x70xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<70x96xf32>) outs(%e : tensor<96x70xf32>) {
  ^bb0(%x0: f32, %o: f32):
    linalg.yield %x0 : f32
  } -> tensor<96x70xf32>
  return %r : tensor<96x70xf32>
}
func.func @bias_f16(%a0: tensor<24x130xf16>, %a1: tensor<130xf16>) -> tensor<24x130xf16> {
  %e = tensor.empty() : tensor<24x130xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%a0, %a1 : tensor<24x130xf16>, tensor<130xf16>) outs(%e : tensor<24x130xf16>) {
  ^bb0(%x0: f16, %x1: f16, %o: f16):
    %s = arith.addf %x0, %x1 : f16
    linalg.yield %s : f16
  } -> tensor<24x130xf16>
  return %r : tensor<24x130xf16>
}
func.func @triangle_f32(%a0: tensor<50x60xf32>) -> tensor<50x60xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x60xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<50x60xf32>) outs(%e : tensor<50x60xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ult, %i, %j : index
    %t = arith.select %c, %z, %x0 : f32
    linalg.yield %t : f32
  } -> tensor<50x60xf32>
  return %r : tensor<50x60xf32>
}
