// hone spec merge and show: specs, and folders of hone tune --out, as one.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kDefaultEntryPoint[] = ", iree_codegen.tuning_spec_with_default_entrypoint";

struct ProductEntry {
  int m = 512;
  int tile = 32;
  std::string annotates = "compilation_info";
};

// Entries for products f16 x f16 -> f32 on a CPU, with helpers as in specs written by hand: equal
// symbols in each file.
std::string products_spec(const std::vector<ProductEntry>& entries,
                          const std::string& attribute = "") {
  std::string text = "module attributes {transform.with_named_sequence" + attribute + "} {\n" + R"(
transform.named_sequence @match_product(%root: !transform.any_op {transform.readonly})
    -> !transform.param<i64> {
  %batch, %m, %n, %k = transform.iree.match.contraction %root,
    lhs_type = f16, rhs_type = f16, output_type = f32,
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                     affine_map<(m, n, k) -> (m, n)>]
    : !transform.any_op -> !transform.param<i64>
  transform.yield %m : !transform.param<i64>
}
)",
              pairs;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string number = std::to_string(i), tile = std::to_string(entries[i].tile);
    text += "transform.named_sequence @match_" + number +
            "(%root: !transform.any_op {transform.readonly})"
            " -> (!transform.any_op, !transform.any_param) {\n"
            "  %m = transform.include @match_product failures(propagate) (%root)"
            " : (!transform.any_op) -> !transform.param<i64>\n"
            "  transform.iree.match.dims_equal %m, [" +
            std::to_string(entries[i].m) +
            "] : !transform.param<i64>\n"
            "  %info = transform.param.constant #iree_codegen.compilation_info<lowering_config = "
            "#iree_cpu.lowering_config<distribution = [" +
            tile +
            ", 64, 0], vector_common_parallel = [8, 16, 0], vector_reduction = [0, 0, 8]>, "
            "translation_info = #iree_codegen.translation_info<pipeline = "
            "#iree_cpu.pipeline<DoubleTilingExpert>>> -> !transform.any_param\n"
            "  transform.yield %root, %info : !transform.any_op, !transform.any_param\n}\n";
    text += "transform.named_sequence @set_" + number +
            "(%root: !transform.any_op {transform.readonly},\n"
            "    %info: !transform.any_param {transform.readonly}) {\n"
            "  transform.annotate %root \"" +
            entries[i].annotates +
            "\" = %info : !transform.any_op, !transform.any_param\n  transform.yield\n}\n";
    pairs += (pairs.empty() ? "@match_" : ", @match_") + number + " -> @set_" + number;
  }
  return text +
         "transform.named_sequence @__kernel_config(%v: !transform.any_op {transform.consumed})\n"
         "    -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n"
         "  %r = transform.foreach_match in %v " +
         pairs +
         " : (!transform.any_op) -> !transform.any_op\n"
         "  transform.yield %r : !transform.any_op\n}\n}\n";
}

// A program with one product of each m.
std::string program_of(const std::vector<int>& extents) {
  std::string text;
  for (const int m : extents) {
    const std::string rows = std::to_string(m), result = "tensor<" + rows + "x768xf32>";
    text += "func.func @product_" + rows + "(%a: tensor<" + rows +
            "x256xf16>, %b: tensor<256x768xf16>) -> " + result +
            " {\n  %z = arith.constant 0.0 : f32\n  %e = tensor.empty() : " + result +
            "\n  %f = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " + result +
            "\n  %r = linalg.matmul ins(%a, %b : tensor<" + rows +
            "x256xf16>, tensor<256x768xf16>) outs(%f : " + result + ") -> " + result +
            "\n  return %r : " + result + "\n}\n";
  }
  return text;
}

