// The whole way on real programs: asserts counters and files, never times.
#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "tests/cli/hone_command.h"
#include "tests/provider_iree/row_programs.h"
#include "tests/provider_spec/related_programs.h"

namespace hone::cli {
namespace {

class Tune : public HoneCommand {
 protected:
  // A quarter of the budget, 5 s, is the most that telling finalists apart takes.
  std::vector<std::string> quick(const std::string& program, int candidates,
                                 const std::string& budget = "14s") const {
    return {"tune",       program,  "--candidates", std::to_string(candidates),
            "--budget",   budget,   "--threads",    "1",
            "--no-flags", "--json", "--provider",   "iree"};
  }
  // Without hone, as its user would, also where the default is the best.
  void repeat_proof(const nlohmann::json& result) const {
    ASSERT_EQ(result["proof_script"], "out/run.sh");
    const std::string tools = HONE_SOURCE_DIR "/.venv/bin";
    if (!std::filesystem::exists(tools + "/iree-compile")) return;
    Command repeat;
    repeat.arguments = {"/bin/sh", "-c", "PATH=" + tools + ":$PATH ROUNDS=1 sh out/run.sh"};
    repeat.folder = folder();
    const auto repeated = run_process(repeat, {.seconds = 120});
    ASSERT_TRUE(repeated) << repeated.error().message;
    EXPECT_TRUE(repeated->succeeded()) << repeated->standard_error.text();
    EXPECT_NE(repeated->standard_output.text().find("medians: default "), std::string::npos);
    EXPECT_NE(repeated->standard_output.text().find("the outputs agree\n"), std::string::npos);
  }
  // With what ships beside it: a proof of what was found faster.
  void recheck(const nlohmann::json& result) const {
    const bool is_proved = result["verdict"]["outcome"] == "faster";
    EXPECT_EQ(std::filesystem::exists(folder() / "out" / "proof.json"), is_proved);
    EXPECT_EQ(std::filesystem::exists(folder() / "out" / "proof" / "shipped.vmfb"), is_proved);
    if (!is_proved) return;
    const auto again = json({"recheck", "out", "--seconds", "1", "--json", "--quiet"});
    EXPECT_EQ(again["changed"], nlohmann::json::array());
    EXPECT_EQ(again["correct"], true) << again;
    EXPECT_FALSE(again["speed"].is_null()) << again;
  }
  // Rows of candidates, without the default and OpenBLAS.
  nlohmann::json tried() const {
    nlohmann::json rows = nlohmann::json::array();
    const auto exported = json({"store", "export", "hone.db", "--format", "json"});
    for (const auto& row : exported["candidates"])
      if (row["provider"] == "iree" && row["default"] == false) rows.push_back(row);
    return rows;
  }
};

TEST_F(Tune, FindsVerifiesAndProvesASpec) {
  std::vector<std::string> arguments = quick(example("matmul_512.mlir"), 6);
  std::erase(arguments, "--no-flags");
  // Else its products of tiles may win, and be what is shown.
  arguments.push_back("--flag=--iree-global-opt-data-tiling=false");
  const auto result = json(arguments);
  ASSERT_EQ(result["dispatches"].size(), 1u);
  const auto& dispatch = result["dispatches"][0];
  EXPECT_EQ(dispatch["operation"], "matmul 512x512x512 f32,f32->f32");
  EXPECT_EQ(dispatch["tried"], 6);
  EXPECT_EQ(dispatch["verified"], 6);
  EXPECT_GT(dispatch["share_of_peak_percent"], 0);
  ASSERT_GE(result["programs"].size(), 3u);
  EXPECT_EQ(result["programs"][0]["variant"], "default");
  // Flags are searched first: each is a row behind those of the proof.
  std::vector<std::string> tried;
  for (const auto& row : result["programs"])
    if (const std::string variant = row["variant"]; variant.starts_with("flags: "))
      tried.push_back(variant);
  EXPECT_THAT(tried, testing::Contains("flags: data tiling"));
  EXPECT_THAT(tried, testing::Not(testing::Contains("flags: im2col")));  // of convolutions
  const auto flags = read_file(folder() / "out" / "compile_flags.txt");
  ASSERT_TRUE(flags);
  EXPECT_NE(flags->find("--iree-llvmcpu-target-cpu=host"), std::string::npos);
  // A spec is written exactly when it is announced.
  EXPECT_EQ(!result["spec"].is_null(),
            std::filesystem::exists(folder() / "out" / "tuning_spec.mlir"));
  // With the command that makes it again: a flag has no value.
  const auto report = read_file(folder() / "out" / "report.html");
  ASSERT_TRUE(report);
  EXPECT_NE(report->find(" --json\","), std::string::npos);
  EXPECT_NE(report->find("--iree-llvmcpu-target-cpu=host"), std::string::npos);
  repeat_proof(result);
  recheck(result);
}

// A spec sees an open dimension as open, so one entry serves every size, and is proved at each.
TEST_F(Tune, FindsOneConfigurationForSeveralSizes) {
  const std::string program = write("open.mlir", R"(
    func.func @main(%a: tensor<?x256xf32>, %b: tensor<256x256xf32>) -> tensor<?x256xf32> {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %m = tensor.dim %a, %c0 : tensor<?x256xf32>
      %e = tensor.empty(%m) : tensor<?x256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
      %r = linalg.matmul ins(%a, %b : tensor<?x256xf32>, tensor<256x256xf32>)
                         outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
      return %r : tensor<?x256xf32>
    })");
  std::vector<std::string> arguments = quick(program, 4, "16s");
  // Without data tiling, beside which each size would be timed too.
  arguments.insert(arguments.end(),
                   {"--dim", "M=8,192", "--no-baselines", "--flag=--iree-opt-data-tiling=false"});
  const auto result = json(arguments);
  EXPECT_EQ(result["sizes"], (nlohmann::json{"M=8", "M=192"}));
  ASSERT_EQ(result["dispatches"].size(), 2u);
  std::map<std::string, nlohmann::json> configurations;
  for (const auto& dispatch : result["dispatches"]) {
    EXPECT_GE(dispatch["tried"], 4);
    EXPECT_EQ(dispatch["verified"], dispatch["tried"]);
    configurations[dispatch["operation"]] = dispatch["configuration"];
  }
  ASSERT_EQ(configurations.count("matmul 8?x256x256 f32,f32->f32"), 1u);
  EXPECT_EQ(configurations["matmul 8?x256x256 f32,f32->f32"],
            configurations["matmul 192?x256x256 f32,f32->f32"]);
  std::set<std::string> variants;
  for (const auto& row : result["programs"]) variants.insert(row["variant"]);
  EXPECT_EQ(variants.count("default, M=8"), 1u);
  EXPECT_EQ(variants.count("default, M=192"), 1u);
  const bool found = !result["dispatches"][0]["winner"].is_null();
  EXPECT_EQ(variants.count("spec, M=192"), found ? 1u : 0u);
}

// IREE takes a softmax apart: its parts are configured together.
TEST_F(Tune, TunesASoftmax) {
  std::vector<std::string> arguments =
      quick(write("softmax.mlir", iree::softmax_program()), 3, "8s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines"});
  const auto result = json(arguments);
  ASSERT_EQ(result["dispatches"].size(), 1u);
  EXPECT_EQ(result["dispatches"][0]["tried"], 3);
  EXPECT_EQ(result["dispatches"][0]["verified"], 3);
  // A spec that no whole program was timed with goes with the flags that it was found with.
  const auto flags = read_file(folder() / "out" / "compile_flags.txt");
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->find("--iree-llvmcpu-reassociate-fp-reductions") != std::string::npos,
            !result["spec"].is_null());
}

