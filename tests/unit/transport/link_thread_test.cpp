/// Two link threads on real sockets of the loopback interface, with real shared memory, and by RDMA
/// where the loopback interface has a device for it.
#include "takt/transport/link_thread.hpp"

#include <gmock/gmock.h>
#include <net/if.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "cipher.hpp"
#include "network.hpp"
#include "queue_pair.hpp"
#include "takt/base/descriptor.hpp"
#include "wire.hpp"

namespace takt::transport {
namespace {

using link::Activation;
using link::ChannelDescription;
using link::ChannelIndex;
using link::Description;
using link::OnData;
using link::Send;
using testing::HasSubstr;

/// Waits for what threads do; far more than they ever need.
constexpr auto patience = std::chrono::minutes(2);

/// The messages that arrived, shared between threads.
class Arrivals {
 public:
  void add(std::span<const std::byte> message) {
    const std::scoped_lock lock(mutex_);
    messages_.emplace_back(message.begin(), message.end());
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<std::vector<std::byte>> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, patience, [&] { return messages_.size() >= count; }));
    return messages_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> messages_;
};

constexpr std::size_t large = 4 << 20;

class LinkThreads : public testing::TestWithParam<Medium> {
 protected:
  /// Longer than a busy machine keeps a thread waiting.
  [[nodiscard]] virtual Duration silence() const { return patience; }

