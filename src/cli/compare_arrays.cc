#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/compare_files.h"
#include "measure/array_difference.h"
#include "measure/runner_requests.h"
#include "measure/verification.h"
#include "output/json_text.h"
#include "output/proof_text.h"
#include "output/screen.h"
#include "tune/compare/verify.h"
#include "tune/program/program_tolerance.h"

namespace hone::cli {
namespace {

Result<problem::Array> read_array(const std::string& path) {
  HONE_ASSIGN(const std::string bytes, read_file(path));
  auto array = problem::from_npy(bytes);
  if (!array) return input_error("'{}': {}", path, array.error().message);
  return array;
}

std::string elements_text(std::int64_t number) {
  return format_count(static_cast<std::uint64_t>(number));
}

}  // namespace

Result<int> compare_arrays(const ArrayComparison& options) {
  HONE_ASSIGN(const problem::Array expected, read_array(options.expected));
  HONE_ASSIGN(const problem::Array got, read_array(options.got));
  HONE_ASSIGN(const measure::ArrayDifference difference, measure::difference_of(got, expected));
  measure::Tolerance tolerance = tune::program_tolerance(expected);
  if (options.absolute || options.relative)
    tolerance = {options.absolute.value_or(0), options.relative.value_or(0), "as given"};
  HONE_ASSIGN(const measure::Comparison comparison, measure::compare(got, expected, tolerance));
  const double share = difference.elements == 0 ? 0
                                                : static_cast<double>(difference.different) /
                                                      static_cast<double>(difference.elements);
  if (options.json) {
    nlohmann::json document = comparison;
    document.update({{"schema_version", output::kSchemaVersion},
                     {"expected_file", options.expected},
                     {"got_file", options.got},
                     {"type", problem::to_string(expected.type)},
                     {"different", difference.different},
                     {"different_share", share},
                     {"largest_error", difference.largest},
                     {"mean_error", difference.mean},
                     {"largest_relative", difference.largest_relative},
                     {"largest_ulp", difference.largest_ulp},
                     {"by_ulp", output::ulp_histogram_json(difference)},
                     {"tolerance", tune::in_words(tolerance)}});
    fmt::print("{}\n", document.dump(2));
    return comparison.right ? 0 : 1;
  }
  std::string text = fmt::format("{} against {}, {}\n", options.got, options.expected,
                                 problem::to_string(expected.type));
  text += fmt::format("  different        {} of {} elements ({:.3g} %)\n",
                      elements_text(difference.different), elements_text(difference.elements),
                      100 * share);
  text += fmt::format("  absolute error   largest {:.4g}, mean {:.4g}\n", difference.largest,
                      difference.mean);
  text += fmt::format("  relative error   largest {:.4g}\n", difference.largest_relative);
  text += fmt::format("  ulp              largest {:.6g}\n", difference.largest_ulp);
  if (difference.different > 0)
    text += fmt::format("  by ulp           {}\n", measure::ulp_text(difference));
  if (comparison.nan_count > 0)
    text += fmt::format("  NaN              in {} elements where none is expected\n",
                        elements_text(comparison.nan_count));
  text += fmt::format("  tolerance        {}\n{}\n", tune::in_words(tolerance),
                      measure::describe(comparison));
  fmt::print("{}", output::wrapped(text, output::screen_width(), "                   "));
  return comparison.right ? 0 : 1;
}

}  // namespace hone::cli
