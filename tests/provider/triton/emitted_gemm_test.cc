// What is written for use without hone: text that a compiler and Python take.
#include "provider/triton/emitted_gemm.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/process.h"
#include "provider/triton/tune_gemm.h"

namespace hone::triton {
namespace {

using problem::LaunchArgument;
using testing::HasSubstr;
using testing::Not;
using Kind = LaunchArgument::Kind;

EmittedGemm gemm_of_4096(std::map<std::string, std::int64_t> knobs) {
  EmittedGemm gemm;
  gemm.entry.gemm.m = gemm.entry.gemm.n = 4096;
  gemm.entry.gemm.k = 512;
  gemm.entry.gemm.b_rows = false;
  gemm.entry.configuration = keyed(gemm.entry.gemm, knobs);
  gemm.seconds = 50e-6;
  gemm.format = "cuda-cubin";
  return gemm;
}

// Two passes: partial products into scratch memory, then their sum. The arguments are those of
// Triton 3.9's split-K kernels.
EmittedGemm split_k() {
  EmittedGemm gemm = gemm_of_4096({{"STRUCTURE", 2},
                                   {"BLOCK_M", 128},
                                   {"BLOCK_N", 128},
                                   {"BLOCK_K", 64},
                                   {"GROUP_M", 8},
                                   {"SPLIT_K", 4},
                                   {"num_warps", 8},
                                   {"num_stages", 3}});
  gemm.launch.entry = "gemm_split_k_parts";
  gemm.launch.grid = {1024, 4, 1};
  gemm.launch.block = {256, 1, 1};
  gemm.launch.shared_bytes = 98304;
  gemm.launch.arguments = {{Kind::kBinding, 0},       {Kind::kBinding, 1},
                           {Kind::kScratch, 0, 0},    {Kind::kInteger, 0, 4096},
                           {Kind::kInteger, 0, 4096}, {Kind::kInteger, 0, 512}};
  gemm.launch.hidden_pointers = 2;
  gemm.launch.scratch_bytes = std::int64_t{1} << 28;
  gemm.launch.code_bytes = 4;
  problem::Launch sum;
  sum.entry = "sum_parts";
  sum.grid = {1024, 1, 1};
  sum.block = {256, 1, 1};
  sum.arguments = {{Kind::kScratch, 0, 256}, {Kind::kBinding, 2}};
  sum.code_bytes = 3;
  gemm.launch.then = {sum};
  return gemm;
}

// A of 4096 x 512 f16 by rows in tiles of 128 x 64, as structures.py describes it.
EmittedGemm persistent() {
  EmittedGemm gemm = gemm_of_4096({{"STRUCTURE", 4},
                                   {"BLOCK_M", 128},
                                   {"BLOCK_N", 256},
                                   {"BLOCK_K", 64},
                                   {"GROUP_M", 8},
                                   {"SPLIT_K", 1},
                                   {"PER_UNIT", 1},
                                   {"SPLIT_STORE", 0},
                                   {"num_warps", 8},
                                   {"num_stages", 3}});
  gemm.launch.entry = "gemm_persistent";
  gemm.launch.grid = {132, 1, 1};
  gemm.launch.block = {256, 1, 1};
  gemm.launch.shared_bytes = 196608;
  LaunchArgument a{Kind::kTensorMap, 0};
  a.map = {{4096, 512}, {512, 1}, {128, 64}, 6, 2, 3};
  gemm.launch.arguments = {a, {Kind::kBinding, 1}, {Kind::kBinding, 2}, {Kind::kInteger, 0, 4096}};
  gemm.launch.hidden_pointers = 2;
  return gemm;
}

// As much of CUDA's driver API as the headers use; what it is called with goes to stdout.
constexpr std::string_view kCudaHeader = R"(#include <stdint.h>
#include <stdio.h>
typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef struct { int n; } *CUstream, *CUmodule, *CUfunction;
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef struct { _Alignas(64) unsigned char bytes[128]; } CUtensorMap;
typedef enum { CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6 } CUtensorMapDataType;
typedef enum { CU_TENSOR_MAP_SWIZZLE_128B = 3 } CUtensorMapSwizzle;
enum { CUDA_SUCCESS, CU_TENSOR_MAP_INTERLEAVE_NONE = 0, CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
static CUresult cuModuleLoad(CUmodule *module, const char *path) { *module = 0; printf("load %s\n", path); return 0; }
static CUresult cuModuleUnload(CUmodule module) { (void)module; return 0; }
static CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  (void)module; *function = 0; printf("find %s\n", name); return 0; }
static CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  (void)function; printf("attribute %d %d\n", attribute, value); return 0; }
static CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *shape, const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
    int interleave, CUtensorMapSwizzle swizzle, int promotion, int outside) {
  map->bytes[0] = 77;
  printf("map type %d rank %u at %llu shape %llu %llu stride %llu box %u %u steps %u %u %d %d %d %d\n", type, rank,
         (unsigned long long)(uintptr_t)address, (unsigned long long)shape[0], (unsigned long long)shape[1],
         (unsigned long long)strides[0], box[0], box[1], steps[0], steps[1], interleave, swizzle, promotion, outside);
  return 0; }
