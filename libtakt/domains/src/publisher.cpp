#include "takt/domains/publisher.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/domains/domains.hpp"

namespace takt::domains {

namespace {

Result<Room> room_in(const Device& device, const Drivers& drivers, const Pool::Settings& pool) {
  if (device == host) return Room{.store = std::make_unique<memory::Pool>()};
  if (!drivers.make) return error("{}: no driver for it is known here", to_string(device));
  auto memory = TAKT_TRY(drivers.make(device));
  DeviceMemory* const below = memory.get();
  return Room{.store = std::make_unique<DeviceStore>(std::move(memory), pool), .memory = below};
}

Reach reach_of(const Device& device, const DeviceMemory* memory) {
  return {.device = device, .reaches_host = memory == nullptr || memory->reaches_host()};
}

}  // namespace

Result<std::unique_ptr<Publisher>> Publisher::make(Settings settings) {
  auto domain = TAKT_TRY(domain_number(settings.device));
  auto room = TAKT_TRY(room_in(settings.device, settings.drivers, settings.pool));
  auto listening = TAKT_TRY(memory::listen_at(settings.path));
  return std::unique_ptr<Publisher>(
      new Publisher(std::move(settings), std::move(listening), std::move(room), domain));
}

Publisher::Publisher(Settings settings, Descriptor listening, Room room, std::uint32_t domain)
    : settings_(std::move(settings)),
      listening_(std::move(listening)),
      memory_(room.memory),
      domain_(domain),
      sender_(std::move(room.store), domain) {}

void Publisher::publish(Slot slot, std::size_t bytes) {
  sender_.publish(slot, {.size = bytes, .sequence = ++published_});
}

Result<void> Publisher::hear() {
  remove_unused_lines();
  remove_those_gone();
  while (auto socket = memory::accept_from(listening_)) arrivals_.push_back(std::move(*socket));
  Result<void> heard;
  std::vector<Descriptor> silent;
  for (Descriptor& socket : std::exchange(arrivals_, {})) {
    memory::Received hello = memory::receive_packet(socket);
    if (hello.state == memory::Received::State::gone) continue;
    if (hello.state == memory::Received::State::nothing) {
      silent.push_back(std::move(socket));
      continue;
    }
    if (auto admitted = admit(std::move(socket), std::move(hello)); !admitted) heard = admitted;
  }
  arrivals_ = std::move(silent);
  return heard;
}

void Publisher::remove_those_gone() {
  std::vector<const memory::Sender::Peer*> gone;
  for (const auto& peer : sender_.peers()) {
    if (!sender_.hear(*peer)) gone.push_back(peer.get());
  }
  for (const auto* const peer : gone) sender_.remove(*peer);
}

void Publisher::remove_unused_lines() {
  std::erase_if(lines_, [this](const Line& line) {
    if (!line.thread->is_unused()) return false;
    copies_before_ += line.thread->relay().counts().copies;
    return true;
  });
}

Result<void> Publisher::admit(Descriptor socket, memory::Received hello) {
  const auto device = device_of(hello.packet.domain);
  if (!device) return error("a subscription of domain {:#x}, which is none", hello.packet.domain);
  if (*device == settings_.device) {
    if (sender_.admit(std::move(socket), hello) != nullptr) return {};
    return error("a subscription of {}: it does not say what it should", to_string(*device));
  }
  const std::uint64_t depth = hello.packet.value & ~memory::wants_all;
  if (depth == 0 || depth > memory::most_depth) {
    return error("a subscription of {}: {} messages deep; 1 to {} are possible", to_string(*device),
                 depth, memory::most_depth);
  }
  return line_for(*device).and_then(
      [&](Line* line) { return admit_to(*line, std::move(socket), std::move(hello)); });
}

Result<void> Publisher::admit_to(Line& line, Descriptor socket, memory::Received hello) {
  const auto depth = static_cast<std::uint32_t>(hello.packet.value & ~memory::wants_all);
  RelayThread::Arrival arrival{.socket = std::move(socket), .hello = std::move(hello)};
  if (depth > line.depth) {
    arrival.source = make_source(depth);
    if (!arrival.source) {
      return error("a subscription of {}: no memory is left", to_string(line.thread->device()));
    }
    line.depth = depth;
  }
  line.thread->add(std::move(arrival));
  return {};
}

bool Publisher::has_domain(const Device& device) const {
  return device == settings_.device || std::ranges::any_of(lines_, [&](const Line& line) {
           return line.thread->device() == device;
         });
}

Result<Publisher::Line*> Publisher::line_for(const Device& device) {
  const auto found = std::ranges::find_if(
      lines_, [&](const Line& line) { return line.thread->device() == device; });
  if (found != lines_.end()) return &*found;
  const std::size_t others = device == host || has_domain(host) ? 1 : 2;  // this, and the host
  if (lines_.size() + 1 + others > most_domains) {
    return error(
        "a subscription of {}: there are {} memory domains already, and no more are "
        "possible",
        to_string(device), most_domains);
  }
  auto room = TAKT_TRY(room_in(device, settings_.drivers, settings_.pool));
  TAKT_TRY(check_way(reach_of(settings_.device, memory_), reach_of(device, room.memory),
                     settings_.drivers.direct));
  auto made = TAKT_TRY(
      RelayThread::make({.from = settings_.device, .to = device, .drivers = &settings_.drivers},
                        std::move(room), published_, settings_.has_threads));
  return &lines_.emplace_back(Line{.thread = std::move(made)});
}

/// A subscription of this publisher's own. None: no memory.
std::unique_ptr<memory::Receiver> Publisher::make_source(std::uint32_t depth) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return nullptr;
  }
  Descriptor here(ends[0]);
  auto source = memory::Receiver::over(Descriptor(ends[1]), {.depth = depth, .domain = domain_});
  if (!source) return nullptr;
  const memory::Received hello = memory::receive_packet(here);
  const auto* const peer = sender_.admit(std::move(here), hello);
  return peer != nullptr && source->hear() ? std::move(source) : nullptr;
}

std::vector<int> Publisher::descriptors() const {
  std::vector<int> all{listening_.get()};
  for (const Descriptor& socket : arrivals_) all.push_back(socket.get());
  for (const auto& peer : sender_.peers()) all.push_back(peer->socket());
  for (const Line& line : lines_) all.push_back(line.thread->descriptor());
  return all;
}

void Publisher::run_relays() {
  for (const Line& line : lines_) line.thread->run();
}

std::uint64_t Publisher::copies() const {
  std::uint64_t copies = copies_before_;
  for (const Line& line : lines_) copies += line.thread->relay().counts().copies;
  return copies;
}

}  // namespace takt::domains
