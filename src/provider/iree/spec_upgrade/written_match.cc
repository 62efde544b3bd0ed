#include "provider/iree/spec_upgrade/written_match.h"

#include <algorithm>
#include <vector>

#include "provider/iree/spec_upgrade/program.h"

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

// "f16" of "tensor<?x?x64xf16>".
std::string element_of(const std::string& type) {
  const auto x = type.rfind('x'), close = type.rfind('>');
  if (x == std::string::npos || close == std::string::npos) return type;
  return type.substr(x + 1, close - x - 1);
}

// An indexing map by the names of its loops.
struct NamedMap {
  std::string loops;  // "(B0, M, N, K1, K2)"
  std::vector<std::string> results;
};

std::optional<NamedMap> named_map(const std::string& map) {
  const auto text = MlirText::read(map, "");
  if (!text || text->at(0) != "affine_map" || text->at(2) != "(") return std::nullopt;
  const std::size_t arrow = text->behind(2), open = arrow + 1;
  if (text->at(open) != "(") return std::nullopt;
  NamedMap named{text->between(2, arrow), {}};
  for (std::size_t i = open + 1; i < (*text)[open].partner; ++i)
    if (text->is(i, Kind::kWord)) named.results.emplace_back(text->at(i));
  return named;
}

std::vector<std::string> items_of(const MlirText& text, std::size_t first, std::size_t last) {
  std::vector<std::string> items;
  for (std::size_t i = first; i < last;) {
    const std::size_t end = text.end_of_item(i, last);
    items.push_back(text.between(i, end));
    i = end + 1;
  }
  return items;
}

// The maps of an online_attention: those of the attention, and twice that of a row's state.
std::string online_maps(const std::vector<std::string>& maps) {
  constexpr std::size_t kMaps = 5;
  if (maps.size() != kMaps) return "";
  const auto query = named_map(maps.front()), output = named_map(maps.back());
  if (!query || !output) return "";
  std::vector<std::string> state;
  for (const std::string& loop : output->results)
    if (std::ranges::find(query->results, loop) != query->results.end()) state.push_back(loop);
  const std::string row =
      fmt::format("affine_map<{} -> ({})>", output->loops, fmt::join(state, ", "));
  return fmt::format("{}, {}, {}", fmt::join(maps, ", "), row, row);
}

std::string online_match(const std::string& root, const std::vector<std::string>& types,
                         const std::string& maps) {
  std::string text = fmt::format(
      "%hone_batch, %hone_m, %hone_n, %hone_k1, %hone_k2 = transform.iree.match.online_attention "
      "{},\n      query_type = {}, key_type = {}, value_type = {}, scale_type = {},\n"
      "      output_type = f32, max_type = f32, sum_type = f32,\n      indexing_maps = [{}] : "
      "!transform.any_op -> !transform.param<i64>",
      root, element_of(types[0]), element_of(types[1]), element_of(types[2]), types[3], maps);
  for (std::size_t i = 0; i < 3; ++i)
    if (types[i].find_first_of("123456789") < types[i].rfind('x'))
      text += fmt::format(
          "\n    %hone_operand_{0} = transform.get_operand {1}[{0}] : (!transform.any_op) -> "
          "!transform.any_value\n    transform.iree.match.cast_compatible_type %hone_operand_{0} = "
          "{2} : !transform.any_value",
          i, root, types[i]);
  return text;
}

