#include "store/store.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

// What the store adds is left out of a comparison with what was given.
template <class Row>
Row as_given(Row row) {
  row.when.clear();
  row.run.reset();
  if constexpr (requires { row.id; }) row.id = 0;
  return row;
}

TEST_F(StoreTest, EqualIdentitiesAreOneRowAlsoAfterOpeningAgain) {
  Id build = 0, device = 0, operation = 0, dispatch = 0, program = 0;
  {
    Store store = open();
    build = *store.intern(some_build());
    device = *store.intern(some_device());
    operation = *store.intern(some_operation());
    dispatch = *store.intern(some_dispatch(operation));
    program = *store.intern(ProgramRow{.hash = "p", .path = "/a/model.mlir", .json = "{}"});
  }
  Store store = open();
  EXPECT_EQ(store.intern(some_build()), build);
  EXPECT_EQ(store.intern(some_device()), device);
  EXPECT_EQ(store.intern(some_operation()), operation);
  EXPECT_EQ(store.intern(some_dispatch(operation)), dispatch);
  EXPECT_EQ(store.intern(ProgramRow{.hash = "p", .path = "/b/model.mlir", .json = "{}"}), program);
  EXPECT_EQ(store.program(program)->path, "/b/model.mlir");

  DispatchRow expected = some_dispatch(operation);
  expected.id = dispatch;
  EXPECT_EQ(store.dispatch(dispatch), expected);
  OperationRow expected_operation = some_operation();
  expected_operation.id = operation;
  EXPECT_EQ(store.operation(operation), expected_operation);
}

TEST_F(StoreTest, BuildsDifferByCompilerFlagsInTheirOrderAndTarget) {
  Store store = open();
  const Id first = *store.intern(some_build());
  BuildRow spaced = some_build();
  spaced.target = R"({ "features": ["avx512f"], "cpu": "znver5" })";
  EXPECT_EQ(store.intern(spaced), first) << "keys are sorted and blanks dropped";
  BuildRow newer = some_build();
  newer.compiler = "iree-compile 3.14.0";
  EXPECT_NE(store.intern(newer), first);
  BuildRow reordered = some_build();
  reordered.flags = R"(["--iree-opt-level=O2","--iree-hal-target-backends=llvm-cpu"])";
  EXPECT_NE(store.intern(reordered), first);
  BuildRow elsewhere = some_build();
  elsewhere.target = R"({"cpu":"znver4","features":["avx512f"]})";
  EXPECT_NE(store.intern(elsewhere), first);
}

TEST_F(StoreTest, ProgramsListTheirDispatchesInOrder) {
  Store store = open();
  const Place place(store);
  const Id second = *store.intern(some_dispatch(std::nullopt, "d2"));
  const Id program = *store.intern(ProgramRow{.hash = "p", .path = "model.mlir", .json = "{}"});
  ASSERT_TRUE(store.link_dispatch({program, second, 1, 12}));
  ASSERT_TRUE(store.link_dispatch({program, place.dispatch, 7, 1}));
  ASSERT_TRUE(store.link_dispatch({program, place.dispatch, 0, 2}));
  EXPECT_THAT(*store.program_dispatches(program),
              ElementsAre(ProgramDispatch{program, place.dispatch, 0, 2},
                          ProgramDispatch{program, second, 1, 12}));
  ASSERT_EQ(store.programs()->size(), 1u);
  EXPECT_EQ(store.programs()->front().path, "model.mlir");
}

TEST_F(StoreTest, ACandidateIsOneRowHoweverItsConfigurationIsSpelled) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.add(store, R"({"tile_n": 32, "tile_m": 64})");
  EXPECT_EQ(place.add(store, R"({"tile_m":64,"tile_n":32})"), candidate);
  EXPECT_NE(place.add(store, R"({"tile_m":64,"tile_n":64})"), candidate);
  EXPECT_EQ(
      *store.find_candidate(place.dispatch, place.build, "iree", R"({"tile_m":64,"tile_n":32})"),
      std::optional(candidate));
  EXPECT_EQ(*store.find_candidate(place.dispatch, place.build, "openblas", "{}"),
            std::optional<Id>());
  EXPECT_EQ(store.candidate(candidate)->configuration, R"({"tile_m":64,"tile_n":32})");
  EXPECT_THAT(store.candidate(candidate)->when,
              MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z"));
}

