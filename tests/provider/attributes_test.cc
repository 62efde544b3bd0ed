// What IREE's compiler is told, as the payload that everybody else passes on.
#include "provider/iree/compiler/attributes.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "provider/iree/iree_spec_writer.h"

namespace hone::iree {
namespace {

using testing::HasSubstr;

const IreeSpecWriter& specs() {
  static const IreeSpecWriter made("", "", kSpecFlag);
  return made;
}

Attributes of_knobs() {
  Attributes attributes;
  attributes.statement = 1;
  attributes.knobs = {{"wg_0", 64}};
  attributes.options = {{"waves_per_eu", 2}};
  return attributes;
}

std::vector<std::string> in_ir(const Attributes& attributes) {
  const auto texts = specs().texts_in_ir(payload_of(attributes)).value();
  std::vector<std::string> words;
  for (const auto& [name, text] : texts) words.push_back(name + " " + text);
  return words;
}

// Stores hold it in this form.
TEST(Payload, IsReadAsItWasWritten) {
  Attributes texts{"#lowering", "#translation", "#init", "#consumer"};
  EXPECT_EQ(payload_of(texts).json.dump(),
            R"({"consumer_config":"#consumer","init_config":"#init",)"
            R"("lowering_config":"#lowering","translation_info":"#translation"})");
  texts.sibling_config = texts.sibling_reduction_config = "#sibling";
  texts.decomposition_config = "#parts";
  texts.surrounding_configs = {"", "#neighbour"};
  for (const Attributes& each : {texts, of_knobs(), Attributes()})
    EXPECT_EQ(attributes_from(payload_of(each)).value(), each);
}

TEST(Payload, OfSomebodyElseIsAFailure) {
  for (const char* text : {"null", "7", "{}", R"({"knobs":{"BLOCK_M":64}})"}) {
    const provider::Payload payload{nlohmann::json::parse(text)};
    EXPECT_FALSE(attributes_from(payload)) << text;
    EXPECT_FALSE(specs().texts_in_ir(payload)) << text;
    EXPECT_FALSE(specs().same_in_spec(payload, payload)) << text;
    EXPECT_FALSE(specs().text_of({{"main_dispatch_0", {}, payload}})) << text;
    EXPECT_FALSE(specs().as_compiled(payload, {})) << text;
  }
}

TEST(Payload, OfKnobsSaysInASpecWhatTheCompilerMadeOfIt) {
  provider::Artifact artifact;
  artifact.configured = "#lowering";
  artifact.more = MadeTexts{"#translation", "#parts"}.to_payload();
  const provider::Payload knobs = payload_of(of_knobs());
  const provider::Payload compiled = specs().as_compiled(knobs, artifact).value();
  Attributes expected = of_knobs();
  expected.lowering_config = "#lowering";
  expected.translation_info = "#translation";
  expected.decomposition_config = "#parts";
  EXPECT_EQ(attributes_from(compiled).value(), expected);
  artifact.more = {};  // of a store
  EXPECT_EQ(specs().as_compiled(knobs, artifact).value(), knobs);
  artifact.more = {"no texts"};
  EXPECT_THAT(specs().as_compiled(knobs, artifact).error().message,
              HasSubstr("IREE's attributes of a configuration cannot be read"));
}

TEST(Payload, IsTheSameInASpecWhateverKnobsItWasMadeOf) {
  Attributes made = of_knobs();
  made.lowering_config = "#lowering";
  Attributes written;
  written.lowering_config = "#lowering";
  EXPECT_TRUE(specs().same_in_spec(payload_of(made), payload_of(written)));
  for (auto text :
       {&Attributes::lowering_config, &Attributes::translation_info, &Attributes::init_config,
        &Attributes::consumer_config, &Attributes::decomposition_config}) {
    Attributes other = written;
    other.*text = "#another";
    EXPECT_FALSE(specs().same_in_spec(payload_of(made), payload_of(other)));
  }
  written.surrounding_configs = {"#neighbour"};
  EXPECT_FALSE(specs().same_in_spec(payload_of(made), payload_of(written)));
}

TEST(Payload, IsFoundInTheIrByTheNamesThere) {
  Attributes attributes{"#lowering", "#translation", "#init"};
  EXPECT_THAT(in_ir(attributes),
              testing::ElementsAre("lowering_config #lowering", "translation_info #translation"));
  attributes.decomposition_config = "#parts";
  EXPECT_THAT(in_ir(attributes), testing::Contains("decomposition_config #parts"));
  problem::Dispatch dispatch;
  dispatch.default_configuration = "#chosen";
  const auto defaults = specs().default_texts(dispatch);
  ASSERT_EQ(defaults.size(), 2u);
  EXPECT_EQ(defaults[0].name + " " + defaults[0].text, "lowering_config #chosen");
  EXPECT_EQ(defaults[1].name + " " + defaults[1].text, "translation_info ");
}

}  // namespace
}  // namespace hone::iree
