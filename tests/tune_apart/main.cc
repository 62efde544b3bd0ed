// The test program serves as its own runner.
#include <gtest/gtest.h>

#include "device/cpu/kind.h"
#include "tests/device/made_up_library.h"
#include "tests/measure/serve_runner.h"
#include "tests/tune_apart/faulty_device.h"

namespace {

using namespace hone;

int serve() {
  const auto to_host = [](void* address) -> void* { return test::ApartDevice::here(address); };
  measure::Libraries libraries;
  if (std::getenv(test::kLibrary) != nullptr)
    libraries.push_back(std::make_unique<test::MadeUpLibrary>("apart", to_host));
  measure::Runner runner(
      {device::cpu::kind(),
       {.name = "apart",
        .open = [](const device::Address& address) -> Result<std::unique_ptr<device::Device>> {
          const int core = 0;
          HONE_ASSIGN(auto cpu, device::cpu::open_device({&core, 1}));
          return std::make_unique<test::FaultyDevice>(std::move(cpu), *address.index);
        }}},
      std::move(libraries));
  return test::serve_runner(runner);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == test::kServeRunner) return serve();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
