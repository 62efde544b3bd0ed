#include "output/candidate_table.h"

#include <algorithm>
#include <map>

#include "base/json.h"

namespace hone::output {
namespace {

struct OfDispatch {
  std::optional<store::CandidateView> base;  // its default
  std::vector<store::CandidateView> tried;   // by id
};

// Returns candidates by dispatch, without those that were proposed and never compiled.
Result<std::map<store::Id, OfDispatch>> candidates_of(store::Store& store, store::Id program,
                                                      store::Id build, store::Id device) {
  HONE_ASSIGN(std::vector<store::CandidateView> rows,
              store.candidate_rows({.build = build, .program = program}));
  std::map<store::Id, OfDispatch> dispatches;
  for (store::CandidateView& row : rows) {
    if (row.device && *row.device != device) continue;
    if (row.state == store::CandidateState::kUntried) continue;
    OfDispatch& of = dispatches[row.dispatch];
    if (row.is_default && !of.base)
      of.base = std::move(row);
    else if (!row.is_default)
      of.tried.push_back(std::move(row));
  }
  return dispatches;
}

std::optional<double> speedup_of(const store::CandidateView& row, const OfDispatch& of) {
  if (!row.median_seconds || !of.base || !of.base->median_seconds) return std::nullopt;
  return *of.base->median_seconds / *row.median_seconds;
}

// Returns the kind of the failure, else the state.
std::string outcome_of(const store::CandidateView& row) {
  return row.failure_kind.empty() ? std::string(name_of(row.state)) : row.failure_kind;
}

std::string line_of(const store::CandidateView& row, const OfDispatch& of) {
  const std::optional<double> speedup = speedup_of(row, of);
  return fmt::format("{:>8}  {:<9}  {:<14}  {:>9}  {:>7}  {}\n", row.candidate,
                     row.is_default ? "baseline" : "candidate", outcome_of(row),
                     time_cell(row.median_seconds).text,
                     speedup ? fmt::format("{:.2f}x", *speedup) : "-",
                     row.is_default ? "" : row.configuration);
}

}  // namespace

Result<Table> candidate_table(store::Store& store, store::Id program, store::Id build,
                              store::Id device) {
  HONE_ASSIGN(const auto dispatches, candidates_of(store, program, build, device));
  Table table({{"candidate", "id", kRight},
               {"dispatch", "dispatch"},
               {"operation", "operation"},
               {"default", "default"},
               {"outcome", "outcome"},
               {"seconds", "time", kRight},
               {"speedup", "speed-up", kRight},
               {"compile_seconds", "compiled in", kRight},
               {"configuration", "configuration"}});
  for (const auto& [id, of] : dispatches) {
    const auto add = [&, &of = of](const store::CandidateView& row) {
      const auto configuration = parse_json(row.configuration);
      table.add({{row.candidate, ""},
                 {row.dispatch_name, ""},
                 {row.operation, ""},
                 {row.is_default, ""},
                 {outcome_of(row), ""},
                 time_cell(row.median_seconds),
                 number_cell(speedup_of(row, of), "x", 2),
                 time_cell(row.compile_seconds),
                 {configuration, ""}});
    };
    if (of.base) add(*of.base);
    std::ranges::for_each(of.tried, add);
  }
  return table;
}

Result<std::string> candidate_log(store::Store& store, store::Id program, store::Id build,
                                  store::Id device) {
  HONE_ASSIGN(const auto dispatches, candidates_of(store, program, build, device));
  std::string log = "# id of hone show, what it is, outcome, time of a launch, over the baseline\n";
  for (const auto& [id, of] : dispatches) {
    if (!of.base) continue;
    log += "\n# " + of.base->dispatch_name + "\n";
    log += line_of(*of.base, of);
    for (const store::CandidateView& row : of.tried) log += line_of(row, of);
    if (!of.tried.empty()) log += line_of(*of.base, of);
  }
  return log;
}

}  // namespace hone::output
