#include "provider/iree/program/views.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "problem/dispatch.h"

namespace hone::iree {
namespace {

using Constants = std::vector<std::uint32_t>;

constexpr std::string_view kSubspan = "hal.interface.binding.subspan";
constexpr std::string_view kConstantLoad = "hal.interface.constant.load";
constexpr std::string_view kAssume = "util.assume.int";

// Room for the guard behind one view and the guard before the next.
constexpr std::int64_t kRoom = 2 * problem::kGuardBytes;
// IREE's own alignment of every view.
constexpr std::int64_t kAlignment = 64;

bool carries_address(std::string_view name) {
  return name == "arith.index_cast" || name == "arith.index_castui" || name == "arith.extsi" ||
         name == "arith.extui" || name == "arith.shli" || name == "arith.ori" || name == kAssume;
}

std::optional<std::size_t> loaded_word(const Ir& ir, MlirOperation operation) {
  if (!ir.is(operation, kConstantLoad)) return std::nullopt;
  const auto ordinal = ir.integer_value(ir.attribute(operation, "ordinal"));
  if (!ordinal || *ordinal < 0) return std::nullopt;
  return static_cast<std::size_t>(*ordinal);
}

// Words of the launch's constants that anything but a view's offset is computed from.
std::set<std::size_t> value_words(const Ir& ir, MlirOperation function) {
  std::set<std::size_t> values;
  std::map<MlirValue, std::set<std::size_t>> read_from;  // the words, by value
  ir.walk(function, [&](MlirOperation operation) {
    const std::vector<MlirValue> operands = ir.operands(operation), results = ir.results(operation);
    if (const auto word = loaded_word(ir, operation)) {
      read_from[results.at(0)] = {*word};
      return;
    }
    const std::string_view name = ir.name(operation);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto words = read_from.find(operands[i]);
      if (words == read_from.end()) continue;
      if (name == kSubspan && i == 0) continue;  // the byte offset; open extents follow
      if (!carries_address(name)) {
        values.insert(words->second.begin(), words->second.end());
        continue;
      }
      const std::set<std::size_t> carried = words->second;
      const MlirValue result = results.at(name == kAssume ? i : 0);
      read_from[result].insert(carried.begin(), carried.end());
    }
  });
  return values;
}

// The compiler's assumptions about an offset that the launch gives.
struct Address {
  std::vector<std::size_t> words;  // of the constants, the lower 32 bits first
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::uint32_t>::max();
  std::int64_t divisor = kAlignment;
};

// The number behind "umin = " and the like.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const char* const begin = text.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// Takes what `assumptions` says of one operand at every launch:
// [#util.int.assumption<umin = 64, umax = 128, udiv = 64>, ...]. Any part may be missing.
void narrow(const Ir& ir, MlirAttribute assumptions, Address& address) {
  const std::vector<MlirAttribute> launches = ir.elements(assumptions);
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0, divisor = 0;
  for (const MlirAttribute launch : launches) {
    const std::string text = ir.text(launch);
    const auto umin = number_after(text, "umin = "), umax = number_after(text, "umax = "),
               udiv = number_after(text, "udiv = ");
    low = std::min(low, umin.value_or(0));
    high = std::max(high, umax.value_or(address.high));
    const bool zero = umin == 0 && umax == 0;
    divisor = std::gcd(divisor, udiv.value_or(zero ? 0 : 1));
  }
  if (launches.empty()) return;
  address.low = low;
  address.high = high;
  address.divisor = std::max<std::int64_t>(1, divisor);
}

// Returns nothing for an offset that is not an address given by the launch.
std::optional<Address> address_of(const Ir& ir, MlirValue offset) {
  Address address;
  std::vector<MlirValue> rest{offset};
  while (!rest.empty()) {
    const MlirValue value = rest.back();
    rest.pop_back();
    const MlirOperation operation = ir.defining_operation(value);
    if (!operation) return std::nullopt;
    if (const auto word = loaded_word(ir, operation)) {
      address.words.push_back(*word);
      continue;
    }
    const std::string_view name = ir.name(operation);
    if (!carries_address(name)) return std::nullopt;
    const std::vector<MlirValue> operands = ir.operands(operation), results = ir.results(operation);
    if (name == kAssume) {
      const auto assumptions = ir.elements(ir.attribute(operation, "assumptions"));
      for (std::size_t i = 0; i < results.size() && i < operands.size(); ++i) {
        if (results[i] != value) continue;
        if (i < assumptions.size()) narrow(ir, assumptions[i], address);
        rest.push_back(operands[i]);
      }
    } else {
      rest.push_back(operands.at(0));
      if (name == "arith.ori") rest.push_back(operands.at(1));
    }
  }
  std::ranges::sort(address.words);
  if (address.words.empty() || address.words.size() > 2) return std::nullopt;
  return address;
}

// A hal.interface.binding.subspan operation.
struct Subspan {
  MlirOperation operation;
  int ordinal = 0;
  std::optional<Address> address;  // that hone may choose
};

// A piece of a binding at some choice of constants.
struct Piece {
  int ordinal = 0;
  std::int64_t offset = 0, bytes = 0;
  std::int64_t end() const { return offset + bytes; }
  bool overlaps(const Piece& other) const {
    return ordinal == other.ordinal && offset < other.end() && other.offset < end();
  }
  auto operator<=>(const Piece&) const = default;
};

class Kernel {
 public:
  Kernel(Ir ir, MlirOperation function) : ir_(ir), value_words_(value_words(ir, function)) {
    ir.walk(function, [&](MlirOperation operation) {
      if (!ir.is(operation, kSubspan)) return;
      const auto ordinal = ir.integer_value(ir.attribute(operation, "binding")).value_or(0);
      std::optional<Address> address = address_of(ir, ir.operands(operation).at(0));
      if (address && std::ranges::any_of(address->words, [&](std::size_t word) {
            return value_words_.contains(word);
          }))
        address.reset();
      subspans_.push_back({operation, static_cast<int>(ordinal), std::move(address)});
    });
  }