// Sums of rows are tuned as the compiler may reorder them; the program's default is without that,
// and a user who says what to do about it is obeyed.
TEST_F(Tune, TunesSumsThatMayBeReordered) {
  const std::string program = write("sum.mlir", iree::sum_program());
  const std::string flag = "--iree-llvmcpu-reassociate-fp-reductions";
  std::vector<std::string> arguments = quick(program, 4, "8s");
  arguments.insert(arguments.end(), {"--no-baselines", "--flag=--iree-opt-data-tiling=false"});
  const auto result = json(arguments);
  EXPECT_EQ(result["dispatches"][0]["verified"], 4);
  EXPECT_EQ(result["programs"][0]["variant"], "default");
  EXPECT_EQ(result["programs"][1]["variant"], "reordered sums");
  const auto flags = read_file(folder() / "out" / "compile_flags.txt");
  ASSERT_TRUE(flags);
  const std::string best = result["best"];
  EXPECT_EQ(flags->find(flag) != std::string::npos, best.find("reordered") != std::string::npos);
  const Ran shown = hone({"show", "2", "--out", "shown", "--configured"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(read_file(folder() / "shown" / "reproduce.sh")->find(flag), std::string::npos);
  const auto configured = read_file(folder() / "shown" / "configured.mlir");
  ASSERT_TRUE(configured);
  EXPECT_NE(configured->find("#iree_codegen.translation_info<"), std::string::npos) << *configured;
  EXPECT_NE(configured->find("linalg.generic"), std::string::npos) << *configured;

  arguments.insert(arguments.end(), {"--flag=" + flag + "=false", "--store", "another.db"});
  const auto obeyed = json(arguments);
  for (const auto& row : obeyed["programs"])
    EXPECT_EQ(row["variant"].get<std::string>().find("reordered"), std::string::npos);
}

// Layers of one shape are one dispatch, told by its launches where each finds its tensors in memory
// that they share; the last writes what is returned.
TEST_F(Tune, TunesWhatSeveralLayersLaunch) {
  std::string text =
      "func.func @net(%t0: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> "
      "(tensor<64x64xf32>, tensor<64x64xf32>) {\n"
      "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<64x64xf32>\n"
      "%f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> "
      "tensor<64x64xf32>\n";
  constexpr int kLayers = 4;
  for (int layer = 0; layer < kLayers; ++layer)
    text += fmt::format(
        "%m{0} = linalg.matmul ins(%t{0}, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : "
        "tensor<64x64xf32>) -> tensor<64x64xf32>\n%t{1} = math.tanh %m{0} : tensor<64x64xf32>\n",
        layer, layer + 1);
  text += "return %t3, %t4 : tensor<64x64xf32>, tensor<64x64xf32>\n}\n";
  std::vector<std::string> arguments = quick(write("layers.mlir", text), 3, "8s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines"});
  const auto result = json(arguments);
  ASSERT_EQ(result["dispatches"].size(), 1u);
  EXPECT_EQ(result["dispatches"][0]["tried"], 3);
  EXPECT_EQ(result["dispatches"][0]["verified"], 3);
  const auto listed = json({"dispatches", (folder() / "layers.mlir").string(), "--json"});
  EXPECT_EQ(listed["dispatches"][0]["launches_per_call"], kLayers);
}

// A kernel that a program launches with two sizes is one entry of a spec: verified at both, with
// one winner for both.
TEST_F(Tune, LaunchSetsOfAKernelGetOneWinner) {
  const std::string program = write("two.mlir", R"(
func.func @main(%a: tensor<?x128xf32>, %b: tensor<?x128xf32>, %w: tensor<128x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x128xf32>
  %n = tensor.dim %b, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul ins(%a, %w : tensor<?x128xf32>, tensor<128x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e2 = tensor.empty(%n) : tensor<?x64xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r2 = linalg.matmul ins(%b, %w : tensor<?x128xf32>, tensor<128x64xf32>) outs(%f2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r, %r2 : tensor<?x64xf32>, tensor<?x64xf32>
})");
  const auto listed =
      json({"dispatches", program, "--dim", "input0.0=48", "--dim", "input1.0=96", "--json"});
  ASSERT_EQ(listed["dispatches"].size(), 2u);
  EXPECT_EQ(listed["dispatches"][0]["name"], listed["dispatches"][1]["name"]);

  std::vector<std::string> arguments = quick(program, 8, "24s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines", "--strategy", "prior",
                                     "--dim", "input0.0=48", "--dim", "input1.0=96"});
  const auto result = json(arguments);
  ASSERT_EQ(result["dispatches"].size(), 2u);
  // Eight of its own, and the other's winner where that is another.
  for (const auto& dispatch : result["dispatches"]) EXPECT_GE(dispatch["verified"], 8) << dispatch;
  EXPECT_EQ(result["dispatches"][0]["configuration"], result["dispatches"][1]["configuration"])
      << result["dispatches"];
}

// A vendor's library is verified as a candidate is, and shares 16 rounds of 3 samples with the
// winner.
TEST_F(Tune, AVendorsLibraryIsARowBesideTheWinner) {
  std::vector<std::string> arguments = quick(write("small.mlir", matmul_program("64")), 3);
  arguments.push_back("--no-program");
  const auto row_of_library = [&]() -> nlohmann::json {
    const auto exported = json({"store", "export", "hone.db", "--format", "json"});
    for (const auto& row : exported["candidates"])
      if (row["provider"] == "openblas") return row;
    return nullptr;
  };
  const auto result = json(arguments);
  const nlohmann::json row = row_of_library();
  if (row.is_null()) GTEST_SKIP() << "OpenBLAS is not installed";
  EXPECT_EQ(row["right"], true);
  EXPECT_EQ(row["phase"], "finalist");
  EXPECT_EQ(row["samples"], 48);
  EXPECT_GT(row["sentinel_ratio"], 0);
  EXPECT_EQ(result["dispatches"][0]["tried"], 3);
  json(arguments);
  EXPECT_EQ(row_of_library(), row);  // not measured again
}

TEST_F(Tune, TriesEachCandidateOnceAcrossRuns) {
  const std::string program = write("small.mlir", matmul_program("64"));
  std::vector<std::string> arguments = quick(program, 5);
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines"});
  json(arguments);
  const nlohmann::json first = tried();
  ASSERT_EQ(first.size(), 5u);
  json(arguments);
  EXPECT_EQ(tried().size(), 5u);
  arguments[3] = "9";
  json(arguments);
  const nlohmann::json second = tried();
  ASSERT_EQ(second.size(), 9u);
  // What was compiled and measured in the search before is as it was.
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i]["candidate"], second[i]["candidate"]);
    EXPECT_EQ(first[i]["identity"], second[i]["identity"]);
  }
}

