#include "profiler/profile_report.h"

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "output/json_text.h"
#include "problem/types.h"
#include "profiler/tile_configuration.h"

namespace hone::profiler {
namespace {

using output::Cell;

constexpr double kMilli = 1e3, kGiga = 1e9;
Cell not_known() {
  return {"N/A", ""};
}

constexpr std::pair<Verified, std::string_view> kVerified[] = {
    {Verified::kSuccess, "SUCCESS"},
    {Verified::kFailed, "FAILED"},
    {Verified::kNot, "Not verified"},
};

constexpr std::pair<char, std::string_view> kXmlEscapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

bool is_own(const ProfileRow& row) {
  return row.provider == kCompilersProvider;
}

std::string dispatch_name(const ProfileRow& row) {
  return is_own(row) ? NamedDispatch{row.operation, row.configuration}.name()
                     : row.operation.name();
}

double gflops(const ProfileRow& row) {
  return static_cast<double>(row.operation.flops()) / row.timing->median / kGiga;
}

// Returns the roofline time in seconds; 0 if the peaks are unknown.
double bound_seconds(const NamedOperation& operation, const output::Peaks& peaks) {
  // The matrix units' peak was measured on 16-bit floats.
  const bool narrow = problem::byte_size(operation.lhs) == 2;
  const double flops = std::max(peaks.f32.value_or(0), narrow ? peaks.matrix.value_or(0) : 0);
  const double arithmetic = flops > 0 ? static_cast<double>(operation.flops()) / flops : 0;
  const double bandwidth = peaks.bandwidth.value_or(0);
  const double memory = bandwidth > 0 ? static_cast<double>(operation.bytes()) / bandwidth : 0;
  return std::max(arithmetic, memory);
}

// Returns the columns' names with the cells of one row, in order.
std::vector<std::pair<std::string, Cell>> cells_of(const ProfileRow& row, const Tags& tags,
                                                   const output::Peaks& peaks) {
  std::vector<std::pair<std::string, Cell>> cells;
  const auto add = [&](const std::string& name, const Cell& cell) {
    cells.emplace_back(name, cell);
  };
  const auto add_all = [&](const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [name, value] : values) add(name, {value, ""});
  };
  const auto add_time = [&](const std::string& name, auto value, std::string_view format) {
    add(name, row.timing ? Cell{value, fmt::format(fmt::runtime(format), value)} : not_known());
  };
  add_all(tags);
  add("Provider", {row.provider, ""});
  add("op_kind", {name_of(row.operation.kind), ""});
  add("Operation", {row.operation.name(), ""});
  add("bytes", {row.operation.bytes(), ""});
  add("flops", {row.operation.flops(), ""});
  add_all(arguments_of(row.operation));
  if (is_own(row)) {
    add_all(configuration_columns(row.configuration));
  } else {
    add("Tile config", {row.configuration, ""});
    add("Core class", not_known());
    add("Instruction class", not_known());
  }
  add("Verification", {name_in(kVerified, row.verified), ""});
  add("Runtime(ms)", row.timing ? Cell{row.timing->median * kMilli, ""} : not_known());
  add("GFLOPs", row.timing ? Cell{gflops(row), ""} : not_known());
  add_all(further_arguments_of(row.operation));
  const store::Timing timing = row.timing.value_or(store::Timing{});
  add_time("Samples", timing.samples.size(), "{}");
  add_time("Min(ms)", timing.min * kMilli, "{:.6f}");
  add_time("Median(ms)", timing.median * kMilli, "{:.6f}");
  add_time("Spread(%)", 100 * timing.spread, "{:.2f}");
  add_time("GB/s", static_cast<double>(row.operation.bytes()) / timing.median / kGiga, "{:.2f}");
  if (const double bound = bound_seconds(row.operation, peaks); bound > 0)
    add_time("Roofline(%)", 100 * bound / timing.median, "{:.1f}");
  else
    add("Roofline(%)", not_known());
  const provider::KernelResources resources = row.resources.value_or(provider::KernelResources());
  add("Registers", row.resources ? Cell{resources.registers, ""} : not_known());
  add("Shared memory(bytes)",
      resources.shared_bytes > 0 ? Cell{resources.shared_bytes, ""} : not_known());
  add("Kernels", {row.kernels, ""});
  add("Message", {row.message, ""});
  return cells;
}

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char& c : text)
    if (const std::string_view escape = name_in(kXmlEscapes, c); !escape.empty())
      xml += escape;
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
      xml += c;  // XML 1.0 allows no other control characters
  return xml;
}

}  // namespace

