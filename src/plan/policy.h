// Constants of budget and policy: how a session spends its time, and which differences count. Each
// has its unit in its name or comment, and its source or reason. Shares and ratios have no unit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::plan {

// ---- Session: limits, and the split of the budget ----

// Overrun allowed beyond the budget: a quarter of it and 45 s. The promise is 60 s; stopping a job
// and writing the results take the rest.
inline constexpr double kOverrunShare = 0.25, kOverrunSeconds = 45;
// Limit of a compile or a call: 8x the default's plus 10 s. A slower build tells nothing that a
// user would wait for.
inline constexpr double kJobTimesDefault = 8, kJobSecondsMore = 10;
// Limit of a compile that resembles the default's or a spec's: 2x the longest of these. It may use
// the time that is kept for the proof.
inline constexpr double kCompileTimesLikeDefault = 2;
// Shortest limit of a job. A shorter one would only stop the job.
inline constexpr double kLeastJobSeconds = 2;
// Budget that covers a whole session, and the correct candidates per dispatch then.
inline constexpr double kWholeSessionSeconds = 600;
inline constexpr std::size_t kRightInWholeSession = 16;
// Compiles and calls of the program in a whole session: flags, dispatches and proof.
inline constexpr double kCompilesOfSession = 12, kCallsOfSession = 200;
// Bounds of the noise. One short calibration of a busy machine may see far more, or none at all.
inline constexpr double kLeastNoise = 0.005, kMostNoise = 0.05;
// Share of the time for the search if one configuration must serve several sizes, or several
// dispatches that no spec matcher tells apart. The rest measures each winner on the other sizes and
// dispatches.
inline constexpr double kSearchShareOfSizes = 0.75;
// Likewise where one batch of launches tells and there is one size: two of the SDXL UNet's 37 tuned
// dispatches shared an entry, and took 6.5 s of 165 (H200).
inline constexpr double kSearchShareOfEntries = 0.95;

// ---- Plan: which dispatches are tuned, and for how long ----

// Least ratio of an item's share of the time (by gain) to the time it needs; below it, the item is
// skipped.
inline constexpr double kWorthwhileShare = 0.5;
// Share of all items' time at best from which an item is tried if trying is cheap, and the share of
// the session's time that such tries may need. In 82 searches on an H200 the best of Triton's first
// eight kernels was at the median the best of all, and at worst 19 % behind. The compiler's own
// first eight were 42 % behind at the median (bench/first_candidates.py).
inline constexpr double kTriedShare = 0.001, kFirstTriesShare = 0.9;
// Share of the run time that a sufficient budget covers; the remaining items take next to no time.
inline constexpr double kSufficientCoverage = 0.95;
// Largest share of the total time for measuring which dispatches matter.
inline constexpr double kWeighingShare = 0.2;
// Seconds to verify the default of a dispatch that is not tuned: 77 of the UNet took 36 s (H200).
inline constexpr double kSecondsToVerifyDefault = 0.5;
// Assumed seconds to set up a dispatch, before one was.
inline constexpr double kSetupSeconds = 1.5;
// Seconds for a search of a few rounds where compiles disturb the measurements, and for one round
// of first candidates beside compiles (0.3 to 0.5 s, H200). `kFirstCompilesSeconds`: to wait for
// them. They were begun two dispatches before.
inline constexpr double kLeastSearchSeconds = 3, kLeastSearchSecondsBesideCompiles = 0.5;
inline constexpr double kFirstCompilesSeconds = 0.2;
// Dispatches whose first candidates compile while another is measured. Two alone gained nothing (31
// of 108 s waited, not 29 of 103). With rounds that end in time (DispatchSearch::round_size) the
// search of the UNet waits for 9 of 90 s (H200); one was not tried beside that rule.
inline constexpr std::size_t kBegunAhead = 2;
// Least seconds for one dispatch: to prepare it, and for a few candidates and their finalists.
inline constexpr double kLeastDispatchSeconds = 15;
// Gain that tuning may bring in any case, as a share of the default's time.
inline constexpr double kLeastExpectedGain = 0.05;
// Least further gain assumed after an earlier run, as a share of the dispatch's time with that
// run's winner.
inline constexpr double kLeastGainLeft = 0.05;
// Candidates per provider, best estimate first, for a repair that is not worth tuning: it must be
// correct, not fastest. There may be dozens of repairs, on top of the user's budget.
inline constexpr std::size_t kCandidatesOfRepair = 8;

