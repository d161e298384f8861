#include "takt/transport/udp.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "socket_address.hpp"
#include "takt/base/try.hpp"

namespace takt::transport {

namespace {

/// The reads of one call. Each read takes one datagram or, where the kernel joins those that come
/// in a row (UDP_GRO), as many as fit.
constexpr std::size_t most_at_once = 16;
constexpr std::size_t most_read_bytes = std::size_t{1} << 16;
/// The bytes that the kernel may keep for us. The rest of a chunk waits for room instead of being
/// lost.
constexpr int send_buffer = 1 << 20;
constexpr int receive_buffer = 4 << 20;

}  // namespace

struct UdpSocket::Batch {
  struct Read {
    std::array<std::byte, most_read_bytes> memory{};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    iovec part{};
  };

  Batch() : reads(most_at_once) {
    for (std::size_t i = 0; i < most_at_once; ++i) {
      reads[i].part = {.iov_base = reads[i].memory.data(), .iov_len = most_read_bytes};
      headers[i].msg_hdr.msg_iov = &reads[i].part;
      headers[i].msg_hdr.msg_iovlen = 1;
      headers[i].msg_hdr.msg_control = reads[i].control.data();
    }
  }

  /// Reads what there is.
  void read(int descriptor) {
    next = 0;
    for (mmsghdr& header : headers) header.msg_hdr.msg_controllen = sizeof(Read::control);
    int found = 0;
    do {
      // The kernel tells an error of an earlier datagram once; then the next datagram can be read.
      found = recvmmsg(descriptor, headers.data(), most_at_once, MSG_DONTWAIT, nullptr);
    } while (found < 0 && (errno == ECONNREFUSED || errno == EINTR));
    count = static_cast<std::size_t>(std::max(found, 0));
    if (count > 0) begin();
  }

  /// Begins with the datagrams of the next read.
  void begin() {
    left = std::span(reads[next].memory).first(headers[next].msg_len);
    datagram_bytes = left.size();
    for (cmsghdr* told = CMSG_FIRSTHDR(&headers[next].msg_hdr); told != nullptr;
         told = CMSG_NXTHDR(&headers[next].msg_hdr, told)) {
      if (told->cmsg_level != SOL_UDP || told->cmsg_type != UDP_GRO) continue;
      int bytes = 0;
      std::memcpy(&bytes, CMSG_DATA(told), sizeof bytes);
      if (bytes > 0) datagram_bytes = static_cast<std::size_t>(bytes);
    }
  }

  std::vector<Read> reads;
  std::array<mmsghdr, most_at_once> headers{};
  std::size_t count = 0;
  std::size_t next = 0;
  /// The rest of the present read, and the length of each of its datagrams but the last.
  std::span<std::byte> left;
  std::size_t datagram_bytes = 0;
};

UdpSocket::UdpSocket(int descriptor)
    : descriptor_(descriptor), received_(std::make_unique<Batch>()) {}

UdpSocket::~UdpSocket() { close(descriptor_); }

Result<std::unique_ptr<UdpSocket>> UdpSocket::open(const UdpOptions& options) {
  const auto local = TAKT_TRY(resolve(options.local, options.beyond_loopback));
  const auto remote = TAKT_TRY(resolve(options.remote, options.beyond_loopback));
  const int descriptor =
      socket(local.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return error("{}: {}", options.local.host, std::strerror(errno));
  std::unique_ptr<UdpSocket> opened(new UdpSocket(descriptor));
  // It may fail: smaller buffers are slower, and nothing else.
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  constexpr int join = 1;
  setsockopt(descriptor, SOL_UDP, UDP_GRO, &join, sizeof join);
  if (options.priority != 0 && setsockopt(descriptor, SOL_SOCKET, SO_PRIORITY, &options.priority,
                                          sizeof options.priority) != 0) {
    return error("priority {} of the socket: {}", options.priority, std::strerror(errno));
  }
  if (bind(descriptor, local.get(), local.length) != 0) {
    return error("{} port {}: {}", options.local.host, options.local.port, std::strerror(errno));
  }
  if (connect(descriptor, remote.get(), remote.length) != 0) {
    return error("{} port {}: {}", options.remote.host, options.remote.port, std::strerror(errno));
  }
  return opened;
}

bool UdpSocket::send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) {
  const bool several = datagrams.size() > datagram_bytes;
  if (several && !segments_) {
    for (std::size_t at = 0; at < datagrams.size(); at += datagram_bytes) {
      // A datagram that does not fit is sent again later, as if the network had lost it.
      send(datagrams.subspan(at, std::min(datagram_bytes, datagrams.size() - at)), datagram_bytes);
    }
    return true;
  }
  iovec part{.iov_base = const_cast<std::byte*>(datagrams.data()), .iov_len = datagrams.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  if (several) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* segment = CMSG_FIRSTHDR(&header);
    segment->cmsg_level = SOL_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto bytes = static_cast<std::uint16_t>(datagram_bytes);
    std::memcpy(CMSG_DATA(segment), &bytes, sizeof bytes);
  }
  if (sendmsg(descriptor_, &header, MSG_NOSIGNAL) >= 0) return true;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return false;
  if (several && (errno == EIO || errno == EINVAL || errno == EOPNOTSUPP || errno == EMSGSIZE)) {
    // The kernel fragments a datagram that is longer than the network's packets, but none of
    // several. It says so by EINVAL, newer ones by EMSGSIZE.
    segments_ = false;
    return send(datagrams, datagram_bytes);
  }
  // Nobody listens there at the moment, or there is no route: the datagram is lost, as on any
  // network.
  return true;
}

std::optional<std::span<std::byte>> UdpSocket::receive() {
  Batch& batch = *received_;
  if (batch.next == batch.count) batch.read(descriptor_);
  if (batch.count == 0) return std::nullopt;
  const auto datagram = batch.left.first(std::min(batch.datagram_bytes, batch.left.size()));
  batch.left = batch.left.subspan(datagram.size());
  if (batch.left.empty() && ++batch.next < batch.count) batch.begin();
  return datagram;
}

}  // namespace takt::transport