TEST_F(StoreTest, AnArtifactComesBackByteForByte) {
  std::string code(
      "\x7f"
      "ELF\0\xff",
      6);
  for (unsigned i = 0; i < 100'000; ++i) code += static_cast<char>(i * i >> 3);
  ArtifactRow artifact;
  {
    Store store = open();
    artifact = {.candidate = Place(store).add(store, "{}"),
                .identity = "e5",
                .format = "embedded-elf-x86_64",
                .launch = R"({"entry":"f","grid":[8,1,1]})",
                .code = code,
                .configured = "#iree_cpu.lowering_config<distribution = [64, 64, 0]>",
                .compile_seconds = 0.1 + 0.2};
    ASSERT_TRUE(store.record(artifact));
  }
  Store store = open(Mode::kReadOnly);
  EXPECT_EQ(as_given(*store.load_artifact(artifact.candidate)), artifact);
}

TEST_F(StoreTest, AVerificationComesBackWithItsFirstBadElement) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.compile(store, "{}", "e5");
  const VerificationRow wrong{.dispatch = place.dispatch,
                              .identity = "e5",
                              .device = place.device,
                              .right = false,
                              .bad_binding = 2,
                              .bad_index = 131071,
                              .expected = "9007199254740993",
                              .got = "nan",
                              .share_bad = 1.0 / 3.0,
                              .tolerance = "exact",
                              .absolute_tolerance = 1.0 / 3.0,
                              .relative_tolerance = 0,
                              .basis = "sums of small integers"};
  ASSERT_TRUE(store.record(wrong));
  EXPECT_EQ(as_given(*store.known(candidate, place.device)->verification), wrong);
}

TEST_F(StoreTest, AMeasurementKeepsEverySampleExactly) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.compile(store, "{}", "e5");
  Measurement measurement{.dispatch = place.dispatch,
                          .identity = "e5",
                          .device = place.device,
                          .phase = Phase::kFinalist,
                          .timing = some_timing(1.0 / 3.0),
                          .sentinel_ratio = 0.625,
                          .machine = R"({"mhz":4100})"};
  measurement.timing.samples = {1e-9, 1.0 / 3.0, std::nextafter(1.0, 2.0),
                                std::numeric_limits<double>::denorm_min()};
  ASSERT_TRUE(store.record(measurement));
  EXPECT_EQ(as_given(*store.known(candidate, place.device, Phase::kFinalist)->measurement),
            measurement);
  EXPECT_FALSE(store.known(candidate, place.device, Phase::kSearch)->measurement);
}

TEST_F(StoreTest, ProgramMeasurementsSelectionsAndFactsComeBack) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.compile(store, "{}", "e5");
  const Id other = place.compile(store, R"({"tile_m":8})", "e6");
  const Id program = *store.intern(ProgramRow{.hash = "p", .path = "model.mlir", .json = "{}"});
  const ProgramMeasurement measured{.program = program,
                                    .build = place.build,
                                    .device = place.device,
                                    .variant = "data tiling + spec",
                                    .spec = "module attributes {transform.with_named_sequence} {}",
                                    .timing = some_timing(0.004),
                                    .ratio = 0.625,
                                    .ratio_low = 0.62,
                                    .ratio_high = 0.63,
                                    .right = true,
                                    .verdict = "faster",
                                    .machine = "{}"};
  ASSERT_TRUE(store.record(measured));
  ProgramMeasurement plain = measured;
  plain.spec.clear();
  plain.right.reset();
  ASSERT_TRUE(store.record(plain));
  const auto programs = *store.program_measurements(program);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(as_given(programs[0]), measured);
  EXPECT_EQ(as_given(programs[1]), plain);

  const SelectionRow chosen{.dispatch = place.dispatch,
                            .build = place.build,
                            .device = place.device,
                            .winner = other,
                            .ties = {candidate, other},
                            .speedup = 1.5,
                            .speedup_low = 1.4,
                            .speedup_high = 1.6,
                            .shipped = true,
                            .reason = "least memory of the tie set"};
  ASSERT_TRUE(store.record(chosen));
  ASSERT_EQ(store.selections()->size(), 1u);
  EXPECT_EQ(as_given(store.selections()->front()), chosen);
  EXPECT_TRUE(store.selections({.candidate = candidate})->empty());

  ASSERT_TRUE(store.record(DeviceFact{place.device, "peak f32 1 thread", 1e11, "flop/s", {}, {}}));
  ASSERT_TRUE(store.record(DeviceFact{place.device, "peak f32 1 thread", 2e11, "flop/s", {}, {}}));
  ASSERT_EQ(store.device_facts(place.device)->size(), 1u);
  EXPECT_EQ(store.device_facts(place.device)->front().value, 2e11);
}

