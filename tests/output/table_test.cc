#include "output/table.h"

#include <gtest/gtest.h>

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

// dispatch | share | default | tuned | speedup | id: the columns of a tuning, most important first.
Table one_long_name() {
  Table table({{"dispatch", "dispatch"},
               {"share", "share", Align::kRight},
               {"default", "default", Align::kRight},
               {"tuned", "tuned", Align::kRight},
               {"speedup", "speedup", Align::kRight},
               {"id", "id", Align::kRight}});
  table.add({{"feed_forward_dispatch_0_matmul_128x3072x768_f32", ""},
             {37, "37 %"},
             {1, "46.5 ms"},
             {1, "13.8 ms"},
             {1, "3.37x"},
             {53, ""}});
  return table;
}

TEST(Table, CutsALongNameInTheMiddle) {
  EXPECT_EQ(one_long_name().to_text(64),
            "dispatch                    share  default    tuned  speedup  id\n"
            "feed_forward_…3072x768_f32   37 %  46.5 ms  13.8 ms    3.37x  53\n");
}

TEST(Table, HidesTheLastColumnsWhereTheNameIsShortAlready) {
  EXPECT_EQ(one_long_name().to_text(56),
            "dispatch                  share  default    tuned\n"
            "feed_forward…072x768_f32   37 %  46.5 ms  13.8 ms\n");
}

TEST(Table, KeepsFourColumnsOfANarrowTerminal) {
  EXPECT_EQ(one_long_name().to_text(40),
            "dispatch         share  default    tuned\n"
            "feed_fo…768_f32   37 %  46.5 ms  13.8 ms\n");
}

}  // namespace
}  // namespace hone::output
