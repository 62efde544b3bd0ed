#include "measure/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <utility>

#include "measure/verification.h"

namespace hone::measure {

namespace {

constexpr std::size_t kPage = Arrangement::kPage;
// Inaccessible memory before the first copy and behind the last: what writes past the guards there
// crashes, and does not reach memory of the runner's own.
constexpr std::size_t kFence = std::size_t{1} << 20;
// Poison that is uploaded; the device copies it on to the rest. Whole elements of any type.
constexpr std::size_t kUploadedPoison = std::size_t{64} << 10;

// First changed byte of a `guard` that was poisoned, seen from its start, or from its end when
// `backwards`; -1 when it is whole.
std::ptrdiff_t changed(std::span<const std::byte> guard, problem::ElementType type,
                       bool backwards) {
  std::vector<std::byte> whole(guard.size());
  poison(whole, type);
  if (std::ranges::equal(guard, whole)) return -1;
  if (backwards)
    return (std::mismatch(guard.rbegin(), guard.rend(), whole.rbegin()).first.base() -
            guard.begin()) -
           1;
  return std::mismatch(guard.begin(), guard.end(), whole.begin()).first - guard.begin();
}

// Memory with a fence on either side; nullptr, and errno, when there is not enough.
std::byte* map_between_fences(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes + 2 * kFence, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::byte* const inside = static_cast<std::byte*>(memory) + kFence;
  if (mprotect(inside, bytes, PROT_READ | PROT_WRITE) == 0) return inside;
  const int error = errno;
  munmap(memory, bytes + 2 * kFence);
  errno = error;
  return nullptr;
}

Status poison_on_device(device::Device& device, std::byte* to, std::size_t bytes,
                        problem::ElementType type, int variant) {
  std::vector<std::byte> first(std::min(bytes, kUploadedPoison));
  if (first.empty()) return {};
  poison(first, type, variant);
  HONE_TRY(device.upload(to, first));
  for (std::size_t done = first.size(); done < bytes;) {
    const std::size_t more = std::min(done, bytes - done);
    HONE_TRY(device.copy(to + done, to, more));
    done += more;
  }
  return {};
}

void unmap_with_fences(std::byte* inside, std::size_t bytes) {
  if (inside != nullptr) munmap(inside - kFence, bytes + 2 * kFence);
}

// A page gets its place in physical memory when it is first written.
void take_pages(std::byte* memory, std::size_t copies, const Arrangement& arrangement,
                std::uint64_t seed) {
  std::vector<std::size_t> pages;
  for (std::size_t copy = 0; copy < copies; ++copy)
    for (const auto& [begin, end] : arrangement.pieces)
      for (std::size_t at = begin / kPage * kPage; at < end; at += kPage)
        if (const std::size_t page = copy * arrangement.bytes + at;
            pages.empty() || pages.back() != page)
          pages.push_back(page);
  std::mt19937_64 generator(seed);
  std::shuffle(pages.begin(), pages.end(), generator);
  for (const std::size_t page : pages) memory[page] = std::byte{0};
}

// Whether two views of the same kernel binding have bytes in common.
bool views_overlap(const problem::Binding& a, const problem::Binding& b) {
  return a.ordinal >= 0 && a.ordinal == b.ordinal && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

}  // namespace

struct Buffers::State {
  explicit State(const std::vector<problem::Binding>& all)
      : bindings(all), arrangement(all), places(arrangement.places) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::vector<problem::Binding> bindings;
  std::array<Contents, 2> initial;  // by variant; the second empty: as the first
  Arrangement arrangement;
  const std::vector<BufferPlace>& places;
  std::vector<std::vector<device::Buffer>> rotation;
  std::byte* memory = nullptr;  // of the first copy, between the fences
  std::size_t host_copies = 0;  // all; on a device with its own memory one, from a fetch on

