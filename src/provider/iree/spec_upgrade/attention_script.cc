#include "provider/iree/spec_upgrade/attention_script.h"

#include <vector>

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

// The steps of a script that lowered an attention of loops b, m, n, k1 and k2.
class Script {
 public:
  Script(const SpecFile& file, const SpecOperation& operation)
      : file_(file), text_(file.text()), first_(operation.body), last_(operation.last) {
    for (std::size_t i = first_; i < last_; ++i)
      if (text_.is(i, Kind::kWord)) read(i);
  }

  // The configuration and that of its two products; nullopt if a step is missing or two disagree.
  std::optional<std::pair<std::string, std::string>> configurations(
      const std::string& options) const {
    const std::string layout = upgraded_layout(layout_).text;
    const std::string open = "#iree_gpu.mma_layout<";
    if (disagrees_ || !chains_ || block_.size() != 2 || warp_.size() != 1 || warp_[0] == 0 ||
        steps_ == 0 || threads_.empty() || lanes_ == 0 || !layout.starts_with(open))
      return std::nullopt;
    const long subgroups = block_[1] / warp_[0];
    long threads = 1;
    for (const long size : threads_) threads *= size;
    if (subgroups * warp_[0] != block_[1] || threads != subgroups * lanes_ || block_[0] != 1)
      return std::nullopt;
    MlirFields fields = MlirFields::of(options);
    std::string pipeline;
    if (prefetches_) pipeline = "prefetch_num_stages = 2";
    if (!reduces_conflicts_)
      pipeline += std::string(pipeline.empty() ? "" : ", ") +
                  "no_reduce_shared_memory_bank_conflicts = true";
    if (!pipeline.empty())
      fields.set("gpu_pipeline_options", "#iree_gpu.pipeline_options<" + pipeline + ">");
    const std::string promoted = std::string(promotes_key_ ? "1" : "") +
                                 (promotes_key_ && promotes_value_ ? ", " : "") +
                                 (promotes_value_ ? "2" : "");
    const std::string kind = layout.substr(0, layout.rfind('>')) + ", col_major = true>";
    const auto part = [&](const char* loops, bool promotes) {
      return fmt::format(
          "{{lowering_config = #iree_gpu.lowering_config<{{mma_kind = {}, subgroup_basis = [[1, "
          "{}, "
          "1, 1, 1], {}], promote_operands = [{}]}}>}}",
          kind, subgroups, loops, promotes ? "1" : "");
    };
    return std::pair{
        fmt::format(
            "#iree_codegen.compilation_info<\n      lowering_config = "
            "#iree_gpu.lowering_config<{{workgroup = [1, {}, 0, 0, 0], reduction = [0, 0, "
            "0, 0, {}], promote_operands = [{}]}}>,\n      translation_info = "
            "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> "
            "workgroup_size = [{}] subgroup_size = {}{}>>",
            block_[1], steps_, promoted, fmt::join(threads_, ", "), lanes_,
            fields.all().empty() ? "" : ", {" + fields.to_text() + "}"),
        fmt::format("{{qk_attrs = {}, pv_attrs = {}}}", part("[0, 1, 3, 4]", promotes_key_),
                    part("[0, 1, 2, 4]", promotes_value_))};
  }

 private:
  void read(std::size_t i) {
    const std::string_view word = text_.at(i);
    if (word == "transform.structured.tile_using_forall") {
      read_tiles(i);
    } else if (word == "transform.iree.tile_attention") {
      read_steps(i);
    } else if (word == "transform.iree.decompose_tiled_attention") {
      read_steps(i);
      read_products(i);
    } else if (word == "transform.iree.promote_operands") {
      read_promoted(i);
    } else if (word == "transform.iree.map_nested_forall_to_gpu_threads") {
      const std::size_t dims = text_.find("workgroup_dims", i, last_) + 2;
      threads_ = integers_of(text_.between(dims, text_.behind(dims)));
      const std::size_t lanes = text_.find("subgroup_size", i, last_) + 2;
      const std::vector<long> size = integers_of(fmt::format("[{}]", text_.at(lanes)));
      lanes_ = size.empty() ? 0 : size[0];
    } else if (word == "transform.iree.set_contraction_layout_attributes") {
      agree(layout_, layout_of(text_.at(i + 3)));
    } else if (word == "transform.apply_registered_pass") {
      chains_ = chains_ || text_.at(i + 1) == "\"iree-amdgpu-prepare-chained-matmul\"";
    } else if (word == "transform.iree.prefetch_shared_memory_copies") {
      prefetches_ = true;
    } else if (word == "transform.iree.reduce_shared_memory_bank_conflicts") {
      reduces_conflicts_ = true;
    } else if (word == "transform.amdgpu.optimize_shared_memory_reads_and_writes") {
      disagrees_ = true;  // a layout that the pipeline does not have
    }
  }

