// hone's own kernels in HIP C++, compiled at run time by hiprtc (gpu/own_kernels.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpu/own_kernels.h"

namespace hone::device::hip {

// Names under which hiprtc is tried for a driver that is open as `driver_library`: beside it, then
// as library_names(); last the driver's own file, in which HIP 5 and 6 have it too.
std::vector<std::string> hiprtc_names(const std::string& driver_library);

// Returns the code object of `source` for `arch` ("gfx942"), by the first of `names` that opens.
// Environment error when none does; failure with the compiler's log when the source is wrong.
Result<std::string> compile_hip(const std::string& source, const std::string& arch,
                                const std::vector<std::string>& names);

// Source of the pause, the multiply-adds and the matrix instructions of `arch`. `timer_kilohertz`:
// rate of the GPU's wall clock.
std::string work_source(std::string_view arch, int timer_kilohertz);

// Floating-point operations that the matrix cores of one compute unit do per clock on dense f16
// operands with sums in f32: AMD's peak figures over units and boost clock (MI250X 383 TFLOP/s,
// MI300X 1307, MI355X 2517: their data sheets). 0 for others.
double matrix_flops_per_clock(std::string_view arch);

// All of them; each of the two sources is compiled when first asked for.
gpu::OwnKernels own_kernels(const gpu::GpuContext& gpu);

}  // namespace hone::device::hip
