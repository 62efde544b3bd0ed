// The bodies of jobs and answers between the tuner, its runner and its compile workers. The first
// byte says which, the rest is JSON.
#include "measure/paired_samples.h"
#include "measure/runner_requests.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/jobs.h"
#include "tests/fuzz/json_round_trip.h"
#include "trial/records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  fuzz::Choices input(fuzz::text_of(bytes, size));
  const std::uint8_t which = input.byte();
  const auto body = nlohmann::json::parse(input.rest(), nullptr, /*allow_exceptions=*/false);
  if (body.is_discarded() || !fuzz::has_only_castable_numbers(body)) return 0;
  switch (which % 10) {
    case 0:
      fuzz::round_trip<measure::ProblemRequest>(body);
      break;
    case 1:
      fuzz::round_trip<measure::ProblemReady>(body);
      break;
    case 2:
      fuzz::round_trip<measure::LibraryBaseline>(body);
      break;
    case 3:
      fuzz::round_trip<measure::Verification>(body);
      if (const auto verification = fuzz::accepted<measure::Verification>(body))
        (void)trial::verification_row(*verification, std::vector<problem::Binding>(3));
      break;
    case 4:
      fuzz::round_trip<measure::MeasureRequest>(body);
      break;
    case 5:
      fuzz::round_trip<measure::MeasureResult>(body);
      if (const auto result = fuzz::accepted<measure::MeasureResult>(body))
        for (const measure::HandleSamples& samples : result->handles)
          (void)measure::paired_ratio(samples, result->handles.back());
      break;
    case 6:
      fuzz::round_trip<iree::Attributes>(body);
      break;
    case 7:
      fuzz::round_trip<provider::jobs::ConfiguredDispatch>(body);
      fuzz::round_trip<provider::jobs::SpecFileEntry>(body);
      break;
    case 8:
      fuzz::round_trip<provider::Launch>(body);
      break;
    default:
      fuzz::round_trip<device::Peak>(body);
      break;
  }
  return 0;
}