TEST_F(StoreTest, RowsCarryTheRunThatWroteThem) {
  Store store = open();
  const Place place(store);
  const Id before = place.add(store, R"({"tile_m":1})");
  const Id run = *store.begin_run({.command = "hone tune a.mlir", .version = "0.1.0", .seed = -7});
  const Id candidate = place.compile(store, "{}", "e5");
  ASSERT_TRUE(store.log_event("drift", "sentinel 3 % slower"));
  ASSERT_TRUE(store.log_event("repeat", "candidate 4"));
  EXPECT_EQ(store.run(run)->state, RunState::kRunning);
  EXPECT_EQ(store.run(run)->ended, "");
  ASSERT_TRUE(store.end_run(RunState::kFinished));

  EXPECT_EQ(store.candidate(before)->run, std::nullopt);
  EXPECT_EQ(store.candidate(candidate)->run, run);
  EXPECT_EQ(store.known(candidate, place.device)->artifact->run, run);
  const store::Run ended = *store.run(run);
  EXPECT_EQ(ended.command, "hone tune a.mlir");
  EXPECT_EQ(ended.seed, -7);
  EXPECT_EQ(ended.state, RunState::kFinished);
  EXPECT_GE(ended.ended, ended.started);
  const auto events = *store.events(run);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].sequence, 1);
  EXPECT_EQ(events[1].sequence, 2);
  EXPECT_EQ(events[1].kind, "repeat");
  EXPECT_EQ(events[1].text, "candidate 4");
}

TEST_F(StoreTest, EventsNeedARun) {
  Store store = open();
  EXPECT_THAT(store.log_event("a", "b").error().message, HasSubstr("no run has begun"));
  EXPECT_THAT(store.end_run(RunState::kFailed).error().message, HasSubstr("no run has begun"));
}

TEST_F(StoreTest, ReferencesToRowsThatAreNotThereAreInputErrors) {
  Store store = open();
  const Status orphan = store.record(ArtifactRow{.candidate = 77,
                                                 .identity = "e",
                                                 .format = "f",
                                                 .launch = "{}",
                                                 .code = "",
                                                 .configured = ""});
  ASSERT_FALSE(orphan);
  EXPECT_EQ(orphan.error().kind, ErrorKind::kInput);
  EXPECT_THAT(orphan.error().message, HasSubstr("refers to one that is not there"));
  EXPECT_THAT(store.candidate(77).error().message, HasSubstr("has no candidate 77"));
  EXPECT_THAT(store.dispatch(77).error().message, HasSubstr("has no dispatch 77"));
  EXPECT_THAT(store.load_artifact(77).error().message, HasSubstr("no artifact of candidate 77"));
}

TEST_F(StoreTest, TextThatIsNotJsonIsAnInputError) {
  Store store = open();
  BuildRow build = some_build();
  build.flags = "--a --b";
  EXPECT_THAT(store.intern(build).error().message, HasSubstr("list of flags is not JSON: --a --b"));
  OperationRow operation = some_operation();
  operation.json = "matmul";
  EXPECT_THAT(store.intern(operation).error().message, HasSubstr("the operation is not JSON"));
}

