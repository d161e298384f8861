#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/memory/receiver.hpp"
#include "takt/memory/sender.hpp"

namespace takt::memory {

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "takt-memory-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void wait_for_input(int socket) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&waiting, 1, 10'000), 1) << "nothing came within 10 s";
}

/// Lets the sender accept the receiver that has connected, and both get to know each other.
inline Sender::Peer& join(Sender& sender, const Descriptor& listening, Receiver& receiver) {
  auto socket = accept_from(listening);
  EXPECT_TRUE(socket.has_value());
  sender.add(std::move(*socket));
  Sender::Peer& peer = *sender.peers().back();
  EXPECT_TRUE(sender.hear(peer));
  EXPECT_TRUE(receiver.hear());
  EXPECT_TRUE(peer.is_joined() && receiver.is_joined());
  return peer;
}

/// What message n contains: words that all say n.
inline void fill(std::span<std::byte> bytes, std::uint64_t number) {
  for (std::size_t at = 0; at + sizeof number <= bytes.size(); at += sizeof number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }
}

/// The number that all words say; none if they differ, so that the message is torn.
inline std::optional<std::uint64_t> number_in(std::span<const std::byte> bytes) {
  std::uint64_t first = 0;
  if (bytes.size() < sizeof first) return std::nullopt;
  std::memcpy(&first, bytes.data(), sizeof first);
  for (std::size_t at = 0; at + sizeof first <= bytes.size(); at += sizeof first) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word != first) return std::nullopt;
  }
  return first;
}

/// Publishes message n. False: no memory.
inline bool send(Sender& sender, std::uint64_t number, std::size_t size) {
  const auto slot = sender.prepare(size);
  if (!slot) return false;
  fill(sender.bytes(*slot).first(size), number);
  sender.publish(*slot, {.size = size, .sequence = number});
  return true;
}

/// Takes the oldest message. None: there is none.
inline std::optional<std::uint64_t> take(Receiver& receiver) {
  RingReader& ring = receiver.ring();
  std::optional<RingReader::Lease> lease;
  while (!lease) {  // another try where the message is overrun between the two calls
    if (ring.unread() == 0) return std::nullopt;
    lease = ring.lease(ring.next());
  }
  ring.skip_to(lease->number);
  const auto bytes = receiver.bytes(lease->message);
  EXPECT_TRUE(bytes.has_value());
  const auto found = number_in(*bytes);
  EXPECT_TRUE(found.has_value()) << "a message is torn";
  EXPECT_EQ(found, lease->message.sequence);
  ring.release(*lease);
  return found;
}

inline std::vector<std::uint64_t> take_all(Receiver& receiver) {
  std::vector<std::uint64_t> taken;
  while (const auto number = take(receiver)) taken.push_back(*number);
  return taken;
}

}  // namespace takt::memory
