#include "worker/message.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

namespace hone::worker {
namespace {

using testing::HasSubstr;

std::string frame_of(const Message& message) {
  auto frame = encode(message);
  EXPECT_TRUE(frame) << frame.error().message;
  return frame.value_or("");
}

Result<std::optional<Message>> decode(std::string_view bytes) {
  FrameDecoder decoder;
  decoder.add(bytes);
  return decoder.next();
}

// The header and blob sizes of a frame, by hand from docs/worker-protocol.md.
std::string header(std::uint32_t kind, std::uint32_t body, std::uint32_t blobs,
                   std::string_view magic = "HONE", std::uint16_t version = 1) {
  std::string bytes(magic);
  bytes += {static_cast<char>(version), static_cast<char>(version >> 8), 0, 0};
  for (const std::uint32_t field : {kind, body, blobs})
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(field >> shift);
  return bytes;
}

std::string error_of(std::string_view bytes) {
  const auto message = decode(bytes);
  return message ? "no error" : message.error().message;
}

TEST(Frame, HasTheBytesOfTheSpecification) {
  const std::string expected = std::string("HONE\1\0\0\0\3\0\0\0\7\0\0\0\1\0\0\0", 20) +
                               std::string("\2\0\0\0\0\0\0\0", 8) + "run" + R"({"a":1})" + "xy";
  EXPECT_EQ(frame_of({"run", {{"a", 1}}, {"xy"}}), expected);
}

TEST(Frame, ComesBackAsItWasSent) {
  const std::string binary("\0\xff\n", 3);
  const auto message = decode(frame_of({"k", {{"list", {1, "two", nullptr}}}, {"", binary}}));
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->kind, "k");
  EXPECT_EQ((*message)->body, nlohmann::json({{"list", {1, "two", nullptr}}}));
  EXPECT_THAT((*message)->blobs, testing::ElementsAre("", binary));
}

TEST(Frame, TextThatIsNotUtf8IsReplaced) {
  const auto message = decode(frame_of({"k", "a\xff", {}}));
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->body, "a\xEF\xBF\xBD");
}

TEST(Frame, EveryTruncationWaitsForMore) {
  const std::string frame = frame_of({"kind", {{"x", "y"}}, {"blob", "other"}});
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const auto message = decode(std::string_view(frame).substr(0, size));
    ASSERT_TRUE(message) << size;
    EXPECT_FALSE(*message) << size;
  }
}

TEST(Frame, ManyComeOutOfAStreamInAnyPieces) {
  std::string stream;
  for (int i = 0; i < 100; ++i)
    stream += frame_of({"k", i, {std::string(static_cast<std::size_t>(i) * 997, 'b')}});
  FrameDecoder decoder;
  int count = 0;
  for (std::size_t at = 0; at < stream.size(); at += 1009) {
    decoder.add(std::string_view(stream).substr(at, 1009));
    while (true) {
      const auto message = decoder.next();
      ASSERT_TRUE(message);
      if (!*message) break;
      EXPECT_EQ((*message)->body, count);
      EXPECT_EQ((*message)->blobs[0].size(), static_cast<std::size_t>(count) * 997);
      ++count;
    }
  }
  EXPECT_EQ(count, 100);
  EXPECT_FALSE(decoder.is_inside_frame());
}

TEST(Frame, GarbageIsAnErrorThatSaysWhy) {
  EXPECT_THAT(error_of(header(0, 4, 0, "HTTP")), HasSubstr("does not start with 'HONE'"));
  EXPECT_EQ(error_of(header(0, 4, 0, "HONE", 2)),
            "a message of protocol version 2; this is version 1");
  EXPECT_THAT(error_of(header(65, 4, 0)), HasSubstr("kind of 65 bytes; the limit is 64"));
  EXPECT_THAT(error_of(header(1, 0xffffffff, 0)), HasSubstr("body of 4294967295 bytes"));
  EXPECT_THAT(error_of(header(1, 4, 1025)), HasSubstr("1025 blobs; the limit is 1024"));
  EXPECT_THAT(error_of(header(0, 3, 0) + "nul"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(header(0, 0, 0)), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(header(0, 4, 1) + std::string(8, '\xff')), HasSubstr("blobs of more than"));
  const std::string half(std::string("\1\0\0\x20\0\0\0\0", 8));  // 512 MiB + 1, twice
  EXPECT_THAT(error_of(header(0, 4, 2) + half + half), HasSubstr("blobs of more than"));
}

TEST(Frame, DeepNestingIsRefusedBothWays) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const auto framed = [&](std::size_t depth) {
    return header(0, static_cast<std::uint32_t>(2 * depth), 0) + nested(depth);
  };
  EXPECT_EQ(error_of(framed(64)), "no error");
  EXPECT_THAT(error_of(framed(65)), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(error_of(framed(1000000)), HasSubstr("nested deeper than 64"));
  EXPECT_FALSE(encode({"k", nlohmann::json::parse(nested(65)), {}}));
  EXPECT_TRUE(encode({"k", "[[[\\\"" + std::string(100, '['), {}}));  // brackets in a string
}

TEST(Frame, ASenderKeepsTheLimits) {
  EXPECT_FALSE(encode({std::string(65, 'k'), nullptr, {}}));
  EXPECT_FALSE(encode({"k", nullptr, std::vector<std::string>(1025)}));
  const auto large = encode({"k", std::string(FrameLimits::kBodyBytes, 'x'), {}});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("the message 'k' is too large to send"));
}

