#include "shared_line.hpp"

#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

namespace {

constexpr std::string_view prefix = "takt-link ";
constexpr std::size_t most_characters = 90;
/// A limit, so that a peer that wakes us without end does not keep other lines from their turn.
constexpr int most_wakes_in_turn = 64;
/// The message with which the descriptor of the memory goes.
constexpr std::byte memory_message{3};
constexpr std::size_t most_area = sizeof(SharedArea) + Connection::most_bytes;

}  // namespace

Result<SocketAddress> SharedLine::name(const std::string& text) {
  static_assert(1 + prefix.size() + most_characters <= sizeof sockaddr_un::sun_path);
  if (text.empty() || text.size() > most_characters) {
    return error("\"{}\": a name of shared memory has 1 to {} characters", text, most_characters);
  }
  SocketAddress name;
  auto& address = reinterpret_cast<sockaddr_un&>(name.address);
  address.sun_family = AF_UNIX;
  // A name after a 0 is abstract: it is no file.
  std::ranges::copy(text, std::ranges::copy(prefix, address.sun_path + 1).out);
  name.length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + prefix.size() + text.size());
  return name;
}

Result<std::unique_ptr<SharedLine>> SharedLine::open(const SharedMemoryOptions& options,
                                                     std::size_t chunk_bytes, const Key& key,
                                                     const Settings& settings, Instant now) {
  const auto local = TAKT_TRY(name(options.local));
  const auto remote = TAKT_TRY(name(options.remote));
  if (options.local == options.remote) {
    return error("\"{}\": both ends of shared memory have this name", options.local);
  }
  auto memory = TAKT_TRY(memory::OwnMemory::make(sizeof(SharedArea) + chunk_bytes));
  const Ends ends{.type = SOCK_SEQPACKET,
                  .local = local,
                  .remote = remote,
                  .listens = options.local < options.remote};
  std::unique_ptr<SharedLine> opened(new SharedLine(ends, std::move(memory), key, settings, now));
  const auto made_socket = opened->open_socket();
  if (!made_socket)
    return error("shared memory \"{}\": {}", options.local, made_socket.error().message);
  return opened;
}

SharedLine::SharedLine(const Ends& ends, memory::OwnMemory memory, const Key& key,
                       const Settings& settings, Instant now)
    : ExchangeLine(ends, sizeof memory_message, key, settings, now), mine_(std::move(memory)) {}

SharedLine::Agreement SharedLine::begin(Introduction& introduction) {
  Exchange::clear(mine_.bytes());
  introduction.say(std::span(&memory_message, 1), mine_.descriptor());
  return Agreement::open;
}

SharedLine::Agreement SharedLine::hear(Introduction& introduction) {
  const Descriptor handed = introduction.take_handed();
  if (introduction.said()[0] != memory_message || !handed) return Agreement::failed;
  auto memory = memory::PeerMemory::map(handed, sizeof(SharedArea) + 1, most_area);
  if (!memory) return Agreement::failed;
  theirs_ = std::move(*memory);
  return Agreement::reached;
}

/// Wakes the other end. It does not matter if the socket is full: then the peer has something to
/// read, and a peer that does not read must not make us wait.
bool SharedLine::wake(int socket) {
  constexpr std::byte any{};
  static_cast<void>(::send(socket, &any, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  ++counts_.packets_sent;
  return true;
}

/// A wake-up does not say what is new, so all of the memory is looked at.
SharedLine::News SharedLine::look(int socket) {
  News news{.chunk = true, .ended = true};
  for (int left = most_wakes_in_turn; left > 0 && !news.gone; --left) {
    std::byte any{};
    const ssize_t count = recv(socket, &any, 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count > 0) ++counts_.packets_received;
    news.gone = count == 0 || (count < 0 && errno != EINTR);
  }
  return news;
}

}  // namespace takt::transport
