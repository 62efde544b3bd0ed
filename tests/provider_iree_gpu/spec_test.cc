// Specs for GPUs, proved in the IR that the whole program is compiled to.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/iree_provider.h"
#include "provider/iree/whole_program.h"
#include "provider/ptx_kernel.h"
#include "space/configuration.h"
#include "tests/provider_iree_gpu/child.h"
#include "tests/provider_iree_gpu/programs.h"

namespace hone::iree::gpu {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string name;
  std::string program;
  std::string arch;
};

// What the only dispatch is configured with, and nothing else where the compiler says no.
using Texts = std::vector<std::string>;

Texts configured(const std::string& program, const std::vector<std::string>& flags) {
  const std::string answer = in_child([&] {
    const auto dispatches = configured_dispatches(compiler(), "program.mlir", program, flags);
    if (!dispatches) return nlohmann::json(Texts{dispatches.error().message}).dump();
    const Attributes last = attributes_from(dispatches->back().payload).value();
    return nlohmann::json(
               Texts{last.lowering_config, last.translation_info, last.decomposition_config})
        .dump();
  });
  const auto texts = nlohmann::json::parse(answer, nullptr, false);
  return texts.is_array() ? texts.get<Texts>() : Texts{answer};
}

// The same of a candidate, and its code last.
Texts compiled(const problem::Dispatch& dispatch, const std::string& arch,
               const std::optional<Attributes>& attributes) {
  const std::string answer = in_child([&] {
    auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
    if (!prepared) return prepared.error().message;
    const auto artifact = prepared->compile(attributes);
    if (!artifact) return artifact.error().message;
    const MadeTexts made = made_texts_from(artifact->more).value();
    const Texts texts{artifact->configured, made.translation, made.decomposition,
                      artifact->format == "cuda-ptx" ? artifact->code : ""};
    return nlohmann::json(texts).dump();
  });
  const auto texts = nlohmann::json::parse(answer, nullptr, false);
  return texts.is_array() ? texts.get<Texts>() : Texts{answer};
}

problem::Dispatch with_statement(const std::string& program, const std::string& arch) {
  problem::Dispatch dispatch = dispatch_of(program, arch);
  const std::string answer = in_child([&] {
    const StatedSpace said = stated(dispatch, arch);
    return said.empty() ? std::string() : nlohmann::json(said).dump();
  });
  if (!answer.starts_with("died")) dispatch.stated_constraints = answer;
  return dispatch;
}

class GpuSpec : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create("hone-test-");
    ASSERT_TRUE(folder);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*folder));
  }

  std::string write(const std::string& text) const {
    const auto file = folder_->path() / "spec.mlir";
    EXPECT_TRUE(write_file_atomically(file, text));
    return file.string();
  }

 private:
  std::unique_ptr<TemporaryFolder> folder_;
};

// A configuration of the dispatch's space that compiles and is not the compiler's own choice.
std::pair<Attributes, Texts> some_candidate(const IreeProvider& provider,
                                            const problem::Dispatch& dispatch,
                                            const std::string& arch) {
  const auto space = provider.space_of(dispatch);
  if (!space) throw std::runtime_error(space.error().message);
  const auto samples = space->samples(8, 3);
  if (!samples) throw std::runtime_error(samples.error().message);
  for (const space::Configuration& configuration : *samples) {
    const Attributes attributes =
        attributes_from(provider.payload_of(dispatch, *space, configuration).value()).value();
    const Texts texts = compiled(dispatch, arch, attributes);
    if (texts.size() == 4 && texts[0] != dispatch.default_configuration) return {attributes, texts};
  }
  throw std::runtime_error("none of 8 candidates compiles");
}

