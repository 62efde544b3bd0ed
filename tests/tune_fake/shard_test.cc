// A tuning in parts, each with a store of its own, on fakes: shards, and the proof of what they
// found. scripts/test-slurm has the same on a real Slurm.
#include <gmock/gmock.h>

#include <set>

#include "tests/tune_fake/fake_session.h"

namespace hone::tune {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kDivided = 5;
constexpr std::size_t kParts = 2;

class Shards : public FakeSession {
 protected:
  struct Done {
    Result<TuningResult> result;
    int compiled = 0;
  };

  std::filesystem::path store_of(const std::string& name) const {
    return folder_.path() / (name + ".db");
  }

  Done run(const plan::Part& part, const std::string& store_name) {
    Options own = options_;
    own.part = part;
    own.out = folder_.path() / store_name;
    std::filesystem::create_directories(own.out);
    store::Store store =
        std::move(store::Store::open(store_of(store_name), store::Mode::kReadWrite).value());
    test::FakePool pool(kDivided);
    test::FakeRunner::Log log;
    Result<TuningResult> result = run_session(own, store, provider_,
                                              {.pool = pool,
                                               .runner = std::make_unique<test::FakeRunner>(log),
                                               .observer = observer_,
                                               .command = "hone tune program.mlir"});
    return {std::move(result), pool.compiled};
  }

  Done shard(std::size_t number) {
    return run({plan::Part::Kind::kShard, number, kParts}, fmt::format("shard{}", number));
  }

  // The same shard in two phases: compiled without a device, then measured.
  Done compile(std::size_t number) {
    options_.compiles_only = true;
    Done done = shard(number);
    options_.compiles_only = false;
    return done;
  }
  Done measure(std::size_t number) {
    options_.takes_stored = true;
    Done done = shard(number);
    options_.takes_stored = false;
    return done;
  }

  plan::PartProgress progress_of(const std::string& store_name) const {
    const std::string text = read_file(plan::progress_file(store_of(store_name))).value();
    return nlohmann::json::parse(text).get<plan::PartProgress>();
  }

  void merge(const std::string& into, const std::string& other) {
    store::Store store =
        std::move(store::Store::open(store_of(into), store::Mode::kReadWrite).value());
    ASSERT_TRUE(store.merge({store_of(other)}));
  }

  SilentObserver observer_;
};

TEST_F(Shards, EachTunesItsOwnAndTogetherTheyTuneAll) {
  std::multiset<std::string> tuned;
  for (std::size_t number = 1; number <= kParts; ++number) {
    const Done done = shard(number);
    ASSERT_TRUE(done.result) << done.result.error().message;
    for (const TunedDispatch& each : done.result->at_sizes.front().tuned)
      tuned.insert(each.dispatch->name);
    EXPECT_FALSE(done.result->best) << "a shard proves nothing";
  }
  EXPECT_THAT(tuned, SizeIs(kDivided));
  EXPECT_EQ(std::set<std::string>(tuned.begin(), tuned.end()).size(), tuned.size());
}

TEST_F(Shards, TheProofSearchesNothingAndEndsAsAWholeRun) {
  for (std::size_t number = 1; number <= kParts; ++number) ASSERT_TRUE(shard(number).result);
  merge("proof", "shard1");
  merge("proof", "shard2");
  const Done proof = run({plan::Part::Kind::kProof}, "proof");
  const Done whole = run({}, "whole");
  ASSERT_TRUE(proof.result) << proof.result.error().message;
  ASSERT_TRUE(whole.result) << whole.result.error().message;
  EXPECT_GT(whole.compiled, 0);
  EXPECT_EQ(proof.compiled, 0) << "every dispatch is in the store";
  const auto& found = proof.result->at_sizes.front().tuned;
  const auto& expected = whole.result->at_sizes.front().tuned;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].dispatch->name, expected[i].dispatch->name);
    ASSERT_TRUE(found[i].payload && expected[i].payload);
    EXPECT_EQ(found[i].payload->json, expected[i].payload->json);
  }
  ASSERT_TRUE(proof.result->best && whole.result->best);
  EXPECT_EQ(proof.result->best->label, whole.result->best->label);
}

TEST_F(Shards, DispatchesOfALostShardKeepTheirDefault) {
  ASSERT_TRUE(shard(1).result);
  merge("proof", "shard1");
  const Done proof = run({plan::Part::Kind::kProof}, "proof");
  ASSERT_TRUE(proof.result) << proof.result.error().message;
  const ProgramTuningResult& at_size = proof.result->at_sizes.front();
  EXPECT_EQ(at_size.tuned.size(), progress_of("shard1").dispatches.size());
  EXPECT_EQ(at_size.tuned.size() + at_size.not_tuned.size(), std::size_t{kDivided});
  for (const NotTuned& each : at_size.not_tuned) EXPECT_EQ(each.reason, kNotInStore);
}

