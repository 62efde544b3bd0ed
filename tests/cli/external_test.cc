// --external: kernels of the user's own for a GPU that is not here.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"
#include "tests/provider/code_object_file.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class External : public HoneCommand {
 protected:
  static std::string product() { return HONE_SOURCE_DIR "/tests/provider/external/product.yaml"; }

  // The same from a source, by a command: here one that copies.
  std::string built_by(const std::string& command, const std::string& ptx) const {
    write("mine.src", ptx);
    std::string manifest = read_file(product()).value();
    const std::string object = "object: product.ptx";
    manifest.replace(manifest.find(object), object.size(), "source: mine.src\nbuild: " + command);
    return write("mine.yaml", manifest);
  }

  static std::string ptx() {
    return read_file(HONE_SOURCE_DIR "/tests/provider/external/product.ptx").value();
  }

  nlohmann::json compiled(const std::string& manifest,
                          const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"tune",
                                       example("matmul_f16.mlir"),
                                       "--compile-only",
                                       "--target",
                                       "sm_80",
                                       "--external",
                                       manifest,
                                       "--candidates",
                                       "3",
                                       "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  }
};

std::vector<std::string> makers(const nlohmann::json& document) {
  std::vector<std::string> names;
  for (const auto& row : document.at("dispatches").at(0).at("candidates"))
    names.push_back(row.at("provider").get<std::string>().substr(0, 13));
  return names;
}

TEST_F(External, SaysForWhichDispatchesAKernelIs) {
  const auto document = json({"dispatches", example("feed_forward_f16.mlir"), "--target", "sm_80",
                              "--external", product(), "--json"});
  EXPECT_EQ(document.at("dispatches")[0].at("external:product"),
            "no: C is f16, and the kernel's is f32");
  const auto matmul = json({"dispatches", example("matmul_f16.mlir"), "--target", "sm_80",
                            "--external", product(), "--json"});
  EXPECT_EQ(matmul.at("dispatches")[0].at("external:product"), "yes");
}

TEST_F(External, ItsConfigurationsAreCompiledBesideTheCompilersOwn) {
  const auto document = compiled(built_by("cp {source} {object}", ptx()));
  EXPECT_EQ(std::ranges::count(makers(document), "external:mine"), 3);
  EXPECT_GE(std::ranges::count(makers(document), "iree"), 2);
  // What is done is not done again: the store has it.
  const std::string manifest = (folder() / "mine.yaml").string();
  EXPECT_EQ(compiled(manifest), document);
  write("mine.src", ptx() + "// edited\n");
  EXPECT_NE(compiled(manifest), document) << "results of another kernel";
}

TEST_F(External, VariablesReachWhatBuildsThemAndAreKept) {
  write("build.sh", "test \"$WANTED_VERSION\" = 9.4.0 && cp \"$1\" \"$2\"\n");
  const std::string manifest = built_by("sh build.sh {source} {object}", ptx());
  EXPECT_EQ(std::ranges::count(makers(compiled(manifest)), "external:mine"), 0);
  // What failed without it is of another build.
  const auto document = compiled(manifest, {"--env", "WANTED_VERSION=9.4.0"});
  EXPECT_EQ(std::ranges::count(makers(document), "external:mine"), 3);
}

TEST_F(External, WhatDoesNotBuildOrIsForAnotherGpuCostsItsCandidatesOnly) {
  const auto refused = [&](const std::string& manifest) {
    const Ran ran = hone({"tune", example("matmul_f16.mlir"), "--compile-only", "--target", "sm_80",
                          "--external", manifest, "--candidates", "3"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("no candidate of external:mine@"));
    return ran.err;
  };
  EXPECT_THAT(refused(built_by("sh fails.sh {THREADS}", ptx())), HasSubstr("fails.sh"));
  std::string newer = ptx();
  newer.replace(newer.find("sm_80"), 5, "sm_90");
  EXPECT_THAT(refused(built_by("cp {source} {object}", newer)),
              HasSubstr("the PTX is for sm_90, and this GPU is sm_80"));
}

// It is launched as it was made: under the dispatch's name, with the bindings' addresses.
TEST_F(External, ACodeObjectTakesTheDispatchsNameAndBindings) {
  constexpr const char* kDispatch = "matmul_f16_dispatch_0_matmul_2048x1280x1280_f16xf16xf32";
  const auto refused = [&](const std::string& function, const std::string& arguments,
                           int addresses) {
    std::string manifest =
        read_file(
            built_by("cp {source} {object}",
                     test::code_object_file(0x4c, {{{".name", kDispatch},
                                                    {".args", test::arguments_of(addresses, 0)}}})))
            .value();
    manifest.replace(manifest.find("product"), 7, function);
    const std::string passed = "[A, B, C, N, K, M]";
    manifest.replace(manifest.find(passed), passed.size(), arguments);
    const Ran ran =
        hone({"tune", example("matmul_f16.mlir"), "--compile-only", "--target", "gfx942",
              "--external", write("mine.yaml", manifest), "--candidates", "1"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused("product", "[A, B, C]", 3),
              HasSubstr("mine.yaml:1: kernel: the function of a code object needs the dispatch's "
                        "name: write '{entry}'"));
  EXPECT_THAT(refused("'{entry}'", "[A, B, C, N]", 3),
              HasSubstr("mine.yaml:9: arguments: 'N' is not binding 3 of the dispatch"));
  EXPECT_THAT(refused("'{entry}'", "[A, B, C]", 2),
              HasSubstr("they are 3 addresses, and the object's kernel lists 2 of 2 arguments"));
  EXPECT_THAT(refused("'{entry}'", "[A, B, C]", 3),
              testing::Not(HasSubstr("no candidate of external:mine")));
}

TEST_F(External, OneThatIsForNoDispatchIsNamed) {
  const Ran ran = hone({"tune", example("feed_forward_f16.mlir"), "--compile-only", "--target",
                        "sm_80", "--external", product(), "--candidates", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(" is for no dispatch of the program: "
                                 "feed_forward_dispatch_0_matmul_2048x5120x1280_f16xf16xf32: C is "
                                 "f16, and the kernel's is f32"));
}

TEST_F(External, MistakesAreNamedBeforeAnythingIsWritten) {
  const auto error = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"tune", example("matmul_f16.mlir")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = hone(all);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
    return ran.err;
  };
  EXPECT_THAT(error({"--external", product()}), HasSubstr("on GPUs only"));
  EXPECT_THAT(error({"--external", "nothing.yaml", "--compile-only", "--target", "sm_80"}),
              HasSubstr("nothing.yaml"));
  EXPECT_THAT(error({"--external", product(), "--external", product(), "--compile-only", "--target",
                     "sm_80"}),
              HasSubstr("two manifests are called 'product'"));
}

}  // namespace
}  // namespace hone::cli
