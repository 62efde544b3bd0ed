#include "trial/compiled_programs.h"

#include <algorithm>

namespace hone::trial {

std::shared_ptr<const std::string> CompiledPrograms::find(const std::string& key) const {
  const auto found = std::ranges::find(kept_, key, &Kept::key);
  return found == kept_.end() ? nullptr : found->bytes;
}

std::shared_ptr<const std::string> CompiledPrograms::keep(const std::string& key,
                                                          std::string bytes) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));
  std::erase_if(kept_, [&](const Kept& each) { return each.key == key; });
  if (shared->size() > most_bytes_) return shared;
  kept_.push_back({key, shared});
  std::size_t total = 0;
  for (const Kept& each : kept_) total += each.bytes->size();
  for (; total > most_bytes_; kept_.pop_front()) total -= kept_.front().bytes->size();
  return shared;
}

}  // namespace hone::trial
