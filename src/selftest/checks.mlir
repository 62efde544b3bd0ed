func.func @flip_1(%a: tensor<1xi32>) -> tensor<1xi32> {
  %c = arith.constant 1515870810 : i32
  %e = tensor.empty() : tensor<1xi32>
  %r = linalg.map ins(%a : tensor<1xi32>) outs(%e : tensor<1xi32>) (%x: i32, %o: i32) {
    %t = arith.xori %x, %c : i32
    linalg.yield %t : i32
  }
  return %r : tensor<1xi32>
}
func.func @flip_4097(%a: tensor<4097xi32>) -> tensor<4097xi32> {
  %c = arith.constant 1515870810 : i32
  %e = tensor.empty() : tensor<4097xi32>
  %r = linalg.map ins(%a : tensor<4097xi32>) outs(%e : tensor<4097xi32>) (%x: i32, %o: i32) {
    %t = arith.xori %x, %c : i32
    linalg.yield %t : i32
  }
  return %r : tensor<4097xi32>
}
func.func @flip_4194304(%a: tensor<4194304xi32>) -> tensor<4194304xi32> {
  %c = arith.constant 1515870810 : i32
  %e = tensor.empty() : tensor<4194304xi32>
  %r = linalg.map ins(%a : tensor<4194304xi32>) outs(%e : tensor<4194304xi32>) (%x: i32, %o: i32) {
    %t = arith.xori %x, %c : i32
    linalg.yield %t : i32
  }
  return %r : tensor<4194304xi32>
}
func.func @until_zero(%a: tensor<4xi32>) -> tensor<4xi32> {
  %five = arith.constant 5 : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %o: i32):
    %t = scf.while (%v = %x) : (i32) -> i32 {
      %c = arith.cmpi ne, %v, %zero : i32
      scf.condition(%c) %v : i32
    } do {
    ^bb0(%v: i32):
      %w = arith.muli %v, %five : i32
      scf.yield %w : i32
    }
    linalg.yield %t : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func @chain(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1xf32> {
  %from = arith.constant 0 : index
  %to = arith.constant 2048 : index
  %step = arith.constant 1 : index
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a, %b : tensor<1xf32>, tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = scf.for %i = %from to %to step %step iter_args(%v = %x) -> (f32) {
      %1 = math.fma %v, %y, %x : f32
      %2 = math.fma %1, %y, %x : f32
      %3 = math.fma %2, %y, %x : f32
      %4 = math.fma %3, %y, %x : f32
      %5 = math.fma %4, %y, %x : f32
      %6 = math.fma %5, %y, %x : f32
      %7 = math.fma %6, %y, %x : f32
      %8 = math.fma %7, %y, %x : f32
      scf.yield %8 : f32
    }
    linalg.yield %t : f32
  } -> tensor<1xf32>
  return %r : tensor<1xf32>
}