TEST_P(GpuSpec, GivesTheProgramTheConfigurationOfACandidate) {
  const std::string &program = GetParam().program, &arch = GetParam().arch;
  const problem::Dispatch dispatch = with_statement(program, arch);
  const GpuIreeProvider provider(compiler().installation(), *problem::gpu_target(arch));
  const auto [attributes, texts] = some_candidate(provider, dispatch, arch);
  provider::Artifact artifact;
  artifact.configured = texts[0];
  artifact.more = MadeTexts{texts[1], texts[2]}.to_payload();
  const provider::Payload payload =
      provider.specs().as_compiled(payload_of(attributes), artifact).value();

  // What a session compares is the compiler's own print of what it asked for.
  for (std::size_t i = 0; i < 3; ++i) {
    if (texts[i].empty()) continue;
    const std::string printed = in_child([&text = texts[i]] {
      const auto canonical = canonical_attribute(compiler(), text);
      return canonical ? *canonical : canonical.error().message;
    });
    EXPECT_EQ(printed, texts[i]);
  }

  const auto spec = provider.specs().text_of({{dispatch.name, dispatch.root, payload}});
  ASSERT_TRUE(spec) << spec.error().message;
  std::vector<std::string> flags = flags_for(arch);
  EXPECT_NE(configured(program, flags)[0], texts[0]);
  flags.push_back(provider.specs().flag_of(write(*spec)));
  EXPECT_EQ(configured(program, flags), Texts(texts.begin(), texts.begin() + 3)) << *spec;
  if (texts[3].empty()) return;

  // What the runtime will load is the PTX that was measured.
  const std::string inside = in_child([&] {
    const auto module = compile_program(compiler(), "program.mlir", program, flags);
    if (!module) return module.error().message;
    const auto kernel = kernel_in_module(*module, dispatch.name);
    return kernel ? kernel->code : std::string("no such kernel");
  });
  EXPECT_EQ(provider::ptx_kernel(inside, dispatch.name),
            provider::ptx_kernel(texts[3], dispatch.name));
}

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, std::string>> programs = {
      {"matmul", matmul(512, 768, 256)},
      {"matmul_transpose_b", matmul(512, 768, 256, "f16", "f32", true)},
      {"matmul_f32", matmul(512, 768, 256, "f32", "f32")},
      {"batch_matmul", batch_matmul(4, 128, 128, 64)},
      {"conv_nhwc", convolution(false, 1, 16, 64, 128)},
      {"conv_nhwc_batch", convolution(false, 2, 16, 64, 128)},
      {"conv_nchw", convolution(true, 1, 16, 64, 128)},
      {"attention", attention(4, 512, 64)},
      {"matvec", matvec(1024, 4096)},
      {"row_sum", row_sum(1024, 4096)},
      {"column_sum", column_sum(1024, 4096)},
      {"channel_sum", channel_sum(2, 64, 32)},
      {"elementwise", elementwise(1024, 4096)},
      {"transpose", transpose(1024, 4096)},
  };
  std::vector<Case> all;
  for (const auto& [name, program] : programs)
    for (const char* arch : {"gfx942", "sm_80"}) all.push_back({name, program, arch});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Programs, GpuSpec, ::testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name + "_" + each.param.arch; });

// Rows of a size that is open: 8 blocks of 64 rows by 16 of 64 columns for 512, 1 by 16 for 16. The
// compiler states nothing here, and its own choice is that of a product with a vector.
class GpuSpecOfOpenSizes : public GpuSpec {};

