// Candidates as CSV and JSON with the same columns.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "store/views.h"

namespace hone::store {

// Version of the exported documents' layout: raised when a column changes its name or meaning.
inline constexpr int kExportVersion = 1;

struct CandidateColumn {
  std::string_view name;
  std::function<nlohmann::ordered_json(const CandidateView&)> value;  // null where unknown
};

// The one list of columns, in order. Times are seconds, rates flop/s.
const std::vector<CandidateColumn>& candidate_columns();

// {"schema_version", "columns", "candidates": [{column: value}]}.
nlohmann::ordered_json export_json(const std::vector<CandidateView>& rows);

// A header and one line per row (RFC 4180, but lines end in "\n"); unknown values are empty.
std::string export_csv(const std::vector<CandidateView>& rows);

}  // namespace hone::store
