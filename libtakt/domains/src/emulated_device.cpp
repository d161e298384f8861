#include "takt/domains/emulated_device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "takt/base/int128.hpp"

namespace takt::domains {

namespace {

Bytes machine_bytes() {
  return static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
}

void sleep(std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }

/// Calls `transfer(done)`, which returns how many bytes it has moved, until all are.
template <typename Transfer>
Result<void> move_all(std::size_t bytes, const Transfer& transfer) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = transfer(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      return error("a copy of {} bytes: {}", bytes,
                   moved == 0 ? "the device's memory is shorter" : strerror(errno));
    }
    done += static_cast<std::size_t>(moved);
  }
  return {};
}

}  // namespace

std::chrono::nanoseconds CopyCost::of(Bytes bytes) const {
  const auto transfer = static_cast<Int128>(bytes) * 1'000'000'000 / bytes_per_second;
  return latency + std::chrono::nanoseconds(static_cast<std::int64_t>(transfer));
}

EmulatedDevice::EmulatedDevice(Settings settings, Descriptor memory, Descriptor for_others,
                               Bytes provided)
    : settings_(std::move(settings)),
      memory_(std::move(memory)),
      for_others_(std::move(for_others)),
      provided_(provided) {
  if (!settings_.wait) settings_.wait = sleep;
}

Result<std::unique_ptr<EmulatedDevice>> EmulatedDevice::make(Settings settings) {
  Descriptor memory(memfd_create("takt-device", MFD_CLOEXEC));
  const std::string name = fmt::format("/proc/self/fd/{}", memory.get());
  Descriptor for_others(memory ? open(name.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  if (!for_others) return error("the memory of an emulated device: {}", strerror(errno));
  return std::unique_ptr<EmulatedDevice>(
      new EmulatedDevice(std::move(settings), std::move(memory), std::move(for_others), 0));
}

Result<std::unique_ptr<EmulatedDevice>> EmulatedDevice::attach(Settings settings,
                                                               Descriptor memory) {
  struct stat status {};
  if (fstat(memory.get(), &status) != 0) {
    return error("the memory of an emulated device: {}", strerror(errno));
  }
  const auto bytes = static_cast<Bytes>(status.st_size);
  return std::unique_ptr<EmulatedDevice>(
      new EmulatedDevice(std::move(settings), std::move(memory), {}, bytes));
}

Drivers emulated_drivers(const CopyCost& cost, EmulatedDevice::Wait wait) {
  const auto settings = [cost, wait = std::move(wait)](const Device& device) {
    return EmulatedDevice::Settings{.number = device.number, .cost = cost, .wait = wait};
  };
  return {.make = [settings](const Device& device) -> Drivers::Made {
            return EmulatedDevice::make(settings(device));
          },
          .attach = [settings](const Device& device, Descriptor memory) -> Drivers::Made {
            return EmulatedDevice::attach(settings(device), std::move(memory));
          }};
}

Result<void> EmulatedDevice::provide(Bytes bytes) {
  if (bytes <= provided_) return {};
  // Where nothing limits shared memory, the kernel would end other programs to find the pages.
  const Bytes all = machine_bytes();
  if (bytes > all / 2) {
    return error("{} bytes of an emulated device: more than half of the machine's {}", bytes, all);
  }
  if (fallocate(memory_.get(), 0, 0, static_cast<off_t>(bytes)) != 0) {
    return error("{} bytes of an emulated device: {}", bytes, strerror(errno));
  }
  provided_ = bytes;
  return {};
}

Result<void> EmulatedDevice::copy_to(Offset to, std::span<const std::byte> from) {
  wait_for(from.size());
  return move_all(from.size(), [&](std::size_t done) {
    return pwrite(memory_.get(), from.data() + done, from.size() - done,
                  static_cast<off_t>(to + done));
  });
}

Result<void> EmulatedDevice::copy_from(Offset from, std::span<std::byte> to) {
  wait_for(to.size());
  return move_all(to.size(), [&](std::size_t done) {
    return pread(memory_.get(), to.data() + done, to.size() - done,
                 static_cast<off_t>(from + done));
  });
}

}  // namespace takt::domains
