#include "provider/iree/vector/vector_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "problem/scalar_operation.h"

namespace hone::iree {
namespace {

using problem::ScalarKind;
using problem::StatedUse;
using problem::StatedValue;
using problem::StatedView;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// "#hal.pipeline.layout<...>" as operations print it: "<...>".
std::string_view short_form(std::string_view attribute) {
  const std::size_t at = attribute.find('<');
  return attribute.substr(at == std::string_view::npos ? 0 : at);
}

// The second string of #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", ...> as a symbol.
std::string variant_name(std::string_view target) {
  std::size_t at = 0;
  for (int quotes = 0; quotes < 3; ++quotes) at = target.find('"', at) + 1;
  std::string name(target.substr(at, target.find('"', at) - at));
  std::ranges::replace(name, '-', '_');
  return name;
}

class KernelText {
 public:
  KernelText(const VectorKernel& kernel, const VectorKnobs& knobs)
      : kernel_(kernel),
        stated_(*kernel.stated),
        knobs_(knobs),
        tiles_(tiles_of(kernel, knobs)),
        vector_(fmt::format("vector<{}xf32>", knobs.lanes)) {}

  // The tables of constants beside the function; known behind body().
  const std::string& globals() const { return globals_; }

  // The body of the function.
  std::string body() {
    make_reads();
    const Range tiles = share(0, tiles_.chunk, tiles_.tiles);
    const Range along = share(1, tiles_.chunk_along, tiles_.along);
    if (knobs_.rows_first) {
      begin_for("v", along);
      if (kernel_.packed) pack(*kernel_.packed);
      begin_for("t", tiles);
    } else {
      begin_for("t", tiles);
      begin_for("v", along);
    }
    if (!kernel_.packed) first_ = begin_of_tile("%v", knobs_.width(), kernel_.along.size);
    tile();
    add("}} }}");
    add("return");
    std::string text;
    for (const auto& [number, name] : numbers_)
      text += fmt::format("{} = arith.constant {} : index\n", name, number);
    return text + text_;
  }

 private:
  using Names = std::vector<std::string>;
  struct Range {
    std::string begin, end;
  };
  // An element of a buffer: a value and a constant behind it.
  struct Place {
    std::string value;
    std::int64_t behind = 0;
  };

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }
  template <class... Arguments>
  std::string value(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const std::string name = fmt::format("%{}", ++last_);
    text_ += name + " = " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
    return name;
  }
  std::string number(std::int64_t value) {
    return numbers_.try_emplace(value, fmt::format("%n{}", value)).first->second;
  }
  std::string sum(const std::string& a, const std::string& b) {
    return value("arith.addi {}, {} : index", a, b);
  }
  std::string product(const std::string& a, std::int64_t factor) {
    return factor == 1 ? a : value("arith.muli {}, {} : index", a, number(factor));
  }
  std::string at(const Place& place) {
    return place.behind == 0 ? place.value : sum(place.value, number(place.behind));
  }
  Place moved(Place place, const std::string& index, std::int64_t stride) {
    if (stride != 0) place.value = sum(place.value, product(index, stride));
    return place;
  }

  void begin_for(const char* name, const Range& range) {
    add("scf.for %{} = {} to {} step {} {{", name, range.begin, range.end, number(1));
  }

  // The tiles of this workgroup.
  Range share(int dimension, std::int64_t chunk, std::int64_t all) {
    if (chunk >= all) return {number(0), number(all)};
    const std::string id = value("hal.interface.workgroup.id[{}] : index", dimension);
    const std::string begin = product(id, chunk);
    return {begin, value("arith.minsi {}, {} : index", sum(begin, number(chunk)), number(all))};
  }

  std::string type_of(std::size_t use) const {
    std::int64_t elements = kernel_.uses[use].offset + 1;
    const auto reach = [&](const KernelLoop& loop) {
      elements += (loop.size - 1) * loop.strides[use];
    };
    reach(kernel_.along);
    reach(kernel_.rows);
    for (const KernelLoop& loop : kernel_.outer) reach(loop);
    for (const KernelLoop& loop : kernel_.reduced) reach(loop);
    return fmt::format(
        "memref<{}xf32, strided<[1], offset: ?>, #hal.descriptor_type<storage_buffer>>", elements);
  }

