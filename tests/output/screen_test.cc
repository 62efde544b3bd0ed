#include "output/screen.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hone::output {
namespace {

TEST(CutInMiddle, KeepsBothEnds) {
  EXPECT_EQ(cut_in_middle("main_dispatch_0_matmul_f32", 26), "main_dispatch_0_matmul_f32");
  EXPECT_EQ(cut_in_middle("main_dispatch_0_matmul_f32", 11), "main_…l_f32");
  EXPECT_EQ(cut_in_middle("main", 1), "…");
  EXPECT_EQ(cut_in_middle("main", 0), "");
}

TEST(CutInMiddle, CountsCodePoints) {
  EXPECT_EQ(cut_in_middle("äöüÄÖÜ", 5), "äö…ÖÜ");
}

TEST(Wrapped, BreaksAtBlanksBehindAnIndent) {
  EXPECT_EQ(wrapped("the default is the best of what was tried", 16),
            "the default is\n  the best of\n  what was tried");
}

TEST(Wrapped, KeepsAPathWhole) {
  EXPECT_EQ(wrapped("see out/compile_flags.txt and more", 10),
            "see\n  out/compile_flags.txt\n  and more");
}

TEST(Wrapped, KeepsLinesAndWhatTheyBeginWith) {
  EXPECT_EQ(wrapped("a\n    2.00 times\nb", 20), "a\n    2.00 times\nb");
}

TEST(TerminalColumns, AreUnknownInAFile) {
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(terminal_columns(file), std::nullopt);
  close(file);
}

}  // namespace
}  // namespace hone::output