TEST_F(StoreTest, WritesTogetherAreKeptOrDroppedTogether) {
  Store store = open();
  const Place place(store);
  const Status dropped = store.transaction([&]() -> Status {
    place.add(store, R"({"tile_m":1})");
    return failure("stop");
  });
  EXPECT_EQ(dropped.error().message, "stop");
  EXPECT_TRUE(store.candidate_rows()->empty());
  ASSERT_TRUE(store.transaction([&]() -> Status {
    for (int tile = 1; tile <= 100; ++tile) place.compile(store, fmt::format("[{}]", tile), "e");
    return {};
  }));
  EXPECT_EQ(store.candidate_rows()->size(), 100u);
}

TEST_F(StoreTest, KnowsWhatNeedNotBeDoneAgain) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.add(store, R"({"tile_m":8})");
  EXPECT_FALSE(store.known(candidate, place.device)->artifact);
  EXPECT_FALSE(store.known(candidate, place.device)->failure);

  place.compile(store, R"({"tile_m":8})", "e5");
  place.verify(store, "e5", true);
  place.measure(store, "e5", 0.002, Phase::kSearch);
  const KnownResults known = *store.known(candidate, place.device);
  EXPECT_EQ(known.artifact->identity, "e5");
  EXPECT_TRUE(known.verification->right);
  EXPECT_EQ(known.measurement->timing.median, 0.002);

  const Id elsewhere = *store.intern(DeviceRow{.name = "other", .driver = "1", .protocol = "{}"});
  EXPECT_TRUE(store.known(candidate, elsewhere)->artifact);
  EXPECT_FALSE(store.known(candidate, elsewhere)->verification);
  EXPECT_FALSE(store.known(candidate, std::nullopt)->measurement);
}

TEST_F(StoreTest, EqualCodeIsVerifiedAndMeasuredOnce) {
  Store store = open();
  const Place place(store);
  place.compile(store, R"({"tile_m":8})", "e5");
  place.verify(store, "e5", true);
  place.measure(store, "e5", 0.002, Phase::kSearch);
  const Id twin = place.compile(store, R"({"tile_m":8,"pad":false})", "e5");
  EXPECT_TRUE(store.known(twin, place.device)->verification->right);
  EXPECT_EQ(store.known(twin, place.device)->measurement->timing.median, 0.002);
}

TEST_F(StoreTest, EqualCodeOfAnotherDispatchIsAnotherMatter) {
  Store store = open();
  const Place place(store);
  place.compile(store, "{}", "e5");
  place.verify(store, "e5", true);
  Place other = place;
  other.dispatch = *store.intern(some_dispatch(std::nullopt, "d2"));
  const Id candidate = other.compile(store, "{}", "e5");
  EXPECT_FALSE(store.known(candidate, place.device)->verification);
}

TEST_F(StoreTest, AFailedCompileIsKnownUntilOneSucceeds) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.add(store, "[1]");
  ASSERT_TRUE(store.record(FailureRow{.candidate = candidate,
                                      .kind = "compile error",
                                      .message = "error: 'func.func' op failed",
                                      .seconds = 0.5}));
  const FailureRow failure = *store.known(candidate, place.device)->failure;
  EXPECT_EQ(failure.kind, "compile error");
  EXPECT_EQ(failure.message, "error: 'func.func' op failed");
  EXPECT_EQ(failure.seconds, 0.5);
  place.compile(store, "[1]", "e5");
  EXPECT_FALSE(store.known(candidate, place.device)->failure);
}

