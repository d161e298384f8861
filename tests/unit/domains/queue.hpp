#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../memory/pair.hpp"
#include "takt/domains/emulated_device.hpp"
#include "takt/domains/publisher.hpp"
#include "takt/domains/subscription.hpp"

namespace takt::domains {

inline Device emulated(std::uint32_t number) {
  return {.kind = DeviceKind::emulated, .number = number};
}

/// Devices on which no time passes.
inline Drivers quick_drivers() {
  return emulated_drivers({}, [](std::chrono::nanoseconds) {});
}

/// Little memory for each device, as tests have many.
inline constexpr Pool::Settings small_pools{.step = Bytes{2} << 20, .limit = Bytes{16} << 20};

/// Publishes message n. False: no memory.
inline bool send(Publisher& publisher, std::uint64_t number, std::size_t size = 64) {
  const auto slot = publisher.prepare(size);
  if (!slot) return false;
  std::vector<std::byte> content(size);
  memory::fill(content, number);
  if (publisher.memory() == nullptr) {
    std::ranges::copy(content, publisher.bytes(*slot).begin());
  } else {
    EXPECT_TRUE(publisher.memory()->copy_to(publisher.offset(*slot), content).has_value());
  }
  publisher.publish(*slot, size);
  return true;
}

/// The number that a message consists of, as whoever computes in its domain sees it.
inline std::uint64_t content_of(const Subscription::Taken& taken) {
  std::vector<std::byte> read(taken.size);
  std::span<const std::byte> bytes = taken.content.bytes;
  if (taken.content.device != nullptr) {
    EXPECT_TRUE(taken.content.device->copy_from(taken.content.offset, read).has_value());
    bytes = read;
  }
  const auto number = memory::number_in(bytes);
  EXPECT_TRUE(number.has_value()) << "a message is torn";
  return number.value_or(0);
}

/// A publisher without threads, and its subscriptions, step by step.
class Queue {
 public:
  explicit Queue(const Device& device = host, const Drivers& drivers = quick_drivers())
      : drivers_(drivers) {
    auto made = Publisher::make({.path = folder_.file("socket"),
                                 .device = device,
                                 .drivers = drivers,
                                 .pool = small_pools,
                                 .has_threads = false});
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    publisher_ = std::move(*made);
  }

  Publisher& publisher() { return *publisher_; }
  std::string path() const { return folder_.file("socket"); }
  void end_publisher() { publisher_.reset(); }

  std::unique_ptr<Subscription> connect(const Device& device, std::uint32_t depth,
                                        bool wants_all = false) {
    auto made = Subscription::connect({.path = path(),
                                       .depth = depth,
                                       .device = device,
                                       .wants_all = wants_all,
                                       .drivers = drivers_});
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  std::unique_ptr<Subscription> join(const Device& device, std::uint32_t depth,
                                     bool wants_all = false) {
    auto subscription = connect(device, depth, wants_all);
    EXPECT_TRUE(publisher_->hear().has_value());
    publisher_->run_relays();
    EXPECT_TRUE(subscription->hear() && subscription->is_joined());
    return subscription;
  }
  /// Lets all know of what has been given back, and of who has left.
  void settle() {
    publisher_->run_relays();
    EXPECT_TRUE(publisher_->hear().has_value());
    publisher_->give_back(*publisher_->prepare(1));
  }
  std::optional<Subscription::Taken> take(Subscription& subscription) {
    // A message is told of, then asked for, and then there.
    for (int tries = 0; tries < 3; ++tries) {
      auto taken = subscription.take();
      EXPECT_TRUE(taken.has_value());
      if (*taken) return **taken;
      publisher_->run_relays();
    }
    return std::nullopt;
  }
  /// Takes a message and gives it back. 0: there is none.
  std::uint64_t next(Subscription& subscription) {
    const auto taken = take(subscription);
    if (!taken) return 0;
    const std::uint64_t number = content_of(*taken);
    subscription.release(*taken);
    return number;
  }
  std::vector<std::uint64_t> all(Subscription& subscription) {
    std::vector<std::uint64_t> numbers;
    while (const std::uint64_t number = next(subscription)) numbers.push_back(number);
    return numbers;
  }
  std::size_t in_use() {
    settle();
    return publisher_->store().slots_in_use();
  }
  std::size_t copies_held(const Device& device) {
    settle();
    for (const auto& line : publisher_->lines()) {
      const Relay& relay = line.thread->relay();
      if (relay.device() == device) return relay.copies_held();
    }
    return 0;
  }

 private:
  memory::Folder folder_;
  Drivers drivers_;
  std::unique_ptr<Publisher> publisher_;
};

}  // namespace takt::domains