TEST_P(GpuSpecOfOpenSizes, GivesTheProgramOneConfigurationForAllSizes) {
  const std::string &program = GetParam().program, &arch = GetParam().arch;
  const GpuIreeProvider provider(compiler().installation(), *problem::gpu_target(arch));
  for (const auto& [size, workgroups] : {std::pair(512, 128u), std::pair(16, 16u)}) {
    const auto loaded =
        load_program(compiler(), "open.mlir", program, flags_for(arch), {.sizes = {{"M", size}}});
    ASSERT_TRUE(loaded) << loaded.error().message;
    const problem::Dispatch& dispatch = loaded->dispatches.at(0);
    const auto space = provider.space_of(dispatch);
    ASSERT_TRUE(space) << space.error().message;
    const auto configuration =
        space::parse_configuration(*space, "mma=0,wg_m=64,wg_n=64,sg_m=2,sg_n=2,red_k=2");
    ASSERT_TRUE(configuration) << configuration.error().message;
    EXPECT_THAT(space->check(*configuration), ::testing::IsEmpty());
    const auto payload = provider.payload_of(dispatch, *space, *configuration);
    ASSERT_TRUE(payload);
    const auto attributes = attributes_from(*payload);
    ASSERT_TRUE(attributes);
    EXPECT_THAT(attributes->lowering_config, HasSubstr("promote_operands = [0, 1, 2]"));
    const std::string launch = in_child([&] {
      auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
      if (!prepared) return prepared.error().message;
      const auto artifact = prepared->compile(*attributes);
      return artifact ? nlohmann::json(artifact->launch).dump() : artifact.error().message;
    });
    const auto read = nlohmann::json::parse(launch, nullptr, false);
    ASSERT_TRUE(read.is_object()) << launch;
    EXPECT_EQ(read["constants"], nlohmann::json({size, 0}));
    EXPECT_EQ(read["grid"], nlohmann::json({workgroups, 1, 1}));
    const auto spec = provider.specs().text_of({{"product", dispatch.root, *payload}});
    ASSERT_TRUE(spec) << spec.error().message;
    std::vector<std::string> flags = flags_for(arch);
    flags.push_back(provider.specs().flag_of(write(*spec)));
    EXPECT_THAT(configured(program, flags).at(0), HasSubstr("promote_operands = [0, 1, 2]"));
    // A program of that size written out is another one.
    EXPECT_THAT(configured(matmul(size, 1024, 1280), flags).at(0),
                ::testing::Not(HasSubstr("promote_operands = [0, 1, 2]")));
  }
}
INSTANTIATE_TEST_SUITE_P(
    Targets, GpuSpecOfOpenSizes,
    ::testing::Values(Case{"sm_80", example("matmul_dynamic_f16.mlir"), "sm_80"},
                      Case{"gfx942", example("matmul_dynamic_f16.mlir"), "gfx942"}),
    [](const auto& each) { return each.param.name; });

TEST(GpuSummation, IsReadFromTheDefaultsConfiguration) {
  const GpuIreeProvider provider(compiler().installation(), *problem::gpu_target("sm_80"));
  EXPECT_THAT(
      provider.summation(dispatch_of(matmul(2048, 1024, 1280), "sm_80"), std::nullopt),
      ::testing::MatchesRegex("f32, NV_MMA_SYNC_F32_16x8x16_F16, reduction = \\[0, 0, [0-9]+\\]"));
  EXPECT_EQ(provider.summation(dispatch_of(attention(4, 512, 64), "sm_80"), std::nullopt), "")
      << "its result's type is not that of its sums";
}

// When specs are applied the program holds two sums and an elementwise operation instead.
TEST(Softmax, CannotBeInASpec) {
  const problem::Dispatch dispatch = dispatch_of(softmax(256, 512), "sm_80");
  const GpuIreeProvider provider(compiler().installation(), *problem::gpu_target("sm_80"));
  const auto spec =
      provider.specs().text_of({{dispatch.name, dispatch.root,
                                 payload_of({dispatch.default_configuration, "#translation"})}});
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("IREE takes linalg.softmax apart"));
  EXPECT_THAT(provider.specs().why_no_entry(dispatch),
              HasSubstr("IREE takes linalg.softmax apart"));
  EXPECT_EQ(provider.specs().why_no_entry(dispatch_of(matmul(256, 512, 512), "sm_80")), "");
}

