// A store in a temporary folder, and rows to put into it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "store/store.h"

namespace hone::store {

class StoreTest : public testing::Test {
 protected:
  StoreTest()
      : folder_(*TemporaryFolder::create("hone-store-")), path_(folder_.path() / "hone.db") {}

  Store open(Mode mode = Mode::kReadWrite) {
    Result<Store> store = Store::open(path_, mode);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return *std::move(store);
  }
  std::string open_error(Mode mode = Mode::kReadWrite) {
    const Result<Store> store = Store::open(path_, mode);
    return store ? "opened" : store.error().message;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
};

inline BuildRow some_build() {
  return {.compiler = "iree-compile 3.13.0",
          .flags = R"(["--iree-hal-target-backends=llvm-cpu","--iree-opt-level=O2"])",
          .target = R"({"cpu":"znver5","features":["avx512f"]})"};
}
inline DeviceRow some_device() {
  return {
      .name = "AMD EPYC 9655", .driver = "6.1.0", .protocol = R"({"threads":1,"cache":"warm"})"};
}
inline OperationRow some_operation() {
  return {.fingerprint = "op1",
          .kind = "matmul",
          .description = "matmul 512x512x512 f32,f32->f32",
          .json = R"({"kind":"matmul"})",
          .flops = 268435456,
          .bytes = 3145728};
}
inline DispatchRow some_dispatch(std::optional<Id> operation, std::string fingerprint = "d1") {
  return {.fingerprint = fingerprint,
          .name = "main_dispatch_0_matmul_512x512x512_f32",
          .operation = operation,
          .source = "hal.executable.source @" + fingerprint,
          .json = R"({"bindings":[]})"};
}
inline Timing some_timing(double median) {
  return {.samples = {median, median * 1.01, median * 0.99},
          .launches_per_sample = 4,
          .dropped = 1,
          .min = median * 0.99,
          .median = median,
          .spread = 0.01,
          .low = median * 0.995,
          .high = median * 1.005};
}

// A dispatch with its identities, ready for candidates.
struct Place {
  explicit Place(Store& store)
      : build(*store.intern(some_build())),
        device(*store.intern(some_device())),
        dispatch(*store.intern(some_dispatch(*store.intern(some_operation())))) {}

  Id add(Store& store, std::string_view configuration) const {
    return *store.add_candidate({.dispatch = dispatch,
                                 .build = build,
                                 .provider = "iree",
                                 .configuration = std::string(configuration),
                                 .constraint_set = "llvm-cpu contraction"});
  }
  Id compile(Store& store, std::string_view configuration, std::string_view identity) const {
    const Id candidate = add(store, configuration);
    EXPECT_TRUE(store.record(ArtifactRow{.candidate = candidate,
                                         .identity = std::string(identity),
                                         .format = "embedded-elf-x86_64",
                                         .launch = R"({"entry":"f"})",
                                         .code = "code of " + std::string(identity),
                                         .configured = "#iree_cpu.lowering_config<x>",
                                         .compile_seconds = 0.25}));
    return candidate;
  }
  void verify(Store& store, std::string_view identity, bool right) const {
    EXPECT_TRUE(store.record(VerificationRow{.dispatch = dispatch,
                                             .identity = std::string(identity),
                                             .device = device,
                                             .right = right,
                                             .share_bad = right ? 0.0 : 0.5,
                                             .tolerance = "exact",
                                             .basis = "sums of small integers"}));
  }
  void measure(Store& store, std::string_view identity, double median, Phase phase,
               std::optional<double> ratio = {}) const {
    EXPECT_TRUE(store.record(Measurement{.dispatch = dispatch,
                                         .identity = std::string(identity),
                                         .device = device,
                                         .phase = phase,
                                         .timing = some_timing(median),
                                         .sentinel_ratio = ratio}));
  }

  Id build;
  Id device;
  Id dispatch;
};

}  // namespace hone::store