// "[2048]", "[-1]" for "?": the extents of "tensor<2048x?xf16>" at `dimensions`.
std::string extents_of(const std::string& type, const std::vector<std::size_t>& dimensions) {
  std::vector<std::string> extents;
  std::size_t at = type.find('<') + 1;
  for (std::size_t end = type.find('x', at); end != std::string::npos; end = type.find('x', at)) {
    extents.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  std::vector<std::string> wanted;
  for (const std::size_t dimension : dimensions)
    if (dimension < extents.size())
      wanted.push_back(extents[dimension] == "?" ? "-1" : extents[dimension]);
  return fmt::format("[{}]", fmt::join(wanted, ", "));
}

struct Convolution {
  std::string_view name;
  // Maps of its operands; "S0" and "D0" stand for the first stride and dilation.
  const char *image, *filter;
  // Dimensions of the result, and of the filter's type.
  std::vector<std::size_t> images;
  std::size_t output;
  std::vector<std::size_t> windows;
  std::size_t input;
};
const Convolution kConvolutions[] = {
    {"linalg.conv_2d_nhwc_hwcf",
     "d0, d1S0 + d4D0, d2S1 + d5D1, d6",
     "d4, d5, d6, d3",
     {1, 2},
     3,
     {0, 1},
     2},
    {"linalg.conv_2d_nhwc_fhwc",
     "d0, d1S0 + d4D0, d2S1 + d5D1, d6",
     "d3, d4, d5, d6",
     {1, 2},
     3,
     {1, 2},
     3},
    {"linalg.conv_2d_nchw_fchw",
     "d0, d4, d2S0 + d5D0, d3S1 + d6D1",
     "d1, d4, d5, d6",
     {2, 3},
     1,
     {2, 3},
     1},
};
const Convolution* convolution_of(std::string_view name) {
  const auto* const found = std::ranges::find(kConvolutions, name, &Convolution::name);
  return found != std::ranges::end(kConvolutions) ? found : nullptr;
}

// The two numbers of "dense<2> : ..." or "dense<[2, 1]> : ..."; ones if `text` is empty.
std::vector<long> pair_of(const std::string& text) {
  if (text.empty()) return {1, 1};
  const auto open = text.find('<'), close = text.find('>');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::string inner = text.substr(open + 1, close - open - 1);
  if (!inner.starts_with('[')) inner = "[" + inner + "]";
  std::vector<long> pair = integers_of(inner);
  if (pair.size() == 1) pair.push_back(pair[0]);
  return pair.size() == 2 ? pair : std::vector<long>();
}

class Writer {
 public:
  Writer(const SpecFile& file, const MlirText& text, std::size_t operation)
      : file_(file), text_(text), open_(operation + 2), close_(text[open_].partner) {
    match_.first = operation;
    match_.last = text.behind(close_);
    // "%ins, %outs = " before it, ": (...) -> (...)" behind it.
    if (operation >= 4 && text.at(operation - 1) == "=") match_.first = operation - 4;
    if (text.at(close_ + 1) == ":") match_.last = text.behind(text.behind(close_ + 2) + 1);
    for (std::size_t i = match_.last; i < text.size(); ++i)
      uses_operands_ =
          uses_operands_ ||
          (text.is(i, Kind::kValue) && match_.first < operation &&
           (text.at(i) == text.at(match_.first) || text.at(i) == text.at(match_.first + 2)));
    for (std::size_t i = open_ + 1; i < close_; i = text.behind(i))
      if (text.is(i, Kind::kWord) && text.at(i).find('.') != std::string_view::npos) {
        ++operations_;
        root_ = i;
      }
  }

  std::optional<WrittenMatch> run() {
    if (root_ == 0) return std::nullopt;
    const std::string_view name = text_.at(root_);
    const Convolution* const convolution = convolution_of(name);
    const bool is_product =
        name == "linalg.matmul" || name == "linalg.batch_matmul" || is_transposed_product(name);
    if (name != "iree_linalg_ext.attention" && !is_product && convolution == nullptr)
      return std::nullopt;
    if (uses_operands_) match_.statement.fail("a matcher that uses the operands that it matched");
    if (operations_ != 1) match_.statement.fail("a matcher of several operations");
    if (!match_.statement.problem.empty()) return match_;
    if (convolution != nullptr)
      write_convolution(*convolution);
    else if (is_product)
      write_product(name);
    else
      write_attention();
    return match_;
  }

 private:
  std::string matched() const { return std::string(text_.at(open_ - 1)); }

  // Types of "ins(%a, %b : A, B)" or "outs(%c : C)".
  std::vector<std::string> types_of(std::string_view operands) const {
    const std::size_t open = text_.find(operands, root_, close_) + 1;
    if (open >= close_) return {};
    const std::size_t colon = text_.find(":", open, text_[open].partner);
    return items_of(text_, colon + 1, text_[open].partner);
  }

  std::vector<std::string> maps() const {
    const std::size_t key = text_.find("indexing_maps", root_, close_);
    if (key + 2 >= close_) return {};
    const auto list =
        MlirText::read(file_.aliases().expanded(text_.between(key + 2, text_.behind(key + 2))), "");
    if (!list || list->at(0) != "[") return {};
    return items_of(*list, 1, (*list)[0].partner);
  }

  void write_attention() {
    const std::string online = online_maps(maps());
    const std::vector<std::string> types = types_of("ins");
    if (online.empty() || types.size() != 4)
      return match_.statement.fail("an attention with a mask, or without a scale");
    match_.statement.changes.insert(UpgradeRule::kOnlineAttention);
    match_.statement.text = online_match(matched(), types, online);
  }

  void write_product(std::string_view name) {
    const std::vector<std::string> types = types_of("ins"), results = types_of("outs");
    if (types.size() != 2 || results.size() != 1)
      return match_.statement.fail("a product of other operands");
    const bool batched = name.starts_with("linalg.batch"), transposed = is_transposed_product(name);
    if (!maps().empty() && maps().size() != 3)
      return match_.statement.fail("a product of other indexing maps");
    const std::string loops = batched ? "b, m, n, k" : "m, n, k", batch = batched ? "b, " : "";
    const std::string given = fmt::format("{}", fmt::join(maps(), ", "));
    const std::string written = fmt::format(
        "affine_map<({0}) -> ({1}m, k)>, affine_map<({0}) -> ({1}{2})>, affine_map<({0}) -> ({1}m, "
        "n)>",
        loops, batch, transposed ? "n, k" : "k, n");
    // The extents are those of the operation's own loops only without maps of its own.
    if (!given.empty()) return match_.statement.fail("a named product with indexing maps");
    const std::size_t first = batched ? 1 : 0;
    match_.statement.changes.insert(UpgradeRule::kGeneralizedProducts);
    match_.statement.text = fmt::format(
        "%hone_batch, %hone_m, %hone_n, %hone_k = transform.iree.match.contraction {},\n"
        "      lhs_type = {}, rhs_type = {}, output_type = {},\n      indexing_maps = [{}] : "
        "!transform.any_op -> !transform.param<i64>\n",
        matched(), element_of(types[0]), element_of(types[1]), element_of(results[0]), written);
    equal("%hone_batch", batched ? extents_of(results[0], {0}) : "[]");
    equal("%hone_m", extents_of(results[0], {first}));
    equal("%hone_n", extents_of(results[0], {first + 1}));
    equal("%hone_k", extents_of(types[0], {first + 1}));
    match_.statement.text.pop_back();
  }

  // Matches of the loops by their roles: the linalg.generic has attributes that a written one
  // lacks.
  void write_convolution(const Convolution& convolution) {
    const std::vector<std::string> types = types_of("ins"), results = types_of("outs");
    const MlirFields fields = text_.at(root_ + 1) == "{"
                                  ? MlirFields(text_, root_ + 2, text_[root_ + 1].partner)
                                  : MlirFields();
    const std::vector<long> strides = pair_of(fields.value("strides")),
                            dilations = pair_of(fields.value("dilations"));
    if (types.size() != 2 || results.size() != 1 || strides.empty() || dilations.empty())
      return match_.statement.fail("a convolution of other operands");
    std::string image = convolution.image;
    for (std::size_t i = 0; i < 2; ++i)
      for (const auto& [letter, factor] : {std::pair{"S", strides[i]}, {"D", dilations[i]}}) {
        const std::string place = letter + std::to_string(i);
        image.replace(image.find(place), place.size(),
                      factor == 1 ? "" : fmt::format(" * {}", factor));
      }
    constexpr std::string_view kLoops = "d0, d1, d2, d3, d4, d5, d6", kOutput = "d0, d1, d2, d3";
    match_.statement.changes.insert(UpgradeRule::kGeneralizedConvolutions);
    match_.statement.text = fmt::format(
        "%hone_batch, %hone_image, %hone_output, %hone_filter, %hone_input, %hone_depth, "
        "%hone_strides, %hone_dilations = transform.iree.match.convolution {0},\n"
        "      lhs_type = {1}, rhs_type = {2}, output_type = {3},\n"
        "      indexing_maps = [affine_map<({4}) -> ({5})>, affine_map<({4}) -> ({6})>, "
        "affine_map<({4}) -> ({7})>] : !transform.any_op -> !transform.param<i64>\n",
        matched(), element_of(types[0]), element_of(types[1]), element_of(results[0]), kLoops,
        image, convolution.filter, kOutput);
    equal("%hone_batch", extents_of(results[0], {0}));
    equal("%hone_image", extents_of(results[0], convolution.images));
    equal("%hone_output", extents_of(results[0], {convolution.output}));
    equal("%hone_filter", extents_of(types[1], convolution.windows));
    equal("%hone_input", extents_of(types[1], {convolution.input}));
    match_.statement.text.pop_back();
  }

  void equal(const char* value, const std::string& extents) {
    match_.statement.text += fmt::format(
        "    transform.iree.match.dims_equal {}, {} : !transform.param<i64>\n", value, extents);
  }

  const SpecFile& file_;
  const MlirText& text_;
  std::size_t open_, close_, root_ = 0, operations_ = 0;
  bool uses_operands_ = false;
  WrittenMatch match_;
};

}  // namespace

bool is_generalized(std::string_view operation) {
  return operation == "linalg.matmul" || operation == "linalg.batch_matmul" ||
         is_transposed_product(operation) || convolution_of(operation) != nullptr;
}

std::optional<WrittenMatch> upgraded_match(const SpecFile& file, const MlirText& text,
                                           std::size_t operation) {
  if (text.at(operation + 2) != "{") return std::nullopt;
  return Writer(file, text, operation).run();
}

}  // namespace hone::iree
