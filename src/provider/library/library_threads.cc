#include "provider/library/library_threads.h"

#include <dirent.h>
#include <sched.h>

#include <cstdlib>
#include <set>

namespace hone::library {
namespace {

// Threads of this process.
std::set<int> threads() {
  std::set<int> ids;
  DIR* folder = opendir("/proc/self/task");
  if (!folder) return ids;
  while (const dirent* entry = readdir(folder))
    if (const int id = std::atoi(entry->d_name); id > 0) ids.insert(id);
  closedir(folder);
  return ids;
}

void pin(int thread, std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  sched_setaffinity(thread, sizeof(set), &set);
}

}  // namespace

void start_on_cores(std::span<const int> cores, const std::function<void()>& start) {
  // Threads inherit the affinity of the thread that starts them.
  cpu_set_t former;
  sched_getaffinity(0, sizeof(former), &former);
  const std::set<int> before = threads();
  pin(0, cores);
  start();
  std::size_t next = 1;
  for (const int thread : threads())
    if (!before.contains(thread)) pin(thread, cores.subspan(next++ % cores.size(), 1));
  sched_setaffinity(0, sizeof(former), &former);
}

}  // namespace hone::library
