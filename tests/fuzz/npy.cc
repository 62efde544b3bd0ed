// NumPy's files.
#include "problem/npy.h"

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  const auto array = problem::from_npy(fuzz::text_of(bytes, size));
  if (!array) return 0;
  const auto elements = static_cast<std::size_t>(problem::element_count(array->type));
  fuzz::require(array->bytes.size() ==
                    elements * static_cast<std::size_t>(problem::byte_size(array->type.element)),
                "as many bytes as its type has");
  const auto same = problem::from_npy(problem::to_npy(*array));
  // Not the element type: NumPy has no name for some, which are written as integers of their size.
  fuzz::require(same && same->type.shape == array->type.shape && same->bytes == array->bytes,
                "it is written so that it is read as the same bytes");
  return 0;
}
