// Report of hone compare.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "output/table.h"
#include "tune/compare/compare.h"
#include "tune/services/session_steps.h"

namespace hone::output {

struct ComparisonReport {
  const measure::ComparisonOptions& statistics;
  const tune::MachineCheck& machine;  // before the first measurement
  const std::vector<tune::ComparedPair>& pairs;
};

std::string text_of(const ComparisonReport& report, std::size_t width = Table::kWhole);
nlohmann::json json_of(const ComparisonReport& report);

}  // namespace hone::output
