// A runner whose memory a candidate has written over may answer anything.
#include <gmock/gmock.h>

#include "trial/kernel_runner.h"

namespace hone::trial {
namespace {

using testing::HasSubstr;

// Speaks the protocol (docs/worker-protocol.md) and answers every job with `body`.
RunnerService runner_that_says(const std::string& body) {
  const std::string script = R"(
import socket, struct, sys
tuner = socket.socket(fileno=3)
def send(kind, body):
    tuner.sendall(b"HONE" + struct.pack("<HHIII", 1, 0, len(kind), len(body), 0) + kind + body)
def take(size):
    data = b""
    while len(data) < size:
        more = tuner.recv(size - len(data))
        if not more: sys.exit(0)
        data += more
    return data
send(b"hello", b"{}")
while True:
    kind, body, blobs = struct.unpack("<III", take(20)[8:])
    sizes = struct.unpack("<%dQ" % blobs, take(8 * blobs))
    take(kind + body + sum(sizes))
    send(b"done", sys.argv[1].encode())
)";
  worker::RunnerOptions options;
  options.command = {"python3", "-c", script, body};
  return RunnerService(worker::RunnerProcess(options));
}

constexpr const char* kState =
    R"({"load_1min":0,"runnable":1,"seconds":1,"involuntary_switches":0,"cores":[]})";
std::string samples(int handle, const char* rounds) {
  return fmt::format(
      R"({{"handle":{},"seconds":[1.0,1.0],"rounds":{},"launches_per_sample":1,"disturbed":0,)"
      R"("kept_disturbed":false,"warm":true,"stop":"tight"}})",
      handle, rounds);
}
std::string result(const std::string& handles) {
  return fmt::format(R"({{"handles":[{}],"rounds":2,"seconds":1,"before":{},"after":{}}})", handles,
                     kState, kState);
}

provider::Failure failure_of_measuring(const std::string& body) {
  RunnerService runner = runner_that_says(body);
  measure::MeasureRequest request;
  request.handles = {1};
  request.sentinel = 2;
  const auto measured = runner.ask(measure::jobs::kMeasure, request);
  EXPECT_TRUE(measured) << measured.error().message;
  EXPECT_FALSE(*measured);
  return measured && !*measured ? measured->error() : provider::Failure{};
}

TEST(LyingRunner, AnAnswerThatCannotBeReadIsAKernelCrash) {
  const provider::Failure failure = failure_of_measuring("{}");
  EXPECT_EQ(failure.kind, provider::FailureKind::kKernelCrash);
  EXPECT_THAT(failure.message, HasSubstr("the runner's answer cannot be read"));
}

TEST(LyingRunner, SamplesWithoutTheirRoundsAreRefused) {
  EXPECT_THAT(failure_of_measuring(result(samples(1, "[0,1]") + "," + samples(2, "[0]"))).message,
              HasSubstr("2 samples of 1 rounds"));
}

TEST(LyingRunner, SamplesMustBeOfTheHandlesAskedFor) {
  for (const std::string& handles :
       {std::string(), samples(1, "[0,1]"), samples(2, "[0,1]") + "," + samples(1, "[0,1]"),
        samples(1, "[0,1]") + "," + samples(2, "[0,1]") + "," + samples(3, "[0,1]")})
    EXPECT_EQ(failure_of_measuring(result(handles)).message,
              "the runner's answer is not of the handles it was asked for");
}

TEST(LyingRunner, WhatIsAskedForIsTaken) {
  RunnerService runner = runner_that_says(result(samples(1, "[0,1]") + "," + samples(2, "[0,1]")));
  measure::MeasureRequest request;
  request.handles = {1};
  request.sentinel = 2;
  const auto measured = runner.ask(measure::jobs::kMeasure, request);
  ASSERT_TRUE(measured && *measured);
  EXPECT_EQ((*measured)->handles[1].handle, 2);
}

TEST(LyingRunner, NoHandleIsALoadThatFailed) {
  RunnerService runner = runner_that_says(R"({"handle":"one"})");
  const auto handle = runner.ask(measure::jobs::kLoad);
  ASSERT_TRUE(handle);
  ASSERT_FALSE(*handle);
  EXPECT_THAT(handle->error().message, HasSubstr("the runner's answer cannot be read"));
}

}  // namespace
}  // namespace hone::trial