// The division by the sums is given the sums' layout; without it the program "failed to
// distribute".
TEST(GpuSpecOfANormalisation, LeavesAProgramThatCompiles) {
  const std::string program = normalised_rows(512, 1024);
  const problem::GpuTarget target = *problem::gpu_target("gfx942");
  const problem::Dispatch dispatch = dispatch_of(program, "gfx942");
  const GpuIreeProvider provider(compiler().installation(), target);
  const auto space = provider.space_of(dispatch);
  ASSERT_TRUE(space) << space.error().message;
  const auto configuration = space::parse_configuration(
      *space,
      "pipeline=0,rows=2,row_subgroups=1,subgroups=2,lanes=32,vector=4,steps=1,wg_0=0,threads=0,"
      "red_1=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  auto attributes = *attributes_from(*provider.payload_of(dispatch, *space, *configuration));
  ASSERT_EQ(compiled(dispatch, "gfx942", attributes).size(), 4u);

  const auto folder = TemporaryFolder::create("hone-test-");
  const auto compiles_with = [&](const Attributes& given) {
    const auto spec = provider.specs().text_of({{dispatch.name, dispatch.root, payload_of(given)}});
    const std::string file = (folder->path() / "spec.mlir").string();
    if (!spec || !write_file_atomically(file, *spec)) return std::string("no spec");
    std::vector<std::string> flags = flags_for("gfx942");
    flags.push_back("--iree-codegen-tuning-spec-path=" + file);
    return in_child([&] {
      const auto module = compile_program(compiler(), "program.mlir", program, flags);
      return module ? std::string("compiles") : module.error().message;
    });
  };
  EXPECT_EQ(compiles_with(attributes), "compiles");
  attributes.sibling_config.clear();
  EXPECT_THAT(compiles_with(attributes), HasSubstr("failed to distribute"));
}

// IREE links the kernels of a program into one PTX module.
TEST(LinkedProgram, HoldsTheKernelsThatAreCompiledAlone) {
  std::string program = example("feed_forward_f16.mlir");
  const auto shrink = [&program](const std::string& from, const std::string& to) {
    for (auto at = program.find(from); at != std::string::npos; at = program.find(from, at))
      program.replace(at, from.size(), to);
  };
  shrink("2048", "128");
  shrink("1280", "256");
  shrink("5120", "512");
  // As functions of what comes from PyTorch and ONNX are called.
  shrink("@feed_forward", "@\"feed_forward$async\"");
  const std::vector<std::string> flags = flags_for("sm_80");
  const auto module = compile_program(compiler(), "program.mlir", program, flags);
  ASSERT_TRUE(module) << module.error().message;
  const problem::Program loaded = load("program.mlir", program, flags);
  ASSERT_EQ(loaded.dispatches.size(), 2u);
  for (const problem::Dispatch& dispatch : loaded.dispatches) {
    const auto linked = kernel_in_module(*module, dispatch.name);
    ASSERT_TRUE(linked) << dispatch.name;
    const Texts alone = compiled(dispatch, "sm_80", std::nullopt);
    ASSERT_EQ(alone.size(), 4u) << alone.front();
    EXPECT_NE(linked->code, alone[3]);
    ASSERT_TRUE(provider::ptx_kernel(alone[3], dispatch.name));
    EXPECT_EQ(provider::ptx_kernel(linked->code, dispatch.name),
              provider::ptx_kernel(alone[3], dispatch.name));
  }
}

// IREE goes on with its own choice, and says it succeeded.
TEST(TransformLibrary, ThatCannotBeReadIsAnError) {
  std::vector<std::string> flags = flags_for("sm_80");
  flags.emplace_back("--iree-codegen-transform-dialect-library=/nowhere/spec.mlir");
  EXPECT_THAT(configured(matmul(512, 768, 256), flags)[0],
              HasSubstr("cannot open input file '/nowhere/spec.mlir'"));
}

TEST(TransformLibrary, IsOneForAProcess) {
  const std::string answer = in_child([] {
    const CompilerLibrary library = compiler();
    const Status first = library.set_process_flags({"--iree-codegen-transform-dialect-library=a"});
    const Status again = library.set_process_flags({"--iree-codegen-transform-dialect-library=a"});
    const Status other = library.set_process_flags({"--iree-codegen-transform-dialect-library=b"});
    return first && again && !other ? other.error().message : "accepted";
  });
  EXPECT_EQ(answer,
            "this process compiles with '--iree-codegen-transform-dialect-library=a' and cannot "
            "change to '--iree-codegen-transform-dialect-library=b'");
}

// A session refuses some flags, which LLVM keeps once for a process; those must be known before the
// process takes the first.
TEST(TransformLibrary, IsTakenWithAllOtherFlagsOfTheProcess) {
  std::vector<std::string> flags = flags_for("sm_80");
  for (const char* const flag :
       {"--iree-hal-substitute-executable-sources-from=/nowhere", "--iree-opt-level=O3",
        "--iree-dispatch-creation-enable-fuse-horizontal-contractions"})
    flags.emplace_back(flag);
  const std::string answer = in_child([&] {
    const CompilerLibrary library = compiler();
    const auto session = CompilerSession::create(library, flags);
    return session ? fmt::format("{}", fmt::join(library.process_flags(), " "))
                   : session.error().message;
  });
  EXPECT_EQ(answer,
            "--iree-hal-substitute-executable-sources-from=/nowhere "
            "--iree-dispatch-creation-enable-fuse-horizontal-contractions --iree-opt-level=O3");
}

}  // namespace
}  // namespace hone::iree::gpu