  // The bytes of a binding before a view.
  std::string begin_of(const StatedView& view) {
    std::string begin = number(view.offset);
    const auto word = [&](std::size_t at) {
      const std::string loaded = value("hal.interface.constant.load layout({}) ordinal({}) : i32",
                                       layout(), view.words[at]);
      return value("arith.extui {} : i32 to i64", loaded);
    };
    if (view.words.empty()) return begin;
    std::string words = word(0);
    if (view.words.size() > 1) {
      const std::string bits = value("arith.constant 32 : i64");
      const std::string high = value("arith.shli {}, {} : i64", word(1), bits);
      words = value("arith.ori {}, {} : i64", words, high);
    }
    const std::string index = value("arith.index_castui {} : i64 to index", words);
    return view.offset == 0 ? index : sum(index, begin);
  }

  std::string buffer(std::size_t use) {
    const StatedView& view = stated_.views[kernel_.uses[use].view];
    return value(
        "hal.interface.binding.subspan layout({}) binding({}) alignment(64) offset({}) : {}",
        layout(), view.binding, begin_of(view), type_of(use));
  }

  std::string_view layout() const { return short_form(stated_.layout); }

  std::string table(std::size_t use, const StatedValue& value) {
    const std::string name = fmt::format("@table_{}", use);
    const std::string type = fmt::format("memref<{}xf32>", value.words.size());
    std::string digits;
    for (const std::uint32_t word : value.words)
      for (const int byte : {0, 8, 16, 24}) digits += fmt::format("{:02X}", word >> byte & 0xFFU);
    globals_ += fmt::format("memref.global \"private\" constant {} : {} = dense<\"0x{}\">\n", name,
                            type, digits);
    return this->value("memref.get_global {} : {}", name, type);
  }

  // How a use is read or written.
  struct Read {
    std::string buffer, type;
    std::int64_t row = 0;  // elements from row to row
    bool is_vector = false;
    std::vector<std::int64_t> reduced = {};  // elements along the reduced loops
    Place begin = {};                        // of the tile
  };

  void make_reads() {
    for (std::size_t u = 0; u < kernel_.uses.size(); ++u) {
      Read read{{}, type_of(u), kernel_.rows.strides[u], kernel_.is_vector(u)};
      for (const KernelLoop& loop : kernel_.reduced) read.reduced.push_back(loop.strides[u]);
      reads_.push_back(std::move(read));
    }
    for (std::size_t v = 0; v < stated_.values.size(); ++v)
      if (stated_.values[v].operation.is(ScalarKind::kTable)) {
        const std::size_t use = kernel_.load(v);
        reads_[use].buffer = table(use, stated_.values[v]);
        reads_[use].type = fmt::format("memref<{}xf32>", stated_.values[v].words.size());
      }
    for (std::size_t u = 0; u < reads_.size(); ++u)
      if (reads_[u].buffer.empty()) reads_[u].buffer = buffer(u);
    if (!kernel_.packed) return;
    panel_ = reads_[*kernel_.packed];
    panel_.type = fmt::format("memref<{}xf32>", kernel_.reduced_steps() * knobs_.width());
    panel_.buffer = value(
        "\"memref.alloca\"() <{{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}}> : "
        "() -> {}",
        panel_.type);
    std::int64_t stride = knobs_.width();
    for (std::size_t l = kernel_.reduced.size(); l-- > 0; stride *= kernel_.reduced[l].size)
      panel_.reduced[l] = stride;
  }