// ---- Profile of a program before tuning ----

// Rounds of the whole program: enough for a median, and fewer for a quick look.
inline constexpr std::size_t kProfileRounds = 5, kQuickProfileRounds = 3;
// If a call takes longer, the quick look is a single call. Another process would take seconds to
// load what the call reads, and a warm-up call would be as long.
inline constexpr double kLongCallSeconds = 1;
// Seconds that a launch costs whatever it does; a shorter kernel is mostly launch overhead.
inline constexpr double kShortLaunchSeconds = 5e-6;
// A bound limits a dispatch if it is above this share of the dispatch's time.
inline constexpr double kNearBoundShare = 0.3;

// ---- Search of a dispatch ----

// Assumed seconds per candidate before any is known: on a two-core CPU, and beside 16 cores that
// compile for a GPU (0.05 to 0.2 s there).
inline constexpr double kCandidateSeconds = 0.5, kCandidateSecondsBesideCompiles = 0.1;
// Candidates that are begun beside compiles however short the time: of 47 searches on an H200 the
// best of eight was at worst 5 % behind the best of all (bench/first_candidates.py).
inline constexpr std::size_t kFewestBegun = 8;
// Seconds past its share that a search waits for these. Of a vision transformer the first kernel
// took 1.4 s, and the other seven of its attention were lost (H200).
inline constexpr double kMostSecondsForFirst = 2;
// Candidates per round. Enough to keep every compile process busy and to share a sentinel. Few
// enough that the search gets early feedback and a round stays a small part of the time.
inline constexpr std::size_t kMostInRound = 16, kFewestInRound = 4;
inline constexpr double kRoundShare = 0.1;  // of the search time
// Candidates measured together: enough to share one sentinel, few enough to keep a round short
// against the drift that it cancels.
inline constexpr std::size_t kMeasuredTogether = 8;
// Seconds that a round waits for its compiles while others can be measured.
inline constexpr double kCompilePatienceSeconds = 0.5;
// Extension of a search that has found too few correct candidates: its time once more, or at least
// this many seconds.
inline constexpr double kMostSecondsLonger = 10;
// Wrong kernels after which another provider than the session's own is dropped, if none was
// correct. They mostly share one cause.
inline constexpr std::size_t kHopelessWrong = 8;
// Skip a provider that needs to come within 1.5x of its stated lower bound to win. The fastest
// kernel seen took 2.6x that bound (docs/studies/replaced-kernels.md: 234 of 621 TFLOP/s).
inline constexpr double kBeyondHope = 1.5;
// Ratio of the best kernel's time to the default's below which the default's provider is not
// searched. The best of 120 of its configurations took 0.45 of the default's time or more, for five
// dispatches on an H200. In 20 searches of nine dispatches of three models the best of its three or
// more configurations came within 1.2x of such a kernel once.
inline constexpr double kBeyondDefault = 0.45;
// Kernels of a provider after which it is given up if the best takes this many times as long as
// another provider's best. In 18 searches on an H200 the best of the compiler's own first 16 was at
// worst 19 % behind its best of 60 to 150 (bench/first_candidates.py), and 2x to 17x behind
// Triton's.
inline constexpr std::size_t kOutdoneTries = 16;
inline constexpr double kOutdoneRatio = 1.5;
// Ratio below which two first measurements are indistinguishable.
inline constexpr double kSameTimeRatio = 1.01;
// Candidates per dispatch where nothing is measured (hone tune --compile-only).
inline constexpr std::size_t kCandidatesOfCompileOnly = 200;
// Differences between devices below this share are not reported.
inline constexpr double kDeviceDifference = 0.005;

// ---- Finalists of a dispatch, and what is measured beside them ----

