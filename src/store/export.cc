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
CandidateColumn field(std::string_view name, T CandidateRow::*member) {
  return {name, [member](const CandidateRow& row) -> Json {
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
      field("candidate", &CandidateRow::candidate),
      field("dispatch", &CandidateRow::dispatch),
      field("dispatch_name", &CandidateRow::dispatch_name),
      field("operation", &CandidateRow::operation),
      field("build", &CandidateRow::build),
      field("compiler", &CandidateRow::compiler),
      field("flags", &CandidateRow::flags),
      field("device", &CandidateRow::device),
      field("device_name", &CandidateRow::device_name),
      field("provider", &CandidateRow::provider),
      field("configuration", &CandidateRow::configuration),
      field("default", &CandidateRow::is_default),
      field("constraint_set", &CandidateRow::constraint_set),
      {"state", [](const CandidateRow& row) { return Json(name_of(row.state)); }},
      field("failure_kind", &CandidateRow::failure_kind),
      field("failure_message", &CandidateRow::failure_message),
      field("identity", &CandidateRow::identity),
      field("configured", &CandidateRow::configured),
      field("compile_seconds", &CandidateRow::compile_seconds),
      field("right", &CandidateRow::right),
      field("bad_index", &CandidateRow::bad_index),
      field("share_bad", &CandidateRow::share_bad),
      field("tolerance", &CandidateRow::tolerance),
      field("verification_rules", &CandidateRow::rules),
      field("reference", &CandidateRow::reference),
      field("phase", &CandidateRow::phase),
      field("samples", &CandidateRow::samples),
      field("min_seconds", &CandidateRow::min_seconds),
      field("median_seconds", &CandidateRow::median_seconds),
      field("low_seconds", &CandidateRow::low_seconds),
      field("high_seconds", &CandidateRow::high_seconds),
      field("spread", &CandidateRow::spread),
      field("sentinel_ratio", &CandidateRow::sentinel_ratio),
      field("flops_per_second", &CandidateRow::flops_per_second),
      field("created", &CandidateRow::when),
  };
  return columns;
}

Json export_json(const std::vector<CandidateRow>& rows) {
  Json document;
  document["schema_version"] = kExportVersion;
  for (const CandidateColumn& column : candidate_columns())
    document["columns"].push_back(column.name);
  document["candidates"] = Json::array();
  for (const CandidateRow& row : rows) {
    Json candidate;
    for (const CandidateColumn& column : candidate_columns())
      candidate[std::string(column.name)] = column.value(row);
    document["candidates"].push_back(std::move(candidate));
  }
  return document;
}

std::string export_csv(const std::vector<CandidateRow>& rows) {
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
  for (const CandidateRow& row : rows)
    add_line([&row](const CandidateColumn& column) { return csv_field(column.value(row)); });
  return text;
}

}  // namespace hone::store
