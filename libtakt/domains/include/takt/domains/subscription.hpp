#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "takt/domains/inbox.hpp"
#include "takt/memory/ring.hpp"

namespace takt::domains {

/// A subscription that reads the messages of one publisher in its own domain. Not for several
/// threads at a time.
class Subscription {
 public:
  struct Settings {
    std::string path;  // of the publisher's socket
    std::uint32_t depth = 1;
    Device device = host;
    /// Whether messages are copied into this domain when they are published. Otherwise when they
    /// are asked for, so that those which are overrun before are not copied.
    bool wants_all = false;
    Drivers drivers = {};
  };

  /// A message that stays as it is until it is released.
  struct Taken {
    memory::RingReader::Lease lease;
    Source content;  // with `size` bytes
    Bytes size = 0;
  };

  /// Error: nobody is there, or the kernel's reason.
  static Result<std::unique_ptr<Subscription>> connect(Settings settings);

  /// Hears what the publisher has sent. False: it is gone, or has turned this away. What is in this
  /// domain can still be taken.
  bool hear();
  [[nodiscard]] bool is_joined() const { return inbox_.receiver().is_joined(); }
  /// The oldest message that is still there. None: there is none, or it is not in this domain yet,
  /// and has been asked for. Error: 16 messages are held, or the driver's reason.
  [[nodiscard]] Result<std::optional<Taken>> take();
  void release(const Taken& taken);
  /// Asks to be woken, at socket(), when the next message can be taken. To be called before take().
  void arm();
  [[nodiscard]] int socket() const { return inbox_.receiver().socket(); }
  /// Messages since it joined that it has not taken, as newer ones have taken their place or they
  /// could not be copied. Known when a later one is taken.
  [[nodiscard]] std::uint64_t overrun() const { return ring().overrun(); }

 private:
  Subscription(Settings settings, std::unique_ptr<memory::Receiver> receiver);

  [[nodiscard]] memory::RingReader& ring() const { return inbox_.receiver().ring(); }
  [[nodiscard]] Result<std::optional<Taken>> take_answer();
  [[nodiscard]] Result<std::optional<Taken>> open(const memory::RingReader::Lease& lease);

  Settings settings_;
  bool is_in_other_domain_ = false;  // a message was, of this publisher
  bool is_gone_ = false;
  Inbox inbox_;
};

}  // namespace takt::domains