// Share of a dispatch's time for its finalists, and the bounds of that time. Where one batch of
// launches tells, a verdict takes less.
inline constexpr double kFinalistShare = 0.25;
inline constexpr double kMostFinalistSeconds = 20;
inline constexpr double kFewestFinalistSeconds = 3, kFewestFinalistSecondsByBatches = 0.5;
// Seconds of the shortest race where one batch tells: ten rounds of two finalists and the default,
// and 256 launches of the winner (0.93 s at the mean of the UNet's 34 dispatches, H200).
inline constexpr double kShortestRaceSeconds = 0.9;
// Factor by which the fewest rounds may exceed the finalists' time.
inline constexpr double kFinalistOverrun = 2;
// Share of the finalists' time for comparing the winner's launches.
inline constexpr double kCompareShare = 0.5;
// Limits of the finalists. On a GPU one batch decides: of 1,500 candidates of one GEMM two seemed
// 1.7x and 1.4x as fast as the true best. The first was above the GPU's peak operations per second
// (docs/studies/search-regret.md). Such outliers must not be the only finalists.
struct FinalistReach {
  double of_best;  // ratio of their times to the best's
  double fewest, most;
  double loading;  // seconds of a round in which a finalist is loaded and warmed up
};
// A finalist takes 24 ms of a round on an H200. On a CPU, rounds are longer and the launches bound
// them.
inline constexpr FinalistReach kFinalistsBySamples{1.10, 4, 10, 0};
inline constexpr FinalistReach kFinalistsByBatches{1.03, 2, 6, 0.02};
// Best finalists that are taken however far they are from the best, if there is time for them.
inline constexpr std::size_t kBestFinalists = 4;
// Fewest rounds that give a verdict (race.h), and the launches of a finalist in them: each round
// has a first launch, a warm-up, a timed and a compared one. Bounds the number of finalists.
inline constexpr double kFewestFinalistRounds = 10, kFewestFinalistLaunches = 40;
// Candidates considered by absolute time, and how many of them may displace finalists chosen by
// ratio.
inline constexpr std::size_t kFinalistsByOwnTime = 4, kFinalistsDisplaced = 2;
// Relative difference of the default's times that makes these candidates join. Below it, ratios and
// absolute times do not disagree because of the default.
inline constexpr double kOtherDefault = 0.05;
// Largest ratio of a near tie's time to the winner's. In the program, operand placement and the
// kernels before it matter about as much: measured alone, operands are warm.
inline constexpr double kNearTieRatio = 1.05;
inline constexpr std::size_t kMostNearTies = 2;  // each takes a compile of the whole program
// Share of a dispatch's time for libraries and the compiler's own runtime, its limit in seconds,
// and the least for which libraries are measured where a program has other dispatches.
inline constexpr double kBaselineShare = 0.1, kMostBaselineSeconds = 8;
inline constexpr double kLeastBaselineSeconds = 1.5;
// Assumed time to measure a library, in launches of the default. Two libraries took 22 s and 8 s
// where the default takes 62 ms (4x8192x8192 in f32, two cores).
inline constexpr double kLaunchesOfLibrary = 400;
// Least seconds for measuring under the compiler's own runtime, which starts a process per sample.
inline constexpr double kSecondsUnderRuntime = 4;
// Seconds to verify a winner again where the shipped code differs (0.65 s at the mean of the SDXL
// UNet's 34 winners, H200; it compiles while the finalists race), and to compare its launches.
inline constexpr double kShippingSeconds = 0.65, kShippedCompareSeconds = 5;
// Finalists that are compiled as they ship while they race.
inline constexpr std::size_t kShippedAhead = 3;
// Rounds under the runtime: enough for a verdict at 5 % (six) with some to spare. Each is a process
// of its own, with at most so many launches.
inline constexpr int kRuntimeRounds = 8;
inline constexpr double kRuntimeSecondsPerRound = 0.1, kMostRuntimeLaunches = 64;
// Winners that compete to serve several sizes: those that gained most.
inline constexpr std::size_t kMostRivals = 6;
// Differences below this share are not counted as slower under one condition of several.
inline constexpr double kLeastMargin = 0.02;

// ---- Search of the compiler's flags ----

