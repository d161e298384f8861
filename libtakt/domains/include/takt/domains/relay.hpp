#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "takt/domains/copy_store.hpp"
#include "takt/domains/device_store.hpp"
#include "takt/domains/inbox.hpp"
#include "takt/memory/sender.hpp"

namespace takt::domains {

/// Gives a publisher's messages to the subscriptions of one other domain. It is a subscription of
/// the publisher itself, and a publisher for those. Each message is copied at most once, when the
/// first of them asks for it; or when it is published, if one wants all. What nobody asks for
/// before it is overrun is not copied. For one thread, but for the counts.
class Relay {
 public:
  struct Ends {
    Device from;
    Device to;
    const Drivers* drivers;
  };
  struct Counts {
    std::atomic<std::uint64_t> copies = 0;
    std::atomic<std::uint64_t> bytes = 0;
    /// Messages that the publisher overwrote before this knew of them.
    std::atomic<std::uint64_t> overruns = 0;
    /// Copies that could not be made: no memory, or the driver's reason.
    std::atomic<std::uint64_t> failures = 0;
  };

  /// `published` is how many messages are before those of the first source.
  Relay(const Ends& ends, Room room, std::uint64_t published);

  /// From now on messages come from here: from a receiver that has joined and is at least as deep
  /// as the deepest subscription.
  void add_source(std::unique_ptr<memory::Receiver> source);
  /// Lets a subscription join. It gets what is published from now on. False: it does not belong
  /// here.
  bool admit(Descriptor socket, const memory::Received& hello);

  /// Does a piece of what there is to do: at most one copy for each subscription. False: there is
  /// nothing.
  bool step();
  /// Asks to be woken when there is something to do, at one of descriptors(). To be called before
  /// the step that finds nothing.
  void arm();
  [[nodiscard]] std::vector<int> descriptors() const;

  [[nodiscard]] std::size_t subscriptions() const { return sender_.peers().size(); }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Copies that are in memory.
  [[nodiscard]] std::size_t copies_held() const { return store_->slots_in_use(); }
  [[nodiscard]] const Device& device() const { return ends_.to; }

 private:
  using Slot = memory::Store::Slot;

  /// A message that was announced and not copied.
  struct Pending {
    std::uint64_t number;
    Slot slot;
  };
  struct Window {
    Inbox inbox;
    std::uint64_t announced = 0;  // numbers up to this one
    std::deque<Pending> pending = {};
  };
  /// Where a message of the store is from.
  struct Origin {
    Window* window = nullptr;
    std::uint64_t number = 0;
  };

  Relay(const Ends& ends, std::unique_ptr<CopyStore> store, DeviceMemory* memory,
        std::uint64_t published);

  void hear();
  bool announce();  // whether there was anything new
  void announce_one(Window& window, const memory::Message& message);
  bool answer_all();
  [[nodiscard]] bool bring(Slot slot);
  [[nodiscard]] Result<void> copy(Window& window, const memory::Message& message, Slot slot);
  [[nodiscard]] bool is_pending(const Window& window, const Pending& pending) const;
  void settle();

  Ends ends_;
  CopyStore* store_;
  DeviceMemory* memory_;
  memory::Sender sender_;
  const DirectCopy* direct_;
  std::vector<std::byte> buffer_;
  std::deque<Window> windows_;  // the last one is the current one
  std::vector<Origin> origins_;
  std::uint64_t sequence_;
  Counts counts_;
};

}  // namespace takt::domains
