// Memory of a device's own, given back with its owner.
#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"
#include "device/device.h"

namespace hone::device {

// Must not outlive its device.
class Memory {
 public:
  Memory() = default;
  static Result<Memory> allocate(Device& device, std::size_t bytes) {
    HONE_ASSIGN(void* const data, device.allocate(bytes));
    Memory memory;
    memory.device_ = &device;
    memory.data_ = static_cast<std::byte*>(data);
    memory.bytes_ = bytes;
    return memory;
  }
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) device_->release(data_);
  }

  std::byte* data() const { return data_; }  // an address of the device
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Memory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hone::device
