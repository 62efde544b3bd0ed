#include "output/table.h"

#include <gtest/gtest.h>

#include "output/cells.h"

namespace hone::output {
namespace {

Table two_dispatches() {
  Table table({{"dispatch", "dispatch"}, {"seconds", "time", Align::kRight}});
  table.add({{"matmul, \"bare\"", ""}, {0.00159, "1.59 ms"}});
  table.add({{"gelu", ""}, {nullptr, "-"}});
  return table;
}

TEST(Table, AlignsForTheScreen) {
  EXPECT_EQ(two_dispatches().to_text(),
            "dispatch           time\n"
            "matmul, \"bare\"  1.59 ms\n"
            "gelu                  -\n");
}

TEST(Table, TellsAComplaintInOneLine) {
  EXPECT_EQ(in_one_line("too large\nsee above"), "too large");
  EXPECT_EQ(in_one_line("cannot compile 'a.mlir':\n\n  a.mlir:3: error: failed\n  more"),
            "cannot compile 'a.mlir': a.mlir:3: error: failed");
  EXPECT_EQ(in_one_line("why:"), "why:");
  EXPECT_EQ(in_one_line("why:\n"), "why: ");
  EXPECT_EQ(in_one_line("0123456789", 4), "0123...");
}

TEST(Table, QuotesCsvAsRfc4180Says) {
  EXPECT_EQ(two_dispatches().to_csv(),
            "dispatch,seconds\r\n\"matmul, \"\"bare\"\"\",0.00159\r\ngelu,\r\n");
}

TEST(Table, GivesJsonWithTheSameKeys) {
  EXPECT_EQ(
      two_dispatches().to_json().dump(),
      R"([{"dispatch":"matmul, \"bare\"","seconds":0.00159},{"dispatch":"gelu","seconds":null}])");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"a", "a"}, {"b", "b"}});
  table.add({{"\u00b1", ""}, {"x", ""}});
  EXPECT_EQ(table.to_text(), "a  b\n\u00b1  x\n");
}

}  // namespace
}  // namespace hone::output
