#include "store/file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <iterator>

namespace hone::store {

bool is_shared_file_system(long type) {
  // Numbers of statfs(2) and linux/magic.h; some are in neither of Debian's headers.
  static constexpr unsigned kShared[] = {
      0x6969,      // NFS
      0x517b,      // SMB
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x65735546,  // FUSE: sshfs, s3fs, GlusterFS, ...
      0x01021997,  // 9P: folders that a virtual machine shares with its host
      0x5346414f,  // AFS
      0x6b414653,  // kAFS
      0x73757245,  // Coda
      0x564c,      // NCP
      0x00c36400,  // Ceph
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x7461636f,  // OCFS2
      0x01161970,  // GFS2
      0x786f4256,  // folders that VirtualBox shares with its host
      0xaad7aaea,  // PanFS
  };
  const auto magic = static_cast<unsigned>(type);
  return std::ranges::find(kShared, magic) != std::end(kShared);
}

bool is_on_shared_file_system(const std::filesystem::path& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0 && ::statfs(path.parent_path().c_str(), &status) != 0)
    return false;
  return is_shared_file_system(static_cast<long>(status.f_type));
}

}  // namespace hone::store
