// The other end writes whatever it likes into its own memory and sockets.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <random>

#include "pair.hpp"

namespace takt::memory {
namespace {

class Hostile : public ::testing::Test {
 protected:
  Folder folder_;
  std::string path_ = folder_.file("socket");
  Descriptor listening_ = std::move(listen_at(path_).value());
  std::mt19937_64 random_{20261128};

  static constexpr std::uint64_t largest = ~std::uint64_t{0};

  /// Numbers that are near a limit more often than by chance.
  std::uint64_t number() {
    constexpr std::array<std::uint64_t, 8> special{
        0, 1, 7, 8, 65'536, largest, largest - 1, std::uint64_t{1} << 63};
    const std::uint64_t any = random_();
    return any % 4 == 0 ? any : special[any / 4 % special.size()] + any / 64 % 3 - 1;
  }
};

TEST_F(Hostile, APublisherMakesNobodyReadOutOfBounds) {
  std::size_t read = 0;
  for (int publisher = 0; publisher < 100; ++publisher) {
    auto made = Receiver::connect(path_, 8);
    Receiver& receiver = *made.receiver;
    const auto socket = accept_from(listening_);
    ASSERT_TRUE(socket.has_value());
    auto ring = std::move(OwnMemory::make(ring_bytes(8)).value());
    const auto block = std::move(OwnMemory::make(65'536).value());
    ASSERT_TRUE(send_packet(*socket, {.kind = Packet::Kind::ring, .value = 8}, ring.descriptor()));
    ASSERT_TRUE(send_packet(*socket, {.kind = Packet::Kind::block}, block.descriptor()));
    ASSERT_TRUE(receiver.hear());
    auto& head = *reinterpret_cast<RingHead*>(ring.bytes().data());
    auto* const entries = reinterpret_cast<RingEntry*>(ring.bytes().data() + sizeof(RingHead));
    for (int step = 0; step < 1'000; ++step) {
      const std::uint64_t expected = receiver.ring().next();
      // After the largest number there is none, so that comes last.
      head.newest.store(step < 900 ? expected + random_() % 10 - 1 : number());
      RingEntry& entry = entries[(random_() % 2 == 0 ? expected : random_()) % ring_entries(8)];
      entry.number.store(random_() % 2 == 0 ? expected : number());
      entry.block.store(random_() % 2 == 0 ? 0 : number());
      entry.offset.store(number());
      entry.size.store(number());
      EXPECT_LE(receiver.ring().unread(), 8U);
      const auto lease = receiver.ring().lease(receiver.ring().next());
      if (!lease) continue;
      if (const auto bytes = receiver.bytes(lease->message)) {
        EXPECT_LE(bytes->size(), 65'536U);
        unsigned sum = 0;  // reads all of it: outside there is nothing, or another content
        for (const std::byte byte : *bytes) sum += std::to_integer<unsigned>(byte);
        EXPECT_EQ(sum, 0U);
        ++read;
      }
      receiver.ring().release(*lease);
    }
  }
  EXPECT_GT(read, 100U);
}

TEST_F(Hostile, ASubscriptionTakesNoMemoryBeyondItsLeases) {
  const auto made = connect_to(path_);
  const auto page = std::move(RingReader::make_page().value());
  ASSERT_TRUE(
      send_packet(made.socket, {.kind = Packet::Kind::hello, .value = 4}, page.descriptor()));
  Sender sender;
  sender.add(std::move(*accept_from(listening_)));
  ASSERT_TRUE(sender.hear(*sender.peers().back()));
  auto honest = Receiver::connect(path_, 4);
  join(sender, listening_, *honest.receiver);
  auto& written = *reinterpret_cast<SubscriberPage*>(page.bytes().data());
  for (std::uint64_t published = 1; published <= 20'000; ++published) {
    written.armed.store(number());
    written.taken.store(number());
    written.received.store(number());
    for (Word& lease : written.leases) {
      lease.store(random_() % 2 == 0 ? published - random_() % 8 : number());
    }
    ASSERT_TRUE(send(sender, published, 64));
    EXPECT_EQ(take(*honest.receiver), published);
    EXPECT_LE(sender.pool().slots_in_use(), 4 + 4 + 2 * most_leases);
  }
}

TEST_F(Hostile, OtherDescriptorsAreRefused) {
  const auto hears = [&](const Packet& packet, int handed) {
    const auto made = connect_to(path_);
    EXPECT_TRUE(send_packet(made.socket, packet, handed));
    Sender sender;
    sender.add(std::move(*accept_from(listening_)));
    return sender.hear(*sender.peers().back());
  };
  const auto page = std::move(RingReader::make_page().value());
  const Packet hello{.kind = Packet::Kind::hello, .value = 4};
  EXPECT_TRUE(hears(hello, page.descriptor()));
  EXPECT_FALSE(hears(hello, -1));
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(hears(hello, null.get()));
  const Descriptor unsealed(memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), sizeof(SubscriberPage)), 0);
  EXPECT_FALSE(hears(hello, unsealed.get())) << "it could be cut short while it is read";
  const auto small = std::move(OwnMemory::make(8).value());
  EXPECT_FALSE(hears(hello, small.descriptor()));
  EXPECT_FALSE(hears({.kind = Packet::Kind::hello, .value = 0}, page.descriptor()));
  EXPECT_FALSE(hears({.kind = Packet::Kind::hello, .value = most_depth + 1}, page.descriptor()));
  EXPECT_FALSE(hears({.kind = Packet::Kind::bell}, -1));
  EXPECT_FALSE(hears({.kind = static_cast<Packet::Kind>(99)}, page.descriptor()));
}

TEST_F(Hostile, MemoryWithoutPagesIsRefused) {
  constexpr std::size_t bytes = 1 << 20;
  constexpr int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  const auto is_mapped = [&](std::size_t taken, int seals) {
    const Descriptor file(memfd_create("any", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(file.get(), bytes), 0);
    EXPECT_EQ(taken == 0 ? 0 : fallocate(file.get(), 0, 0, static_cast<off_t>(taken)), 0);
    EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, seals), 0);
    return PeerMemory::map(file, 1, 2 * bytes).has_value();
  };
  EXPECT_TRUE(is_mapped(bytes, all));
  EXPECT_FALSE(is_mapped(0, all)) << "whoever reads it would pay for terabytes";
  EXPECT_FALSE(is_mapped(bytes / 2, all));
  for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE}) {
    EXPECT_FALSE(is_mapped(bytes, all & ~missing)) << "its pages could be given back";
  }
}

TEST_F(Hostile, WhoeverSendsWithoutEndIsHeardForAWhile) {
  auto made = Receiver::connect(path_, 4);
  const auto socket = accept_from(listening_);
  for (int sent = 0; sent < 200; ++sent) ASSERT_TRUE(send_packet(*socket, {}));
  EXPECT_TRUE(made.receiver->hear());
  wait_for_input(made.receiver->socket());  // the rest
}

TEST_F(Hostile, PublishersThatSayNonsenseAreLeft) {
  const auto hears = [&](const Packet& packet, int handed) {
    auto made = Receiver::connect(path_, 4);
    const auto socket = accept_from(listening_);
    EXPECT_TRUE(send_packet(*socket, packet, handed));
    return made.receiver->hear();
  };
  const auto ring = std::move(OwnMemory::make(ring_bytes(4)).value());
  const auto small = std::move(OwnMemory::make(ring_bytes(3)).value());
  EXPECT_TRUE(hears({.kind = Packet::Kind::ring, .value = 4}, ring.descriptor()));
  EXPECT_FALSE(hears({.kind = Packet::Kind::ring, .value = 4}, small.descriptor()));
  EXPECT_FALSE(hears({.kind = Packet::Kind::ring, .value = 3}, small.descriptor()));
  EXPECT_FALSE(hears({.kind = Packet::Kind::ring, .value = 4}, -1));
  EXPECT_FALSE(hears({.kind = Packet::Kind::block}, ring.descriptor())) << "before the ring";
  EXPECT_FALSE(hears({.kind = Packet::Kind::hello, .value = 4}, ring.descriptor()));
}

}  // namespace
}  // namespace takt::memory