extern int arguments_of(unsigned x, void **arguments);
static CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
    unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra) {
  (void)function; (void)stream; (void)extra;
  printf("launch %u %u %u of %u %u %u shared %u:", x, y, z, bx, by, bz, shared);
  return arguments_of(y, arguments); }
)";

class EmittedHeader : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, text));
  }
  std::string output_of(const std::vector<std::string>& command) const {
    Command with;
    with.arguments = command;
    with.folder = folder_.path();
    const auto ran = run_process(with, {.seconds = 60});
    EXPECT_TRUE(ran && ran->succeeded())
        << (ran ? ran->standard_error.text() : ran.error().message);
    return ran ? ran->standard_output.text() + ran->standard_error.text() : "";
  }
  // Compiles `program` behind the header, against kCudaHeader, and runs it.
  std::string run(const EmittedGemm& gemm, const std::string& program) const {
    const auto header = c_launcher(gemm, "sm_90, Triton 3.9.0");
    EXPECT_TRUE(header) << (header ? "" : header.error().message);
    write("gemm.h", *header);
    write("cuda.h", kCudaHeader);
    write("program.c", "#include \"gemm.h\"\n" + program);
    EXPECT_EQ(output_of({"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
                         "-I.", "program.c", "-o", "program"}),
              "");
    return output_of({"./program"});
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-emitted-").value());
};

TEST_F(EmittedHeader, LaunchesEveryKernelWithItsArgumentsInOrder) {
  const std::string name = "gemm_4096x4096x512_f16_f16_f16_nt";
  EXPECT_EQ(
      run(split_k(),
          "int arguments_of(unsigned y, void **p) {\n"
          "  if (y == 4) printf(\" %llu %llu %llu %d %d %d %llu %llu\\n\", *(CUdeviceptr*)p[0],"
          " *(CUdeviceptr*)p[1], *(CUdeviceptr*)p[2], *(int*)p[3], *(int*)p[4], *(int*)p[5],"
          " *(CUdeviceptr*)p[6], *(CUdeviceptr*)p[7]);\n"
          "  else printf(\" %llu %llu\\n\", *(CUdeviceptr*)p[0], *(CUdeviceptr*)p[1]);\n"
          "  return 0;\n}\n"
          "int main(void) {\n  " +
              name + "_t gemm;\n  if (" + name +
              "_load(&gemm, \"in\")) return 1;\n"
              "  if (" +
              name +
              "_launch(&gemm, 1000, 2000, 3000, 4000, 0)) return 1;\n"
              "  " +
              name +
              "_unload(&gemm);\n"
              "  printf(\"scratch %lld\\n\", (long long)" +
              name + "_SCRATCH_BYTES);\n  return 0;\n}\n"),
      "load in/" + name +
          ".0.cubin\nfind gemm_split_k_parts\nattribute 8 98304\n"
          "load in/" +
          name +
          ".1.cubin\nfind sum_parts\n"
          "launch 1024 4 1 of 256 1 1 shared 98304: 1000 2000 4000 4096 4096 512 0 0\n"
          "launch 1024 1 1 of 256 1 1 shared 0: 4256 3000\n"
          "scratch 268435456\n");
}

TEST_F(EmittedHeader, MakesTheTensorMapsOfADescriptorKernel) {
  const std::string name = "gemm_4096x4096x512_f16_f16_f16_nt";
  // Behind a map come its shape (32 bits each) and strides (64 bits each), outermost first; the
  // driver takes them innermost first, strides in bytes and none for the innermost.
  EXPECT_EQ(run(persistent(),
                "int arguments_of(unsigned y, void **p) {\n  (void)y;\n"
                "  printf(\" %d %d %d %lld %lld %llu %llu %d %llu\\n\", *(unsigned char*)p[0], "
                "*(int*)p[1], "
                "*(int*)p[2], *(long long*)p[3], *(long long*)p[4], *(CUdeviceptr*)p[5], "
                "*(CUdeviceptr*)p[6], "
                "*(int*)p[7], *(CUdeviceptr*)p[9]);\n  return 0;\n}\n"
                "int main(void) {\n  " +
                    name + "_t gemm = {0};\n  return " + name +
                    "_launch(&gemm, 1000, 2000, 3000, 0, 0);\n}\n"),
            "map type 6 rank 2 at 1000 shape 512 4096 stride 1024 box 64 128 steps 1 1 0 3 2 0\n"
            "launch 132 1 1 of 256 1 1 shared 196608: 77 4096 512 512 1 2000 3000 4096 0\n");
}

