#include "measure/buffers.h"

#include <gmock/gmock.h>

#include <cstring>

namespace hone::measure {
namespace {

using problem::Access;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<problem::Binding> bindings() {
  const auto binding = [](Access access, std::int64_t elements) {
    return problem::Binding{.access = access,
                            .use = problem::BindingUse::kRootInput,
                            .type = {problem::ElementType::kF32, {elements}},
                            .bytes = elements * 4};
  };
  return {binding(Access::kReadOnly, 5), binding(Access::kReadWrite, 1000),
          binding(Access::kWriteOnly, 7)};
}

std::vector<std::vector<std::byte>> contents() {
  return {std::vector<std::byte>(20, std::byte{1}), std::vector<std::byte>(4000, std::byte{2}), {}};
}

std::byte* data(const Buffers& buffers, int copy, std::size_t binding) {
  return static_cast<std::byte*>(buffers.copy(copy)[binding].data);
}

TEST(BuffersTest, StartOnPagesAndHoldTheirFirstContents) {
  const auto buffers = Buffers::create(bindings(), contents(), 3);
  ASSERT_TRUE(buffers) << buffers.error().message;
  EXPECT_EQ(buffers->copies(), 3);
  for (int copy = 0; copy < 3; ++copy)
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data(*buffers, copy, i)) % 4096, 0u);
  EXPECT_EQ(buffers->copy(1)[1].bytes, 4000u);
  EXPECT_EQ(data(*buffers, 2, 1)[3999], std::byte{2});
  EXPECT_THAT(buffers->broken_guards(1), IsEmpty());
  EXPECT_THAT(buffers->changed_inputs(1), IsEmpty());
}

TEST(BuffersTest, MoveToOtherMemoryPreparedAsAtFirst) {
  auto buffers = Buffers::create(bindings(), contents(), 2);
  ASSERT_TRUE(buffers);
  const std::byte* const before = data(*buffers, 0, 0);
  data(*buffers, 1, 1)[7] = std::byte{9};
  ASSERT_TRUE(buffers->move_to_other_memory(7));
  EXPECT_NE(data(*buffers, 0, 0), before);
  EXPECT_EQ(buffers->rotation()[1][1].data, data(*buffers, 1, 1));
  EXPECT_EQ(data(*buffers, 1, 1)[7], std::byte{2});
  for (const int copy : {0, 1}) {
    EXPECT_THAT(buffers->changed_inputs(copy), IsEmpty());
    EXPECT_THAT(buffers->broken_guards(copy), IsEmpty());
  }
}

TEST(BuffersTest, NameTheGuardAndTheByteThatChanged) {
  const auto buffers = Buffers::create(bindings(), contents(), 2);
  ASSERT_TRUE(buffers);
  data(*buffers, 1, 2)[28 + 3] = std::byte{0};
  data(*buffers, 1, 1)[-8] = std::byte{0};
  data(*buffers, 1, 1)[-9] = std::byte{0};
  EXPECT_THAT(buffers->broken_guards(0), IsEmpty());
  const auto broken = buffers->broken_guards(1);
  ASSERT_EQ(broken.size(), 2u);
  EXPECT_EQ(broken[0].binding, 1);
  EXPECT_EQ(broken[0].offset, -8);
  EXPECT_EQ(broken[1].binding, 2);
  EXPECT_EQ(broken[1].offset, 31);
}

TEST(BuffersTest, PrepareMendsWhatAKernelDid) {
  auto buffers = Buffers::create(bindings(), contents(), 1);
  ASSERT_TRUE(buffers);
  std::memset(data(*buffers, 0, 0), 9, 20);
  std::memset(data(*buffers, 0, 1) - 100, 9, 4200);
  EXPECT_THAT(buffers->changed_inputs(0), ElementsAre(0));
  buffers->prepare(0);
  EXPECT_THAT(buffers->changed_inputs(0), IsEmpty());
  EXPECT_THAT(buffers->broken_guards(0), IsEmpty());
  EXPECT_EQ(data(*buffers, 0, 1)[0], std::byte{2});
}

TEST(BuffersTest, ReadWriteBuffersAreRestoredInEveryCopy) {
  auto buffers = Buffers::create(bindings(), contents(), 2);
  ASSERT_TRUE(buffers);
  for (int copy = 0; copy < 2; ++copy) data(*buffers, copy, 1)[10] = std::byte{7};
  buffers->restore_read_write();
  for (int copy = 0; copy < 2; ++copy) EXPECT_EQ(data(*buffers, copy, 1)[10], std::byte{2});
}

