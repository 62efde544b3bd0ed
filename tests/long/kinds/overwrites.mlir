// As PyTorch exports a step that updates its state: it returns nothing.
module @decoder {
  func.func @step(%state: !torch.tensor<[64,32],f32>, %x: !torch.vtensor<[64,32],f32>) {
    %one = torch.constant.int 1
    %old = torch.copy.to_vtensor %state : !torch.vtensor<[64,32],f32>
    %new = torch.aten.add.Tensor %old, %x, %one : !torch.vtensor<[64,32],f32>, !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f32>
    torch.overwrite.tensor.contents %new overwrites %state : !torch.vtensor<[64,32],f32>, !torch.tensor<[64,32],f32>
    return
  }
}
