#include "store/clock.h"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

namespace hone::store {

std::string to_text(std::chrono::system_clock::time_point time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(milliseconds);
  const std::time_t calendar = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  ::gmtime_r(&calendar, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     (milliseconds - seconds).count());
}

std::string now_text() {
  return to_text(std::chrono::system_clock::now());
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::int64_t boot_milliseconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace hone::store