  device::Device* device = nullptr;  // with memory of its own
  device::Memory on_device;          // all copies, from first_copy on
  std::byte* first_copy = nullptr;
  device::Memory prepared;  // what a copy is before a launch, for each variant of the poison
  std::array<bool, 2> is_prepared = {};  // by variant

  ~State() { unmap_with_fences(memory, host_copies * arrangement.bytes); }

  std::byte* copy(int index) const {
    return memory + (device != nullptr ? 0 : static_cast<std::size_t>(index) * arrangement.bytes);
  }
  // Addresses of the device.
  std::byte* device_copy(int index) const {
    return first_copy + static_cast<std::size_t>(index) * arrangement.bytes;
  }
  std::byte* prepared_copy(int variant) const {
    return prepared.data() + static_cast<std::size_t>(variant) * arrangement.bytes;
  }
  std::span<std::byte> buffer(int index, std::size_t binding) const {
    return {copy(index) + places[binding].start, places[binding].bytes};
  }
  std::span<std::byte> guard_before(int index, std::size_t binding) const {
    const BufferPlace& place = places[binding];
    return {copy(index) + place.before, place.start - place.before};
  }
  std::span<std::byte> guard_behind(int index, std::size_t binding) const {
    const BufferPlace& place = places[binding];
    const std::size_t end = place.start + place.bytes;
    return {copy(index) + end, place.end - end};
  }

  void prepare_on_host(int index, int variant) const {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const problem::ElementType type = bindings[i].type.element;
      poison(guard_before(index, i), type);
      fill(index, i, variant);
      poison(guard_behind(index, i), type);
    }
  }
  Status prepare_image(int variant);
  Status move_on_device(std::uint64_t seed);
  Status map_on_host(std::uint64_t seed);

  const std::vector<std::byte>& contents(std::size_t binding, int variant) const {
    const Contents& second = initial[1];
    return variant == 1 && !second.empty() ? second[binding] : initial[0][binding];
  }

  void fill(int index, std::size_t binding, int variant) const {
    const std::span<std::byte> bytes = buffer(index, binding);
    if (bindings[binding].access == problem::Access::kWriteOnly)
      poison(bytes, bindings[binding].type.element, variant);
    else if (!bytes.empty())
      std::memcpy(bytes.data(), contents(binding, variant).data(), bytes.size());
  }
};

Buffers::Buffers(std::unique_ptr<State> state) : state_(std::move(state)) {}
Buffers::~Buffers() = default;
Buffers::Buffers(Buffers&&) noexcept = default;
Buffers& Buffers::operator=(Buffers&&) noexcept = default;

Result<Buffers> Buffers::create(std::vector<problem::Binding> bindings, Contents initial,
                                int copies, device::Device* device, Contents second) {
  if (initial.size() != bindings.size() || copies < 1 ||
      (!second.empty() && second.size() != bindings.size()))
    return input_error("{} bindings with {} contents and {} copies", bindings.size(),
                       initial.size(), copies);
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const problem::Binding& binding = bindings[i];
    if (binding.bytes < 0)
      return input_error("binding {} has no static size: dynamic shapes cannot be run", i);
    const auto bytes = static_cast<std::size_t>(binding.bytes);
    for (const Contents* each : {&initial, &second})
      if (const Contents& contents = *each; binding.access != problem::Access::kWriteOnly &&
                                            !contents.empty() && contents[i].size() != bytes)
        return input_error("binding {} has {} bytes, but {} are given for it", i, bytes,
                           contents[i].size());
    for (std::size_t j = 0; j < i; ++j)
      if (views_overlap(binding, bindings[j]))
        return input_error("bindings {} and {} are views that overlap", j, i);
  }
  auto state = std::make_unique<State>(bindings);
  if (device != nullptr && device->has_own_memory()) state->device = device;
  state->host_copies = static_cast<std::size_t>(state->device != nullptr ? 1 : copies);
  state->initial = {std::move(initial), std::move(second)};
  state->rotation.resize(static_cast<std::size_t>(copies));
  if (state->device != nullptr) {
    HONE_ASSIGN(state->prepared,
                device::Memory::allocate(*state->device, 2 * state->arrangement.bytes));
  }
  Buffers buffers(std::move(state));
  HONE_TRY(buffers.move_to_other_memory(0));
  return buffers;
}

