#include "provider/iree/spec_upgrade/matched_loops.h"

#include <algorithm>
#include <set>
#include <vector>

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

struct NamedOperation {
  std::string_view name;
  const char* kinds;
};
// Loops in the order of the operations' definitions.
constexpr NamedOperation kNamed[] = {
    {"linalg.matmul", "MNK"},
    {"linalg.matmul_transpose_a", "MNK"},
    {"linalg.matmul_transpose_b", "MNK"},
    {"linalg.batch_matmul", "BMNK"},
    {"linalg.batch_matmul_transpose_a", "BMNK"},
    {"linalg.batch_matmul_transpose_b", "BMNK"},
    {"linalg.conv_2d_nhwc_hwcf", "BMMNFFK"},
    {"linalg.conv_2d_nhwc_fhwc", "BMMNFFK"},
    {"linalg.conv_2d_nchw_fchw", "BNMMKFF"},
};

// An indexing map: the loops in each result, and those in sums with others.
struct Map {
  std::size_t loops = 0;
  std::set<std::size_t> used, summed;
};

// Reads "affine_map<(d0, d1) -> (d0 + d1)>".
std::optional<Map> map_of(const MlirText& text, std::size_t first, std::size_t last) {
  const std::size_t word = text.find("affine_map", first, last);
  if (word + 2 >= last || text.at(word + 2) != "(") return std::nullopt;
  const std::size_t dimensions = word + 2;
  std::vector<std::string_view> names;
  for (std::size_t i = dimensions + 1; i < text[dimensions].partner; ++i)
    if (text.is(i, Kind::kWord)) names.push_back(text.at(i));
  const std::size_t arrow = text.find("->", text[dimensions].partner, last);
  if (arrow + 1 >= last || text.at(arrow + 1) != "(") return std::nullopt;
  Map map{names.size(), {}, {}};
  const std::size_t close = text[arrow + 1].partner;
  for (std::size_t i = arrow + 2; i < close;) {
    const std::size_t end = text.end_of_item(i, close);
    for (std::size_t at = i; at < end; ++at) {
      const auto found = std::ranges::find(names, text.at(at));
      if (found == names.end()) continue;
      const auto loop = static_cast<std::size_t>(found - names.begin());
      map.used.insert(loop);
      if (end > i + 1) map.summed.insert(loop);
    }
    i = end + 1;
  }
  return map;
}

// Reads a list of maps with no alias in it.
std::vector<Map> maps_of(const std::string& list) {
  std::vector<Map> maps;
  const auto text = MlirText::read(list, "");
  if (!text || text->at(0) != "[") return maps;
  const std::size_t close = (*text)[0].partner;
  for (std::size_t i = 1; i < close;) {
    const std::size_t end = text->end_of_item(i, close);
    const auto map = map_of(*text, i, end);
    if (!map) return {};
    maps.push_back(*map);
    i = end + 1;
  }
  return maps;
}

char kind_of(std::size_t loop, const std::vector<Map>& maps) {
  const Map& result = maps.back();
  const bool in_result = result.used.contains(loop);
  if (maps.size() != 3) return in_result ? 'P' : 'R';
  const bool first = maps[0].used.contains(loop), second = maps[1].used.contains(loop);
  if (in_result) return first && second ? 'B' : first ? 'M' : second ? 'N' : 'P';
  return first && second ? (maps[0].summed.contains(loop) ? 'F' : 'K') : 'R';
}

std::optional<MatchedLoops> from_maps(const std::vector<Map>& maps) {
  if (maps.empty()) return std::nullopt;
  MatchedLoops loops;
  for (std::size_t loop = 0; loop < maps.back().loops; ++loop) loops.kinds += kind_of(loop, maps);
  return loops;
}

std::optional<MatchedLoops> from_name(std::string_view name) {
  if (name == "iree_linalg_ext.attention" || name == "iree_linalg_ext.online_attention")
    return MatchedLoops{"", true};
  const auto* const found = std::ranges::find(kNamed, name, &NamedOperation::name);
  if (found == std::ranges::end(kNamed)) return std::nullopt;
  return MatchedLoops{found->kinds, false};
}

std::optional<MatchedLoops> from_maps_behind(const MlirText& text, std::size_t first,
                                             std::size_t last, const MlirAliases& aliases) {
  const std::size_t key = text.find("indexing_maps", first, last);
  if (key + 2 >= last) return std::nullopt;
  const std::size_t end = text.at(key + 2) == "[" ? text.behind(key + 2) : key + 3;
  return from_maps(maps_of(aliases.expanded(text.between(key + 2, end))));
}

class Reader {
 public:
  explicit Reader(const SpecFile& file) : file_(file), text_(file.text()) {}

  void read(const SpecOperation& sequence) {
    if (!inside_.insert(sequence.symbol).second) return;
    for (std::size_t i = sequence.body; i < sequence.last; ++i) {
      const std::string_view word = text_.at(i);
      if (word == "transform.include" && text_.is(i + 1, Kind::kSymbol)) {
        if (const auto* const included = file_.find(std::string(text_.at(i + 1).substr(1))))
          read(*included);
      } else if (word == "transform.match.operation_name") {
        read_names(i, sequence.last);
      } else if (word == "transform.iree.match.cast_compatible_dag_from_root") {
        const std::size_t open = text_.find("{", i, sequence.last);
        if (open < sequence.last) read_root(open);
      } else if (word == "transform.iree.match.contraction" ||
                 word == "transform.iree.match.convolution") {
        state(from_maps_behind(text_, i, sequence.last, file_.aliases()));
      } else if (word == "transform.iree.match.attention" ||
                 word == "transform.iree.match.online_attention") {
        state(MatchedLoops{"", true});
      }
    }
  }

  std::optional<MatchedLoops> found() const {
    if (contradicts_) return std::nullopt;
    return stated_ ? stated_ : named_;
  }

 private:
  // The name alone: other conditions say more, if there are any.
  void read_names(std::size_t operation, std::size_t last) {
    const std::size_t open = text_.find("[", operation, last);
    if (open + 2 >= last || text_[open].partner != open + 2) return;
    const std::string_view name = text_.at(open + 1);
    named_ = from_name(name.substr(1, name.size() - 2));
  }

  // The last operation of the region is the root.
  void read_root(std::size_t open) {
    std::size_t root = 0;
    for (std::size_t i = open + 1; i < text_[open].partner; i = text_.behind(i))
      if (text_.is(i, Kind::kWord) && text_.at(i).find('.') != std::string_view::npos) root = i;
    if (root == 0) return;
    state(loops_of(text_, root, text_[open].partner, file_.aliases()));
  }

  void state(const std::optional<MatchedLoops>& loops) {
    if (!loops) return;
    contradicts_ = contradicts_ || (stated_ && stated_->kinds != loops->kinds);
    stated_ = loops;
  }

  const SpecFile& file_;
  const MlirText& text_;
  std::set<std::string> inside_;
  std::optional<MatchedLoops> stated_, named_;
  bool contradicts_ = false;
};

}  // namespace

std::optional<MatchedLoops> loops_of(const MlirText& text, std::size_t operation, std::size_t last,
                                     const MlirAliases& aliases) {
  const std::string_view name = text.at(operation);
  return name == "linalg.generic" ? from_maps_behind(text, operation, last, aliases)
                                  : from_name(name);
}

bool is_reduction(char kind) {
  return kind == 'K' || kind == 'F' || kind == 'R';
}

std::optional<MatchedLoops> matched_loops(const SpecFile& file, const SpecOperation& matcher) {
  Reader reader(file);
  reader.read(matcher);
  return reader.found();
}

}  // namespace hone::iree
