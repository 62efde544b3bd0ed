#include "store/export.h"

#include <fmt/format.h>

namespace hone::store {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json or_null(const std::string& value) {
  return value.empty() ? Json() : Json(value);
}

// A column that is a field of the row, null where it is empty.
template <class T>
CandidateColumn field(std::string_view name, T CandidateView::*member) {
  return {name, [member](const CandidateView& row) -> Json {
            if constexpr (requires { or_null(row.*member); })
              return or_null(row.*member);
            else
              return row.*member;
          }};
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : dump(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

const std::vector<CandidateColumn>& candidate_columns() {
  static const std::vector<CandidateColumn> columns = {
      field("candidate", &CandidateView::candidate),
      field("dispatch", &CandidateView::dispatch),
      field("dispatch_name", &CandidateView::dispatch_name),
      field("operation", &CandidateView::operation),
      field("build", &CandidateView::build),
      field("compiler", &CandidateView::compiler),
      field("flags", &CandidateView::flags),
      field("device", &CandidateView::device),
      field("device_name", &CandidateView::device_name),
      field("provider", &CandidateView::provider),
      field("configuration", &CandidateView::configuration),
      field("default", &CandidateView::is_default),
      field("constraint_set", &CandidateView::constraint_set),
      {"state", [](const CandidateView& row) { return Json(name_of(row.state)); }},
      field("failure_kind", &CandidateView::failure_kind),
      field("failure_message", &CandidateView::failure_message),
      field("identity", &CandidateView::identity),
      field("configured", &CandidateView::configured),
      field("compile_seconds", &CandidateView::compile_seconds),
      field("right", &CandidateView::right),
      field("bad_index", &CandidateView::bad_index),
      field("share_bad", &CandidateView::share_bad),
      field("tolerance", &CandidateView::tolerance),
      field("verification_rules", &CandidateView::rules),
      field("reference", &CandidateView::reference),
      field("phase", &CandidateView::phase),
      field("samples", &CandidateView::samples),
      field("min_seconds", &CandidateView::min_seconds),
      field("median_seconds", &CandidateView::median_seconds),
      field("low_seconds", &CandidateView::low_seconds),
      field("high_seconds", &CandidateView::high_seconds),
      field("spread", &CandidateView::spread),
      field("sentinel_ratio", &CandidateView::sentinel_ratio),
      field("flops_per_second", &CandidateView::flops_per_second),
      field("created", &CandidateView::when),
  };
  return columns;
}

Json export_json(const std::vector<CandidateView>& rows) {
  Json document;
  document["schema_version"] = kExportVersion;
  for (const CandidateColumn& column : candidate_columns())
    document["columns"].push_back(column.name);
  document["candidates"] = Json::array();
  for (const CandidateView& row : rows) {
    Json candidate;
    for (const CandidateColumn& column : candidate_columns())
      candidate[std::string(column.name)] = column.value(row);
    document["candidates"].push_back(std::move(candidate));
  }
  return document;
}

std::string export_csv(const std::vector<CandidateView>& rows) {
  std::string text;
  const auto add_line = [&text](const auto& cell) {
    std::string_view separator;
    for (const CandidateColumn& column : candidate_columns()) {
      text += separator;
      text += cell(column);
      separator = ",";
    }
    text += '\n';
  };
  add_line([](const CandidateColumn& column) { return std::string(column.name); });
  for (const CandidateView& row : rows)
    add_line([&row](const CandidateColumn& column) { return csv_field(column.value(row)); });
  return text;
}

}  // namespace hone::store