TEST_F(Tune, ContinuesAfterBeingKilled) {
  const std::string program = write("small.mlir", matmul_program("64"));
  std::vector<std::string> arguments = quick(program, 40, "60s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines", "--relax", "all"});
  {
    auto child = ChildProcess::start(command(arguments));
    ASSERT_TRUE(child) << child.error().message;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    nlohmann::json rows;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      rows = std::filesystem::exists(folder() / "hone.db") ? tried() : nlohmann::json::array();
    } while (rows.size() < 16 && std::chrono::steady_clock::now() < deadline);
    ::kill(child->pid(), SIGKILL);
    ASSERT_TRUE(child->wait(10));
  }
  const nlohmann::json before = tried();
  ASSERT_GE(before.size(), 16u);
  const auto result = json(arguments);
  EXPECT_EQ(result["dispatches"][0]["tried"], 40);
  const nlohmann::json after = tried();
  ASSERT_EQ(after.size(), 40u);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!before[i]["compile_seconds"].is_null()) {
      EXPECT_EQ(before[i]["compile_seconds"], after[i]["compile_seconds"]) << "compiled twice";
    }
  EXPECT_EQ(hone({"store", "check", "hone.db"}).exit_code, 0);
}

TEST_F(Tune, MeasuresOneConfigurationGivenByHand) {
  const auto space = json({"space", example("matmul_512.mlir"), "--json", "--samples", "1"});
  std::string configuration;
  for (const auto& [knob, value] : space["spaces"][0]["samples"][0].items())
    configuration += (configuration.empty() ? "" : ",") + knob + "=" + value.dump();
  std::vector<std::string> arguments = quick(example("matmul_512.mlir"), 10);
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines", "--config", configuration});
  const auto result = json(arguments);
  EXPECT_EQ(result["dispatches"][0]["tried"], 1);
  const auto& search = result["search"][0]["search"];
  EXPECT_EQ(search["strategy"], "given");
  EXPECT_EQ(search["planned"], 1);
}

