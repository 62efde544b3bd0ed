#include "measure/arrangement.h"

#include <algorithm>
#include <numeric>

namespace hone::measure {
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

Place first_place(const problem::Binding& view, std::size_t from) {
  // A view that is not aligned in its binding is not aligned here.
  constexpr std::int64_t kAlignment = 64;
  return {.before = from,
          .start = whole_pages(from + kGuard) + static_cast<std::size_t>(view.offset % kAlignment)};
}

// Places a view `distance` bytes behind `former`, whose guard ends where this one's begins, or
// earlier.
Place next_place(Place& former, std::size_t distance) {
  Place place;
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
    Place& place = places[order[i]];
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

bool views_overlap(const problem::Binding& a, const problem::Binding& b) {
  return a.ordinal >= 0 && a.ordinal == b.ordinal && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

}  // namespace hone::measure