Status Buffers::State::map_on_host(std::uint64_t seed) {
  const std::size_t bytes = host_copies * arrangement.bytes;
  std::byte* const mapped = map_between_fences(bytes);
  if (mapped == nullptr)
    return environment_error("no memory for {} copies of the buffers ({} bytes): {}", host_copies,
                             bytes, std::strerror(errno));
  if (device == nullptr) take_pages(mapped, host_copies, arrangement, seed);
  unmap_with_fences(std::exchange(memory, mapped), bytes);
  return {};
}

// On demand: kernels that are only timed need one variant.
Status Buffers::State::prepare_image(int variant) {
  if (std::exchange(is_prepared[static_cast<std::size_t>(variant)], true)) return {};
  std::byte* const image = prepared_copy(variant);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BufferPlace& place = places[i];
    const problem::ElementType type = bindings[i].type.element;
    const std::size_t behind = place.start + place.bytes;
    HONE_TRY(poison_on_device(*device, image + place.before, place.start - place.before, type, 0));
    if (bindings[i].access == problem::Access::kWriteOnly)
      HONE_TRY(poison_on_device(*device, image + place.start, place.bytes, type, variant));
    else if (place.bytes > 0)
      HONE_TRY(device->upload(image + place.start, contents(i, variant)));
    HONE_TRY(poison_on_device(*device, image + behind, place.end - behind, type, 0));
  }
  return {};
}

// Whole pages further on each time: a GPU's memory comes in blocks of 2 MiB.
Status Buffers::State::move_on_device(std::uint64_t seed) {
  constexpr std::size_t kPlaces = 512;
  std::mt19937_64 generator(seed);
  const std::size_t shift = seed == 0 ? 0 : generator() % kPlaces * kPage;
  auto moved = device::Memory::allocate(*device, rotation.size() * arrangement.bytes + shift);
  if (!moved)
    return environment_error("no memory for {} copies of the buffers: {}", rotation.size(),
                             moved.error().message);
  on_device = std::move(*moved);
  first_copy = on_device.data() + shift;
  return {};
}

Status Buffers::move_to_other_memory(std::uint64_t seed) {
  State& state = *state_;
  HONE_TRY(state.device != nullptr ? state.move_on_device(seed) : state.map_on_host(seed));
  for (int copy = 0; copy < copies(); ++copy) {
    std::vector<device::Buffer>& buffers = state.rotation[static_cast<std::size_t>(copy)];
    std::byte* const start = state.device != nullptr ? state.device_copy(copy) : state.copy(copy);
    buffers.clear();
    for (const BufferPlace& place : state.places)
      buffers.push_back({start + place.start, place.bytes});
    HONE_TRY(prepare(copy));
  }
  return {};
}

int Buffers::copies() const {
  return static_cast<int>(state_->rotation.size());
}
const std::vector<problem::Binding>& Buffers::bindings() const {
  return state_->bindings;
}
const std::vector<std::vector<device::Buffer>>& Buffers::rotation() const {
  return state_->rotation;
}
std::span<const device::Buffer> Buffers::copy(int index) const {
  return state_->rotation[static_cast<std::size_t>(index)];
}
std::span<const std::byte> Buffers::contents(int copy, int binding) const {
  return state_->buffer(copy, static_cast<std::size_t>(binding));
}
std::span<const std::byte> Buffers::initial(int binding, int variant) const {
  return state_->contents(static_cast<std::size_t>(binding), variant);
}