std::string screen_block(const ProfileRow& row) {
  std::string block = std::string(64, '-') + " \n";
  const auto line = [&block](std::string_view name, std::string_view value) {
    block += fmt::format("{:<14}: {}\n", name, value);
  };
  line("Dispatch", dispatch_name(row));
  line("Provider", row.provider);
  line("OpKind", screen_name_of(row.operation.kind));
  line("Operation", row.operation.name());
  line("Configuration", row.configuration);
  const std::vector<std::string> arguments = argument_lines(row.operation);
  line("Arguments", arguments.front());
  for (std::size_t i = 1; i < arguments.size(); ++i)
    block += std::string(16, ' ') + arguments[i] + "\n";
  line("Verification", name_in(kVerified, row.verified));
  if (!row.message.empty()) line(is_own(row) ? "Reason" : "Note", row.message);
  if (!row.timing) return block;
  line("Runtime(ms)", fmt::format("{:.3f}", row.timing->median * kMilli));
  line("GFLOPs", fmt::format("{:.2f}", gflops(row)));
  return block;
}

Result<Tags> read_tags(const std::string& text) {
  Tags tags;
  std::vector<std::string> taken;
  for (const auto& [name, cell] : cells_of(ProfileRow{}, {}, {})) taken.push_back(name);
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t at = word.find_first_of(":=");
    if (at == std::string::npos || at == 0)
      return input_error("--tags '{}': each is NAME:VALUE, with commas between", word);
    const std::string name = word.substr(0, at);
    if (std::ranges::find(taken, name) != taken.end())
      return input_error("--tags '{}': there is a column '{}' already", word, name);
    taken.push_back(name);
    tags.emplace_back(name, word.substr(at + 1));
  }
  return tags;
}

output::Table profile_table(std::span<const ProfileRow> rows, const Tags& tags,
                            const output::Peaks& peaks) {
  std::vector<output::Column> columns;
  for (const auto& [name, cell] : cells_of(ProfileRow{}, tags, peaks))
    columns.push_back({name, name});
  output::Table table(std::move(columns));
  for (const ProfileRow& row : rows) {
    std::vector<Cell> cells;
    for (auto& [name, cell] : cells_of(row, tags, peaks)) cells.push_back(std::move(cell));
    table.add(std::move(cells));
  }
  return table;
}

output::Json profile_page_data(std::span<const ProfileRow> rows, const output::Peaks& peaks,
                               const std::string& store) {
  output::Json roofs = output::Json::array();
  if (peaks.matrix) roofs.push_back({{"label", "matrix units, f16"}, {"flops", *peaks.matrix}});
  if (peaks.f32) roofs.push_back({{"label", "f32"}, {"flops", *peaks.f32}});
  output::Json list = output::Json::array();
  for (const ProfileRow& row : rows) {
    const NamedOperation& operation = row.operation;
    output::Json dimensions = output::Json::object();
    if (is_convolution(operation.kind)) {
      const ConvDims& conv = operation.conv;
      dimensions = {{"images", conv.images},       {"height", conv.height},
                    {"width", conv.width},         {"channels", conv.channels},
                    {"filters", conv.filters},     {"filter", conv.filter_height},
                    {"stride", conv.stride_height}};
    } else {
      dimensions = {{"batch", operation.batch},
                    {"m", operation.m},
                    {"n", operation.n},
                    {"k", operation.k},
                    {"slices", operation.split_k_slices}};
    }
    std::string family(name_of(operation.kind));
    for (const auto& [name, value] : arguments_of(operation))
      if (name == "lhs" || name == "rhs" || name == "result") family += " " + value;
    list.push_back({{"dispatch", dispatch_name(row)},
                    {"family", family},
                    {"provider", row.provider},
                    {"own", is_own(row)},
                    {"verification", name_in(kVerified, row.verified)},
                    {"message", row.message},
                    {"dimensions", dimensions},
                    {"flops", operation.flops()},
                    {"bytes", operation.bytes()},
                    {"seconds", row.timing ? output::Json(row.timing->median) : output::Json()}});
  }
  output::Json data;
  data["store"] = store;
  data["profile"] = {
      {"rows", list}, {"roofs", roofs}, {"bandwidth", output::or_null(peaks.bandwidth)}};
  return data;
}

std::string junit_text(std::span<const ProfileRow> rows) {
  std::size_t tests = 0, failed = 0, skipped = 0;
  double seconds = 0;
  std::string cases;
  for (const ProfileRow& row : rows) {
    if (!is_own(row)) continue;
    ++tests;
    const double time = row.timing ? row.timing->median : 0;
    seconds += time;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\">",
                         escaped(row.operation.name()), escaped(dispatch_name(row)), time);
    if (row.verified == Verified::kFailed) {
      ++failed;
      const std::string first_line = row.message.substr(0, row.message.find('\n'));
      cases += fmt::format("<failure message=\"{}\">{}</failure>", escaped(first_line),
                           escaped(row.message));
    } else if (row.verified == Verified::kNot) {
      ++skipped;
      cases += "<skipped message=\"not verified\"/>";
    }
    cases += "</testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"hone profile\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "time=\"{:.9f}\">\n{}  </testsuite>\n</testsuites>\n",
      tests, failed, skipped, seconds, cases);
}

}  // namespace hone::profiler
