// Grouped 1x1 convolutions as products. IREE 3.13 begins the sums of a grouped convolution
// at its bias, and then makes no code for CUDA of the product that is left of it ("failed to
// bufferize op"). As a product whose sums begin at zero, with the bias added, it is compiled, and
// other kernels can replace it.
#pragma once

#include <optional>

#include "provider/iree/program/region.h"

namespace hone::iree {

// Reads a grouped convolution of floating-point elements with a filter of one element and no
// stride, and the conversion of its sums to a narrower type if nothing else reads them. Sizes must
// be known. It becomes a product for each group, or one of rows where all groups read one
// transposed matrix.
std::optional<Region> grouped_product(const Ir& ir, MlirOperation operation,
                                      const Readers& readers);

}  // namespace hone::iree
