// Finds the installed parts of NVIDIA's toolkit: hone needs none of them, and uses those it finds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone::device::cuda {

// Folders that may hold bin/ or lib/ of a toolkit, most wanted first: $CUDA_HOME, $CUDA_PATH, the
// Python environments, /usr/local/cuda. The environments are python_environments(), $VIRTUAL_ENV
// and that of the python3 on PATH. Their wheels are nvidia-cuda-nvcc, nvidia-cuda-nvrtc,
// nvidia-cublas and triton's backend. Only existing folders are returned.
std::vector<std::filesystem::path> toolkit_folders();

// Names to open a library by: each of `files` by its name alone, which the system looks up
// (LD_LIBRARY_PATH), then where it is in lib64/ or lib/ of the toolkit folders.
std::vector<std::string> library_names(const std::vector<std::string>& files);

// The program `name` on PATH, else in bin/ of the toolkit folders; empty when there is none.
std::filesystem::path find_tool(std::string_view name);

}  // namespace hone::device::cuda
