target triple = "amdgcn-amd-amdhsa"
; Two workgroups for each 64 elements of C = A B^T, one for each half of k. The one that comes last adds both halves.
define amdgpu_kernel void @split(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %scratch, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k) "amdgpu-flat-work-group-size"="64,64" "uniform-work-group-size"="true" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-id" {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %half = call i32 @llvm.amdgcn.workgroup.id.y()
  %begin = mul i32 %group, 64
  %i = add i32 %begin, %lane
  %row = udiv i32 %i, %n
  %column = urem i32 %i, %n
  %all = mul i32 %m, %n
  %inside = icmp ult i32 %i, %all
  br i1 %inside, label %body, label %done
body:
  %halfk = lshr i32 %k, 1
  %from = mul i32 %half, %halfk
  %to = add i32 %from, %halfk
  %first = mul i32 %row, %k
  %firstb = mul i32 %column, %k
  br label %loop
loop:
  %t = phi i32 [ %from, %body ], [ %t1, %loop ]
  %sum = phi float [ 0.0, %body ], [ %sum1, %loop ]
  %ai = add i32 %first, %t
  %bi = add i32 %firstb, %t
  %ap = getelementptr float, ptr addrspace(1) %a, i32 %ai
  %bp = getelementptr float, ptr addrspace(1) %b, i32 %bi
  %av = load float, ptr addrspace(1) %ap
  %bv = load float, ptr addrspace(1) %bp
  %p = fmul float %av, %bv
  %sum1 = fadd float %sum, %p
  %t1 = add i32 %t, 1
  %more = icmp ult i32 %t1, %to
  br i1 %more, label %loop, label %store
store:
  %sp = getelementptr float, ptr addrspace(1) %scratch, i32 %i
  %old = atomicrmw fadd ptr addrspace(1) %sp, float %sum1 syncscope("agent") acq_rel
  %cbase = getelementptr float, ptr addrspace(1) %scratch, i32 %all
  %cp = getelementptr i32, ptr addrspace(1) %cbase, i32 %i
  %count = atomicrmw add ptr addrspace(1) %cp, i32 1 syncscope("agent") acq_rel
  %last = icmp eq i32 %count, 1
  br i1 %last, label %write, label %done
write:
  %whole = load float, ptr addrspace(1) %sp
  %out = getelementptr float, ptr addrspace(1) %c, i32 %i
  store float %whole, ptr addrspace(1) %out
  br label %done
done:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