// Two pieces of a file of weights that lie eight gigabytes apart, and two that touch.
TEST(BuffersTest, ViewsKeepTheirDistanceAndShareWhatLiesBetween) {
  constexpr std::int64_t kFar = std::int64_t{8} << 30;
  const auto view = [](Access access, int ordinal, std::int64_t offset, std::int64_t bytes) {
    return problem::Binding{.access = access,
                            .use = problem::BindingUse::kRootInput,
                            .type = {problem::ElementType::kF32, {bytes / 4}},
                            .bytes = bytes,
                            .ordinal = ordinal,
                            .offset = offset};
  };
  const std::vector<problem::Binding> views{
      view(Access::kReadOnly, 0, kFar + 64, 128), view(Access::kReadOnly, 0, 64, 256),
      view(Access::kWriteOnly, 1, 0, 256), view(Access::kReadWrite, 1, 256, 64),
      view(Access::kWriteOnly, 1, 1024, 64)};
  const auto bytes = [](std::size_t count) { return std::vector<std::byte>(count, std::byte{3}); };
  auto buffers = Buffers::create(views, {bytes(128), bytes(256), {}, bytes(64), {}}, 3);
  ASSERT_TRUE(buffers) << buffers.error().message;
  for (const int copy : {0, 2}) {
    EXPECT_EQ(data(*buffers, copy, 0) - data(*buffers, copy, 1), kFar);
    EXPECT_EQ(data(*buffers, copy, 3) - data(*buffers, copy, 2), 256);
    EXPECT_EQ(data(*buffers, copy, 4) - data(*buffers, copy, 2), 1024);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data(*buffers, copy, 2)) % 4096, 0u);
  }
  // The kernel's own bindings begin where the views say, though nothing need lie there.
  const std::vector<problem::KernelBinding> bound{{0, kFar + 64, kFar + 192}, {2, 0, 1088}};
  EXPECT_EQ(static_cast<std::byte*>(device::bound_buffer(bound, 0, buffers->copy(0)).data) + 64,
            data(*buffers, 0, 1));
  EXPECT_EQ(device::bound_buffer(bound, 1, buffers->copy(0)).data, data(*buffers, 0, 2));

  // 704 bytes lie between the fourth and the fifth: 352 are the guard behind the one.
  data(*buffers, 0, 3)[64 + 351] = std::byte{0};
  data(*buffers, 0, 3)[64 + 352] = std::byte{0};
  const auto broken = buffers->broken_guards(0);
  ASSERT_EQ(broken.size(), 2u);
  EXPECT_EQ(std::pair(broken[0].binding, broken[0].offset), std::pair(3, std::int64_t{64 + 351}));
  EXPECT_EQ(std::pair(broken[1].binding, broken[1].offset), std::pair(4, std::int64_t{-352}));
  ASSERT_TRUE(buffers->move_to_other_memory(5));
  EXPECT_THAT(buffers->broken_guards(0), IsEmpty());
}

TEST(BuffersTest, RefuseViewsThatOverlap) {
  auto views = bindings();
  views[0].ordinal = views[1].ordinal = 0;
  views[1].offset = 16;
  EXPECT_THAT(Buffers::create(views, contents(), 1).error().message,
              HasSubstr("bindings 0 and 1 are views that overlap"));
}

TEST(BuffersTest, RefuseWhatHasNoStaticSize) {
  auto dynamic = bindings();
  dynamic[0].bytes = problem::kDynamic;
  EXPECT_THAT(Buffers::create(dynamic, contents(), 1).error().message, HasSubstr("dynamic"));
  auto short_contents = contents();
  short_contents[0].pop_back();
  EXPECT_THAT(Buffers::create(bindings(), short_contents, 1).error().message,
              HasSubstr("20 bytes, but 19"));
}

TEST(RotationTest, ColdPassesTwiceTheLastLevelCache) {
  const Rotation rotation =
      rotation_for(CacheMode::kCold, 3 << 20, 32 << 20, std::int64_t{64} << 30);
  EXPECT_EQ(rotation.copies, 22);  // 21 x 3 MiB = 63 MiB is not more than 64 MiB, 22 are
  EXPECT_THAT(rotation.note, IsEmpty());
  EXPECT_EQ(rotation_for(CacheMode::kWarm, 3 << 20, 32 << 20, std::int64_t{64} << 30).copies, 1);
}

TEST(RotationTest, MemoryCapsItAndTheNoteSaysSo) {
  // A virtual machine that reports its host's 480 MiB and has 1 GiB: an eighth is 128 MiB.
  const Rotation rotation =
      rotation_for(CacheMode::kCold, 4 << 20, std::int64_t{480} << 20, std::int64_t{1} << 30);
  EXPECT_EQ(rotation.copies, 32);
  EXPECT_THAT(rotation.note, HasSubstr("not surely cold"));
}

TEST(RotationTest, AvailableMemoryIsKnownHere) {
  EXPECT_GT(available_memory(), 1 << 20);
}

}  // namespace
}  // namespace hone::measure