  Constants without_addresses(Constants constants) const {
    for (std::size_t word = 0; word < constants.size(); ++word)
      if (!value_words_.contains(word)) constants[word] = 0;
    return constants;
  }

  bool are_addresses(const std::vector<std::size_t>& words) const {
    return std::ranges::all_of(words, [&](std::size_t word) {
      return std::ranges::any_of(subspans_, [&](const Subspan& each) {
        return each.address && std::ranges::count(each.address->words, word) > 0;
      });
    });
  }

  // Completes the constants of a launch whose unknown ones are addresses: such a view begins behind
  // all others of its binding.
  Constants placed(const LaunchValues& launch) const {
    Constants constants = launch.constants;
    std::vector<std::size_t> placed;
    for (std::size_t i = 0; i < subspans_.size(); ++i) {
      const auto& address = subspans_[i].address;
      const auto is_new = [&](std::size_t word) {
        return std::ranges::count(launch.unknown, word) > 0 &&
               std::ranges::count(placed, word) == 0;
      };
      if (!address || std::ranges::none_of(address->words, is_new)) continue;
      const std::vector<Piece> all = pieces(constants);
      std::int64_t end = address->low;
      for (const Piece& piece : all)
        if (piece.ordinal == subspans_[i].ordinal) end = std::max(end, piece.end() + kRoom);
      set_begin(constants, *address, first_begin(*address, end));
      placed.insert(placed.end(), address->words.begin(), address->words.end());
    }
    return constants;
  }

  const std::vector<Subspan>& subspans() const { return subspans_; }

  std::vector<Piece> pieces(const Constants& constants) const {
    const Sizes sizes = kernel_sizes(ir_, constants);
    std::vector<Piece> pieces;
    for (const Subspan& subspan : subspans_) {
      const auto type = sizes.type(ir_.results(subspan.operation).at(0));
      const std::int64_t bytes =
          !type || is_dynamic(*type) ? 0 : element_count(*type) * byte_size(type->element);
      pieces.push_back({subspan.ordinal,
                        sizes.integer(ir_.operands(subspan.operation).at(0)).value_or(0), bytes});
    }
    return pieces;
  }

