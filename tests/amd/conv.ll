target triple = "amdgcn-amd-amdhsa"
; A 3x3 convolution of f16, channels last, that adds up in f16 and adds to its output, as MISA's
; kernels do: a thread for each element. Arguments: image N H W C, filter O 3 3 C, output N HO WO O.
define amdgpu_kernel void @conv(ptr addrspace(1) %image, ptr addrspace(1) %filter, ptr addrspace(1) %output, i32 %h, i32 %w, i32 %c, i32 %o, i32 %all) "amdgpu-flat-work-group-size"="64,64" "uniform-work-group-size"="true" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-id" {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %begin = mul i32 %group, 64
  %i = add i32 %begin, %lane
  %inside = icmp ult i32 %i, %all
  br i1 %inside, label %body, label %done
body:
  %wo = sub i32 %w, 2
  %ho = sub i32 %h, 2
  %channel = urem i32 %i, %o
  %pixel = udiv i32 %i, %o
  %x = urem i32 %pixel, %wo
  %rows = udiv i32 %pixel, %wo
  %y = urem i32 %rows, %ho
  %n = udiv i32 %rows, %ho
  %taps = mul i32 %c, 9
  %first = mul i32 %channel, %taps
  %wide = mul i32 %c, 3
  br label %loop
loop:
  %t = phi i32 [ 0, %body ], [ %t1, %loop ]
  %sum = phi half [ 0.0, %body ], [ %sum1, %loop ]
  %ky = udiv i32 %t, %wide
  %in_row = urem i32 %t, %wide
  %ny = mul i32 %n, %h
  %iy0 = add i32 %ny, %y
  %iy = add i32 %iy0, %ky
  %ix0 = mul i32 %iy, %w
  %ix = add i32 %ix0, %x
  %ai0 = mul i32 %ix, %c
  %ai = add i32 %ai0, %in_row
  %bi = add i32 %first, %t
  %ap = getelementptr half, ptr addrspace(1) %image, i32 %ai
  %bp = getelementptr half, ptr addrspace(1) %filter, i32 %bi
  %av = load half, ptr addrspace(1) %ap
  %bv = load half, ptr addrspace(1) %bp
  %p = fmul half %av, %bv
  %sum1 = fadd half %sum, %p
  %t1 = add i32 %t, 1
  %more = icmp ult i32 %t1, %taps
  br i1 %more, label %loop, label %store
store:
  %cp = getelementptr half, ptr addrspace(1) %output, i32 %i
  %old = load half, ptr addrspace(1) %cp
  %new = fadd half %old, %sum1
  store half %new, ptr addrspace(1) %cp
  br label %done
done:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