// Share of the search's time for judging fusion before any flag is tried, and for a first look at
// regions and layouts. On H200s the whole SDXL UNet came to 54 ms with both and to 109 ms
// without, and a split of it takes 40 to 60 s. Splits of the program that have begun go on.
inline constexpr double kFusionShare = 0.5, kLayoutShare = 2;
// Splits that take longer share the cores with a quarter as many, and so do those beside the first
// compile: of ResNet-50 each of sixteen took 7 s, and of BERT one takes 2. Of the UNet one took 50
// s alone and 66 to 82 s beside 15 others (16 cores). Once they shared the first phase, each of
// eight took 27 to 37 s, and 33 to 51 s on another machine.
inline constexpr double kLongSplitSeconds = 20;
inline constexpr std::size_t kFewerCrowdedSplits = 4;
// A split's time over that of the phases before fusion: 12 s of 30 for the UNet, 0.6 s of 1.6 for
// BERT.
inline constexpr double kSplitTimesUnfused = 2.6;
// Share of the budget for the search, and the flag compiles that a whole session tries, however
// long they take.
inline constexpr double kFlagShare = 0.2;
inline constexpr std::size_t kFlagCompiles = 15;
// Additions to the best set that are tried at a time: few, so that the next best is known soon.
inline constexpr std::size_t kFlagsTogether = 4;
// A choice that changed nothing so often, alone and with another, is not tried with more.
inline constexpr std::size_t kTriesWithoutEffect = 2;
// A choice that alone makes the program slower than this many times is not tried with others.
inline constexpr double kHopelessFlagRatio = 1.5;
// Ratio to the best of a round up to which a trial stays, after each of its rounds. Samples of a
// program differ by up to a tenth on a machine that others use too.
inline constexpr double kFlagTrialStays[] = {1.5, 1.3, 1.2, 1.12, 1.08, 1.08};
// A new best must be faster than the last by this much, lest the search climb noise.
inline constexpr double kFlagStep = 0.985;
// Data tiling is tuned if the program is no slower than this many times the best. The compiler's
// own product of tiles reached 75 to 97 % of the peak (docs/studies/blocked-weights.md).
inline constexpr double kTiledMayWin = 1.25;
// Blocked weights are tuned too if the program is no slower than this many times the best without
// them. Tuning changes the configurations of both, but only blocked weights change the order in
// which memory is read.
inline constexpr double kBlockedMayWin = 1.25;
// Another layout is tuned too if the program is no slower than this many times the best. IREE makes
// scalar code of depthwise convolutions there, and hone's own kernels are 20x as fast (EPYC Zen 4).
inline constexpr double kLayoutMayWin = 2;
// Fusing choices tried together, at most.
inline constexpr std::size_t kFlagsFusedTogether = 4;
// Promised share of the program's time near the device's bounds below which a set of flags is tuned
// in the place of the best set without it. On an H200 a set that promised 0.54 of BERT's came to
// 0.23 of its time, tuned, where tuning without it came to 0.41. One that promised 0.91 of a vision
// transformer's takes 49 of its 244 launches away. One that promised 0.95 of a prefill's gained
// nothing.
inline constexpr double kFusedMayWin = 0.92;
// Times that a product takes for each operand that is loaded element by element. A convolution of
// 1280 channels on 32 x 32 pixels took 400 us with channels first (H200), where both operands are,
// and 104 us with channels last (H100).
inline constexpr double kSlowerByElements = 2;
// Fused sets that are compiled, the best promise first, until one compiles.
inline constexpr std::size_t kFusedTries = 4;
// Least possible gain for which a baseline beside others is tuned, as a share of a call's time.
inline constexpr double kWorthTuningShare = 0.1;
// Limit of the search time if the requested compiles take longer, as a multiple of the requested
// seconds.
inline constexpr double kFlagSearchOverrun = 2;
// Share of the requested seconds for which begun rounds go on past the end: a slow call gets fewer
// rounds, a fast one all of them.
inline constexpr double kFlagRoundsShare = 0.1;

// ---- Builds of the whole program, and the proof ----

