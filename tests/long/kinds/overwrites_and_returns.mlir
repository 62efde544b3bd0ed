// Beside a result, and with a number as PyTorch passes it.
module @decoder {
  func.func @step(%state: !torch.tensor<[64,32],f32>, %x: !torch.vtensor<[64,32],f32>, %n: !torch.int) -> !torch.vtensor<[64,32],f32> {
    %old = torch.copy.to_vtensor %state : !torch.vtensor<[64,32],f32>
    %new = torch.aten.add.Tensor %old, %x, %n : !torch.vtensor<[64,32],f32>, !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f32>
    torch.overwrite.tensor.contents %new overwrites %state : !torch.vtensor<[64,32],f32>, !torch.tensor<[64,32],f32>
    %twice = torch.aten.mul.Scalar %x, %n : !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f32>
    return %twice : !torch.vtensor<[64,32],f32>
  }
}
