#include "base/json_fields.h"

#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

struct Part {
  int size = 0;
  bool operator==(const Part&) const = default;
};

struct Whole {
  int count = 7;
  std::optional<int> index;
  double bound = 0;
  std::string note = "none";
  int extra = 0;
  std::vector<Part> parts, more;
  bool operator==(const Whole&) const = default;
};

constexpr auto kPartFields = [](auto& part, auto&& field) { field("size", part.size); };

constexpr auto kWholeFields = [](auto& whole, auto&& field) {
  field("count", whole.count);
  field("index", whole.index);
  field.number("bound", whole.bound);
  field.or_default("note", whole.note);
  field.when(whole.extra != 0, "extra", whole.extra);
  field.list("parts", whole.parts, kPartFields);
  field.list_if_any("more", whole.more, kPartFields);
};

std::string written(const Whole& whole) {
  nlohmann::json object;
  write_fields(object, whole, kWholeFields);
  return object.dump();
}

Whole read(const std::string& text) {
  Whole whole;
  whole.note = "from before";
  read_fields(nlohmann::json::parse(text), whole, kWholeFields);
  return whole;
}

TEST(JsonFields, LeavesOutWhatHasNoValueAndReadsItBack) {
  const Whole empty;
  EXPECT_EQ(written(empty), R"({"bound":0.0,"count":7,"note":"none","parts":[]})");
  EXPECT_EQ(read(written(empty)), empty);
  const Whole full{3, 0, -std::numeric_limits<double>::infinity(), "n", 5, {{1}, {2}}, {{3}}};
  EXPECT_EQ(written(full),
            R"({"bound":"-inf","count":3,"extra":5,"index":0,"more":[{"size":3}],"note":"n",)"
            R"("parts":[{"size":1},{"size":2}]})");
  EXPECT_EQ(read(written(full)), full);
}

TEST(JsonFields, RefusesWhatIsMissingOrNoWholeNumber) {
  EXPECT_EQ(read(R"({"bound":1.0,"count":1,"parts":[]})").note, "none");
  for (const char* text :
       {R"({"bound":1.0,"parts":[]})", R"({"bound":1.0,"count":1.5,"parts":[]})",
        R"({"bound":"much","count":1,"parts":[]})", R"({"bound":"1.0","count":1,"parts":[]})",
        R"({"bound":1.0,"count":1,"index":4294967297,"parts":[]})",
        R"({"bound":1.0,"count":1,"parts":[{}]})"})
    EXPECT_THROW(read(text), nlohmann::json::exception) << text;
}

}  // namespace
}  // namespace hone