  void SetUp() override {
    if (GetParam() == Medium::rdma) {
      const auto loopback = resolve({"127.0.0.1", 0}, false).value();
      const auto device = open_rdma_device(loopback, loopback, silence());
      // tests/integration/test_soft_roce.py runs these where there is one.
      if (!device) GTEST_SKIP() << "127.0.0.1: " << device.error().message;
    }
    Description sending{.chunk_bytes = 64 << 10};
    Description receiving = sending;
    for (std::uint32_t stream = 0; stream < 2; ++stream) {
      const std::size_t bytes = stream == 0 ? large : 1000;
      const ChannelDescription channel{.slots = bytes == large ? 4U : 64U, .bytes = bytes};
      channels[stream] = sending.add(channel);
      sending.add({.name = "send",
                   .priority = stream,
                   .inputs = {OnData{channels[stream]}},
                   .operation = Send{.stream = stream},
                   .depth = 64});
      receiving.add(channel);
      receiving.receives.push_back({.peer = {}, .stream = stream, .channel = channels[stream]});
      receiving.add({.name = "application",
                     .inputs = {OnData{channels[stream]}},
                     .operation = link::Call{[this](const Activation& activation) {
                       arrivals.add(activation.message);
                       return true;
                     }},
                     // A whole burst may wait. A message without a slot is rejected, which its
                     // sender is told; a message dropped here would be lost without notice.
                     .depth = channel.slots});
    }
    auto started = LinkThread::start(sending, key, std::array{peer(0)});
    ASSERT_TRUE(started) << started.error().message;
    sender = std::move(*started);
    started = LinkThread::start(receiving, key, std::array{peer(1)});
    ASSERT_TRUE(started) << started.error().message;
    receiver = std::move(*started);
    const auto end = std::chrono::steady_clock::now() + patience;
    bool connected = false;
    while (!(connected = sender->connected({})) && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    ASSERT_TRUE(connected);
  }

  /// How the end at that place reaches the other one.
  [[nodiscard]] Peer peer(std::size_t place) const {
    if (GetParam() == Medium::shared_memory) {
      return {.address = names[place], .settings = {.silence = silence()}};
    }
    if (GetParam() == Medium::rdma) {
      return {.address = addresses[place], .settings = {.silence = silence()}};
    }
    return {.address = UdpOptions{.local = {"127.0.0.1", ports[place]},
                                  .remote = {"127.0.0.1", ports[1 - place]}},
            .settings = {.silence = silence()}};
  }

  const Key key = make_key();
  const std::array<std::uint16_t, 2> ports = free_ports(SOCK_DGRAM);
  const std::array<SharedMemoryOptions, 2> names = new_names();
  const std::array<VerbsOptions, 2> addresses = new_addresses();
  std::array<ChannelIndex, 2> channels;
  Arrivals arrivals;
  std::unique_ptr<LinkThread> sender;
  std::unique_ptr<LinkThread> receiver;
};

INSTANTIATE_TEST_SUITE_P(Media, LinkThreads,
                         testing::Values(Medium::datagrams, Medium::shared_memory, Medium::rdma),
                         name_of);

TEST_P(LinkThreads, UrgentMessagesOvertakeALargeOneAndBothArriveWhole) {
  std::vector<std::byte> low(large);
  for (std::size_t i = 0; i < low.size(); ++i)
    low[i] = static_cast<std::byte>(i * 2654435761U >> 9);
  const std::vector<std::byte> urgent(1000, std::byte{7});
  // Under one lock, so that the thread cannot begin with the first message before the last is
  // there.
  sender->with([&](link::FlowControl& flow) {
    EXPECT_TRUE(flow.push(channels[0], low, now()));
    EXPECT_TRUE(flow.push(channels[0], low, now()));
    EXPECT_TRUE(flow.push(channels[1], urgent, now()));
  });
  EXPECT_THAT(arrivals.wait(3), testing::ElementsAre(urgent, low, low));
}

TEST_P(LinkThreads, MessagesAreWrittenInPlace) {
  std::vector<LinkThread::Loan> loans;
  while (const auto loan = sender->loan(channels[0])) loans.push_back(*loan);
  ASSERT_EQ(loans.size(), 4u) << "all slots";
  EXPECT_FALSE(sender->push(channels[0], std::array<std::byte, 1>{}));
  for (std::size_t i = 1; i < loans.size(); ++i) sender->release(loans[i]);
  ASSERT_EQ(loans[0].memory.size(), large);
  std::ranges::fill(loans[0].memory, std::byte{5});
  sender->push(loans[0], 100'000);
  EXPECT_EQ(arrivals.wait(1).front(), std::vector<std::byte>(100'000, std::byte{5}));
}

TEST_P(LinkThreads, MessagesOfSeveralThreadsStayInTheOrderOfEach) {
  constexpr std::uint32_t each = 200;
  std::array<std::thread, 3> threads;
  for (std::uint32_t t = 0; t < threads.size(); ++t) {
    threads[t] = std::thread([this, t] {
      for (std::uint32_t n = 0; n < each;) {
        const std::array<std::uint32_t, 2> text{t, n};
        // Without a free slot it is not taken, and is tried again.
        if (sender->push(channels[1], std::as_bytes(std::span(text)))) ++n;
        std::this_thread::yield();
        // Nothing is dropped while no more wait than the task's depth.
        if (n % 20 == 0) static_cast<void>(arrivals.wait(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t dropped = 0;
  std::uint64_t waiting = 1;
  while (waiting > 0) {
    sender->with([&](link::FlowControl& flow) {
      const link::TaskCounts& counts = flow.counts(link::TaskIndex(1));
      dropped = counts.dropped + counts.rejected;
      waiting = counts.activations - counts.delivered - dropped;
    });
    std::this_thread::yield();
  }
  const auto messages = arrivals.wait(threads.size() * each - dropped);
  EXPECT_EQ(messages.size(), threads.size() * each - dropped);
  std::array<std::int64_t, 3> newest{-1, -1, -1};
  for (const auto& message : messages) {
    std::array<std::uint32_t, 2> text{};
    ASSERT_EQ(message.size(), sizeof text);
    std::memcpy(text.data(), message.data(), sizeof text);
    EXPECT_GT(text[1], newest[text[0]]);
    newest[text[0]] = text[1];
  }
}

TEST_P(LinkThreads, AReceiverWithoutABufferRejects) {
  const std::vector<std::byte> message(1000, std::byte{7});
  std::vector<link::Item> held;
  receiver->with([&](link::FlowControl& flow) {
    while (const auto item = flow.loan(channels[1])) held.push_back(*item);
  });
  const auto wait = [&](auto ended) {
    ASSERT_TRUE(sender->push(channels[1], message));
    const auto end = std::chrono::steady_clock::now() + patience;
    for (bool waits = true; waits && std::chrono::steady_clock::now() < end;) {
      sender->with(
          [&](link::FlowControl& flow) { waits = flow.counts(link::TaskIndex(1)).*ended == 0; });
    }
  };
  wait(&link::TaskCounts::rejected);
  receiver->with([&](link::FlowControl& flow) { flow.release(held.back()); });
  wait(&link::TaskCounts::delivered);
  EXPECT_THAT(arrivals.wait(1), testing::ElementsAre(message));
}

class ImpatientLinkThreads : public LinkThreads {
 protected:
  [[nodiscard]] Duration silence() const override { return std::chrono::seconds(1); }
};

INSTANTIATE_TEST_SUITE_P(Media, ImpatientLinkThreads,
                         testing::Values(Medium::datagrams, Medium::shared_memory, Medium::rdma),
                         name_of);

TEST_P(ImpatientLinkThreads, AReceiverThatEndsIsLost) {
  receiver.reset();
  const auto end = std::chrono::steady_clock::now() + patience;
  while (sender->connected({}) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_FALSE(sender->connected({}));
  EXPECT_GE(sender->counts({}).peers_lost, 1u);
}

TEST(Udp, MistakesAreNamed) {
  const auto message = [](UdpOptions options) {
    const auto socket = UdpSocket::open(options);
    return socket ? std::string("fine") : socket.error().message;
  };
  EXPECT_EQ(message({.local = {"127.0.0.1", 0}, .remote = {"127.0.0.1", 9}}), "fine");
  EXPECT_THAT(message({.local = {"0.0.0.0", 0}, .remote = {"127.0.0.1", 9}}),
              HasSubstr("beyond the loopback interface"));
  EXPECT_THAT(message({.local = {"127.0.0.1", 0}, .remote = {"192.0.2.1", 9}}),
              HasSubstr("192.0.2.1: beyond the loopback interface"));
  EXPECT_THAT(message({.local = {"localhost", 0}, .remote = {"127.0.0.1", 9}}),
              HasSubstr("not an address in numbers"));
}

TEST(Udp, ItsPriorityIsWhatQueuesSee) {
  const auto socket =
      UdpSocket::open({.local = {"127.0.0.1", 0}, .remote = {"127.0.0.1", 9}, .priority = 6});
  ASSERT_TRUE(socket) << socket.error().message;
  int priority = 0;
  socklen_t length = sizeof priority;
  ASSERT_EQ(getsockopt((*socket)->descriptor(), SOL_SOCKET, SO_PRIORITY, &priority, &length), 0);
  EXPECT_EQ(priority, 6);
}

/// Gives the calling thread a network of its own, whose loopback interface has so short packets.
bool enter_network_of(int packet_bytes) {
  if (unshare(CLONE_NEWNET) != 0) return false;
  const Descriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_mtu = packet_bytes;
  if (ioctl(any.get(), SIOCSIFMTU, &request) != 0) return false;
  request.ifr_flags = IFF_UP;
  return ioctl(any.get(), SIOCSIFFLAGS, &request) == 0;
}

TEST(Udp, DatagramsThatAreLongerThanPacketsOfTheNetworkArrive) {
  bool entered = false;
  std::size_t arrived = 0;
  std::thread([&] {
    entered = enter_network_of(1300);
    if (!entered) return;
    const auto sender =
        UdpSocket::open({.local = {"127.0.0.1", 7500}, .remote = {"127.0.0.1", 7501}});
    const auto other =
        UdpSocket::open({.local = {"127.0.0.1", 7501}, .remote = {"127.0.0.1", 7500}});
    ASSERT_TRUE(sender && other);
    const std::vector<std::byte> three(3 * wire::packet_bytes);
    EXPECT_TRUE((*sender)->send(three, wire::packet_bytes));
    pollfd waiting{.fd = (*other)->descriptor(), .events = POLLIN, .revents = 0};
    while (arrived < 3 && poll(&waiting, 1, 10'000) > 0) {
      while ((*other)->receive()) ++arrived;
    }
  }).join();
  if (!entered) GTEST_SKIP() << "needs the privilege to make a network";
  EXPECT_EQ(arrived, 3U);
}

TEST(Ciphers, WithoutThemThereIsAReason) {
  EXPECT_TRUE(check_ciphers());
  OSSL_LIB_CTX* const restricted = OSSL_LIB_CTX_new();
  OSSL_PROVIDER* const none = OSSL_PROVIDER_load(restricted, "null");
  EXPECT_THAT(check_ciphers(restricted).error().message, HasSubstr("ChaCha20-Poly1305"));
  OSSL_PROVIDER_unload(none);
  OSSL_LIB_CTX_free(restricted);
}

TEST(Keys, AreReadFromFilesOfTheirOwner) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / ("takt-key-" + std::to_string(getpid())))
          .string();
  const Key key = make_key();
  std::ofstream(path) << to_text(key) << '\n';
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  const auto read = read_key(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, key);
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_THAT(read_key(path).error().message, HasSubstr("chmod 600"));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  std::ofstream(path) << to_text(key) << '0';
  EXPECT_THAT(read_key(path).error().message, HasSubstr("64 hexadecimal digits"));
  // However long it is, no more of a file is read than a key has.
  std::ofstream(path) << to_text(key) << '\n' << std::string(1'000'000, '0');
  EXPECT_THAT(read_key(path).error().message, HasSubstr("64 hexadecimal digits"));
  std::ofstream(path) << to_text(key).substr(1);
  EXPECT_THAT(read_key(path).error().message, HasSubstr("64 hexadecimal digits"));
  std::filesystem::remove(path);
  EXPECT_FALSE(read_key(path));
}

}  // namespace
}  // namespace takt::transport
