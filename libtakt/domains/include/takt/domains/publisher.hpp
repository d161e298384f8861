#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/domains/device_store.hpp"
#include "takt/domains/relay_thread.hpp"
#include "takt/memory/sender.hpp"

namespace takt::domains {

/// A publisher whose messages lie in one domain, for subscriptions of any domain and process.
/// Publishing waits for nobody: subscriptions of other domains are served by a thread for each
/// domain (Relay), which is to the publisher as one subscription more. The domains that this and
/// its subscriptions have are at most 32, the host's included. Not for several threads at a time.
class Publisher {
 public:
  using Slot = memory::Store::Slot;

  struct Settings {
    std::string path;  // of its socket
    Device device = host;
    Drivers drivers = {};
    Pool::Settings pool = {};  // of each device
    /// False: there are no threads, and run_relays() does their work.
    bool has_threads = true;
  };

  /// Error: the kernel's or the driver's reason.
  static Result<std::unique_ptr<Publisher>> make(Settings settings);

  /// A slot for a message of at most that many bytes, to be published or given back. None: there is
  /// no memory left.
  [[nodiscard]] std::optional<Slot> prepare(std::size_t bytes) { return sender_.prepare(bytes); }
  /// Of a publisher on the host.
  [[nodiscard]] std::span<std::byte> bytes(Slot slot) const { return sender_.bytes(slot); }
  /// Of a publisher on a device: its memory, and where the slot begins there.
  [[nodiscard]] DeviceMemory* memory() const { return memory_; }
  [[nodiscard]] Offset offset(Slot slot) const { return sender_.pool().place(slot).offset; }
  void give_back(Slot slot) { sender_.give_back(slot); }
  /// Takes the slot. Waits for nobody (publication_bound() in queue_bounds.hpp).
  void publish(Slot slot, std::size_t bytes);

  /// Lets subscriptions join and leave. To be called when one of descriptors() is readable. Error:
  /// one was turned away, and why; all others were heard.
  Result<void> hear();
  [[nodiscard]] std::vector<int> descriptors() const;
  /// Where there are no threads.
  void run_relays();

  /// Of another domain that has subscriptions.
  struct Line {
    std::unique_ptr<RelayThread> thread;
    std::uint32_t depth = 0;  // of its ring
  };
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  /// Copies that were ever made.
  [[nodiscard]] std::uint64_t copies() const;
  [[nodiscard]] const memory::Store& store() const { return sender_.pool(); }
  /// Rings that a publication is put into.
  [[nodiscard]] std::size_t rings() const { return sender_.peers().size(); }

 private:
  Publisher(Settings settings, Descriptor listening, Room room, std::uint32_t domain);

  void remove_those_gone();
  void remove_unused_lines();
  Result<void> admit(Descriptor socket, memory::Received hello);
  Result<void> admit_to(Line& line, Descriptor socket, memory::Received hello);
  Result<Line*> line_for(const Device& device);
  [[nodiscard]] bool has_domain(const Device& device) const;
  [[nodiscard]] std::unique_ptr<memory::Receiver> make_source(std::uint32_t depth);

  Settings settings_;
  Descriptor listening_;
  DeviceMemory* memory_;
  std::uint32_t domain_;
  memory::Sender sender_;
  std::vector<Descriptor> arrivals_;  // those that have not said who they are
  std::uint64_t published_ = 0;
  std::uint64_t copies_before_ = 0;  // by relays that are not there any more
  std::vector<Line> lines_;          // before what they read from
};

}  // namespace takt::domains