TEST_F(EmittedHeader, OfAMDsIsHips) {
  EmittedGemm gemm = split_k();
  gemm.format = "rocm-hsaco";
  const auto header = c_launcher(gemm, "gfx942, Triton 3.9.0");
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_THAT(*header, HasSubstr("#include <hip/hip_runtime_api.h>"));
  EXPECT_THAT(*header, HasSubstr("hipModuleLaunchKernel(gemm->functions[1], 1024, 1, 1"));
  EXPECT_THAT(*header, HasSubstr(".1.hsaco\""));
  EXPECT_THAT(*header, Not(HasSubstr("cuda")));
  write("gemm.h", *header);
  write("hip/hip_runtime_api.h",
        "typedef int hipError_t;\ntypedef void *hipDeviceptr_t, *hipStream_t, *hipModule_t, "
        "*hipFunction_t;\nenum { hipSuccess };\n"
        "hipError_t hipModuleLoad(hipModule_t *, const char *);\n"
        "hipError_t hipModuleUnload(hipModule_t);\n"
        "hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);\n"
        "hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, "
        "unsigned, unsigned, unsigned, hipStream_t, void **, void **);\n");
  write("program.c", "#include \"gemm.h\"\n");
  EXPECT_EQ(output_of({"cc", "-std=c99", "-Wall", "-Werror", "-Wno-unused-function", "-I.", "-c",
                       "program.c", "-o", "program.o"}),
            "");
}

TEST(EmittedGemm, ALaunchThatIsNotTritonsIsRefused) {
  EmittedGemm gemm = split_k();
  gemm.launch.arguments.clear();
  const auto header = c_launcher(gemm, "");
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().message, "its launch is none of a Triton kernel");
}

class EmittedModule : public EmittedHeader {};

TEST_F(EmittedModule, LooksUpAConfigurationWithTritonAlone) {
  write("hone_gemms.py", python_module({split_k(), persistent()}, "NVIDIA H200 (sm_90)"));
  // Where this project's Triton is not installed, what the module needs of one stands in its place.
  const std::string venv = HONE_SOURCE_DIR "/.venv/bin/python3";
  std::error_code code;
  const bool installed = std::filesystem::exists(HONE_SOURCE_DIR "/.venv/bin/python3", code);
  const std::string python = installed ? venv : "python3";
  if (!installed)
    write("triton.py",
          "class Config:\n  def __init__(self, kwargs, num_warps, num_stages):\n"
          "    self.kwargs, self.num_warps, self.num_stages = kwargs, num_warps, num_stages\n");
  write(
      "use.py",
      "import sys\nimport hone_gemms as g\n"
      "c = g.lookup(4096, 4096, 512, b_rows=False)\n"
      "print(sorted(c.kwargs.items()), c.num_warps, c.num_stages)\n"
      "print(g.structure(4096, 4096, 512, b_rows=False))\n"
      "print(g.lookup(4096, 4096, 512))\n"
      "print(g.lookup(4096, 4096, 512, 'bf16', b_rows=False))\n"
      "d = g.lookup(4096, 4096, 512, b_rows=False, names={'BLOCK_SIZE_M': 'BM', 'SPLIT_K': None})\n"
      "print(sorted(d.kwargs))\n"
      "print(len(g.configs()), len(g.configs('persistent')), len(g.configs('blocked')))\n"
      "print('torch' in sys.modules)\n");
  EXPECT_EQ(output_of({python, "use.py"}),
            "[('BLOCK_SIZE_K', 64), ('BLOCK_SIZE_M', 128), ('BLOCK_SIZE_N', 256), "
            "('GROUP_SIZE_M', 8), ('SPLIT_K', 1)] 8 3\n"
            "persistent\nNone\nNone\n"
            "['BLOCK_SIZE_K', 'BLOCK_SIZE_N', 'BM', 'GROUP_SIZE_M']\n"
            "1 1 0\nFalse\n");
}

}  // namespace
}  // namespace hone::triton
