#include <gtest/gtest.h>

#include "output/proof_text.h"

namespace hone::output {
namespace {

// A spec with one entry for a program of 100 ms.
tune::ProgramGain gain(double promised, double after) {
  tune::ProgramGain gain;
  gain.variant = "im2col + spec";
  gain.without_spec = "im2col";
  gain.has_flags = true;
  gain.base = 0.120;
  gain.before = 0.100;
  gain.after = after;
  gain.kernels = {{.dispatch = "main_dispatch_3", .launches = 4, .promised = promised}};
  return gain;
}

tune::ProgramGain in_place(tune::ProgramGain gain, double kernel, double others) {
  gain.kernels.front().before = 0.040;
  gain.kernels.front().after = 0.040 - kernel;
  gain.others_before = 0.050;
  gain.others_after = 0.050 - others;
  return gain;
}

TEST(WordsOfGain, ThatOfTheProgramStandsBesideThePredicted) {
  EXPECT_EQ(words_of_gain(gain(0.010, 0.0905)),
            "gain: 9.5 ms in the program; its kernels alone predicted 10 ms.");
}

// Of 10 ms: 2 are not there in place, the others lose 3, and 1 goes between kernels.
TEST(WordsOfGain, SayWhereTheRestWent) {
  EXPECT_EQ(words_of_gain(in_place(gain(0.010, 0.096), 0.008, -0.003)),
            "gain: 4 ms in the program; its kernels alone predicted 10 ms. Lost: 2 ms less in "
            "place, with cold data, 3 ms slower kernels without an entry, 1 ms between kernels.");
}

TEST(WordsOfGain, WithoutTimesInPlaceTheRestIsNotKnown) {
  EXPECT_EQ(words_of_gain(gain(0.010, 0.096)),
            "gain: 4 ms in the program; its kernels alone predicted 10 ms. The runtime does not "
            "report times in place.");
}

TEST(GainTable, IsAWaterfallFromTheDefault) {
  const nlohmann::json rows = gain_table(in_place(gain(0.010, 0.096), 0.008, -0.003)).to_json();
  std::vector<std::string> parts;
  for (const nlohmann::json& row : rows) parts.push_back(row["part"]);
  EXPECT_EQ(parts,
            (std::vector<std::string>{"im2col alone", "main_dispatch_3", "kernels without an entry",
                                      "between kernels", "all of the spec"}));
  EXPECT_NEAR(rows[0]["arrived"].get<double>(), 0.020, 1e-12);
  EXPECT_NEAR(rows[1]["arrived"].get<double>(), 0.008, 1e-12);
  EXPECT_NEAR(rows[2]["arrived"].get<double>(), -0.003, 1e-12);
  EXPECT_NEAR(rows[3]["arrived"].get<double>(), -0.001, 1e-12);
  EXPECT_NEAR(rows[4]["arrived"].get<double>(), 0.004, 1e-12);
}

std::string heading(const tune::ProgramGain& gain) {
  const std::string text = gain_table(gain).to_text();
  return text.substr(0, text.find('\n'));
}

TEST(GainTable, SaysWhoMadeAKernelWhereItIsNotAlwaysTheCompiler) {
  tune::ProgramGain gained = gain(0.010, 0.096);
  gained.kernels.front().provider = "iree";
  EXPECT_EQ(heading(gained).find(" by "), std::string::npos);
  gained.kernels.push_back(
      {.dispatch = "main_dispatch_5", .provider = "triton@3.6.0", .promised = 0.001});
  EXPECT_NE(heading(gained).find(" by "), std::string::npos);
  EXPECT_NE(gain_table(gained).to_text().find("main_dispatch_5        triton"), std::string::npos)
      << gain_table(gained).to_text();
  EXPECT_EQ(gain_table(gained).to_json()[2]["provider"], "triton@3.6.0");
}

// Of forty entries the last ones are one row.
TEST(GainTable, SumsUpTheSmallestOfMany) {
  tune::ProgramGain many = gain(0.010, 0.096);
  many.kernels.resize(40, many.kernels.front());
  const nlohmann::json rows = gain_table(many).to_json();
  ASSERT_EQ(rows.size(), 14u);  // flags, 11 kernels, the rest, all
  EXPECT_EQ(rows[12]["part"], "29 more");
  EXPECT_NEAR(rows[12]["promised"].get<double>(), 0.29, 1e-9);
}

}  // namespace
}  // namespace hone::output