// Peeling where there is nothing to peel is legal to the compiler, so it is measured.
TEST_F(Tune, TriesWhatBreaksAnAuditedRule) {
  std::vector<std::string> arguments = quick(example("matmul_512.mlir"), 2, "8s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines", "--audit-rule",
                                     "peeling_needs_remainders", "--strategy", "random"});
  EXPECT_EQ(json(arguments)["dispatches"][0]["verified"], 2);
  for (const auto& row : tried()) {
    EXPECT_EQ(row["state"], "measured");
    EXPECT_EQ(nlohmann::json::parse(row["configuration"].get<std::string>())["peel"], 1);
  }
}

TEST_F(Tune, TunesWhatIsStaticBesideADynamicDispatch) {
  std::string both = matmul_program("64");
  std::string dynamic = matmul_program("?");
  dynamic.replace(dynamic.find("@product"), 8, "@dynamic");
  std::vector<std::string> arguments = quick(write("both.mlir", both + dynamic), 3);
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines"});
  const auto result = json(arguments);
  EXPECT_EQ(result["dispatches"].size(), 1u);
  ASSERT_EQ(result["not_tuned"].size(), 1u);
  EXPECT_NE(result["not_tuned"][0]["reason"].get<std::string>().find("dynamic"), std::string::npos);
  EXPECT_EQ(result["not_tuned"][0]["share_percent"], 0) << "it could not have been tuned";
}