  // Copies what a tile needs of an operand, each column's steps behind each other, to the stack.
  void pack(std::size_t use) {
    first_ = begin_of_tile("%v", knobs_.width(), kernel_.along.size);
    const Read& from = reads_[use];
    Place source{number(0), kernel_.uses[use].offset}, sink{number(0)};
    source = moved(std::move(source), first_, kernel_.along.strides[use]);
    add("scf.for %c = {} to {} step {} {{", number(0), number(knobs_.width()), number(1));
    source = moved(std::move(source), "%c", kernel_.along.strides[use]);
    sink = moved(std::move(sink), "%c", 1);
    for (std::size_t l = 0; l < kernel_.reduced.size(); ++l) {
      const std::string step = fmt::format("%p{}", l);
      add("scf.for {} = {} to {} step {} {{", step, number(0), number(kernel_.reduced[l].size),
          number(1));
      source = moved(std::move(source), step, from.reduced[l]);
      sink = moved(std::move(sink), step, panel_.reduced[l]);
    }
    const std::string element =
        value("memref.load {}[{}] : {}", from.buffer, at(source), from.type);
    add("memref.store {}, {}[{}] : {}", element, panel_.buffer, at(sink), panel_.type);
    add("{}", std::string(kernel_.reduced.size() + 1, '}'));
  }

  // The first element of a tile along a loop; the last tile begins early.
  std::string begin_of_tile(const std::string& tile, std::int64_t tile_size, std::int64_t size) {
    const std::string begin = product(tile, tile_size);
    if (size % tile_size == 0) return begin;
    return value("arith.minsi {}, {} : index", begin, number(size - tile_size));
  }

  void tile() {
    const std::string t = "%t";
    const bool has_outer = !kernel_.outer.empty();
    std::string step = t, row_tile = has_outer ? number(0) : t;
    if (has_outer && tiles_.row_tiles > 1) {
      step = value("arith.divui {}, {} : index", t, number(tiles_.row_tiles));
      row_tile = value("arith.remui {}, {} : index", t, number(tiles_.row_tiles));
    }
    Names outer(kernel_.outer.size());
    for (std::size_t l = outer.size(); l-- > 0;) {
      const std::string size = number(kernel_.outer[l].size);
      outer[l] = l == 0 ? step : value("arith.remui {}, {} : index", step, size);
      if (l > 0) step = value("arith.divui {}, {} : index", step, size);
    }
    const std::string row = begin_of_tile(row_tile, knobs_.rows, kernel_.rows.size);
    for (std::size_t u = 0; u < kernel_.uses.size(); ++u) {
      if (u == kernel_.packed) {
        reads_[u] = panel_;
        reads_[u].begin = {number(0)};
        continue;
      }
      Place place{number(0), kernel_.uses[u].offset};
      for (std::size_t l = 0; l < outer.size(); ++l)
        place = moved(std::move(place), outer[l], kernel_.outer[l].strides[u]);
      place = moved(std::move(place), row, kernel_.rows.strides[u]);
      reads_[u].begin = moved(std::move(place), first_, kernel_.along.strides[u]);
    }
    const std::string start =
        value("arith.constant dense<{:.9e}> : {}", static_cast<float>(stated_.start), vector_);
    const Names sums(static_cast<std::size_t>(knobs_.rows * knobs_.vectors), start);
    finish(reduce(0, sums, {reads_[0].begin, reads_[1].begin}));
  }

  std::int64_t steps_from(std::size_t level) const {
    std::int64_t steps = 1;
    for (std::size_t l = level; l < kernel_.reduced.size(); ++l) steps *= kernel_.reduced[l].size;
    return steps;
  }

