#include "tune/compare/output_errors.h"

#include "plan/policy.h"
#include "tune/program/program_outputs.h"

namespace hone::tune {
namespace {

// Says why the conversions do not explain B's error, which is beyond its tolerance. Empty if the
// error is at most twice that of the conversions alone.
std::string beside_conversions(const OutputErrors& errors) {
  for (std::size_t i = 0; i < errors.results.size(); ++i) {
    const OutputErrors::OfResult& each = errors.results[i];
    if (each.b <= plan::kErrorTimesTheConversions * each.converted.value_or(0)) continue;
    return fmt::format(
        "its error is {:.2g} of result {} (root mean square), and its conversions alone bring "
        "{:.2g}",
        each.b, i, each.converted.value_or(0));
  }
  return {};
}

}  // namespace

Result<OutputErrors> output_errors(const std::vector<problem::Array>& a,
                                   const std::vector<problem::Array>& b,
                                   const std::vector<problem::Array>& wide,
                                   const std::vector<problem::Array>& converted) {
  OutputErrors errors;
  HONE_ASSIGN(errors.failure, difference_of_outputs(b, a, wide));
  const bool by_wide = wide.size() == a.size() && are_narrow(a);
  errors.exact = by_wide ? "the program computed in f32" : "A";
  const std::vector<problem::Array>& exact = by_wide ? wide : a;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    OutputErrors::OfResult& each = errors.results.emplace_back();
    each.a = error_by_wide(a[i], exact[i]);
    each.b = error_by_wide(b[i], exact[i]);
    if (i < converted.size()) each.converted = error_by_wide(converted[i], exact[i]);
  }
  if (errors.failure.empty() || converted.size() != exact.size()) return errors;
  const std::string beyond = beside_conversions(errors);
  if (beyond.empty())
    std::swap(errors.note, errors.failure);
  else
    errors.failure += "; " + beyond;
  return errors;
}

}  // namespace hone::tune