TEST(Frame, AStreamOutOfStepStaysBroken) {
  FrameDecoder decoder;
  decoder.add("this is no message at all");
  EXPECT_FALSE(decoder.next());
  decoder.add(frame_of({"k", 1, {}}));
  EXPECT_FALSE(decoder.next());
}

TEST(Frame, RandomBytesAndFlippedBitsNeverCrash) {
  std::mt19937 random(7);
  const std::string frame = frame_of({"kind", {{"x", {1, 2.5, "y"}}}, {"blob", "other"}});
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = frame;
    for (unsigned flips = random() % 8 + 1; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % 4 == 0 ? random() % bytes.size() : bytes.size());
    FrameDecoder decoder;
    decoder.add(bytes);
    decoder.next();
  }
}

TEST(Failures, TravelAsMessages) {
  const Outcome outcome =
      outcome_from(to_message({provider::FailureKind::kNotApplied, "lowering_config is missing"}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, provider::FailureKind::kNotApplied);
  EXPECT_EQ(outcome.error().message, "lowering_config is missing");
}

TEST(Failures, AMalformedOneIsStillAFailure) {
  for (const nlohmann::json& body :
       {nlohmann::json(nullptr), nlohmann::json(3), nlohmann::json{{"kind", 1}}}) {
    const Outcome outcome = outcome_from({"failure", body, {}});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, provider::FailureKind::kCompileCrash);
    EXPECT_NE(outcome.error().message.find("is no kind of failure"), std::string::npos);
  }
}

TEST(Blocking, SaysWhenTheStreamEndsAndHow) {
  auto pair = make_stream_socket_pair();
  ASSERT_TRUE(pair);
  ASSERT_TRUE(write_message(pair->first.get(), {"one", 1, {}}));
  const std::string cut = frame_of({"two", 2, {}}).substr(0, 22);
  ASSERT_EQ(::write(pair->first.get(), cut.data(), cut.size()), static_cast<ssize_t>(cut.size()));
  pair->first.reset();
  FrameDecoder decoder;
  auto message = read_message(pair->second.get(), decoder);
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->kind, "one");
  message = read_message(pair->second.get(), decoder);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().message, "the stream ends in a message");
  EXPECT_FALSE(write_message(pair->second.get(), {"three", 3, {}}));  // and no SIGPIPE

  auto closed = make_stream_socket_pair();
  closed->first.reset();
  FrameDecoder empty;
  message = read_message(closed->second.get(), empty);
  ASSERT_TRUE(message);
  EXPECT_FALSE(*message);
}

TEST(Connection, QueuesWhatTheSocketDoesNotTake) {
  auto pair = make_stream_socket_pair();
  ASSERT_TRUE(pair);
  Connection connection(std::move(pair->first));
  const std::string blob(std::size_t{8} << 20, 'b');
  ASSERT_TRUE(connection.send({"large", nullptr, {blob}}));
  ASSERT_TRUE(connection.send({"small", nullptr, {}}));
  EXPECT_EQ(connection.poll_events(), POLLIN | POLLOUT);
  std::thread reader([&] {
    FrameDecoder decoder;
    const auto large = read_message(pair->second.get(), decoder);
    ASSERT_TRUE(large && *large);
    EXPECT_EQ((*large)->blobs[0], blob);
    const auto small = read_message(pair->second.get(), decoder);
    ASSERT_TRUE(small && *small);
    EXPECT_EQ((*small)->kind, "small");
  });
  while (connection.poll_events() != POLLIN) {
    pollfd entry{connection.fd(), POLLOUT, 0};
    ::poll(&entry, 1, 100);
    connection.flush();
  }
  reader.join();
  EXPECT_EQ(connection.poll_events(), POLLIN);
}

TEST(Connection, ReadsWhatWasSentBeforeTheOtherEndLeft) {
  auto pair = make_stream_socket_pair();
  ASSERT_TRUE(pair);
  Connection connection(std::move(pair->first));
  ASSERT_TRUE(write_message(pair->second.get(), {"last", "words", {}}));
  pair->second.reset();
  connection.fill();
  EXPECT_TRUE(connection.is_closed());
  const auto message = connection.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->body, "words");
  EXPECT_FALSE(connection.send({"k", nullptr, {}}));
}

}  // namespace
}  // namespace hone::worker