  // Returns for each pair of views whether they overlap.
  static std::vector<bool> overlaps(const std::vector<Piece>& pieces) {
    std::vector<bool> pairs;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) pairs.push_back(pieces[i].overlaps(pieces[j]));
    return pairs;
  }

  // Chooses the launch or spread launch that leaves most room for guards. Among equals, the one
  // whose views lie closest together wins.
  Constants choose(const LaunchSet& set) const {
    Constants best;
    std::optional<std::pair<int, std::int64_t>> least;
    for (const Constants& launch : set.constants)
      for (const Constants& each : {launch, spread(launch)}) {
        const auto cost = cost_of(pieces(each));
        if (least && cost >= *least) continue;
        least = cost;
        best = each;
      }
    return best;
  }

 private:
  // The first begin from `from` on that the compiler's assumptions and its alignment allow.
  static std::int64_t first_begin(const Address& address, std::int64_t from) {
    const std::int64_t step = std::lcm(address.divisor, kAlignment);
    return (from + step - 1) / step * step;
  }
  static void set_begin(Constants& constants, const Address& address, std::int64_t begin) {
    for (std::size_t word = 0; word < address.words.size(); ++word)
      constants.at(address.words[word]) = static_cast<std::uint32_t>(begin >> (32 * word));
  }

  // Neighbours in a binding without room for guards; the bytes from the first view of each binding
  // to the end of its last.
  static std::pair<int, std::int64_t> cost_of(std::vector<Piece> pieces) {
    std::ranges::sort(pieces);
    std::pair<int, std::int64_t> cost{0, 0};
    for (std::size_t i = 0, end = 0; i < pieces.size(); i = end) {
      std::int64_t reached = pieces[i].end();
      for (end = i + 1; end < pieces.size() && pieces[end].ordinal == pieces[i].ordinal; ++end) {
        const std::int64_t room = pieces[end].offset - reached;
        if (room >= 0 && room < kRoom) ++cost.first;
        reached = std::max(reached, pieces[end].end());
      }
      cost.second += reached - pieces[i].offset;
    }
    return cost;
  }

  // Moves the launch's addresses as close together as room for guards allows. Returns the launch
  // unchanged if that breaks the compiler's assumptions or makes other views overlap.
  Constants spread(const Constants& launch) const {
    Constants constants = launch;
    const std::vector<Piece> before = pieces(launch);
    std::vector<std::size_t> order(before.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return before[i]; });
    int ordinal = -1;
    std::int64_t end = 0;
    for (const std::size_t i : order) {
      const bool first = before[i].ordinal != ordinal;
      ordinal = before[i].ordinal;
      if (const auto& address = subspans_[i].address) {
        const std::int64_t wanted =
            first_begin(*address, std::max(address->low, first ? 0 : end + kRoom));
        if (wanted > address->high) return launch;
        set_begin(constants, *address, wanted);
        end = std::max(first ? 0 : end, wanted + before[i].bytes);
      } else {
        end = std::max(first ? 0 : end, before[i].end());
      }
    }
    return is_legal(constants) && overlaps(pieces(constants)) == overlaps(before) ? constants
                                                                                  : launch;
  }

  bool is_legal(const Constants& constants) const {
    const std::vector<Piece> all = pieces(constants);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const auto& address = subspans_[i].address)
        if (all[i].offset < address->low || all[i].offset > address->high ||
            all[i].offset % address->divisor != 0)
          return false;
    return true;
  }

  Ir ir_;
  std::set<std::size_t> value_words_;
  std::vector<Subspan> subspans_;
};

// Makes one view of those of a binding that overlap: the largest gives it its type.
void unite(View& view, View&& other) {
  const std::int64_t end = std::max(view.offset + view.bytes, other.offset + other.bytes);
  const auto dense = [](const View& each) {
    return each.type && !is_dynamic(*each.type)
               ? element_count(*each.type) * byte_size(each.type->element)
               : 0;
  };
  if (dense(other) > dense(view)) {
    view.type = std::move(other.type);
    view.text = std::move(other.text);
  }
  view.offset = std::min(view.offset, other.offset);
  view.bytes = end - view.offset;
  view.subspans.insert(view.subspans.end(), other.subspans.begin(), other.subspans.end());
}

