#include "provider/iree/iree_spec_writer.h"

#include <algorithm>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/spec/matcher.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {

Result<std::string> IreeSpecWriter::text_of(const std::vector<provider::SpecEntry>& entries) const {
  std::vector<SpecEntry> rows;
  for (const provider::SpecEntry& entry : entries) {
    HONE_ASSIGN(const Attributes attributes, attributes_from(entry.payload));
    rows.push_back({entry.root, attributes.lowering_config, attributes.translation_info,
                    attributes.init_config, attributes.consumer_config, entry.name,
                    attributes.decomposition_config, attributes.sibling_config, entry.surrounding,
                    attributes.surrounding_configs, attributes.interchange, entry.only});
  }
  return tuning_spec_text(rows, fmt::format("Tuning spec made by hone for IREE {} on {}.\n"
                                            "Use: iree-compile {}",
                                            version_, target_, flag_of("THIS_FILE")));
}

bool IreeSpecWriter::same_class(const problem::Operation& a, const problem::Operation& b) const {
  return iree::same_spec_class(a, b);
}

std::string IreeSpecWriter::why_no_entry(const problem::Dispatch& dispatch) const {
  const Status matched = can_match(matched_root(dispatch.root, dispatch.surrounding));
  return matched ? std::string() : matched.error().message;
}

bool IreeSpecWriter::same_in_spec(const provider::Payload& a, const provider::Payload& b) const {
  Result<Attributes> one = attributes_from(a), other = attributes_from(b);
  if (!one || !other) return false;
  for (Attributes* each : {&*one, &*other}) {
    each->statement = -1;
    each->knobs.clear();
    each->options.clear();
  }
  return *one == *other;
}

Result<provider::Payload> IreeSpecWriter::as_compiled(const provider::Payload& payload,
                                                      const provider::Artifact& artifact) const {
  HONE_ASSIGN(Attributes attributes, attributes_from(payload));
  HONE_ASSIGN(const MadeTexts made, made_texts_from(artifact.more));
  attributes.lowering_config = artifact.configured;
  attributes.translation_info = made.translation;
  attributes.decomposition_config = made.decomposition;
  return payload_of(attributes);
}

Result<std::vector<provider::NamedText>> IreeSpecWriter::texts_in_ir(
    const provider::Payload& configured) const {
  HONE_ASSIGN(const Attributes attributes, attributes_from(configured));
  std::vector<provider::NamedText> texts{{"lowering_config", attributes.lowering_config},
                                         {"translation_info", attributes.translation_info}};
  if (!attributes.decomposition_config.empty())
    texts.push_back({"decomposition_config", attributes.decomposition_config});
  return texts;
}

provider::Payload IreeSpecWriter::default_of(const problem::Dispatch& dispatch) const {
  return payload_of({dispatch.default_configuration, dispatch.default_translation});
}

std::string IreeSpecWriter::flag_of(const std::filesystem::path& file) const {
  return std::string(flag_) + file.string();
}

std::vector<std::string> IreeSpecWriter::with_spec(std::vector<std::string> flags,
                                                   const std::filesystem::path& file) const {
  flags.push_back(flag_of(file));
  // The text of a pass pipeline has no way to write such a path.
  if (file.string().find_first_of("{}") != std::string::npos) return flags;
  // The first dispatch that wants a spec reads it under a lock (IREECodegenLibraryManager.cpp of
  // IREE 3.13). Its verifier then waits for the threads of the compiler, and while it waits it may
  // begin with another dispatch, which wants the lock that it holds itself. What was read once is
  // kept by its path, so a pass that reads it while nothing else runs prevents that.
  const std::string preload = fmt::format(
      "iree-codegen-materialize-tuning-specs{{tuning-spec-path={{{}}}}}", file.string());
  constexpr std::string_view kPipeline = "--iree-preprocessing-pass-pipeline=builtin.module(";
  // The compiler takes the last of several.
  const auto own = std::find_if(flags.rbegin(), flags.rend(), [&](const std::string& flag) {
    return flag.starts_with(kPipeline) && flag.ends_with(')');
  });
  if (own == flags.rend())
    flags.push_back(fmt::format("{}{})", kPipeline, preload));
  else
    own->insert(kPipeline.size(), own->size() == kPipeline.size() + 1 ? preload : preload + ",");
  return flags;
}

std::optional<std::filesystem::path> IreeSpecWriter::take_spec(
    std::vector<std::string>& flags) const {
  std::optional<std::filesystem::path> spec;
  for (const std::string_view name : {kCudaSpecFlag, kSpecFlag})
    std::erase_if(flags, [&](const std::string& flag) {
      if (!flag.starts_with(name)) return false;
      spec = flag.substr(name.size());
      return true;
    });
  if (!spec) return spec;
  // with_spec() adds more than the flag.
  const std::vector<std::string> added = with_spec({}, *spec);
  std::erase_if(flags,
                [&](const std::string& flag) { return std::ranges::count(added, flag) > 0; });
  return spec;
}

}  // namespace hone::iree
