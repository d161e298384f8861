#include "publisher.hpp"

#include <fmt/format.h>
#include <rcutils/allocator.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "middleware.hpp"
#include "terms.hpp"

namespace takt::share {

namespace {

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Memory for the middleware to serialise into, which it asks for as if it came from an allocator:
/// the sender's, so the message is where it is read from.
struct Target {
  memory::Sender* sender;
  memory::Sender::Slot slot;

  void* grow(std::size_t bytes) {
    const auto larger = sender->prepare(bytes);
    if (!larger) return nullptr;
    sender->give_back(std::exchange(slot, *larger));
    return sender->bytes(slot).data();
  }
};

rcutils_allocator_t allocator_of(Target& target) {
  rcutils_allocator_t allocator{};
  allocator.state = &target;
  allocator.allocate = [](std::size_t bytes, void* state) {
    return static_cast<Target*>(state)->grow(bytes);
  };
  allocator.zero_allocate = [](std::size_t count, std::size_t bytes, void* state) {
    return static_cast<Target*>(state)->grow(count * bytes);
  };
  allocator.reallocate = [](void*, std::size_t bytes, void* state) {
    return static_cast<Target*>(state)->grow(bytes);
  };
  allocator.deallocate = [](void*, void*) {};
  return allocator;
}

}  // namespace

std::shared_ptr<Publisher> Publisher::make(const rmw_node_t* node, rmw_publisher_t* publisher,
                                           const rosidl_message_type_support_t* type) {
  rmw_qos_profile_t qualities{};
  rmw_gid_t gid{};
  const char* const topic = publisher->topic_name;
  if (middleware().publisher_qos(publisher, &qualities) != RMW_RET_OK ||
      middleware().gid_of(publisher, &gid) != RMW_RET_OK) {
    return nullptr;
  }
  if (const char* const why = refusal(topic, qualities, *type)) {
    post().refused(publisher, topic, "publisher", why);
    return nullptr;
  }
  std::string path =
      fmt::format("{}/{}.", *folder(), meeting_name(topic, node->context->actual_domain_id, *type));
  for (const std::uint8_t byte : gid.data) path += fmt::format("{:02x}", byte);
  auto listening = memory::listen_at(path);
  if (!listening) {
    post().refused(publisher, topic, "publisher", "no socket could be made");
    return nullptr;
  }
  std::shared_ptr<Publisher> made(new Publisher(publisher, type, is_latched(qualities),
                                                std::move(path), std::move(*listening)));
  post().watch(made->listening_.get(), made);
  post().add(made);
  return made;
}

Publisher::Publisher(rmw_publisher_t* publisher, const rosidl_message_type_support_t* type,
                     bool is_latched, std::string path, Descriptor listening)
    : publisher_(publisher),
      type_(type),
      is_latched_(is_latched),
      topic_(publisher->topic_name),
      path_(std::move(path)),
      listening_(std::move(listening)) {}

Publisher::~Publisher() {
  unlink(path_.c_str());
  post().remove(*this);
  post().unwatch(listening_.get());
  for (const auto& peer : sender_.peers()) post().unwatch(peer->socket());
}

void Publisher::end() {
  const std::scoped_lock lock(mutex_);
  publisher_ = nullptr;
}

bool Publisher::everybody_shares() {
  std::size_t matched = 0;
  if (publisher_ == nullptr || middleware().count_matched(publisher_, &matched) != RMW_RET_OK) {
    return false;
  }
  if (matched != matched_) {
    matched_ = matched;
    since_ = sequence_ + 1;
  }
  const auto proved = static_cast<std::size_t>(std::ranges::count_if(
      sender_.peers(), [&](const auto& peer) { return peer->received() >= since_; }));
  return proved > 0 && proved == matched;
}

std::optional<Publisher::Written> Publisher::write(const void* message,
                                                   const rmw_serialized_message_t* serialized) {
  const auto slot =
      sender_.prepare(serialized != nullptr ? serialized->buffer_length : usual_bytes_);
  if (!slot) return std::nullopt;
  if (serialized != nullptr) {
    const std::size_t size = serialized->buffer_length;
    if (size > 0) std::memcpy(sender_.bytes(*slot).data(), serialized->buffer, size);
    return Written{.slot = *slot, .size = size};
  }
  Target target{.sender = &sender_, .slot = *slot};
  rmw_serialized_message_t written{};
  const auto bytes = sender_.bytes(*slot);
  written.buffer = reinterpret_cast<std::uint8_t*>(bytes.data());
  written.buffer_capacity = bytes.size();
  written.allocator = allocator_of(target);
  const bool is_written = middleware().serialize(message, type_, &written) == RMW_RET_OK;
  usual_bytes_ = std::max<std::size_t>(written.buffer_length, 1);
  if (!is_written) {
    forget_error();
    sender_.give_back(target.slot);
    return std::nullopt;
  }
  return Written{.slot = target.slot, .size = written.buffer_length};
}

void Publisher::put_alone(const Written& written, const void* message) {
  const std::int64_t stamp = now(CLOCK_REALTIME);
  trace_publish(publisher_, message, stamp);
  put(written, false, stamp);
}

void Publisher::put(const Written& written, bool doubled, std::int64_t stamp) {
  sender_.publish(written.slot, {.size = written.size,
                                 .sequence = doubled ? sequence_ + 1 : sequence_,
                                 .doubled = doubled,
                                 .source_time = stamp,
                                 .published = now(CLOCK_MONOTONIC)});
}

Publisher::Doubled::Doubled(Publisher& publisher, const std::optional<Written>& written)
    : StampListener(publisher.publisher_), owner_(publisher), written_(written) {
  if (!stamps_are_told()) on_stamp(now(CLOCK_REALTIME));
}

Publisher::Doubled::~Doubled() {
  if (written_) owner_.sender_.give_back(written_->slot);
}

void Publisher::Doubled::on_stamp(std::int64_t stamp) {
  if (!written_) return;
  owner_.put(*std::exchange(written_, std::nullopt), true, stamp);
  is_put_ = true;
}

void Publisher::Doubled::take_back() {
  if (is_put_) owner_.sender_.take_back();
}

void Publisher::remove(const memory::Sender::Peer& peer) {
  post().unwatch(peer.socket());
  sender_.remove(peer);
  since_ = sequence_ + 1;
}

void Publisher::leave_all() {
  for (const auto& peer : sender_.peers()) {
    if (peer->is_joined()) memory::Sender::leave(*peer);
  }
  since_ = sequence_ + 1;
}

void Publisher::hear(int socket) {
  const std::scoped_lock lock(mutex_);
  if (socket == listening_.get()) {
    if (auto accepted = memory::accept_from(listening_)) {
      const int heard = accepted->get();
      sender_.add(std::move(*accepted));
      post().watch(heard, shared_from_this());
      since_ = sequence_ + 1;
    }
    return;
  }
  for (const auto& peer : sender_.peers()) {
    if (peer->socket() != socket) continue;
    if (!sender_.hear(*peer)) remove(*peer);
    return;
  }
}

std::string Publisher::describe() {
  const std::scoped_lock lock(mutex_);
  const bool everybody = everybody_shares();
  const auto peers = sender_.peers();
  return fmt::format(
      R"("topic":"{}","end":"publisher","shared":{},"latched":{},"matched":{},"joined":{},)"
      R"("bytes":{})",
      topic_, everybody, is_latched_, matched_,
      std::ranges::count_if(peers, [](const auto& peer) { return peer->is_joined(); }),
      sender_.pool().bytes());
}

}  // namespace takt::share
