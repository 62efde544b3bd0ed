// AMD code objects with a metadata note and no code: what reads how a kernel is launched needs no
// more, and the compiler puts them into a program as they are.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hone::test {

// Arguments of a kernel's metadata: addresses, then numbers of 4 bytes.
inline nlohmann::json arguments_of(int addresses, int numbers) {
  nlohmann::json arguments = nlohmann::json::array();
  for (int i = 0; i < addresses + numbers; ++i) {
    const bool address = i < addresses;
    arguments.push_back({{".offset", address ? 8 * i : 4 * (i + addresses)},
                         {".size", address ? 8 : 4},
                         {".value_kind", address ? "global_buffer" : "by_value"}});
  }
  return arguments;
}

// MISA's convolution as its assembler describes it: 3 addresses and 26 numbers, 256 threads.
inline nlohmann::json misa_kernel() {
  return {
      {".args", arguments_of(3, 26)},
      {".name",
       "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_"
       "tb1x8x2x1_1x4x1x64_gkgs"},
      {".kernarg_segment_size", 128},
      {".group_segment_fixed_size", 16384},
      {".max_flat_workgroup_size", 256},
      {".reqd_workgroup_size", {256, 1, 1}},
      {".wavefront_size", 64}};
}

// `processor`: the low byte of the ELF flags, 0x4c for gfx942, 0x40 for gfx940.
inline std::string code_object_file(std::uint8_t processor,
                                    const std::vector<nlohmann::json>& kernels) {
  const std::vector<std::uint8_t> metadata = nlohmann::json::to_msgpack(
      {{"amdhsa.version", {1, 2}},
       {"amdhsa.kernels", kernels},
       {"amdhsa.target",
        processor == 0x40 ? "amdgcn-amd-amdhsa--gfx940" : "amdgcn-amd-amdhsa--gfx942"}});
  const auto text_of = [](const auto& object) {
    return std::string(reinterpret_cast<const char*>(&object), sizeof object);
  };
  Elf64_Nhdr note{7, static_cast<Elf64_Word>(metadata.size()), 32};
  std::string content =
      text_of(note) + std::string("AMDGPU\0\0", 8) + std::string(metadata.begin(), metadata.end());
  content.resize((content.size() + 7) / 8 * 8);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_OSABI] = 64;  // ELFOSABI_AMDGPU_HSA
  header.e_ident[EI_ABIVERSION] = 4;
  header.e_type = ET_DYN;
  header.e_machine = EM_AMDGPU;
  header.e_flags = 0x500U | processor;
  header.e_ehsize = sizeof header;
  header.e_shoff = sizeof header + content.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  Elf64_Shdr none{}, notes{};
  notes.sh_type = SHT_NOTE;
  notes.sh_offset = sizeof header;
  notes.sh_size = content.size();
  return text_of(header) + content + text_of(none) + text_of(notes);
}

}  // namespace hone::test