// False-positive rate of a recommendation. If no build is faster than the default, at most this
// share of runs recommends one, for any number of builds and sizes.
inline constexpr double kRecommendedInError = 0.05;
// Ratio of the whole spec's time to the default's below which its entries are proved although the
// difference is not significant yet.
inline constexpr double kWorthProvingRatio = 0.98;
// Rounds used to choose, and rounds used to prove. At 3 % noise, 20 of the latter find a gain of 5
// % in nine of ten proofs (tests/tune/build_choice_simulation_test.cc prints the shares).
inline constexpr int kChoosingRounds = 12, kProvingRounds = 20;
// Rounds of either that are enough if any two builds differ by this factor in each of them. By
// chance two equal builds do so in one direction at most once in 2^8 times.
inline constexpr std::size_t kRoundsFarApart = 8;
inline constexpr double kFarApart = 1.1;
// Share of the remaining time for screening rounds. Proof rounds keep the larger part.
inline constexpr double kScreeningShare = 0.4;
// Share of what its kernels promise that a spec must save in the program, or it is ablated, and the
// rounds that tell. An entry that hurts takes from what the others save.
inline constexpr double kArrivesShare = 0.95;
inline constexpr std::uint64_t kArrivalRounds = 3;
// Most ablations of a spec: each takes a compile and a dozen rounds. A spec with more entries is
// tried without each of so many groups of them. A group that hurts is halved until the culprit is
// found.
inline constexpr std::size_t kMostAblations = 8;
// Program compiles after the search: to vet the spec, and to compile it as it ships.
inline constexpr double kCompilesOfSpec = 2;
// Shares of the default's compile time, which the splitting of the program beside it lengthens: a
// compile by itself, and one from cached frontend IR, as in the proof.
inline constexpr double kNextCompileShare = 0.7, kProofCompileShare = 0.5;
// Program calls of a trial, and the processes that make them.
inline constexpr double kCallsOfTrial = 6, kProcessesOfTrial = 3;
// Program calls of a proof, and their processes. Two builds run as many rounds as a verdict takes,
// in one process; the outputs of each are computed too.
inline constexpr double kCallsOfProof = 16, kProcessesOfProof = 5;
// Choosing among six builds and proving three takes about 130 samples. A small budget makes them
// short, lest the proof take several times the user's budget. On a GPU the calls of one sample
// differ less.
inline constexpr double kSamplesWithinBudget = 400, kShortestSampleSeconds = 0.03;
inline constexpr double kSamplesWithinBudgetByBatches = 1200;
// Limit of the bytes that compile at once. Each compile has a copy of the program, and returns a
// module about as large.
inline constexpr std::size_t kCompileBytesAtOnce = std::size_t{1} << 30;
// Limit of the operations of a call in f32 by untuned code on the host: some tens of seconds on a
// few cores.
inline constexpr double kMostHostFlops = 1e12;
// Builds from which on the f32 compile is prefetched: among many flag sets, some change a narrow
// output by more than rounding explains.
inline constexpr std::size_t kManyBuilds = 4;
// Seconds that the default may take for a call.
inline constexpr double kMostFirstCallSeconds = 600;
// Outputs of a program that takes longer are compared on one set of inputs, not two.
inline constexpr double kSlowCallSeconds = 5;
// A longer first call may have been reading weights, so another call is timed.
inline constexpr double kMayBeLoadingSeconds = 1;
// A shorter call on several threads takes one of two times (0.5 or 0.9 ms, seen of an encoder on
// two cores). A process keeps to the one that it began with.
inline constexpr double kSteadyCallSeconds = 1e-3;

// ---- Near ties in the program ----

// Share of the tuning budget for compiling the program with near ties, and as much again for
// running it. A program that takes longer has one compile and the fewest runs.
inline constexpr double kNearTieShare = 0.1;
// Compiles for near ties: the program with the winners alone, and with near ties of two ranks.
inline constexpr std::size_t kCompilesOfTies = 3;
// Runs of each program, in turn. With nine runs, a kernel that is faster in all but one is
// certainly faster. Six runs are the fewest that allow a verdict (comparison.h).
inline constexpr int kTieRuns = 9, kFewestTieRuns = 6;
// Seconds for comparing a near tie that is to win with the default, and with the reference.
inline constexpr double kConfirmingSeconds = 2;
// Runs of each build for the gain of its kernels, in turn: one run gives a kernel's mean without a
// spread.
inline constexpr int kGainRuns = 3;

// ---- Outputs of the whole program ----

// An output may be this many times as far from the program in f32 as the default's, and the
// default's error, a root mean square, at most this share of the output.
inline constexpr double kErrorTimesTheDefault = 2, kMostErrorOfDefault = 0.1;
// Likewise of a compile beside another one: times the error that its conversions alone bring.
inline constexpr double kErrorTimesTheConversions = 2;
// Largest error of a correct program of 16 bits against itself in f32, by rounding behind many
// layers (docs/studies/gpu-models.md). Root mean square, as a share of the output.
inline constexpr double kMostErrorOfRepair = 0.05;
// Draws that measure how far an output moves when its arguments are off by rounding, and the
// multiple of that move by which correct outputs may differ.
inline constexpr int kMoveDraws = 3;
inline constexpr double kTimesTheMove = 4;
// Tolerance of run.sh, as a multiple of the differences measured here. Outputs that are right here
// (in a deep program by the program in f32, program_outputs.h) may differ slightly more on another
// machine.
inline constexpr double kRunToleranceTimes = 2;

}  // namespace hone::plan
