// What the tests of worker processes share.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/process_tree.h"
#include "tests/worker/behaviours.h"

namespace hone::worker {

// Whether `condition` comes to hold. Cleaning up takes milliseconds; the patience is for machines
// with other work to do.
inline bool holds_soon(const std::function<bool()>& condition) {
  for (int round = 0; round < 1000; ++round) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

inline bool ends_soon(pid_t pid) {
  return holds_soon([&] { return ::kill(pid, 0) != 0 || resident_bytes(pid) == 0; });
}

class WorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create("hone-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
  }

  // Nothing a worker made, be it a process or a file, is left.
  void TearDown() override {
    EXPECT_TRUE(holds_soon([&] { return std::filesystem::is_empty(folder()); }));
    EXPECT_TRUE(holds_soon([&] { return descendants_of(::getpid()).empty(); }));
  }

  const std::filesystem::path& folder() const { return folder_->path(); }

 private:
  std::optional<TemporaryFolder> folder_;
};

}  // namespace hone::worker
