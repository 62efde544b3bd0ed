#include <gmock/gmock.h>

#include <filesystem>

#include "base/fd.h"
#include "problem/npy.h"
#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::HasSubstr;

constexpr double kSeconds = 0.01;

// y = x + w, w from a file of weights or a constant.
std::string program(const std::string& weight) {
  return "util.global private @w = " + weight + R"( : tensor<4xf32>
func.func @add(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = util.global.load @w : tensor<4xf32>
  %y = arith.addf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
})";
}

class Resident : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomically(folder_.path() / name, bytes));
    return folder_.path() / name;
  }

  provider::ProgramCall call(const std::string& weight, std::vector<int> cores = {0}) const {
    const auto module = compile_program(compiler(), "add.mlir", program(weight), host_cpu_flags());
    EXPECT_TRUE(module) << module.error().message;
    const problem::Array x{{problem::ElementType::kF32, {4}}, std::string(16, '\0')};
    provider::ProgramCall call;
    call.module = write("add.vmfb", *module);
    call.function.name = "add";
    call.inputs = {write("x.npy", problem::to_npy(x))};
    call.device = {"cpu", std::nullopt, std::move(cores)};
    return call;
  }

  TemporaryFolder folder_ = TemporaryFolder::create("hone-test-").value();
  ResidentPrograms programs_{compiler().installation()};
};

TEST_F(Resident, ProgramsAreTimedOneAfterTheOther) {
  for (const std::vector<int>& cores : {std::vector{0}, std::vector{0, 1}}) {
    const provider::ProgramCall add = call("dense<1.0>", cores);
    for (int sample = 0; sample < 2; ++sample) {
      const Result<double> seconds = programs_.time(add, kSeconds);
      ASSERT_TRUE(seconds) << seconds.error().message;
      EXPECT_GT(*seconds, 0);
      EXPECT_TRUE(programs_.is_resident());
    }
  }
}

TEST_F(Resident, ProgramsReturnTheirResults) {
  provider::ProgramCall add = call("dense<[1.0, 2.0, -3.0, 0.5]>");
  add.function.outputs = {{problem::ElementType::kF32, {4}}};
  for (int i = 0; i < 2; ++i) {
    const auto results = programs_.run(add, 1);
    ASSERT_TRUE(results) << results.error().message;
    EXPECT_TRUE(programs_.is_resident());
    const std::vector<float> sums{1, 2, -3, 0.5};
    EXPECT_EQ(results->front().bytes, std::string(reinterpret_cast<const char*>(sums.data()), 16));
  }
  add.function.name = "subtract";
  EXPECT_THAT(programs_.run(add, 1).error().message, HasSubstr("subtract"));
}

TEST_F(Resident, ProgramsAreLoadedAnewForEachSample) {
  const provider::ProgramCall add = call("dense<1.0>");
  ASSERT_TRUE(programs_.time(add, kSeconds));
  write("add.vmfb", "no module");
  const Result<double> seconds = programs_.time(add, kSeconds);
  ASSERT_FALSE(seconds);
  EXPECT_THAT(seconds.error().message, HasSubstr("IREE's runtime: "));
}

TEST_F(Resident, ProgramsGetWeightsFromAFile) {
  provider::ProgramCall add = call("#flow.parameter.named<\"model\"::\"w\">");
  // What safetensors files are: the length of a header of JSON, the header, the elements.
  const std::string header = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  const auto weights = write("w.safetensors", file + header + std::string(16, '\0'));
  EXPECT_THAT(programs_.time(add, kSeconds).error().message, HasSubstr("io_parameters"));
  add.runtime_flags = {"--parameters=model=" + weights.string()};
  EXPECT_TRUE(programs_.time(add, kSeconds));
  EXPECT_TRUE(programs_.is_resident());
}

TEST_F(Resident, ProgramsGoOnAfterOneThatDoesNotRun) {
  provider::ProgramCall add = call("dense<1.0>");
  add.function.name = "subtract";
  EXPECT_THAT(programs_.time(add, kSeconds).error().message,
              HasSubstr("the module has no function 'subtract'"));
  add.function.name = "add";
  EXPECT_TRUE(programs_.time(add, kSeconds));
}

// The bindings would take the first without a word and allocate as they always do.
TEST_F(Resident, ProgramsLeaveToTheToolsWhatTheyAloneUnderstand) {
  provider::ProgramCall add = call("dense<1.0>");
  for (const std::string flag : {"--device_allocator=caching", "--benchmark_repetitions=1"}) {
    add.runtime_flags = {flag};
    EXPECT_TRUE(programs_.time(add, kSeconds)) << flag;
    EXPECT_FALSE(programs_.is_resident()) << flag;
  }
}

TEST_F(Resident, ProgramsWithoutPythonAreProcessesOfTheirOwn) {
  Installation installation = compiler().installation();
  const auto tools = folder_.path() / "iree" / "_runtime_libs";
  const auto bindings = folder_.path() / "iree" / "runtime";
  std::filesystem::create_directories(tools);
  std::filesystem::create_symlink(installation.benchmark_module, tools / "iree-benchmark-module");
  installation.benchmark_module = tools / "iree-benchmark-module";
  const provider::ProgramCall add = call("dense<1.0>");
  for (const bool has_bindings : {false, true}) {
    // Bindings that do not load, as without NumPy.
    if (has_bindings) {
      std::filesystem::create_directories(bindings);
      ASSERT_TRUE(write_file_atomically(bindings / "__init__.py", "import no_such_package\n"));
    }
    ResidentPrograms programs(installation);
    EXPECT_TRUE(programs.time(add, kSeconds)) << has_bindings;
    EXPECT_FALSE(programs.is_resident()) << has_bindings;
  }
}

TEST_F(Resident, ProgramsStopWhenTold) {
  FdPair stop = make_pipe().value();
  stop.second.reset();
  provider::ProgramCall add = call("dense<1.0>");
  add.stop_fd = stop.first.get();
  const Result<double> seconds = programs_.time(add, /*seconds=*/60);
  ASSERT_FALSE(seconds);
  EXPECT_EQ(seconds.error().kind, ErrorKind::kInterrupted);
}

}  // namespace
}  // namespace hone::iree
