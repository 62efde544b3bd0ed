#include "output/gain_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "output/table.h"
#include "store/rows.h"

namespace hone::output {
namespace {

constexpr std::size_t kListed = 12;
// Share of the predicted gain that must arrive before the text explains the rest.
constexpr double kAsPromised = 0.9;

Cell seconds_cell(std::optional<double> seconds) {
  return seconds ? time_cell(seconds) : Cell{nullptr, ""};
}

class Waterfall {
 public:
  explicit Waterfall(bool several_makers) : several_makers_(several_makers) {}

  void add(std::string part, Cell maker, std::optional<int> launches, std::optional<double> before,
           std::optional<double> after, std::optional<double> promised,
           std::optional<double> arrived) {
    table_.add({{std::move(part), ""},
                std::move(maker),
                {launches ? nlohmann::json(*launches) : nlohmann::json(),
                 launches ? fmt::format("{}", *launches) : ""},
                seconds_cell(before),
                seconds_cell(after),
                seconds_cell(promised),
                seconds_cell(arrived)});
  }
  Table take() { return std::move(table_); }

 private:
  bool several_makers_;
  Table table_{{{"part", "a call of the program"},
                {"provider", "by", Align::kLeft, several_makers_},
                {"launches", "launches", Align::kRight},
                {"before", "before", Align::kRight},
                {"after", "after", Align::kRight},
                {"promised", "predicted", Align::kRight},
                {"arrived", "gained", Align::kRight}}};
};

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

// Adds up the remaining kernels as one entry.
tune::KernelGain together(std::vector<tune::KernelGain>::const_iterator begin,
                          std::vector<tune::KernelGain>::const_iterator end) {
  tune::KernelGain all{.dispatch = fmt::format("{} more", end - begin), .launches = 0};
  all.before = all.after = 0;
  for (auto each = begin; each != end; ++each) {
    all.launches += each->launches;
    all.promised += each->promised;
    all.before = sum(all.before, each->before);
    all.after = sum(all.after, each->after);
  }
  return all;
}

}  // namespace

Table gain_table(const tune::ProgramGain& gain) {
  const Cell nobody{nullptr, ""};
  Waterfall waterfall(std::ranges::any_of(gain.kernels, [](const tune::KernelGain& kernel) {
    return store::takes_anothers_place(kernel.provider);
  }));
  if (gain.has_flags)
    waterfall.add(gain.without_spec + " alone", nobody, {}, gain.base, gain.before, {},
                  gain.base - gain.before);
  const bool many = gain.kernels.size() > kListed;
  const auto listed =
      gain.kernels.begin() + static_cast<std::ptrdiff_t>(many ? kListed - 1 : gain.kernels.size());
  const auto add = [&](const tune::KernelGain& kernel) {
    const Cell maker = kernel.provider.empty() ? nobody : maker_cell(kernel.provider);
    waterfall.add(kernel.dispatch, maker, kernel.launches, kernel.before, kernel.after,
                  kernel.promised, kernel.arrived());
  };
  std::for_each(gain.kernels.begin(), listed, add);
  if (many) add(together(listed, gain.kernels.end()));
  if (gain.in_others()) {
    waterfall.add("kernels without an entry", nobody, {}, gain.others_before, gain.others_after, {},
                  gain.in_others());
    waterfall.add("between kernels", nobody, {}, {}, {}, {}, gain.between());
  }
  waterfall.add("all of the spec", nobody, {}, gain.before, gain.after, gain.promised(),
                gain.arrived());
  return waterfall.take();
}

std::string words_of_gain(const tune::ProgramGain& gain) {
  const double promised = gain.promised(), arrived = gain.arrived();
  if (!(promised > 0)) return "";
  std::string words = fmt::format("gain: {} in the program; its kernels alone predicted {}",
                                  format_duration(arrived), format_duration(promised));
  if (arrived >= kAsPromised * promised) return words + ".";
  if (!gain.between()) return words + ". The runtime does not report times in place.";
  std::vector<std::string> lost;
  const auto name = [&](double seconds, std::string_view where) {
    if (seconds > (1 - kAsPromised) / 2 * promised)
      lost.push_back(fmt::format("{} {}", format_duration(seconds), where));
  };
  name(promised - *gain.in_kernels(), "less in place, with cold data");
  name(-*gain.in_others(), "slower kernels without an entry");
  name(-*gain.between(), "between kernels");
  return words + (lost.empty() ? "." : fmt::format(". Lost: {}.", fmt::join(lost, ", ")));
}

}  // namespace hone::output
