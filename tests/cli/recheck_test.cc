// hone recheck: what it notices of a result that hone tune proved. No assertion rests on a time:
// the slow module takes one element at a time.
#include <gmock/gmock.h>

#include "base/hash.h"
#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "provider/iree/compiler/library.h"
#include "session/proof_record.h"
#include "tests/cli/hone_command.h"
#include "tests/cli/planted_specs.h"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Recheck : public HoneCommand {
 protected:
  // A folder as hone tune writes it: one product, compiled with good and with slow tiles.
  void SetUp() override {
    HoneCommand::SetUp();
    program_ = write("program.mlir", square_products({128}));
    write("out/tuning_spec.mlir", planted_spec({{"good", 128, kGoodTiles}}));
    write("slow.mlir", planted_spec({{"slow", 128, kTinyTiles}}));
    write("out/kernels/other_dispatch_0.mlir", "// a kernel of another executable\n");
    write("out/compile_flags.txt",
          "--iree-hal-target-device=local\n--iree-hal-local-target-device-backends=llvm-cpu\n"
          "--iree-llvmcpu-target-cpu=host\n--iree-codegen-tuning-spec-path=out/tuning_spec.mlir\n"
          "--iree-hal-substitute-executable-sources-from=out/kernels\n");
    write("out/proof/shipped.vmfb", "not compiled yet");
    write("out/proof/baseline.vmfb", "likewise");
    record();
  }
  // For tests that run the modules.
  void compile_modules() const {
    compile("out/tuning_spec.mlir", "out/proof/shipped.vmfb");
    compile("slow.mlir", "out/proof/baseline.vmfb");
    record();
  }

  void compile(const std::string& spec, const std::string& module) const {
    const auto installation = iree::find_installation();
    ASSERT_TRUE(installation) << installation.error().message;
    std::filesystem::create_directories((folder() / module).parent_path());
    Command compile;
    compile.folder = folder();
    compile.arguments = {installation->iree_compile.string(),
                         program_,
                         "-o",
                         module,
                         "--iree-hal-target-device=local",
                         "--iree-hal-local-target-device-backends=llvm-cpu",
                         "--iree-llvmcpu-target-cpu=host",
                         "--iree-codegen-tuning-spec-path=" + spec};
    const auto ran = run_process(compile, {.seconds = 60});
    ASSERT_TRUE(ran && ran->succeeded()) << (ran ? ran->standard_error.text() : "");
  }

  // Writes proof.json by what a tuning knows at its end.
  void record() const {
    const auto out = folder() / "out";
    session::SessionOptions options;
    options.tuning.input = program_;
    options.model = write("model.onnx", "the program was imported from it");
    options.tuning.out = out;
    const auto places = device::cpu::kind().places({});
    ASSERT_TRUE(places) << places.error().message;
    options.tuning.places = *places;
    const auto cpu = device::cpu::detect_target();
    ASSERT_TRUE(cpu) << cpu.error().message;
    options.tuning.places.front().host_cpu = *cpu;
    tune::TuningResult result;
    result.best = tune::VerifiedBuild{tune::Build{.label = "spec"}};
    result.verdict.emplace().recommended = tune::Recommended::kChosen;
    result.verdict->chosen.verdict = measure::Verdict::kFaster;
    measure::PairedComparison& rounds = result.verdict->chosen.at_sizes.emplace_back();
    rounds.ratio = 0.5;
    rounds.interval = {0.4, 0.6};
    rounds.rounds = 12;
    tune::ProofFiles& files = result.proof_files.emplace();
    files.baseline = out / "proof/baseline.vmfb";
    files.shipped = out / "proof/shipped.vmfb";
    const problem::TensorType rows{problem::ElementType::kF32, {128, 256}},
        square{problem::ElementType::kF32, {256, 256}};
    files.function = {"product_128", {rows, square}, {rows}};
    const std::vector<std::string> contents{problem::to_npy(ones(rows)),
                                            problem::to_npy(ones(square))};
    for (std::size_t i = 0; i < contents.size(); ++i) {
      write("out/inputs/" + std::to_string(i) + ".npy", contents[i]);
      files.inputs.push_back(out / "inputs" / (std::to_string(i) + ".npy"));
    }
    // A sum of 256 ones, everywhere.
    write("out/proof/reference0.npy", problem::to_npy(filled(rows, 256)));
    files.references = {out / "proof/reference0.npy"};
    files.tolerances = {{0.01, 0, "as planted"}};
    const Status written = session::write_proof(options, "IREE", result);
    ASSERT_TRUE(written) << written.error().message;
  }

  static problem::Array filled(const problem::TensorType& type, float value) {
    problem::Array array = problem::zeros_of(type);
    const std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
    for (std::size_t at = 0; at < array.bytes.size(); at += sizeof value)
      array.bytes.replace(at, sizeof value, bytes);
    return array;
  }
  static problem::Array ones(const problem::TensorType& type) { return filled(type, 1); }

  nlohmann::json proof() const {
    return nlohmann::json::parse(read_file(folder() / "out/proof.json").value());
  }

  // The document, and the exit code in "exit_code". `seconds`: 1 where the speed does not matter.
  nlohmann::json recheck(const std::vector<std::string>& more = {},
                         const std::string& seconds = "15") const {
    std::vector<std::string> arguments{"recheck", "out", "--seconds", seconds, "--json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = hone(arguments);
    auto document = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ran.out << ran.err;
    if (!document.is_discarded()) document["exit_code"] = ran.exit_code;
    return document;
  }
  std::string refused(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"recheck", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = hone(arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    return ran.err;
  }

  std::string program_;
};

TEST_F(Recheck, HoldsWhereNothingChangedAndCompilesNothing) {
  compile_modules();
  const Ran ran = hone({"recheck", "out", "--quiet"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("out: the proof holds\n"),
                             HasSubstr("those of the proof (--compile asks the compiler)\n"),
                             HasSubstr("  correct  1 result, off by at most 0\n"),
                             HasSubstr("; the proof says 2.00x [1.67, 2.50]\n")));
}

TEST_F(Recheck, NamesExchangedAndAddedFiles) {
  compile_modules();
  write("out/kernels/other_dispatch_0.mlir", "// exchanged\n");
  write("out/kernels/new_dispatch_1.mlir", "// added\n");
  write("out/tuning_spec.mlir", planted_spec({{"good", 128, kTinyTiles}}));
  const auto document = recheck({"--program", "model.onnx"}, "1");
  EXPECT_EQ(document["exit_code"], 1);
  EXPECT_THAT(document["changed"].get<std::vector<std::string>>(),
              ElementsAre("tuning_spec.mlir", "kernels/other_dispatch_0.mlir",
                          "kernels/new_dispatch_1.mlir"));
  EXPECT_EQ(document["correct"], true);  // the modules are those of the proof
}

TEST_F(Recheck, RunsNoExchangedModuleAndNamesRemovedFiles) {
  write("out/proof/shipped.vmfb", "not the module");
  std::filesystem::remove(folder() / "out/tuning_spec.mlir");
  const auto document = recheck({"--compile"}, "1");
  EXPECT_EQ(document["exit_code"], 1);
  EXPECT_THAT(document["changed"].get<std::vector<std::string>>(),
              ElementsAre("tuning_spec.mlir", "proof/shipped.vmfb"));
  EXPECT_EQ(document["correct"], false);
  EXPECT_TRUE(document["speed"].is_null());
  EXPECT_TRUE(document["applied"].is_null());
}

TEST_F(Recheck, NoticesAResultThatIsNoLongerFaster) {
  compile_modules();
  auto changed = proof();
  std::swap(changed["baseline_module"], changed["shipped_module"]);
  write("out/proof.json", changed.dump());
  const auto document = recheck();
  EXPECT_EQ(document["exit_code"], 1);
  EXPECT_EQ(document["correct"], true);
  EXPECT_EQ(document["speed"]["state"], "no longer faster") << document;
}

TEST_F(Recheck, NoticesWrongOutputsAndOtherDevices) {
  compile_modules();
  const problem::TensorType rows{problem::ElementType::kF32, {128, 256}};
  write("out/proof/other.npy", problem::to_npy(filled(rows, 255)));
  auto changed = proof();
  changed["device"]["name"] = "another CPU";
  write("out/proof.json", changed.dump());
  const auto elsewhere = recheck();
  EXPECT_EQ(elsewhere["exit_code"], 0) << elsewhere;
  EXPECT_TRUE(elsewhere["speed"].is_null());
  EXPECT_THAT(elsewhere["not_measured"].get<std::string>(), HasSubstr("not comparable"));

  changed["references"][0] = {{"path", "proof/other.npy"},
                              {"hash", content_hash(problem::to_npy(filled(rows, 255)))}};
  write("out/proof.json", changed.dump());
  const auto wrong = recheck({}, "1");
  EXPECT_EQ(wrong["exit_code"], 1);
  EXPECT_EQ(wrong["correct"], false);
  EXPECT_EQ(wrong["outputs"][0]["bad"], 128 * 256);
}

TEST_F(Recheck, AsksTheCompilerWhetherTheSpecStillApplies) {
  std::filesystem::remove_all(folder() / "out/kernels");
  write("out/compile_flags.txt",
        "--iree-hal-target-device=local\n--iree-hal-local-target-device-backends=llvm-cpu\n"
        "--iree-llvmcpu-target-cpu=host\n--iree-codegen-tuning-spec-path=out/tuning_spec.mlir\n");
  compile_modules();
  const auto applied = recheck({"--compile"}, "1");
  EXPECT_EQ(applied["applied"]["holds"], true) << applied;
  EXPECT_EQ(applied["applied"]["same_compiler"], true);
  EXPECT_EQ(applied["applied"]["working"], 1);
  // With data tiling the product is another operation, which the entry does not match.
  const auto changed = recheck({"--compile", "--flag=--iree-opt-data-tiling=true"}, "1");
  EXPECT_EQ(changed["exit_code"], 1) << changed;
  EXPECT_EQ(changed["applied"]["holds"], false);
}

TEST_F(Recheck, RefusesWhatIsNoProofOfThis) {
  EXPECT_THAT(refused({"--flag=--iree-opt-level=O3"}), HasSubstr("add --compile"));
  EXPECT_THAT(refused({"--target", "sm_80"}), HasSubstr("is a proof for host"));
  const std::string other = write("other.mlir", square_products({64}));
  EXPECT_THAT(refused({"--program", other}),
              AllOf(HasSubstr("is the proof of another program"), HasSubstr("other.mlir")));
  write("program.mlir", square_products({64}));  // the program itself was changed
  EXPECT_THAT(refused(), HasSubstr("is the proof of another program"));
  auto later = proof();
  later["format"] = session::kProofFormat + 1;
  write("out/proof.json", later.dump());
  EXPECT_THAT(refused(), HasSubstr("has format 2, and this hone reads 1"));
  write("out/proof.json", "{\"format\": 1}");
  EXPECT_THAT(refused(), HasSubstr("is damaged"));
  std::filesystem::remove(folder() / "out/proof.json");
  EXPECT_THAT(refused(),
              HasSubstr("an older hone wrote it; run hone tune PROGRAM --out out again"));
}

}  // namespace
}  // namespace hone::cli
