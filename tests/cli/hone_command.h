// Runs the built `hone` in a folder of its own, as a user would.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"

namespace hone::cli {

struct Ran {
  int exit_code;
  std::string out;
  std::string err;
};

class HoneCommand : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create("hone-cli-test-");
    ASSERT_TRUE(folder);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*folder));
  }

  const std::filesystem::path& folder() const { return folder_->path(); }

  Command command(const std::vector<std::string>& arguments) const {
    Command command;
    command.arguments = {HONE_BINARY};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.folder = folder();
    return command;
  }

  Ran hone(const std::vector<std::string>& arguments,
           const std::vector<EnvironmentChange>& environment = {}) const {
    Command with = command(arguments);
    with.environment = environment;
    ProcessLimits limits;
    limits.seconds = 240;
    limits.output_bytes = std::size_t{16} << 20;
    const auto result = run_process(with, limits);
    EXPECT_TRUE(result) << result.error().message;
    return {result->exit_code, result->standard_output.text(), result->standard_error.text()};
  }

  // The one JSON document that --json prints.
  nlohmann::json json(const std::vector<std::string>& arguments) const {
    const Ran ran = hone(arguments);
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ran.out << ran.err;
    return document;
  }

  static std::string example(const std::string& name) {
    return std::string(HONE_SOURCE_DIR) + "/examples/" + name;
  }

  // A file of the test's own; its path.
  std::string write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(folder() / name, text));
    return (folder() / name).string();
  }

 private:
  std::unique_ptr<TemporaryFolder> folder_;
};

// Tiles of one row each: more than twice as slow as the compiler's choice, for products of f32.
inline constexpr const char* kSlow =
    "dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=1,vec_n=16,red_k=1,peel=0";

// A square matrix product, small enough to tune in a moment; extents are MLIR text ("64" or "?").
inline std::string matmul_program(const std::string& m) {
  const std::string lhs = "tensor<" + m + "x64xf32>", result = "tensor<" + m + "x64xf32>";
  return "func.func @product(%a: " + lhs + ", %b: tensor<64x64xf32>, %c: " + result + ") -> " +
         result + " {\n  %r = linalg.matmul ins(%a, %b : " + lhs +
         ", tensor<64x64xf32>) outs(%c : " + result + ") -> " + result +
         "\n  return %r : " + result + "\n}\n";
}

}  // namespace hone::cli
