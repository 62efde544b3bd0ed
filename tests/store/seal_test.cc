// Whose code a store holds.
#include "store/seal.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::HasSubstr;

class SealTest : public StoreTest {
 protected:
  static constexpr SealKey kMine{1, 2}, kTheirs{3, 4};

  Store open_as(const SealKey& key, const char* name = "hone.db") {
    StoreOptions options;
    options.seal_key = key;
    return *Store::open(folder_.path() / name, Mode::kReadWrite, options);
  }
  // A store of the stranger's with the code of one candidate, whose id is 1.
  void make_theirs(const char* name) {
    Store store = open_as(kTheirs, name);
    EXPECT_EQ(Place(store).compile(store, "{}", "e"), 1);
  }
};

// The vectors of SipHash's authors (vectors.h, vectors_sip128): key 00 01 .. 0f, input 00 01 ...
TEST_F(SealTest, IsSipHash128) {
  const SealKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(sip_hash("", key), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(sip_hash(std::string(1, '\0'), key), "da87c1d86b99af44347659119b22fc45");
}

TEST_F(SealTest, CodeIsLoadedByWhoCompiledIt) {
  make_theirs("hone.db");
  EXPECT_TRUE(open_as(kTheirs).load_artifact(1));
  Store mine = open_as(kMine);
  EXPECT_FALSE(*mine.is_own(1));
  const auto refused = mine.load_artifact(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
  EXPECT_THAT(refused.error().message, HasSubstr("say --trust"));
  EXPECT_EQ(mine.load_artifact(1, Trust::kAnyone)->code, "code of e");
}

TEST_F(SealTest, MergingMakesNobodysCodeOnesOwn) {
  make_theirs("theirs.db");
  Store mine = open_as(kMine);
  ASSERT_TRUE(mine.merge({folder_.path() / "theirs.db"}));
  EXPECT_FALSE(*mine.is_own(1));
  // Compiled again, the candidate has code of one's own in its place.
  EXPECT_EQ(Place(mine).compile(mine, "{}", "e"), 1);
  EXPECT_TRUE(*mine.is_own(1));
  // And what one has compiled elsewhere stays one's own.
  Store another = open_as(kMine, "another.db");
  ASSERT_TRUE(another.merge({mine.path()}));
  EXPECT_TRUE(*another.is_own(1));
}

// A seal is of the code with how it is launched: neither can be put beside another.
TEST_F(SealTest, HoldsForNothingElse) {
  const ArtifactRow artifact{.candidate = 1,
                             .identity = "e",
                             .format = "elf",
                             .launch = "{}",
                             .code = "code",
                             .configured = "c"};
  const std::string seal = seal_of(artifact, kMine);
  EXPECT_NE(seal_of(artifact, kTheirs), seal);
  ArtifactRow other = artifact;
  other.code = "Code";
  EXPECT_NE(seal_of(other, kMine), seal);
  other = artifact;
  other.launch = R"({"entry":"f"})";
  EXPECT_NE(seal_of(other, kMine), seal);
  other = artifact;
  other.identity = "", other.format = "eelf";
  EXPECT_NE(seal_of(other, kMine), seal);
}

TEST_F(SealTest, TheKeyIsKeptForItsUserAlone) {
  const std::filesystem::path folder = folder_.path() / "state" / "hone";
  const SealKey key = seal_key_in(folder);
  EXPECT_EQ(seal_key_in(folder), key);
  EXPECT_NE(seal_key_in(folder_.path() / "other"), key);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "seal-key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  // One that others may read is nobody's secret.
  ASSERT_EQ(::chmod((folder / "seal-key").c_str(), 0644), 0);
  EXPECT_NE(seal_key_in(folder), key);
}

}  // namespace
}  // namespace hone::store