// IREE takes the batch loop of one image away and back: the configuration is for the form that it
// comes to, in candidates and in the spec alike.
TEST_F(Tune, ProvesASpecForAConvolutionOfOneImage) {
  const std::string program =
      write("image.mlir",
            "func.func @image(%x: tensor<1x16x16x16xf32>, %w: tensor<3x3x16x32xf32>)\n"
            "    -> tensor<1x14x14x32xf32> {\n"
            "  %zero = arith.constant 0.0 : f32\n"
            "  %empty = tensor.empty() : tensor<1x14x14x32xf32>\n"
            "  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x14x14x32xf32>)\n"
            "    -> tensor<1x14x14x32xf32>\n"
            "  %y = linalg.conv_2d_nhwc_hwcf\n"
            "    ins(%x, %w : tensor<1x16x16x16xf32>, tensor<3x3x16x32xf32>)\n"
            "    outs(%fill : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>\n"
            "  return %y : tensor<1x14x14x32xf32>\n}\n");
  std::vector<std::string> arguments = quick(program, 3, "20s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines"});
  const auto result = json(arguments);
  const auto& dispatch = result["dispatches"][0];
  EXPECT_EQ(dispatch["operation"], "convolution 1x14x14x32x3x3x16 f32,f32->f32");
  EXPECT_EQ(dispatch["verified"], 3);
  json({"show", tried()[0]["candidate"].dump(), "--json", "--out", "shown"});
  const auto checked =
      json({"spec", "check", "shown/tuning_spec.mlir", "--program", program, "--json"});
  EXPECT_EQ(checked["entries"][0]["works"], true) << checked.dump();
}

