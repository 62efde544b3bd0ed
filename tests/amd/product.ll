target triple = "amdgcn-amd-amdhsa"
; C = A B in f32, a thread for each element. ENTRY, ALL, COLUMNS and DEPTH are filled in.
define amdgpu_kernel void @ENTRY(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) "amdgpu-flat-work-group-size"="64,64" "uniform-work-group-size"="true" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-id" {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %begin = mul i32 %group, 64
  %i = add i32 %begin, %lane
  %row = udiv i32 %i, COLUMNS
  %column = urem i32 %i, COLUMNS
  %inside = icmp ult i32 %i, ALL
  br i1 %inside, label %body, label %done
body:
  %first = mul i32 %row, DEPTH
  br label %loop
loop:
  %t = phi i32 [ 0, %body ], [ %t1, %loop ]
  %sum = phi float [ 0.0, %body ], [ %sum1, %loop ]
  %ai = add i32 %first, %t
  %bi0 = mul i32 %t, COLUMNS
  %bi = add i32 %bi0, %column
  %ap = getelementptr float, ptr addrspace(1) %a, i32 %ai
  %bp = getelementptr float, ptr addrspace(1) %b, i32 %bi
  %av = load float, ptr addrspace(1) %ap
  %bv = load float, ptr addrspace(1) %bp
  %p = fmul float %av, %bv
  %sum1 = fadd float %sum, %p
  %t1 = add i32 %t, 1
  %more = icmp ult i32 %t1, DEPTH
  br i1 %more, label %loop, label %store
store:
  %cp = getelementptr float, ptr addrspace(1) %c, i32 %i
  store float %sum1, ptr addrspace(1) %cp
  br label %done
done:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
