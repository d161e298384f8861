#include "verbs_line.hpp"

#include <sys/socket.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <compare>
#include <cstddef>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

namespace {

constexpr std::size_t said_bytes = wire::sealed_header_bytes + wire::memory_bytes + wire::tag_bytes;
static_assert(said_bytes <= Introduction::most_said_bytes);

/// Words that tell which part of the area is new. Other parts may be on their way, so they are not
/// looked at.
constexpr std::uint32_t chunk_word = 1;
constexpr std::uint32_t ended_word = 2;
constexpr std::size_t ended_offset = offsetof(SharedArea, ended);

}  // namespace

void VerbsLine::Area::clear(std::size_t chunk_bytes) {
  bytes_ = sizeof(SharedArea) + chunk_bytes;
  const std::size_t lines = (bytes_ + SharedArea::line - 1) / SharedArea::line;
  if (lines_.size() < lines) lines_.resize(lines);
  Exchange::clear(bytes());
}

std::span<std::byte> VerbsLine::Area::bytes() {
  return std::as_writable_bytes(std::span(lines_)).first(bytes_);
}

Result<std::unique_ptr<VerbsLine>> VerbsLine::open(const VerbsOptions& options,
                                                   std::size_t chunk_bytes, const Key& key,
                                                   const Settings& settings, Instant now) {
  const auto local = TAKT_TRY(resolve(options.local, options.beyond_loopback));
  const auto remote = TAKT_TRY(resolve(options.remote, options.beyond_loopback));
  auto device = open_rdma_device(local, remote, settings.silence);
  if (!device) return error("{}: {}", options.local.host, device.error().message);
  return open(options, std::move(*device), chunk_bytes, key, settings, now);
}

Result<std::unique_ptr<VerbsLine>> VerbsLine::open(const VerbsOptions& options,
                                                   std::unique_ptr<RdmaDevice> device,
                                                   std::size_t chunk_bytes, const Key& key,
                                                   const Settings& settings, Instant now) {
  TAKT_TRY(check_ciphers());
  const auto local = TAKT_TRY(resolve(options.local, options.beyond_loopback));
  const auto remote = TAKT_TRY(resolve(options.remote, options.beyond_loopback));
  Ends ends{.type = SOCK_STREAM, .local = local, .remote = remote};
  if (ends.local.length != ends.remote.length) {
    return error("{} and {}: addresses of two kinds", options.local.host, options.remote.host);
  }
  const auto order =
      std::pair(local.host(), local.port()) <=> std::pair(remote.host(), remote.port());
  if (order == 0) {
    return error("{} port {}: both ends of the link have this address", options.local.host,
                 options.local.port);
  }
  ends.listens = order < 0;
  // The end that calls may have any port.
  if (!ends.listens) ends.local.set_port(0);
  std::unique_ptr<VerbsLine> opened(
      new VerbsLine(ends, std::move(device), chunk_bytes, key, settings, now));
  // Tries now whether so much memory may be registered, so that this is known at once and not with
  // each peer.
  opened->theirs_.clear(chunk_bytes);
  TAKT_TRY(opened->device_->make(opened->mine_.bytes(), opened->theirs_.bytes()));
  const auto made_socket = opened->open_socket();
  if (!made_socket) {
    return error("{} port {}: {}", options.local.host, options.local.port,
                 made_socket.error().message);
  }
  return opened;
}

VerbsLine::VerbsLine(const Ends& ends, std::unique_ptr<RdmaDevice> device, std::size_t chunk_bytes,
                     const Key& key, const Settings& settings, Instant now)
    : ExchangeLine(ends, said_bytes, key, settings, now),
      device_(std::move(device)),
      chunk_bytes_(chunk_bytes) {
  mine_.clear(chunk_bytes);
}

VerbsLine::Agreement VerbsLine::begin(Introduction& introduction) {
  disconnect();
  seals_.emplace(packets_, Cipher::chacha20_poly1305, key(), introduction.mine(),
                 introduction.theirs());
  say(introduction, {});
  return Agreement::open;
}

void VerbsLine::say(Introduction& introduction, wire::Memory memory) {
  assert(seals_ && "the peer is proven");
  memory.room = static_cast<std::uint32_t>(chunk_bytes_);
  std::array<std::byte, said_bytes> packet{};
  wire::write(memory, packet.data() + wire::sealed_header_bytes);
  seals_->seal(packet);
  introduction.say(packet);
}

/// The peer sends three messages: how long its chunks are, what its queue pair is, and the same
/// again when it is connected.
VerbsLine::Agreement VerbsLine::hear(Introduction& introduction) {
  assert(seals_ && "the peer is proven");
  const auto counter = wire::read_sealed_header(introduction.said());
  std::span<std::byte> body;
  if (!counter || seals_->open(introduction.said(), *counter, body) != Session::Verdict::genuine) {
    return Agreement::failed;
  }
  const auto memory = wire::read_memory(body);
  if (!memory) return Agreement::failed;
  if (!queue_pair_) return make_queue_pair(introduction, memory->room);
  if (!connected_) {
    connected_ = queue_pair_->connect(*memory);
    if (!connected_) return Agreement::failed;
    say(introduction, queue_pair_->description());
    return Agreement::open;
  }
  return Agreement::reached;
}

VerbsLine::Agreement VerbsLine::make_queue_pair(Introduction& introduction, std::size_t room) {
  if (room > Connection::most_bytes) return Agreement::failed;
  mine_.clear(chunk_bytes_);
  theirs_.clear(room);
  auto made = device_->make(mine_.bytes(), theirs_.bytes());
  if (!made) return Agreement::failed;
  queue_pair_ = std::move(*made);
  say(introduction, queue_pair_->description());
  return Agreement::open;
}

void VerbsLine::disconnect() {
  queue_pair_.reset();
  connected_ = false;
}

bool VerbsLine::show_chunk(int /*socket*/, std::size_t bytes) {
  ++counts_.packets_sent;
  return (bytes == 0 || queue_pair_->write(sizeof(SharedArea), bytes, std::nullopt)) &&
         queue_pair_->write(0, ended_offset, chunk_word);
}

bool VerbsLine::show_ended(int /*socket*/) {
  ++counts_.packets_sent;
  return queue_pair_->write(ended_offset, sizeof SharedArea::ended, ended_word);
}

/// Each end waits for the other's answer before its next chunk, so there is at most one word of
/// each kind.
VerbsLine::News VerbsLine::look(int socket) {
  News news;
  // The socket is read before the words: if the peer has gone, all that it wrote is found.
  std::byte any{};
  const ssize_t count = recv(socket, &any, 1, MSG_DONTWAIT);
  news.gone = count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  while (const auto word = queue_pair_->next()) {
    ++counts_.packets_received;
    bool& told = *word == chunk_word ? news.chunk : news.ended;
    if (told || (*word != chunk_word && *word != ended_word)) {
      ++counts_.malformed;
      news.gone = true;
      return news;
    }
    told = true;
  }
  news.gone = news.gone || queue_pair_->broken();
  return news;
}

}  // namespace takt::transport