// Two entries that meet in one dispatch: IREE refuses the program with both, so one is named and
// left out. What is written compiles without hone, though one of its flags holds spaces.
TEST_F(Tune, WritesWhatIreeCompileTakes) {
  const std::string program = write("related.mlir", iree::elementwise_alone_and_behind_a_product());
  const std::string pipeline =
      "--iree-preprocessing-pass-pipeline=builtin.module(util.func(cse, canonicalize))";
  std::vector<std::string> arguments = quick(program, 4, "30s");
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines", "--flag=" + pipeline});
  const Ran ran = hone(arguments);
  EXPECT_TRUE(ran.exit_code == 0 || ran.exit_code == 1) << ran.err;
  const auto result = nlohmann::json::parse(ran.out);
  ASSERT_EQ(result["dispatches"].size(), 2u);
  // Which of them beat their defaults is the machine's business. With both winners the one is kept
  // to its dispatch, and none is left out.
  EXPECT_EQ(result["left_out"].size(), 0u) << result["left_out"].dump();
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(result["spec"].is_null(), result["verdict"]["outcome"] == "nothing faster");
  const std::string compiler = HONE_SOURCE_DIR "/.venv/bin/iree-compile";
  if (!std::filesystem::exists(compiler)) GTEST_SKIP() << "no iree-compile in .venv";
  Command compile;
  compile.arguments = {compiler, program, "@out/compile_flags.txt", "-o", "tuned.vmfb"};
  compile.folder = folder();
  const auto compiled = run_process(compile, {.seconds = 120});
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE(compiled->succeeded()) << compiled->standard_error.text();
  EXPECT_TRUE(std::filesystem::exists(folder() / "tuned.vmfb"));
}

TEST_F(Tune, ShowsACandidateWithWhatReproducesIt) {
  std::vector<std::string> arguments = quick(write("small.mlir", matmul_program("64")), 2);
  arguments.insert(arguments.end(), {"--no-program", "--no-baselines"});
  json(arguments);
  const std::string id = tried()[0]["candidate"].dump();
  const auto shown = json({"show", id, "--json", "--out", "shown"});
  EXPECT_EQ(shown["provider"], "iree");
  EXPECT_EQ(shown["verifications"][0]["right"], true);
  for (const char* file : {"dispatch.mlir", "tuning_spec.mlir", "code.so", "reproduce.sh"})
    EXPECT_TRUE(std::filesystem::exists(folder() / "shown" / file)) << file;
}

// No dispatch can be tuned whose buffers hone's runner lacks the type of; the program is called
// with packed integers all the same.
TEST_F(Tune, ProvesAProgramOfWhichNoDispatchCanBeTuned) {
  const auto result = json(quick(
      write(
          "packed.mlir",
          "#id = affine_map<(i, j) -> (i, j)>\n"
          "func.func @packed(%w: tensor<32x32xi4>, %x: tensor<32x32xi32>) -> tensor<32x32xi32> {\n"
          "  %e = tensor.empty() : tensor<32x32xi32>\n"
          "  %r = linalg.generic {indexing_maps = [#id, #id, #id],\n"
          "                       iterator_types = [\"parallel\", \"parallel\"]}\n"
          "    ins(%w, %x : tensor<32x32xi4>, tensor<32x32xi32>) outs(%e : tensor<32x32xi32>) {\n"
          "  ^bb0(%q: i4, %v: i32, %o: i32):\n"
          "    %s = arith.extsi %q : i4 to i32\n"
          "    %t = arith.addi %s, %v : i32\n"
          "    linalg.yield %t : i32\n"
          "  } -> tensor<32x32xi32>\n"
          "  return %r : tensor<32x32xi32>\n}\n"),
      1, "5s"));
  EXPECT_EQ(result["verdict"]["outcome"], "nothing faster");
  EXPECT_NE(result["not_tuned"][0]["reason"].get<std::string>().find("i4"), std::string::npos);
  repeat_proof(result);
}

