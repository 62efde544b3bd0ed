#include "provider/triton/replacing_provider.h"

#include <map>

#include "provider/triton/attention_space.h"
#include "provider/triton/contraction_space.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/gemm_model.h"
#include "provider/triton/triton_provider.h"
#include "space/configuration.h"

namespace hone::triton {
namespace {

using problem::Statement;

Result<space::SpaceBuilder> builder_of(const problem::Dispatch& dispatch,
                                       const GemmDevice& device) {
  HONE_ASSIGN(const Statement* const stated, problem::stated(dispatch.statement));
  if (stated->attends()) {
    HONE_ASSIGN(const AttentionShape shape, attention_of(*stated));
    return attention_space_builder(shape, device);
  }
  HONE_ASSIGN(const StatedProduct product, stated_product(*stated));
  HONE_TRY(check(product.gemm, device));
  return contraction_space_builder(product, device);
}

}  // namespace

std::string ReplacingProvider::why_no_space(const problem::Dispatch& dispatch) const {
  const Result<space::SpaceBuilder> builder = builder_of(dispatch, device_);
  if (!builder) return builder.error().message;
  return device_.is_cuda() ? "" : "kernels in the place of the compiler's are for NVIDIA GPUs";
}

Result<space::Space> ReplacingProvider::space_of(const problem::Dispatch& dispatch) const {
  if (const std::string why_not = why_no_space(dispatch); !why_not.empty())
    return input_error("{}", why_not);
  HONE_ASSIGN(const space::SpaceBuilder builder, builder_of(dispatch, device_));
  return builder.build();
}

Result<provider::Payload> ReplacingProvider::payload_of(
    const problem::Dispatch&, const space::Space& space,
    const space::Configuration& configuration) const {
  provider::Payload payload = triton::payload_of(space::values_by_name(space, configuration));
  payload.replacing = name_;
  return payload;
}

std::function<double(const space::Configuration&)> ReplacingProvider::prior(
    const problem::Dispatch& dispatch, const space::Space& space) const {
  const Result<const Statement*> stated = problem::stated(dispatch.statement);
  if (!stated) return {};
  if ((*stated)->attends()) {
    const Result<AttentionShape> shape = attention_of(**stated);
    return shape ? attention_prior(*shape, device_, space)
                 : std::function<double(const space::Configuration&)>();
  }
  const Result<StatedProduct> product = stated_product(**stated);
  return product ? contraction_prior(*product, device_, space)
                 : std::function<double(const space::Configuration&)>();
}

std::string ReplacingProvider::summation(const problem::Dispatch& dispatch,
                                         const std::optional<provider::Payload>& payload) const {
  const Result<const Statement*> stated = problem::stated(dispatch.statement);
  if (!payload || !stated) return "";
  const std::map<std::string, std::int64_t> knobs = knobs_in(*payload);
  const auto knob = [&](const char* name) {
    const auto known = knobs.find(name);
    return known == knobs.end() ? std::int64_t{0} : known->second;
  };
  std::string told = fmt::format("f32, {} keys at a time", knob("BLOCK_N"));
  if (!(*stated)->attends()) {
    const Result<StatedProduct> product = stated_product(**stated);
    if (!product) return "";
    told = fmt::format("{}, {} at a time", problem::name_of(accumulator(product->gemm)),
                       knob("BLOCK_K"));
  }
  if (knob("SPLIT_K") > 1) told += fmt::format(", in {} parts", knob("SPLIT_K"));
  if (knobs.contains("PRECISION")) {
    const std::int64_t precision = knob("PRECISION");
    told += precision == kBf16x6   ? ", of six products of bf16"
            : precision == kTf32x3 ? ", of three products of tf32"
                                   : ", without matrix units";
  }
  return told;
}

}  // namespace hone::triton