TEST_F(Shards, AShardThatIsRunAgainGoesOnFromItsStore) {
  const Done first = shard(1), second = shard(1);
  ASSERT_TRUE(second.result);
  EXPECT_GT(first.compiled, 0);
  EXPECT_EQ(second.compiled, 0);
}

TEST_F(Shards, EveryShardSplitsAlikeAndTellsHowFarItIs) {
  ASSERT_TRUE(shard(1).result);
  ASSERT_TRUE(shard(2).result);
  const plan::PartProgress one = progress_of("shard1"), two = progress_of("shard2");
  EXPECT_EQ(one.part, "1/2");
  EXPECT_EQ(one.split, two.split);
  EXPECT_EQ(one.device, two.device);
  EXPECT_EQ(one.dispatches.size() + two.dispatches.size(), std::size_t{kDivided});
  for (const plan::PartDispatch& each : one.dispatches) {
    EXPECT_TRUE(each.is_done()) << each.name;
    EXPECT_GT(each.candidates, 0u);
    EXPECT_GT(each.expected_seconds, 0);
  }
}

TEST_F(Shards, AShardThatWasCompiledIsMeasuredWithoutACompile) {
  options_.candidates = 4;
  const Done compiled = compile(1);
  ASSERT_TRUE(compiled.result) << compiled.result.error().message;
  const plan::PartProgress ahead = progress_of("shard1");
  EXPECT_EQ(ahead.device, "") << "no device was there";
  ASSERT_THAT(ahead.dispatches, Not(IsEmpty()));
  for (const plan::PartDispatch& each : ahead.dispatches) {
    EXPECT_TRUE(each.is_done()) << each.name;
    EXPECT_EQ(each.candidates, 5u) << "the default and four more";
  }
  const Done measured = measure(1);
  ASSERT_TRUE(measured.result) << measured.result.error().message;
  const plan::PartProgress after = progress_of("shard1");
  EXPECT_EQ(measured.compiled, 0) << "all of its code is in the store";
  EXPECT_EQ(after.split, ahead.split);
  ASSERT_EQ(after.dispatches.size(), ahead.dispatches.size());
  for (std::size_t i = 0; i < ahead.dispatches.size(); ++i) {
    EXPECT_EQ(after.dispatches[i].name, ahead.dispatches[i].name);
    EXPECT_EQ(after.dispatches[i].candidates, 4u);
  }
  EXPECT_EQ(measured.result->at_sizes.front().tuned.size(), ahead.dispatches.size());
}

// On a GPU winners of a search are compiled once more, in the form that ships.
TEST_F(Shards, WhatWasCompiledShipsAsItWasMeasured) {
  options_.candidates = 4;
  options_.places.front().traits.assembles_code = true;
  ASSERT_TRUE(compile(1).result);
  const Done measured = measure(1);
  ASSERT_TRUE(measured.result) << measured.result.error().message;
  EXPECT_EQ(measured.compiled, 0);
  for (const TunedDispatch& each : measured.result->at_sizes.front().tuned)
    EXPECT_TRUE(each.payload) << each.dispatch->name;
}

TEST_F(Shards, TheProofTakesWhatWasCompiledAndMeasuredApart) {
  options_.candidates = 4;
  for (std::size_t number = 1; number <= kParts; ++number) {
    ASSERT_TRUE(compile(number).result);
    ASSERT_TRUE(measure(number).result);
    merge("proof", fmt::format("shard{}", number));
  }
  const Done proof = run({plan::Part::Kind::kProof}, "proof");
  ASSERT_TRUE(proof.result) << proof.result.error().message;
  EXPECT_EQ(proof.result->at_sizes.front().tuned.size(), std::size_t{kDivided});
  EXPECT_TRUE(proof.result->best && proof.result->best->uses_spec());
}

TEST_F(Shards, AShardThatWasNotCompiledCompilesForItself) {
  const Done done = measure(1);
  ASSERT_TRUE(done.result) << done.result.error().message;
  EXPECT_GT(done.compiled, 0);
  for (const plan::PartDispatch& each : progress_of("shard1").dispatches)
    EXPECT_TRUE(each.is_done() && each.failure.empty()) << each.name;
}

TEST_F(Shards, MoreShardsThanDispatchesLeaveSomeWithoutWork) {
  const Done done = run({plan::Part::Kind::kShard, 9, 9}, "ninth");
  ASSERT_TRUE(done.result) << done.result.error().message;
  EXPECT_THAT(done.result->at_sizes.front().tuned, IsEmpty());
  EXPECT_EQ(done.compiled, 0);
}

}  // namespace
}  // namespace hone::tune