  void agree(auto& known, const auto& value) {
    if (known == std::decay_t<decltype(known)>())
      known = value;
    else if (known != value)
      disagrees_ = true;
  }

  void read_tiles(std::size_t i) {
    const std::size_t open = text_.find("[", i, last_);
    const std::size_t mapping = text_.find("mapping", i, last_) + 2;
    if (mapping >= last_) return;
    const std::vector<long> tiles = integers_of(text_.between(open, text_.behind(open)));
    if (text_.at(mapping + 1).starts_with("#gpu.block"))
      agree(block_, tiles);
    else
      agree(warp_, tiles);
  }

  void read_steps(std::size_t i) {
    const std::size_t key = text_.find("tile_size", i, last_);
    const std::vector<long> size = integers_of(fmt::format("[{}]", text_.at(key + 2)));
    agree(steps_, size.empty() ? 0 : size[0]);
  }

  // Eleven results, among them the first product and, as the last, the second.
  void read_products(std::size_t i) {
    constexpr std::size_t kResults = 11, kFirst = 2;
    std::vector<std::string_view> results;
    for (std::size_t at = i - 1;
         at-- > first_ && (text_.is(at, Kind::kValue) || text_.at(at) == ",");)
      if (text_.is(at, Kind::kValue)) results.insert(results.begin(), text_.at(at));
    if (results.size() != kResults) {
      disagrees_ = true;
      return;
    }
    first_product_ = results[kFirst];
    second_product_ = results.back();
  }

  void read_promoted(std::size_t i) {
    const bool is_right = text_.between(i + 2, text_.behind(i + 2)) == "[1]";
    if (is_right && text_.at(i + 1) == first_product_)
      promotes_key_ = true;
    else if (is_right && text_.at(i + 1) == second_product_)
      promotes_value_ = true;
    else
      disagrees_ = true;
  }

  // "%layout = transform.param.constant #layout -> !transform.any_param"
  std::string layout_of(std::string_view value) const {
    for (std::size_t i = first_; i + 3 < last_; ++i)
      if (text_.at(i) == value && text_.at(i + 1) == "=" &&
          text_.at(i + 2) == "transform.param.constant") {
        const std::size_t end = text_.at(i + 4) == "<" ? text_.behind(i + 4) : i + 4;
        return file_.aliases().expanded(text_.between(i + 3, end));
      }
    return "";
  }

  const SpecFile& file_;
  const MlirText& text_;
  std::size_t first_, last_;
  std::vector<long> block_, warp_, threads_;
  long steps_ = 0, lanes_ = 0;
  std::string layout_;
  std::string_view first_product_, second_product_;
  bool promotes_key_ = false, promotes_value_ = false, chains_ = false, prefetches_ = false;
  bool reduces_conflicts_ = false, disagrees_ = false;
};

}  // namespace

std::optional<UpgradedText> configured_attention(const SpecFile& file,
                                                 const SpecOperation& action) {
  const MlirText& text = file.text();
  const std::size_t key = text.find("codegen_spec", action.body, action.last);
  const std::size_t info = text.find("#iree_codegen.translation_info", action.body, action.last);
  if (key + 2 >= action.last || info >= key) return std::nullopt;
  const SpecOperation* const script = file.find(std::string(text.at(key + 2).substr(1)));
  const std::size_t open = text.find("(", action.first, action.body);
  if (script == nullptr || !script->is_sequence || !text.is(open + 1, Kind::kValue))
    return std::nullopt;
  const UpgradedText translation = upgraded_translation(text.between(info, text.behind(info + 1)));
  if (!translation.problem.empty()) return std::nullopt;
  const auto brace = translation.text.find('{');
  const std::string options =
      brace == std::string::npos
          ? ""
          : translation.text.substr(brace, translation.text.rfind('}') + 1 - brace);
  const auto configurations = Script(file, *script).configurations(options);
  if (!configurations) return std::nullopt;
  UpgradedText result;
  result.changes = translation.changes;
  result.changes.insert(UpgradeRule::kAttentionScript);
  const std::string root(text.at(open + 1));
  result.text = fmt::format(
      "{0} {{\n"
      "    %config = transform.param.constant {1} -> !transform.any_param\n"
      "    %decomposition_config = transform.param.constant {2} -> !transform.any_param\n"
      "    transform.annotate {3} \"compilation_info\" = %config : !transform.any_op, "
      "!transform.any_param\n"
      "    transform.annotate {3} \"decomposition_config\" = %decomposition_config : "
      "!transform.any_op, !transform.any_param\n"
      "    transform.yield\n"
      "  }}",
      text.between(action.first, action.body), configurations->first, configurations->second, root);
  return result;
}

}  // namespace hone::iree
