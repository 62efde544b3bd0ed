#include "provider/triton/replacing_provider.h"

#include <map>
#include <nlohmann/json.hpp>

#include "provider/triton/attention_space.h"
#include "provider/triton/contraction_space.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/gemm_model.h"
#include "provider/triton/triton_provider.h"
#include "space/configuration.h"

namespace hone::triton {
namespace {

// Kind of the statement: "contraction", "attention". An input error if the statement says why there
// is none.
Result<std::string> kind_of(const problem::Dispatch& dispatch) {
  if (dispatch.statement.empty()) return input_error("nobody has stated what it computes");
  const nlohmann::json stated = nlohmann::json::parse(dispatch.statement, nullptr, false);
  const auto text = [&](const char* key) {
    const auto said = stated.is_object() ? stated.find(key) : stated.end();
    return said != stated.end() && said->is_string() ? said->get<std::string>() : std::string();
  };
  if (const std::string why_not = text("why_not"); !why_not.empty())
    return input_error("{}", why_not);
  const std::string kind = text("kind");
  if (kind != "contraction" && kind != "attention")
    return input_error("Triton has no kernel for the statement of '{}'", dispatch.name);
  return kind;
}

Result<space::SpaceBuilder> builder_of(const problem::Dispatch& dispatch,
                                       const GemmDevice& device) {
  HONE_ASSIGN(const std::string kind, kind_of(dispatch));
  if (kind == "attention") {
    HONE_ASSIGN(const AttentionShape shape, attention_of(dispatch));
    return attention_space_builder(shape, device);
  }
  HONE_ASSIGN(const StatedProduct product, stated_product(dispatch));
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
  const Result<std::string> kind = kind_of(dispatch);
  if (!kind) return {};
  if (*kind == "attention") {
    const Result<AttentionShape> shape = attention_of(dispatch);
    return shape ? attention_prior(*shape, device_, space)
                 : std::function<double(const space::Configuration&)>();
  }
  const Result<StatedProduct> product = stated_product(dispatch);
  return product ? contraction_prior(*product, device_, space)
                 : std::function<double(const space::Configuration&)>();
}

std::string ReplacingProvider::summation(const problem::Dispatch& dispatch,
                                         const std::optional<provider::Payload>& payload) const {
  const Result<std::string> kind = kind_of(dispatch);
  if (!payload || !kind) return "";
  const std::map<std::string, std::int64_t> knobs = knobs_in(*payload);
  const auto knob = [&](const char* name) {
    const auto known = knobs.find(name);
    return known == knobs.end() ? std::int64_t{0} : known->second;
  };
  std::string told = fmt::format("f32, {} keys at a time", knob("BLOCK_N"));
  if (*kind == "contraction") {
    const Result<StatedProduct> product = stated_product(dispatch);
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