Status Buffers::prepare(int index, int variant) {
  State& state = *state_;
  if (state.device == nullptr) {
    state.prepare_on_host(index, variant);
    return {};
  }
  HONE_TRY(state.prepare_image(variant));
  for (const auto& [begin, end] : state.arrangement.pieces)
    HONE_TRY(state.device->copy(state.device_copy(index) + begin,
                                state.prepared_copy(variant) + begin, end - begin));
  return {};
}

Status Buffers::fetch(int index, bool only_written) {
  State& state = *state_;
  if (state.device == nullptr) return {};
  if (state.memory == nullptr) HONE_TRY(state.map_on_host(0));
  for (std::size_t i = 0; only_written && i < state.places.size(); ++i)
    if (state.bindings[i].access != problem::Access::kReadOnly)
      HONE_TRY(state.device->download(state.buffer(index, i),
                                      state.device_copy(index) + state.places[i].start));
  if (only_written) return {};
  for (const auto& [begin, end] : state.arrangement.pieces)
    HONE_TRY(state.device->download({state.memory + begin, end - begin},
                                    state.device_copy(index) + begin));
  return {};
}

Result<std::optional<bool>> Buffers::is_intact_on_device(int index, int variant) const {
  const State& state = *state_;
  if (state.device == nullptr) return std::nullopt;
  const std::byte *now = state.device_copy(index), *then = state.prepared_copy(variant);
  // The bytes from `begin` to `end` of the copy; nothing when the device cannot tell.
  const auto same = [&](std::size_t begin, std::size_t end) -> Result<std::optional<bool>> {
    HONE_ASSIGN(const auto difference,
                state.device->difference(now + begin, then + begin, problem::ElementType::kI8,
                                         static_cast<std::int64_t>(end - begin), 0, 0));
    if (!difference) return std::nullopt;
    return difference->right;
  };
  for (std::size_t i = 0; i < state.places.size(); ++i) {
    const BufferPlace& place = state.places[i];
    const bool is_input = state.bindings[i].access == problem::Access::kReadOnly;
    const std::size_t behind = place.start + place.bytes;
    HONE_ASSIGN(const auto first, same(place.before, is_input ? place.end : place.start));
    if (!first || !*first) return first;
    if (is_input) continue;
    HONE_ASSIGN(const auto second, same(behind, place.end));
    if (!second || !*second) return second;
  }
  return true;
}

Status Buffers::restore_read_write() {
  const State& state = *state_;
  for (std::size_t i = 0; i < state.places.size(); ++i) {
    if (state.bindings[i].access != problem::Access::kReadWrite) continue;
    const BufferPlace& place = state.places[i];
    for (int copy = 0; copy < copies(); ++copy) {
      if (state.device == nullptr)
        state.fill(copy, i, 0);
      else
        HONE_TRY(state.device->copy(state.device_copy(copy) + place.start,
                                    state.prepared_copy(0) + place.start, place.bytes));
    }
  }
  return {};
}

std::vector<BrokenGuard> Buffers::broken_guards(int index) const {
  std::vector<BrokenGuard> broken;
  for (std::size_t i = 0; i < state_->places.size(); ++i) {
    const problem::ElementType type = state_->bindings[i].type.element;
    const std::span<const std::byte> before = state_->guard_before(index, i);
    if (const std::ptrdiff_t at = changed(before, type, true); at >= 0)
      broken.push_back({static_cast<int>(i), at - std::ssize(before)});
    if (const std::ptrdiff_t at = changed(state_->guard_behind(index, i), type, false); at >= 0)
      broken.push_back(
          {static_cast<int>(i), static_cast<std::int64_t>(state_->places[i].bytes) + at});
  }
  return broken;
}

