// The example of an Indexed Job against the fields that Kubernetes requires of batch/v1 Job
// (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/).
#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <string>

namespace hone::fleet {
namespace {

using testing::HasSubstr;

class Kubernetes : public testing::Test {
 protected:
  const YAML::Node job_ = YAML::LoadFile(HONE_SOURCE_DIR "/examples/kubernetes/fleet.yaml");
  const YAML::Node spec_ = job_["spec"];
  const YAML::Node pod_ = spec_["template"]["spec"];
  const YAML::Node container_ = pod_["containers"][0];
};

std::set<std::string> keys_of(const YAML::Node& node) {
  std::set<std::string> keys;
  for (const auto& each : node) keys.insert(each.first.as<std::string>());
  return keys;
}

TEST_F(Kubernetes, TheExampleIsAnIndexedJob) {
  EXPECT_EQ(job_["apiVersion"].as<std::string>(), "batch/v1");
  EXPECT_EQ(job_["kind"].as<std::string>(), "Job");
  EXPECT_FALSE(job_["metadata"]["name"].as<std::string>().empty());
  EXPECT_EQ(spec_["completionMode"].as<std::string>(), "Indexed");
  // Indexed jobs require it, and backoffLimitPerIndex requires that pods are not restarted in
  // place.
  EXPECT_EQ(spec_["completions"].as<int>(), 16);
  EXPECT_EQ(pod_["restartPolicy"].as<std::string>(), "Never");
  EXPECT_LT(spec_["maxFailedIndexes"].as<int>(), spec_["completions"].as<int>());
}

TEST_F(Kubernetes, EveryFieldIsOneThatTheApiHas) {
  using Keys = std::set<std::string>;
  EXPECT_EQ(keys_of(job_), (Keys{"apiVersion", "kind", "metadata", "spec"}));
  EXPECT_EQ(keys_of(spec_), (Keys{"completionMode", "completions", "parallelism",
                                  "backoffLimitPerIndex", "maxFailedIndexes", "template"}));
  EXPECT_EQ(keys_of(pod_),
            (Keys{"restartPolicy", "terminationGracePeriodSeconds", "containers", "volumes"}));
  EXPECT_EQ(keys_of(container_),
            (Keys{"name", "image", "command", "args", "resources", "volumeMounts"}));
}

TEST_F(Kubernetes, EveryMountHasItsVolume) {
  std::set<std::string> volumes;
  for (const auto& volume : pod_["volumes"]) volumes.insert(volume["name"].as<std::string>());
  ASSERT_EQ(container_["volumeMounts"].size(), 2u);
  for (const auto& mount : container_["volumeMounts"]) {
    EXPECT_EQ(volumes.count(mount["name"].as<std::string>()), 1u);
    EXPECT_EQ(mount["mountPath"].as<std::string>().front(), '/');
  }
}

// The index counts from 0, shards from 1, and both have the same number.
TEST_F(Kubernetes, AShardIsItsIndexPlusOne) {
  const std::string script = container_["args"][0].as<std::string>();
  EXPECT_THAT(script, HasSubstr("shard=$((JOB_COMPLETION_INDEX + 1))"));
  EXPECT_THAT(script, HasSubstr("--shard $shard/" + spec_["completions"].as<std::string>() + " "));
  EXPECT_THAT(script, HasSubstr("mv /fleet/.$shard.db /fleet/$shard.db"));
}

}  // namespace
}  // namespace hone::fleet