void add_to(CountByFunction& all, const CountByFunction& some) {
  for (const auto& [function, count] : some) all[function] += count;
}

bool belong_together(const View& a, const View& b) {
  if (a.ordinal != b.ordinal) return false;
  if (a.offset == b.offset && (a.bytes == b.bytes || a.bytes == 0 || b.bytes == 0)) return true;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

std::vector<LaunchSet> launch_sets(const Ir& ir, MlirOperation function, const Launches& launches) {
  const Kernel kernel(ir, function);
  const bool known =
      launches.known && std::ranges::all_of(launches.different, [&](const auto& each) {
        return kernel.are_addresses(each.values.unknown);
      });
  if (launches.different.empty() || !known) {
    LaunchSet all;
    for (const Launches::Different& each : launches.different)
      add_to(all.in_functions, each.in_functions);
    all.known = known;
    return {all};
  }
  std::vector<LaunchSet> sets;
  std::vector<std::pair<Constants, std::vector<bool>>> keys;
  for (const Launches::Different& each : launches.different) {
    const Constants constants = kernel.placed(each.values);
    std::pair<Constants, std::vector<bool>> key{kernel.without_addresses(constants),
                                                Kernel::overlaps(kernel.pieces(constants))};
    std::size_t i = 0;
    while (i < sets.size() && (sets[i].workload != each.values.workload || keys[i] != key)) ++i;
    if (i == sets.size()) {
      sets.push_back({each.values.workload, {}, {}});
      keys.push_back(std::move(key));
    }
    sets[i].constants.push_back(constants);
    add_to(sets[i].in_functions, each.in_functions);
  }
  return sets;
}

ViewPosition position_of(const Ir& ir, MlirOperation subspan) {
  ViewPosition position;
  position.ordinal =
      static_cast<int>(ir.integer_value(ir.attribute(subspan, "binding")).value_or(0));
  const MlirValue offset = ir.operands(subspan).at(0);
  if (const auto constant = ir.constant(offset)) {
    position.known = true;
    position.offset = *constant;
    position.multiple = std::gcd(*constant, kAlignment);
  } else if (const auto address = address_of(ir, offset)) {
    position.known = true;
    position.words = address->words;
    position.multiple = address->divisor;
  }
  return position;
}

Views::Views(const Ir& ir, MlirOperation function, const LaunchSet& set) {
  const Kernel kernel(ir, function);
  constants_ = kernel.choose(set);
  values_ = kernel.without_addresses(constants_);

  const Sizes sizes = kernel_sizes(ir, constants_);
  const std::vector<Piece> pieces = kernel.pieces(constants_);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const MlirOperation operation = kernel.subspans()[i].operation;
    const MlirValue value = ir.results(operation).at(0);
    View view{pieces[i].ordinal, pieces[i].offset, pieces[i].bytes,
              sizes.type(value), {operation},      ir.type_text(value)};
    if (!view.type) view.type = parse_type(view.text);
    // A united view may overlap views that its parts did not: start over.
    for (std::size_t j = 0; j < all_.size();)
      if (belong_together(all_[j], view)) {
        unite(all_[j], std::move(view));
        view = std::move(all_[j]);
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(j));
        j = 0;
      } else {
        ++j;
      }
    all_.push_back(std::move(view));
  }
  std::ranges::stable_sort(all_, {}, &View::ordinal);
  for (std::size_t i = 0; i < all_.size(); ++i)
    for (const MlirOperation subspan : all_[i].subspans) of_subspan_[subspan] = static_cast<int>(i);
}

int Views::of(MlirOperation subspan) const {
  const auto found = of_subspan_.find(subspan);
  return found == of_subspan_.end() ? -1 : found->second;
}

}  // namespace hone::iree
