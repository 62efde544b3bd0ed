// Several tuners on one store.
#include <signal.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "device/cpu/target.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class SharedStore : public HoneCommand {
 protected:
  std::vector<std::string> tune(int candidates, const std::string& cores,
                                const std::string& out) const {
    // Both propose the same, whatever they are told.
    return {"tune",         "--strategy",
            "random",       "small.mlir",
            "--candidates", std::to_string(candidates),
            "--cores",      cores,
            "--out",        out,
            "--relax",      "all",
            "--no-program", "--no-baselines",
            "--json"};
  }
  void run_sql(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((folder() / "hone.db").c_str(), &handle), SQLITE_OK);
    sqlite3_busy_timeout(handle, 10'000);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(handle);
  }
  // The first column of the only row.
  int count(const char* sql) {
    sqlite3* handle = nullptr;
    int value = -1;
    EXPECT_EQ(sqlite3_open((folder() / "hone.db").c_str(), &handle), SQLITE_OK);
    sqlite3_busy_timeout(handle, 10'000);
    sqlite3_exec(
        handle, sql,
        [](void* into, int, char** columns, char**) {
          *static_cast<int*>(into) = columns[0] == nullptr ? 0 : std::atoi(columns[0]);
          return 0;
        },
        &value, nullptr);
    sqlite3_close(handle);
    return value;
  }
  // Compiling again replaces a row, so the store itself is made to count.
  void count_compiles() {
    run_sql(
        "CREATE TABLE compiled (candidate INTEGER);"
        "CREATE TRIGGER compiling AFTER INSERT ON artifact BEGIN"
        "  INSERT INTO compiled VALUES (new.candidate_id); END;"
        "CREATE TRIGGER failing AFTER INSERT ON failure WHEN new.device_id IS NULL BEGIN"
        "  INSERT INTO compiled VALUES (new.candidate_id); END");
  }
  void expect_nothing_done_twice() {
    EXPECT_EQ(count("SELECT count(*) - count(DISTINCT candidate) FROM compiled WHERE candidate IN "
                    "(SELECT id FROM candidate WHERE provider = 'iree')"),
              0);
    EXPECT_EQ(count("SELECT count(*) - count(DISTINCT identity) FROM measurement "
                    "WHERE phase = 'search'"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM lease"), 0);
    EXPECT_EQ(hone({"store", "check", "hone.db"}).exit_code, 0);
  }
  bool wait_for(int wanted, const char* sql) {
    for (int look = 0; look < 600; ++look) {
      if (std::filesystem::exists(folder() / "hone.db") && count(sql) >= wanted) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  std::vector<int> cores_ = device::cpu::available_cores();
  std::string first_ = std::to_string(cores_.front()), last_ = std::to_string(cores_.back());
};

TEST_F(SharedStore, TwoTunersDoEachCandidateOnce) {
  if (cores_.size() < 2) GTEST_SKIP() << "needs two cores";
  write("small.mlir", matmul_program("64"));
  json(tune(1, first_, "out"));  // makes the store
  count_compiles();
  Ran ran[2];
  std::thread other([&] { ran[0] = hone(tune(20, first_, "a")); });
  ran[1] = hone(tune(20, last_, "b"));
  other.join();
  for (const Ran& each : ran) {
    const auto result = nlohmann::json::parse(each.out, nullptr, false);
    ASSERT_FALSE(result.is_discarded()) << each.out << each.err;
    EXPECT_EQ(result["dispatches"][0]["tried"], 20) << "whoever tried it";
  }
  EXPECT_EQ(count("SELECT count(DISTINCT candidate) FROM compiled "
                  "JOIN candidate ON candidate.id = candidate AND provider = 'iree'"),
            19);
  EXPECT_EQ(count("SELECT count(DISTINCT run_id) FROM artifact WHERE run_id > 1"), 2)
      << "both worked";
  expect_nothing_done_twice();
}

TEST_F(SharedStore, ATunerTakesOverWhatAKilledOneWasAt) {
  if (cores_.size() < 2) GTEST_SKIP() << "needs two cores";
  write("small.mlir", matmul_program("64"));
  json(tune(1, first_, "out"));
  count_compiles();
  auto killed = ChildProcess::start(command(tune(20, first_, "a")));
  ASSERT_TRUE(killed) << killed.error().message;
  ASSERT_TRUE(wait_for(1, "SELECT count(*) FROM lease"));
  Ran survivor;
  std::thread other([&] { survivor = hone(tune(20, last_, "b")); });
  EXPECT_TRUE(wait_for(2, "SELECT count(DISTINCT owner) FROM lease"));
  killed->kill();
  other.join();
  EXPECT_EQ(nlohmann::json::parse(survivor.out, nullptr, false)["dispatches"][0]["tried"], 20)
      << survivor.err;
  expect_nothing_done_twice();
}

TEST_F(SharedStore, ASecondTunerOnTheSameCoresIsRefusedWithTheFirstsName) {
  write("small.mlir", matmul_program("64"));
  auto first = ChildProcess::start(command(tune(200, first_, "a")));
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(wait_for(1, "SELECT count(*) FROM measurement"));
  const Ran second = hone(tune(1, first_, "b"));
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(second.err,
            fmt::format("hone: core {} is leased by process {}, which measures on it; wait for it, "
                        "or give this run other cores\n",
                        first_, first->pid()));
  EXPECT_EQ(count("SELECT count(*) FROM run"), 1);
}

}  // namespace
}  // namespace hone::cli