  // The sums after all steps of the reduced loops from `level` on.
  Names reduce(std::size_t level, Names sums, const std::vector<Place>& operands) {
    if (level == kernel_.reduced.size()) return multiply(std::move(sums), operands);
    const KernelLoop& loop = kernel_.reduced[level];
    const auto written_out = [&](std::int64_t from, std::int64_t to, Names own,
                                 const std::vector<Place>& begin) {
      for (std::int64_t step = from; step < to; ++step) {
        std::vector<Place> places = begin;
        for (std::size_t o = 0; o < places.size(); ++o)
          places[o].behind += step * reads_[o].reduced[level];
        own = reduce(level + 1, std::move(own), places);
      }
      return own;
    };
    if (steps_from(level) <= knobs_.steps)
      return written_out(0, loop.size, std::move(sums), operands);
    const bool is_last = level + 1 == kernel_.reduced.size();
    const std::int64_t together = is_last ? std::min(knobs_.steps, loop.size) : 1;
    const std::int64_t whole = loop.size / together * together;
    const std::string index = fmt::format("%k{}", level);
    Names inner(sums.size()), types(sums.size(), vector_), begins(sums.size());
    for (std::size_t s = 0; s < sums.size(); ++s) {
      inner[s] = fmt::format("%{}", ++last_);
      begins[s] = fmt::format("{} = {}", inner[s], sums[s]);
    }
    const std::string result = fmt::format("%{}", ++last_);
    add("{}:{} = scf.for {} = {} to {} step {} iter_args({}) -> ({}) {{", result, sums.size(),
        index, number(0), number(whole), number(together), fmt::join(begins, ", "),
        fmt::join(types, ", "));
    std::vector<Place> places;
    for (std::size_t o = 0; o < operands.size(); ++o)
      places.push_back(moved(operands[o], index, reads_[o].reduced[level]));
    const Names added = written_out(0, together, inner, places);
    add("scf.yield {} : {}\n}}", fmt::join(added, ", "), fmt::join(types, ", "));
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] = fmt::format("{}#{}", result, s);
    return written_out(whole, loop.size, std::move(sums), operands);
  }

  // Loads an element or a vector of a use in a tile's cell.
  std::string load(const Read& read, const Place& begin, std::int64_t row, std::int64_t vector) {
    Place place = begin;
    place.behind += row * read.row + (read.is_vector ? vector * knobs_.lanes : 0);
    const std::string index = at(place);
    if (read.is_vector)
      return value("vector.load {}[{}] : {}, {}", read.buffer, index, read.type, vector_);
    const std::string element = value("memref.load {}[{}] : {}", read.buffer, index, read.type);
    return value("vector.broadcast {} : f32 to {}", element, vector_);
  }

  // Loads of a use in all cells; cells that share one have the same name.
  Names loads(const Read& read, const Place& begin) {
    Names names;
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> known;
    for (std::int64_t row = 0; row < knobs_.rows; ++row)
      for (std::int64_t vector = 0; vector < knobs_.vectors; ++vector) {
        const std::pair cell(read.row == 0 ? 0 : row, read.is_vector ? vector : 0);
        if (!known.contains(cell)) known[cell] = load(read, begin, cell.first, cell.second);
        names.push_back(known[cell]);
      }
    return names;
  }

  Names multiply(Names sums, const std::vector<Place>& operands) {
    const Names left = loads(reads_[0], operands[0]), right = loads(reads_[1], operands[1]);
    for (std::size_t s = 0; s < sums.size(); ++s)
      sums[s] = value("vector.fma {}, {}, {} : {}", left[s], right[s], sums[s], vector_);
    return sums;
  }

  // Computes the values behind the sums, and stores.
  void finish(const Names& sums) {
    std::vector<Names> values;
    for (std::size_t v = 0; v < stated_.values.size(); ++v) {
      const StatedValue& stated = stated_.values[v];
      switch (stated.operation.kind()) {
        case ScalarKind::kRoot:
          values.push_back(sums);
          break;
        case ScalarKind::kLoad:
        case ScalarKind::kTable: {
          const Read& read = reads_[kernel_.load(v)];
          values.push_back(loads(read, read.begin));
          break;
        }
        case ScalarKind::kConstant:
          values.emplace_back(sums.size(), constant(stated.constant));
          break;
        default:
          values.push_back(computed(stated, values));
      }
    }
    for (std::size_t s = 0; s < stated_.stores.size(); ++s) {
      const Read& to = reads_[kernel_.store(s)];
      for (std::size_t cell = 0; cell < sums.size(); ++cell) {
        const auto number = static_cast<std::int64_t>(cell);
        Place place = to.begin;
        place.behind += number / knobs_.vectors * to.row + number % knobs_.vectors * knobs_.lanes;
        add("vector.store {}, {}[{}] : {}, {}", values[stated_.stores[s].value][cell], to.buffer,
            at(place), to.type, vector_);
      }
    }
  }