std::vector<int> Buffers::changed_inputs(int index, int variant) const {
  std::vector<int> changed_bindings;
  for (std::size_t i = 0; i < state_->places.size(); ++i) {
    if (state_->bindings[i].access != problem::Access::kReadOnly) continue;
    const std::span<const std::byte> now = state_->buffer(index, i);
    if (!now.empty() &&
        std::memcmp(now.data(), state_->contents(i, variant).data(), now.size()) != 0)
      changed_bindings.push_back(static_cast<int>(i));
  }
  return changed_bindings;
}

Rotation rotation_for(CacheMode mode, std::int64_t bytes_per_copy, std::int64_t last_level_cache,
                      std::int64_t available_memory) {
  if (mode == CacheMode::kWarm || bytes_per_copy <= 0 || last_level_cache <= 0) return {};
  const std::int64_t wanted = 2 * last_level_cache / bytes_per_copy + 1;
  const std::int64_t affordable = std::max<std::int64_t>(1, available_memory / 8 / bytes_per_copy);
  constexpr std::int64_t kMost = 1 << 20;  // a copy takes some pages even when it holds few bytes
  const std::int64_t copies = std::min({std::max<std::int64_t>(2, wanted), affordable, kMost});
  Rotation rotation{.copies = static_cast<int>(copies), .note = ""};
  if (copies < wanted)
    rotation.note = fmt::format(
        "not surely cold: {} copies of {} bytes do not pass twice the last-level cache of {} "
        "bytes, "
        "but more would take over an eighth of the {} bytes of available memory",
        copies, bytes_per_copy, last_level_cache, available_memory);
  return rotation;
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    std::int64_t kibibytes = 0;
    if (key == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
    file.ignore(1 << 10, '\n');
  }
  return 0;
}

namespace {

constexpr std::size_t kGuard = problem::kGuardBytes;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + Arrangement::kPage - 1) / Arrangement::kPage * Arrangement::kPage;
}

// Orders the views of a binding by their offset, one after the other; other bindings keep their
// order.
std::vector<std::size_t> in_order(const std::vector<problem::Binding>& bindings) {
  std::vector<std::size_t> order(bindings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(bindings[a].ordinal, bindings[a].offset) <
           std::pair(bindings[b].ordinal, bindings[b].offset);
  });
  return order;
}

BufferPlace first_place(const problem::Binding& view, std::size_t from) {
  // A view that is not aligned in its binding is not aligned here.
  constexpr std::int64_t kAlignment = 64;
  return {.before = from,
          .start = whole_pages(from + kGuard) + static_cast<std::size_t>(view.offset % kAlignment)};
}

// Places a view `distance` bytes behind `former`, whose guard ends where this one's begins, or
// earlier.
BufferPlace next_place(BufferPlace& former, std::size_t distance) {
  BufferPlace place;
  place.start = former.start + distance;
  const std::size_t end = former.start + former.bytes, room = place.start - end;
  former.end = end + std::min(room / 2, kGuard);
  place.before = place.start - std::min(room - room / 2, kGuard);
  return place;
}

}  // namespace

Arrangement::Arrangement(const std::vector<problem::Binding>& bindings) : places(bindings.size()) {
  const std::vector<std::size_t> order = in_order(bindings);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const problem::Binding& view = bindings[order[i]];
    BufferPlace& place = places[order[i]];
    if (i > 0 && view.ordinal >= 0 && bindings[order[i - 1]].ordinal == view.ordinal)
      place = next_place(places[order[i - 1]],
                         static_cast<std::size_t>(view.offset - bindings[order[i - 1]].offset));
    else
      place = first_place(view, bytes);
    place.bytes = static_cast<std::size_t>(view.bytes);
    place.end = whole_pages(place.start + place.bytes + kGuard);
    bytes = place.end;
  }
  bytes = std::max(bytes, kPage);
  for (const std::size_t i : order) {
    if (pieces.empty() || places[i].before > pieces.back().second)
      pieces.emplace_back(places[i].before, places[i].end);
    pieces.back().second = places[i].end;
  }
}

}  // namespace hone::measure
