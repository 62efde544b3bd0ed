// hone compile and hone profile on trees that hone generate wrote, some of them with planted
// mistakes: what a dispatch must compute follows from its name, not from its file.
#include <fmt/format.h>

#include <fstream>
#include <map>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

constexpr std::string_view kDefault = "_tile_config_default";

class DispatchProfiler : public HoneCommand {
 protected:
  std::filesystem::path source_of(const std::string& kind, const std::string& operation) const {
    return folder() / "generated/linalg" / kind / operation / (operation + ".mlir");
  }

  void generate(const std::vector<std::string>& operations) const {
    std::string workload = "operations:\n";
    for (const std::string& operation : operations) workload += "  - " + operation + "\n";
    write("workload.yaml", workload);
    const Ran ran = hone(
        {"generate", "--workload", "workload.yaml", "--device", "cpu", "--configs", "default"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }

  void edit(const std::string& kind, const std::string& operation, const std::string& from,
            const std::string& to) const {
    const std::filesystem::path path = source_of(kind, operation);
    std::string text = *read_file(path);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << operation << " has no " << from;
    text.replace(at, from.size(), to);
    ASSERT_TRUE(write_file_atomically(path, text));
  }

  Ran profile(const std::vector<std::string>& more = {},
              const std::string& output = "rows.json") const {
    std::vector<std::string> arguments{"profile", "--device", "cpu", "--threads",
                                       "1",       "--output", output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hone(arguments);
  }

  // The compiler's rows of rows.json, by operation.
  std::map<std::string, nlohmann::json> rows() const {
    std::map<std::string, nlohmann::json> rows;
    for (const auto& row : nlohmann::json::parse(*read_file(folder() / "rows.json")))
      if (row["Provider"] == "IREE Codegen") rows[row["Operation"].get<std::string>()] = row;
    return rows;
  }
};

struct Planted {
  const char* kind;
  const char* operation;
  const char* from;
  const char* to;
};

// A wrong index map, a swapped layout, a tail of the sums left out, a missing bias: at least one
// for every kind.
constexpr Planted kPlanted[] = {
    {"matmul", "matmul_31x31x31_f32t_f32t_f32t", "ins(%lhs, %rhs", "ins(%rhs, %lhs"},
    {"matmul", "matmul_31x31x31_f16t_f16n_f16t", "(m, n, k) -> (n, k)", "(m, n, k) -> (k, n)"},
    {"matmul", "matmul_7x33x64_f32t_f32t_f32t",
     "%product = linalg.matmul\n      ins(%lhs, %rhs : tensor<7x64xf32>, tensor<64x33xf32>)",
     "%l = tensor.extract_slice %lhs[0, 0] [7, 63] [1, 1] : tensor<7x64xf32> to tensor<7x63xf32>\n"
     "  %r = tensor.extract_slice %rhs[0, 0] [63, 33] [1, 1] : tensor<64x33xf32> to "
     "tensor<63x33xf32>\n"
     "  %product = linalg.matmul ins(%l, %r : tensor<7x63xf32>, tensor<63x33xf32>)"},
    {"batch_matmul", "batch_matmul_3x31x31x31_bf16t_bf16t_bf16t", "ins(%lhs, %rhs",
     "ins(%rhs, %lhs"},
    {"matmul_splitk", "matmul_splitk_7x33x62_f32t_f32t_f32t_parallel2",
     "%product = linalg.reduce { arith.addf } ins(%partial : tensor<2x7x33xf32>)",
     "%cut = tensor.extract_slice %partial[0, 0, 0] [1, 7, 33] [1, 1, 1] : tensor<2x7x33xf32> to "
     "tensor<1x7x33xf32>\n"
     "  %product = linalg.reduce { arith.addf } ins(%cut : tensor<1x7x33xf32>)"},
    {"conv2d", "conv2d_2x9x9x8_8x3x3_s1x1_d1x1_p0x0_g1_f32nhwc_f32hwcf_f32nhwc",
     "%product = linalg.conv_2d_nhwc_hwcf\n",
     "%turned_empty = tensor.empty() : tensor<3x3x8x8xf32>\n"
     "  %turned = linalg.transpose ins(%rhs : tensor<3x3x8x8xf32>) outs(%turned_empty : "
     "tensor<3x3x8x8xf32>) permutation = [1, 0, 2, 3]\n"
     "  %product = linalg.conv_2d_nhwc_hwcf ins(%lhs, %turned : tensor<2x9x9x8xf32>, "
     "tensor<3x3x8x8xf32>) outs(%sums : tensor<2x7x7x8xf32>) -> tensor<2x7x7x8xf32>\n"
     "  %unused = linalg.conv_2d_nhwc_hwcf\n"},
    {"conv2d", "conv2d_1x9x9x8_8x3x3_s1x1_d1x1_p1x1_g1_f32nchw_f32fchw_f32nchw",
     "low[0, 0, 1, 1] high[0, 0, 1, 1]", "low[0, 0, 2, 1] high[0, 0, 0, 1]"},
    {"matmul_bias_relu", "matmul_bias_relu_7x33x64_f32t_f32t_f32t",
     "%sum = arith.addf %value, %bias_value : f32",
     "%none = arith.constant 0.0 : f32\n    %sum = arith.addf %value, %none : f32"},
    {"matmul_bias_gelu", "matmul_bias_gelu_7x33x64_f32t_f32t_f32t",
     "arith.addf %value, %bias_value", "arith.subf %value, %bias_value"},
    {"matmul_bias_add", "matmul_bias_add_7x33x64_f16t_f16t_f16t",
     "arith.addf %sum, %residual_value", "arith.subf %sum, %residual_value"},
    {"conv2d_bias_relu", "conv2d_bias_relu_2x9x9x8_8x3x3_s1x1_d1x1_p0x0_g1_f32nhwc_f32hwcf_f32nhwc",
     "arith.maximumf %sum, %nothing", "arith.maximumf %value, %nothing"},
    {"attention", "attention_2x33x31x64_f32t_f32t_f32t", "ins(%query, %key, %value, %scale",
     "ins(%query, %value, %key, %scale"},
};

TEST_F(DispatchProfiler, FindsAMistakeInEveryKindOfOperation) {
  std::vector<std::string> operations{"matmul_8x8x16_f32t_f32t_f32t"};
  for (const Planted& planted : kPlanted) operations.emplace_back(planted.operation);
  generate(operations);
  for (const Planted& planted : kPlanted)
    edit(planted.kind, planted.operation, planted.from, planted.to);
  const Ran ran = profile({"--providers", "iree", "--benchmark-repetitions", "1"});
  EXPECT_EQ(ran.exit_code, 1);
  auto found = rows();
  EXPECT_EQ(found["matmul_8x8x16_f32t_f32t_f32t"]["Verification"], "SUCCESS");
  for (const Planted& planted : kPlanted) {
    const auto& row = found[planted.operation];
    EXPECT_EQ(row["Verification"], "FAILED") << planted.operation;
    EXPECT_NE(row["Message"].get<std::string>().find("elements"), std::string::npos)
        << row["Message"];
    EXPECT_EQ(row["Runtime(ms)"], "N/A");  // what is wrong is not measured
  }
}

// A thin cut of tests/long/odd_shapes.py.
TEST_F(DispatchProfiler, EveryKindIsRightAtOddShapes) {
  const std::vector<std::string> operations{
      "matmul_1x7x31_f16n_f16t_f32t",
      "matmul_127x31x33_s8t_s8n_s32t",
      "batch_matmul_3x33x1x7_bf16n_bf16n_f32t",
      "matmul_splitk_7x33x254_f16t_f16n_f16t_parallel2",
      "matmul_bias_relu_31x127x1_bf16t_bf16t_bf16t",
      "matmul_bias_gelu_33x1x7_f16t_f16n_f16t",
      "matmul_bias_add_7x33x127_f32n_f32t_f32t",
      "conv2d_1x7x33x6_6x3x1_s1x1_d2x2_p1x1_g3_f16nhwc_f16hwcf_f16nhwc",
      "conv2d_1x31x7x7_1x1x1_s2x2_d1x1_p0x0_g1_s8nchw_s8fchw_s32nchw",
      "conv2d_bias_relu_1x5x7x8_8x3x3_s1x1_d1x1_p1x1_g8_bf16nchw_bf16fchw_f32nchw",
      "attention_2x127x31x33_f16t_f16t_f16t"};
  generate(operations);
  EXPECT_EQ(profile({"--providers", "iree", "--benchmark-repetitions", "1"}).exit_code, 0);
  auto found = rows();
  for (const std::string& operation : operations)
    EXPECT_EQ(found[operation]["Verification"], "SUCCESS")
        << operation << ": " << found[operation]["Message"];
}

// The kernel that adds up the slices is the same one in both, and the compiler names it for one of
// them: it belongs to each all the same.
TEST_F(DispatchProfiler, AKernelThatTwoOperationsShareCountsForBoth) {
  generate({"matmul_splitk_7x33x62_f32t_f32t_f32t_parallel2",
            "matmul_splitk_7x33x126_f32t_f32t_f32t_parallel2"});
  EXPECT_EQ(profile({"--providers", "iree"}).exit_code, 0);
  EXPECT_EQ(rows().size(), 2u);
  for (const auto& [operation, row] : rows()) {
    EXPECT_EQ(row["Verification"], "SUCCESS") << operation << row["Message"];
    EXPECT_EQ(row["Kernels"], 2) << operation;
  }
}

TEST_F(DispatchProfiler, RaisesNoAlarmForLongSumsInNarrowTypes) {
  generate({"matmul_5x9x16384_f16t_f16t_f16t", "matmul_5x9x16384_bf16t_bf16t_bf16t",
            "matmul_5x9x16384_f16t_f16t_f32t", "matmul_5x9x16384_s8t_s8t_s32t"});
  EXPECT_EQ(profile({"--providers", "iree"}).exit_code, 0);
  for (const auto& [operation, row] : rows())
    EXPECT_EQ(row["Verification"], "SUCCESS") << operation << row["Message"];
  EXPECT_EQ(rows().size(), 4u);
}

TEST_F(DispatchProfiler, ContinuesFromTheStoreAndWritesWhatOtherToolsRead) {
  generate({"matmul_33x31x64_f32t_f32t_f32t", "matmul_7x33x64_f32t_f32t_f32t"});
  ASSERT_EQ(profile().exit_code, 0);
  const Ran again =
      profile({"--tags", "machine:here", "--junit", "j.xml", "--save-cmds", "cmds.sh"}, "a.csv");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("2 of them known before"), std::string::npos) << again.err;
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("Verification  : SUCCESS\nRuntime(ms)   : "), std::string::npos);
  EXPECT_NE(again.out.find("\nWriting performance report to a.csv\n"), std::string::npos);
  // On stdout the same table, and nothing else.
  const Ran printed = profile({"--json"}, "a.json");
  EXPECT_EQ(nlohmann::json::parse(printed.out),
            nlohmann::json::parse(*read_file(folder() / "a.json")));
  ASSERT_TRUE(read_file(folder() / "a.csv"));
  const std::string csv = *read_file(folder() / "a.csv");
  EXPECT_TRUE(csv.starts_with(
      "machine,Provider,op_kind,Operation,bytes,flops,batch_count,m,n,k,lhs,rhs,result,"
      "split_k_mode,split_k_slices,Tile config,Core class,Instruction class,Verification,"
      "Runtime(ms),GFLOPs,"))
      << csv;
  EXPECT_NE(csv.find("here,IREE Codegen,matmul,matmul_7x33x64_f32t_f32t_f32t,11164,29568,1,7,33,64,"
                     "f32t,f32t,f32t,N/A,N/A,Default,Default,Default,SUCCESS,"),
            std::string::npos)
      << csv;
  EXPECT_NE(read_file(folder() / "j.xml")->find("tests=\"2\" failures=\"0\""), std::string::npos);
  // Appended rows have no heading of their own, and other columns are refused.
  const auto lines = [&] {
    const std::string text = *read_file(folder() / "a.csv");
    return std::ranges::count(text, '\n');
  };
  const auto before = lines();
  EXPECT_EQ(profile({"--append", "--tags", "machine:there"}, "a.csv").exit_code, 0);
  EXPECT_EQ(lines(), 2 * before - 1);
  const Ran refused = profile({"--append"}, "a.csv");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(lines(), 2 * before - 1);
  // Without hone, as the user would.
  Command repeat;
  repeat.arguments = {"/bin/sh", "-c", "PATH=" HONE_SOURCE_DIR "/.venv/bin:$PATH sh cmds.sh"};
  repeat.folder = folder();
  const auto repeated = run_process(repeat, {.seconds = 120});
  ASSERT_TRUE(repeated && repeated->succeeded());
  EXPECT_NE(
      repeated->standard_output.text().find("BM_matmul_7x33x64_f32t_f32t_f32t_tile_config_default"),
      std::string::npos);
}

TEST_F(DispatchProfiler, CompilesModulesForIreesTools) {
  const std::string operation = "matmul_7x33x64_f32t_f32t_f32t";
  generate({operation});
  // A second function of the file, with a configuration that the compiler refuses.
  const std::filesystem::path path = source_of("matmul", operation);
  std::string text = *read_file(path), bad = text;
  const std::string name = operation + std::string(kDefault);
  bad.replace(bad.find(name), name.size(), operation + "_tile_config_bad");
  bad.replace(bad.find("linalg.matmul"), 13, "linalg.matmul {compilation_info = #none}");
  ASSERT_TRUE(write_file_atomically(path, text + bad.substr(bad.find("func.func"))));
  const Ran ran = hone({"compile", "--device", "cpu", "--batch-size", "3"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find(operation + "_tile_config_bad is skipped: "), std::string::npos)
      << ran.err;
  const std::filesystem::path modules = path.parent_path();
  for (const char* which : {"_verify.vmfb", "_profile.vmfb"}) {
    Command call;
    call.arguments = {HONE_SOURCE_DIR "/.venv/bin/iree-run-module",
                      "--module=" + (modules / (operation + which)).string(),
                      "--function=" + name,
                      "--input=7x64xf32=1",
                      "--input=64x33xf32=2",
                      "--device=local-sync"};
    const auto called = run_process(call, {.seconds = 60});
    ASSERT_TRUE(called && called->succeeded()) << which;
    EXPECT_NE(called->standard_output.text().find("7x33xf32=[128 128"), std::string::npos);
  }
  // The same again, a file cut short, and one that is not as it was written.
  const auto says = [&](const std::string& words) {
    const Ran next = hone({"compile", "--device", "cpu", "--batch-size", "3"});
    EXPECT_NE(next.err.find(words), std::string::npos) << next.err;
  };
  says("0 compiled, 1 up to date");
  std::filesystem::resize_file(modules / (operation + "_profile.vmfb"), 1000);
  says("1 compiled, 0 up to date");
  std::ofstream(modules / (operation + "_verify.vmfb"), std::ios::app) << "x";
  says("1 compiled, 0 up to date");
  says("0 compiled, 1 up to date");
}

// The old tool's reports are read too: their columns are the first of hone's.
TEST_F(DispatchProfiler, TwoReportsAreSetSideBySide) {
  const std::string heading =
      "Provider,Operation,Tile config,Core class,Instruction class,Verification,Runtime(ms)\n";
  const auto row = [](const std::string& operation, const std::string& rest) {
    return "IREE Codegen," + operation + ",Default,Default,Default," + rest + "\n";
  };
  write("old.csv", heading + row("same", "SUCCESS,1.00") + row("slow", "SUCCESS,1.00") +
                       row("lost", "SUCCESS,1.00") + row("gone", "SUCCESS,1.00"));
  write("new.csv", heading + row("same", "SUCCESS,1.001") + row("slow", "SUCCESS,1.50") +
                       row("lost", "FAILED,N/A") + row("\"new, \"\"quoted\"\"\"", "SUCCESS,1"));
  const auto document = json({"compare", "old.csv", "new.csv", "--json"});
  EXPECT_EQ(document["shared"], 3);
  std::map<std::string, std::string> changes;
  for (const auto& each : document["changes"])
    changes[each["dispatch"].get<std::string>()] = each["change"].get<std::string>();
  const auto name = [](const std::string& operation) {
    return "IREE Codegen " + operation + " Default Default Default";
  };
  EXPECT_EQ(changes, (std::map<std::string, std::string>{
                         {name("slow"), "slower"},
                         {name("lost"), "now wrong"},
                         {name("gone"), "only in the old report"},
                         {name("new, \"quoted\""), "only in the new report"}}));
  write("bad.csv", "a,b\n1,2\n");
  const Ran bad = hone({"compare", "old.csv", "bad.csv"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.err.find("bad.csv"), std::string::npos);
}

TEST_F(DispatchProfiler, ADispatchThatDoesNotCompileCostsTheOthersNothing) {
  const std::string operation = "matmul_7x33x64_f32t_f32t_f32t";
  generate({operation});
  const std::filesystem::path path = source_of("matmul", operation);
  const std::string text = *read_file(path);
  std::string bad = text;
  const std::string name = operation + std::string(kDefault);
  bad.replace(bad.find(name), name.size(), operation + "_tile_config_bad");
  bad.replace(bad.find("linalg.matmul"), 13, "linalg.matmul {compilation_info = #none}");
  ASSERT_TRUE(write_file_atomically(path, bad + text.substr(text.find("func.func"))));
  for (const bool again : {false, true}) {
    EXPECT_EQ(profile().exit_code, 1) << again;
    const auto rows = nlohmann::json::parse(*read_file(folder() / "rows.json"));
    ASSERT_GE(rows.size(), 2u);
    EXPECT_EQ(rows[0]["Verification"], "FAILED");
    EXPECT_NE(rows[0]["Message"].get<std::string>().find("none"), std::string::npos) << rows[0];
    EXPECT_EQ(rows[1]["Verification"], "SUCCESS");
    EXPECT_TRUE(rows[1]["Runtime(ms)"].is_number());
  }
}

TEST_F(DispatchProfiler, SaysWhatItWouldMeasure) {
  generate({"matmul_31x31x31_f32t_f32t_f32t"});
  const std::string name = "matmul_31x31x31_f32t_f32t_f32t" + std::string(kDefault);
  const Ran lines = hone({"profile", "--dry-run", "--device", "cpu"});
  EXPECT_EQ(lines.out, name + "\n") << lines.err;
  EXPECT_EQ(json({"profile", "--dry-run", "--device", "cpu", "--json"}),
            nlohmann::json({{"dispatches", {name}}}));
}

TEST_F(DispatchProfiler, MistakesAreNamed) {
  Ran ran = profile();
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("hone generate"), std::string::npos) << ran.err;
  generate({"matmul_7x33x64_f32t_f32t_f32t"});
  ran = profile({"--dispatches", "matmul_7x33x65_*"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("matmul_7x33x64_f32t_f32t_f32t_tile_config_default"), std::string::npos)
      << ran.err;
  // Of the old tool's README: it meant TF32.
  ran = profile({"--dispatches",
                 "matmul_7x33x64_f32t_f32t_f32t_tile_config_128x128_16x5_tensorcore_"
                 "mmasync"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("TF32"), std::string::npos) << ran.err;
  ran = profile({"--build-dir", "/iree"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("--iree"), std::string::npos) << ran.err;
  ran = profile({"--tags", "m:1"});
  EXPECT_NE(ran.err.find("there is a column 'm' already"), std::string::npos) << ran.err;
  ran = profile({}, "rows.txt");
  EXPECT_EQ(ran.exit_code, 2);
  ran = hone({"compile", "--device", "vulkan"});
  EXPECT_EQ(ran.exit_code, 2);
}

}  // namespace
}  // namespace hone::cli