// IREE's runtime has no log10f.
TEST_F(Tune, SaysFirstThatAProgramDoesNotWorkAsItIs) {
  const std::string program =
      write("log.mlir",
            "#id = affine_map<(i) -> (i)>\n"
            "func.func @log(%x: tensor<1024xf32>) -> tensor<1024xf32> {\n"
            "  %e = tensor.empty() : tensor<1024xf32>\n"
            "  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = [\"parallel\"]}\n"
            "    ins(%x : tensor<1024xf32>) outs(%e : tensor<1024xf32>) {\n"
            "  ^bb0(%a: f32, %o: f32):\n"
            "    %l = math.log10 %a : f32\n"
            "    linalg.yield %l : f32\n"
            "  } -> tensor<1024xf32>\n"
            "  return %y : tensor<1024xf32>\n}\n");
  const Ran ran = hone({"tune", program, "--budget", "5s", "--threads", "1"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out,
              testing::StartsWith("NOTHING USABLE: as it is, the program does not compile: "
                                  "undefined symbol: log10f\n\nwritten:  out/report.html\n"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "compile_flags.txt"));
}

// What another function launches is not tuned.
TEST_F(Tune, TunesTheFunctionThatIsNamed) {
  std::string both = matmul_program("64"), other = matmul_program("32");
  other.replace(other.find("@product"), 8, "@other");
  std::vector<std::string> arguments = quick(write("both.mlir", both + other), 2);
  arguments.insert(arguments.end(), {"--no-baselines", "--function", "other"});
  const auto result = json(arguments);
  ASSERT_EQ(result["not_tuned"].size(), 1u);
  EXPECT_EQ(result["not_tuned"][0]["reason"],
            "'other', which is called, does not launch it: it is of 'product'");
  repeat_proof(result);
}

class Inspect : public HoneCommand {};

TEST_F(Inspect, ListsDispatchesAsJson) {
  const auto document = json({"dispatches", example("feed_forward.mlir"), "--json"});
  EXPECT_EQ(document["schema_version"], 1);
  ASSERT_EQ(document["dispatches"].size(), 2u);
  EXPECT_EQ(document["dispatches"][0]["operation"], "matmul 128x3072x768 f32,f32->f32");
  EXPECT_EQ(document["dispatches"][0]["flops"], 2.0 * 128 * 3072 * 768);
  EXPECT_EQ(document["dispatches"][0]["launches_per_call"], 1);
}

TEST_F(Inspect, ExplainsWhatAConfigurationBreaks) {
  const auto space = json({"space", example("matmul_512.mlir"), "--json", "--samples", "1"});
  auto sample = space["spaces"][0]["samples"][0];
  EXPECT_TRUE(space["spaces"][0]["count_is_exact"]);
  sample["vec_m"] = 32;  // 32 x 64 accumulators fill 128 registers
  sample["vec_n"] = 64;
  sample["dist_m"] = 64;
  sample["dist_n"] = 64;
  std::string configuration;
  for (const auto& [knob, value] : sample.items())
    configuration += (configuration.empty() ? "" : ",") + knob + "=" + value.dump();
  const Ran ran = hone({"space", example("matmul_512.mlir"), "--json", "--check", configuration});
  EXPECT_EQ(ran.exit_code, 1);
  const auto check = nlohmann::json::parse(ran.out)["spaces"][0]["check"];
  EXPECT_EQ(check["legal"], false);
  EXPECT_NE(check["violations"].dump().find("accumulators_fit_registers"), std::string::npos);
}

}  // namespace
}  // namespace hone::cli
