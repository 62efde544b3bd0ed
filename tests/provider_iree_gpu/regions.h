// What tests of regions share: a program is loaded for a GPU, and run on this CPU under the spec
// that replaces its regions.
#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "provider/iree/compiler/transform_specs.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

inline const std::vector<std::string>& sm_80_flags() {
  static const std::vector<std::string> flags = gpu_flags(*problem::gpu_target("sm_80"));
  return flags;
}

class RegionTest : public testing::Test {
 protected:
  std::vector<std::string> with_spec(std::vector<std::string> flags,
                                     const std::string& spec) const {
    const std::filesystem::path file = folder_.path() / "regions.mlir";
    EXPECT_TRUE(write_file_atomically(file, spec));
    flags.push_back(std::string(kTransformSpecFlag) + file.string());
    return flags;
  }

  // Whether the program gives what it is expected to, under the spec if there is one.
  bool gives(const std::string& text, const std::string& spec, const std::string& call) const {
    const auto module =
        compile_program(compiler(), "main.mlir", text,
                        spec.empty() ? host_cpu_flags() : with_spec(host_cpu_flags(), spec));
    EXPECT_TRUE(module) << module.error().message;
    const std::string path = (folder_.path() / "main.vmfb").string();
    EXPECT_TRUE(write_file_atomically(path, *module));
    const std::string command =
        fmt::format("{} --device=local-sync --module={} --function=main {} > /dev/null",
                    compiler().installation().run_module.string(), path, call);
    return std::system(command.c_str()) == 0;
  }

  TemporaryFolder folder_ = TemporaryFolder::create("hone-test-").value();
};

}  // namespace hone::iree