TEST_F(StoreTest, ACrashOnADeviceIsKnownOfAllEqualCodeThere) {
  Store store = open();
  const Place place(store);
  const Id candidate = place.compile(store, "[1]", "e5");
  const Id twin = place.compile(store, "[2]", "e5");
  ASSERT_TRUE(store.record(FailureRow{.candidate = candidate,
                                      .device = place.device,
                                      .kind = "kernel crash",
                                      .message = "SIGSEGV"}));
  EXPECT_EQ(store.known(twin, place.device)->failure->kind, "kernel crash");
  EXPECT_EQ(store.known(twin, place.device)->failure->identity, "e5");
  const Id elsewhere = *store.intern(DeviceRow{.name = "other", .driver = "1", .protocol = "{}"});
  EXPECT_FALSE(store.known(twin, elsewhere)->failure);
}

TEST_F(StoreTest, OtherIdentitiesAreReusedOnlyWhenAskedFor) {
  Store store = open();
  const Place place(store);
  place.compile(store, "[1]", "e5");
  place.verify(store, "e5", true);
  place.measure(store, "e5", 0.002, Phase::kSearch);
  BuildRow newer = some_build();
  newer.compiler = "iree-compile 3.14.0";
  Place later = place;
  later.build = *store.intern(newer);
  const Id candidate = later.add(store, "[1]");
  const Id elsewhere = *store.intern(DeviceRow{.name = "other", .driver = "1", .protocol = "{}"});

  EXPECT_FALSE(store.known(candidate, elsewhere)->artifact);
  const KnownResults any = *store.known(candidate, elsewhere, Phase::kSearch, Reuse::kAny);
  EXPECT_EQ(any.artifact->identity, "e5");
  EXPECT_TRUE(any.verification->right);
  EXPECT_EQ(any.measurement->device, place.device);
}

// A time of an emulator is no GPU's, whatever is asked for, nor the other way round.
TEST_F(StoreTest, AnEmulatorsResultsAreNotReusedElsewhere) {
  Store store = open();
  Place place(store);
  place.device = *store.intern(
      DeviceRow{.name = "e", .driver = "1", .protocol = R"({"identity":{"emulated":true}})"});
  const Id candidate = place.compile(store, "[1]", "e5");
  place.verify(store, "e5", true);
  place.measure(store, "e5", 0.002, Phase::kSearch);
  const Id gpu = *store.intern(DeviceRow{.name = "g", .driver = "1", .protocol = "{}"});
  const Id other = *store.intern(
      DeviceRow{.name = "e", .driver = "2", .protocol = R"({"identity":{"emulated":true}})"});
  const auto known = [&](Id device) {
    return *store.known(candidate, device, Phase::kSearch, Reuse::kAny);
  };
  EXPECT_FALSE(known(gpu).verification);
  EXPECT_FALSE(known(gpu).measurement);
  EXPECT_TRUE(known(other).measurement);
  EXPECT_TRUE(known(place.device).measurement);
}

// Code of a device may be any bytes.
TEST_F(StoreTest, WhatBecameOfADispatchAndItsFlagsIsReadAsItWasWritten) {
  Store store = open();
  const Place place(store);
  const Id tie = place.add(store, R"({"tile":4})");
  EXPECT_FALSE(store.record(FlagChoiceRow{})) << "no run has begun";
  const Id run = *store.begin_run({.command = "hone tune", .task = "hone tune"});
  DispatchResult result;
  result.dispatch = place.dispatch;
  result.payload = R"({"tile":8})";
  result.code = std::string("\0\xff\x7f", 3);
  result.accuracy = "[]";
  result.budget = 1.5;
  result.near_ties = {{tie, R"({"tile":4})", "triton"}};
  ASSERT_TRUE(store.record(result));
  const std::vector<DispatchResult> results = *store.dispatch_results(run);
  ASSERT_EQ(results.size(), 1u);
  result.id = results[0].id;
  result.when = results[0].when;
  result.run = run;
  EXPECT_EQ(results[0], result);

  FlagChoiceRow choice{.best = {"O3", R"(["--O3"])"}, .bases = {{"", "[]"}}, .tried = {}};
  ASSERT_TRUE(store.record(choice));
  choice.tried = {{"", R"(["--O3"])"}};
  ASSERT_TRUE(store.record(choice)) << "in the place of the one before";
  EXPECT_EQ(**store.flag_choice(run), choice);
}

}  // namespace
}  // namespace hone::store
