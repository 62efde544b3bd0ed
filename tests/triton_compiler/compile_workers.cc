#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

class Shared final : public testing::Environment {
 public:
  void TearDown() override { workers.reset(); }
  std::unique_ptr<CompileWorkers> workers;
};

Shared* const kShared =
    static_cast<Shared*>(testing::AddGlobalTestEnvironment(new Shared));  // which owns it

}  // namespace

CompileWorkers& shared_workers() {
  if (!kShared->workers) kShared->workers = std::make_unique<CompileWorkers>(2);
  return *kShared->workers;
}

}  // namespace hone::triton