  std::string constant(long double number) {
    const auto narrow = static_cast<float>(number);
    if (std::isfinite(narrow)) return value("arith.constant dense<{:.9e}> : {}", narrow, vector_);
    const char* bits = std::isnan(narrow) ? "0x7FC00000" : narrow > 0 ? "0x7F800000" : "0xFF800000";
    return value("arith.constant dense<{}> : {}", bits, vector_);
  }

  Names computed(const StatedValue& stated, const std::vector<Names>& values) {
    const std::string flags = fmt::format("vector<{}xi1>", knobs_.lanes);
    Names names;
    for (std::size_t cell = 0; cell < values[stated.operands[0]].size(); ++cell) {
      Names operands;
      for (const std::size_t operand : stated.operands) operands.push_back(values[operand][cell]);
      const std::string joined = fmt::format("{}", fmt::join(operands, ", "));
      const std::string& name = stated.operation.name();
      if (stated.operation.is(ScalarKind::kComparison))
        names.push_back(value("{} {}, {} : {}", name, stated.predicate, joined, vector_));
      else if (stated.operation.is(ScalarKind::kSelection))
        names.push_back(value("{} {} : {}, {}", name, joined, flags, vector_));
      else
        names.push_back(value("{} {} : {}", name, joined, vector_));
    }
    return names;
  }

  const VectorKernel& kernel_;
  const problem::Statement& stated_;
  const VectorKnobs& knobs_;
  const VectorTiles tiles_;
  const std::string vector_;  // the type
  std::map<std::int64_t, std::string> numbers_;
  std::vector<Read> reads_;  // by use
  Read panel_;               // of the packed operand
  std::string first_;        // column of the tile
  std::string text_, globals_;
  int last_ = 0;
};

}  // namespace

VectorTiles tiles_of(const VectorKernel& kernel, const VectorKnobs& knobs) {
  VectorTiles tiles;
  tiles.row_tiles = ceil_div(kernel.rows.size, knobs.rows);
  tiles.tiles = tiles.row_tiles * kernel.outer_steps();
  tiles.along = ceil_div(kernel.along.size, knobs.width());
  tiles.chunk = ceil_div(tiles.tiles, knobs.groups);
  tiles.chunk_along = ceil_div(tiles.along, knobs.groups_along);
  return tiles;
}

std::string vector_module(const std::string& symbol, const VectorKernel& kernel,
                          const VectorKnobs& knobs) {
  const problem::Statement& stated = *kernel.stated;
  const VectorTiles tiles = tiles_of(kernel, knobs);
  KernelText text(kernel, knobs);
  const std::string body = text.body();
  return fmt::format(
      R"mlir(// In the place of {entry}: vectors of {lanes}, {rows} x {vectors} of them to a tile.
module {{
hal.executable {symbol} {{
hal.executable.variant public @{variant} target({target}) {{
hal.executable.export public @"{entry}" ordinal(0) layout({layout}) count(%device: !hal.device) -> (index, index, index) {{
%x = arith.constant {x} : index
%y = arith.constant {y} : index
%z = arith.constant 1 : index
hal.return %x, %y, %z : index, index, index
}}
builtin.module {{
{globals}func.func @"{entry}"() attributes {{translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<Default>>}} {{
{body}}}
}}
}}
}}
}}
)mlir",
      fmt::arg("entry", stated.entry), fmt::arg("lanes", knobs.lanes), fmt::arg("rows", knobs.rows),
      fmt::arg("vectors", knobs.vectors), fmt::arg("symbol", symbol),
      fmt::arg("variant", variant_name(stated.target)),
      fmt::arg("target", short_form(stated.target)), fmt::arg("layout", stated.layout),
      fmt::arg("x", tiles.groups()), fmt::arg("y", tiles.groups_along()),
      fmt::arg("globals", text.globals()), fmt::arg("body", body));
}

}  // namespace hone::iree