class SpecMerge : public HoneCommand {
 protected:
  Ran merge(std::vector<std::string> operands, const std::vector<std::string>& more = {}) const {
    operands.insert(operands.begin(), {"spec", "merge"});
    operands.insert(operands.end(), more.begin(), more.end());
    return hone(operands);
  }
  std::string refused(const std::vector<std::string>& operands,
                      const std::vector<std::string>& more) const {
    const Ran ran = merge(operands, more);
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    return ran.err;
  }
  nlohmann::json entries_of(const std::string& spec) const {
    return json({"spec", "show", spec, "--json"}).at("entries");
  }
  std::string text(const std::string& name) const {
    return read_file(folder() / name).value_or("(" + name + " is missing)");
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder() / name); }

  // As hone tune --out writes it; `flags` are further ones.
  std::string out_folder(const std::string& name, const std::string& spec,
                         const std::string& flags = "", const std::string& kernel = "") const {
    write(name + "/tuning_spec.mlir", spec);
    if (!kernel.empty()) write(name + "/kernels/main$async_dispatch_0.mlir", kernel);
    const std::string kernels =
        "--iree-hal-substitute-executable-sources-from=" + name + "/kernels\n";
    write(name + "/compile_flags.txt",
          "--iree-hal-target-device=local\n--iree-hal-local-target-device-backends=llvm-cpu\n"
          "--iree-llvmcpu-target-cpu=x86-64\n" +
              flags + (kernel.empty() ? "" : kernels) +
              "--iree-codegen-tuning-spec-path=elsewhere/tuning_spec.mlir\n");
    return name;
  }
};

std::vector<std::string> column(const nlohmann::json& rows, const std::string& key) {
  std::vector<std::string> values;
  for (const auto& row : rows) values.push_back(row.at(key).get<std::string>());
  return values;
}

