#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/domains/relay.hpp"

namespace takt::domains {

/// A relay and the thread that it runs in. Nobody who publishes waits for it.
class RelayThread {
 public:
  /// A subscription that is to join, and the source to be read from then on if it needs a deeper
  /// one.
  struct Arrival {
    Descriptor socket;
    memory::Received hello;
    std::unique_ptr<memory::Receiver> source = nullptr;
  };

  /// `runs`: in a thread of its own. Otherwise run() is to be called. Error: the kernel's reason.
  static Result<std::unique_ptr<RelayThread>> make(const Relay::Ends& ends, Room room,
                                                   std::uint64_t published, bool runs);
  ~RelayThread();
  RelayThread(const RelayThread&) = delete;
  RelayThread& operator=(const RelayThread&) = delete;
  RelayThread(RelayThread&&) = delete;
  RelayThread& operator=(RelayThread&&) = delete;

  void add(Arrival arrival);
  [[nodiscard]] const Device& device() const { return relay_.device(); }
  /// Whether it has no subscription any more. Readable when that may have changed: descriptor().
  [[nodiscard]] bool is_unused();
  [[nodiscard]] int descriptor() const { return told_.get(); }
  /// Does all that there is to do. Only where it has no thread.
  void run();
  [[nodiscard]] const Relay& relay() const { return relay_; }

 private:
  RelayThread(const Relay::Ends& ends, Room room, std::uint64_t published, Descriptor woken,
              Descriptor told);

  void loop();
  void admit_all();
  void tell_if_unused();
  void wait();

  Relay relay_;
  Descriptor woken_;  // there is an arrival, or the thread is to end
  Descriptor told_;
  std::mutex mutex_;
  std::vector<Arrival> arrivals_;
  bool is_unused_ = false;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace takt::domains
