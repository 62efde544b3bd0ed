#include <gmock/gmock.h>

#include "base/file.h"
#include "cli/tune_options.h"

namespace hone::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(TuneOptions options) {
  const auto applied = apply_model_tuner_options(options);
  return applied ? "no error" : applied.error().message;
}

TuneOptions benchmark(const std::string& text) {
  static const TemporaryFolder folder = std::move(TemporaryFolder::create("hone-options-").value());
  TuneOptions options;
  options.model_tuner.benchmark_file = (folder.path() / "141.mlir").string();
  EXPECT_TRUE(write_file_atomically(options.model_tuner.benchmark_file, text));
  return options;
}

// As iree-compile --iree-hal-dump-executable-benchmarks-to writes it.
TEST(ModelTunerOptions, ABenchmarkFileNamesItsDispatch) {
  TuneOptions plain = benchmark("module {\n  hal.executable private @main$async_dispatch_141 {\n");
  ASSERT_TRUE(apply_model_tuner_options(plain));
  EXPECT_THAT(plain.tuning.dispatches, ElementsAre("main$async_dispatch_141_*"));
  TuneOptions quoted = benchmark("  hal.executable private @\"torch-jit-export_dispatch_3\" {");
  ASSERT_TRUE(apply_model_tuner_options(quoted));
  EXPECT_THAT(quoted.tuning.dispatches, ElementsAre("torch-jit-export_dispatch_3_*"));
  EXPECT_THAT(error_of(benchmark("module {}")), HasSubstr("141.mlir' holds no dispatch"));
}

TEST(ModelTunerOptions, PhasesAreHonesOwnOptions) {
  TuneOptions compiled, measured;
  compiled.model_tuner.stop_after = "compile-dispatches";
  measured.model_tuner.stop_after = "benchmark-dispatches";
  ASSERT_TRUE(apply_model_tuner_options(compiled));
  ASSERT_TRUE(apply_model_tuner_options(measured));
  EXPECT_TRUE(compiled.compile_only);
  EXPECT_TRUE(measured.no_program);
  measured.model_tuner.stop_after = "generate-candidates";
  EXPECT_THAT(error_of(measured), HasSubstr("hone space PROGRAM --samples 20"));
}

TEST(ModelTunerOptions, WhatHoneDoesNotDoIsRefusedWithTheReason) {
  TuneOptions options;
  options.model_tuner.tile_dims = "*mnk";
  EXPECT_THAT(error_of(options), StartsWith("--tile-dims *mnk: hone reads from the dispatch"));
  options = {};
  options.model_tuner.codegen_pipeline = "tile_and_fuse";
  EXPECT_THAT(error_of(options), StartsWith("--codegen-pipeline tile_and_fuse: hone searches"));
}

}  // namespace
}  // namespace hone::cli