TEST_F(SpecMerge, PutsEntriesOfSeveralSpecsBehindOneDefaultEntryPoint) {
  write("a.mlir", products_spec({{512}, {256}}, kDefaultEntryPoint));
  write("b.mlir", products_spec({{1024, 64}}));  // without the default entry point
  const Ran ran = merge({"a.mlir", "b.mlir"}, {"-o", "merged.mlir"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("merged.mlir: 3 of 3 entries, the first match wins"));
  const std::string merged = text("merged.mlir");
  EXPECT_THAT(merged, AllOf(HasSubstr("iree_codegen.tuning_spec_with_default_entrypoint"),
                            HasSubstr("@match_0 -> @set_0,\n      @match_1 -> @set_1,\n"
                                      "      @match_0_0 -> @set_0_0\n"),
                            HasSubstr("hone.origin = \"b.mlir:12 @match_0\"")));
  const auto entries = entries_of("merged.mlir");
  EXPECT_THAT(column(entries, "matches"), ElementsAre("contraction f16 x f16 -> f32, m 512",
                                                      "contraction f16 x f16 -> f32, m 256",
                                                      "contraction f16 x f16 -> f32, m 1024"));
  EXPECT_THAT(column(entries, "origin"),
              ElementsAre("a.mlir:12 @match_0", "a.mlir:23 @match_1", "b.mlir:12 @match_0"));
  EXPECT_THAT(entries[2].at("lowering_config").get<std::string>(),
              HasSubstr("distribution = [64, 64, 0]"));
}

TEST_F(SpecMerge, NamesRepeatedAndConflictingEntriesAndTheProgramConfirmsTheRest) {
  write("a.mlir", products_spec({{512, 32}, {256, 32}}));
  write("b.mlir",
        products_spec({{256, 32}, {512, 64}, {2048, 32}, {1024, 32, "no_such_information"}}));
  write("program.mlir", program_of({512, 256, 1024}));
  const auto document = json({"spec", "merge", "a.mlir", "b.mlir", "-o", "merged.mlir", "--program",
                              "program.mlir", "--target", "x86-64", "--json"});
  EXPECT_THAT(column(document.at("merged"), "state"),
              ElementsAre("kept", "kept", "repeats 2", "shadowed by 1", "kept", "kept"));
  EXPECT_THAT(document.at("notes")[0].get<std::string>(),
              AllOf(HasSubstr("conflict: b.mlir:23 @match_1 is left out: a.mlir:12 @match_0")));
  std::vector<std::string> effects;
  for (const auto& entry : document.at("entries"))
    effects.push_back(entry.at("matches").empty()
                          ? "dead"
                          : entry.at("matches")[0].at("effect").get<std::string>());
  EXPECT_THAT(effects, ElementsAre("applied", "applied", "dead", "ignored"));
  EXPECT_EQ(document.at("working"), 2);
  // The first spec's configuration won.
  EXPECT_THAT(text("merged.mlir"), Not(HasSubstr("distribution = [64, 64, 0]")));
  EXPECT_EQ(merge({"merged.mlir", "a.mlir"}, {"-o", "again.mlir"}).exit_code, 0);
  EXPECT_EQ(text("again.mlir"), text("merged.mlir"));
}

// A file that iree-opt links of two specs without the default entry point.
TEST_F(SpecMerge, WritesALinkedSpecAsOneThatOtherCommandsTake) {
  std::string first = products_spec({{512, 32}, {256, 32}}), second = products_spec({{512, 64}});
  write("two.mlir", "module @linked attributes {transform.with_named_sequence} {\n" +
                        first.insert(6, " @first") + second.insert(6, " @second") + "}\n");
  Command link;
  link.arguments = {HONE_SOURCE_DIR "/.venv/bin/iree-opt", "--iree-codegen-link-tuning-specs",
                    "two.mlir", "-o", "linked.mlir"};
  link.folder = folder();
  ASSERT_EQ(run_process(link, {}).value().exit_code, 0);
  write("program.mlir", program_of({512, 256}));
  const std::vector<std::string> on_program{"--program", "program.mlir", "--target", "x86-64"};
  const auto check = [&](const std::string& spec) {
    std::vector<std::string> arguments{"spec", "check", spec};
    arguments.insert(arguments.end(), on_program.begin(), on_program.end());
    return hone(arguments);
  };
  EXPECT_THAT(check("linked.mlir").err, HasSubstr("hone spec merge linked.mlir -o one.mlir"));
  ASSERT_EQ(merge({"linked.mlir"}, {"-o", "one.mlir"}).exit_code, 0);
  EXPECT_EQ(check("one.mlir").exit_code, 0);
  const auto entries = entries_of("linked.mlir");
  EXPECT_THAT(column(entries, "matcher"),
              ElementsAre("second::@match_0", "first::@match_0", "first::@match_1"));
  EXPECT_THAT(column(entries, "state"), ElementsAre("kept", "shadowed by 1", "kept"));
  EXPECT_THAT(text("one.mlir"), AllOf(HasSubstr("distribution = [64, 64, 0]"),
                                      HasSubstr("distribution = [32, 64, 0]")));
}

TEST_F(SpecMerge, JoinsFoldersWithKernelsAndFlags) {
  const std::string a =
      out_folder("out_a", products_spec({{512}}), "--iree-opt-level=O2\n", "kernel");
  const std::string b = out_folder("out_b", products_spec({{1024}}), "--iree-opt-level=O2\n");
  write("c.mlir", products_spec({{256}}));
  const Ran ran = merge({a, b, "c.mlir"}, {"-o", "joined"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(text("joined/kernels/main$async_dispatch_0.mlir"), "kernel");
  EXPECT_THAT(
      text("joined/compile_flags.txt"),
      AllOf(HasSubstr("--iree-llvmcpu-target-cpu=x86-64\n--iree-opt-level=O2\n"
                      "--iree-codegen-tuning-spec-path=joined/tuning_spec.mlir\n"),
            HasSubstr("executable-sources-from=joined/kernels\n"), Not(HasSubstr("elsewhere"))));
  EXPECT_EQ(entries_of("joined").size(), 3u);
  EXPECT_THAT(refused({a, b}, {"-o", "joined"}), HasSubstr("'joined' exists"));
}

TEST_F(SpecMerge, RefusesFoldersThatDisagreeAndWritesNothing) {
  const std::string a =
      out_folder("out_a", products_spec({{512}}), "--iree-opt-level=O2\n", "kernel");
  const std::string b = out_folder("out_b", products_spec({{1024}}), "--iree-opt-level=O3\n");
  EXPECT_THAT(refused({a, b}, {"-o", "joined"}),
              HasSubstr("'out_a' has --iree-opt-level=O2, and 'out_b' has --iree-opt-level=O3"));
  const std::string c = out_folder("out_c", products_spec({{256}}), "", "another kernel");
  EXPECT_THAT(refused({a, c}, {"-o", "joined"}),
              HasSubstr("'out_c' has another kernel 'main$async_dispatch_0.mlir'"));
  EXPECT_THAT(
      refused({a, write("d.mlir", products_spec({{256}}))}, {"-o", "joined", "--target", "sm_80"}),
      HasSubstr("the folders are for x86-64, and --target says sm_80"));
  std::filesystem::create_directory(folder() / "empty");
  EXPECT_THAT(refused({a, "empty"}, {"-o", "joined"}),
              HasSubstr("'empty' has no compile_flags.txt"));
  EXPECT_FALSE(exists("joined"));
}

TEST_F(SpecMerge, RefusesSpecsThatItCannotRead) {
  write("good.mlir", products_spec({{512}}));
  std::string newer = products_spec({{512}});
  newer.replace(newer.find("dims_equal"), 10, "dims_exact");
  write("newer.mlir", newer);
  EXPECT_THAT(refused({"good.mlir", "newer.mlir"}, {"-o", "merged.mlir"}),
              AllOf(HasSubstr("'newer.mlir' is no tuning spec that IREE reads"),
                    HasSubstr("newer.mlir:14:"), HasSubstr("dims_exact")));
  std::string more = products_spec({{512}});
  more.insert(more.find("  transform.yield %r :"), "  transform.print\n");
  write("more.mlir", more);
  EXPECT_THAT(refused({"good.mlir", "more.mlir"}, {"-o", "merged.mlir"}),
              AllOf(HasSubstr("'more.mlir': @__kernel_config does more than one"),
                    HasSubstr("transform.print")));
  write("linked.mlir", R"(module attributes {transform.with_named_sequence} {
module @user attributes {transform.with_named_sequence} {
  transform.named_sequence @run(%v: !transform.any_op {transform.consumed}) -> !transform.any_op {
    transform.yield %v : !transform.any_op
  }
}
transform.named_sequence @__kernel_config(%v: !transform.any_op {transform.consumed})
    -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {
  %r = transform.include @user::@run failures(suppress) (%v)
    : (!transform.any_op) -> !transform.any_op
  transform.yield %r : !transform.any_op
}
})");
  EXPECT_THAT(refused({"good.mlir", "linked.mlir"}, {"-o", "merged.mlir"}),
              HasSubstr("'linked.mlir' has no entry: @run holds no transform.foreach_match"));
  EXPECT_FALSE(exists("merged.mlir"));
}

TEST_F(SpecMerge, ShowsTheMeasurementBesideASpecOfHones) {
  std::string spec = products_spec({{512}, {256}});
  for (std::size_t at = spec.find("@match_0"); at != std::string::npos;
       at = spec.find("@match_0", at + 1))
    spec.replace(at, 8, "@match_0_main_dispatch_0_matmul");
  out_folder("out", spec);
  write("out/results.json",
        R"([{"dispatch": "main_dispatch_0_matmul", "speedup": 1.0},
            {"dispatch": "main_dispatch_0_matmul", "speedup": 1.75},
            {"dispatch": "main_dispatch_0_matmul", "speedup": null}])");
  const auto entries = entries_of("out");
  EXPECT_EQ(entries[0].at("speedup"), 1.75);
  EXPECT_TRUE(entries[1].at("speedup").is_null());
}

// IREE 3.13 has entries of its own for an attention and a product on gfx942, and none on sm_90.
TEST_F(SpecMerge, ShowsTheCompilersOwnEntriesBehindTheSpecs) {
  write("a.mlir", products_spec({{512}}, kDefaultEntryPoint));
  const auto rows =
      json({"spec", "show", "a.mlir", "--defaults", "--target", "gfx942", "--json"}).at("entries");
  EXPECT_EQ(
      column(rows, "origin"),
      (std::vector<std::string>{"a.mlir:12 @match_0",
                                "IREE's own for gfx942:26 @match_attention_2x10x4096x64x64x64_f16",
                                "IREE's own for gfx942:45 @match_mmt_2048x1280x5120_f16_f16_f32"}));
  EXPECT_EQ(rows.at(2).at("matcher"), "match_mmt_2048x1280x5120_f16_f16_f32");
  const auto none = json({"spec", "show", "a.mlir", "--defaults", "--target", "sm_90", "--json"});
  EXPECT_EQ(none.at("entries").size(), 1u);
  EXPECT_EQ(none.at("note"), "IREE has no tuning spec of its own for sm_90\n");
}

}  // namespace
}  // namespace hone::cli
