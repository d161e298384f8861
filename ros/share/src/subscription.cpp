#include "subscription.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>

#include "middleware.hpp"
#include "terms.hpp"
#include "trace.hpp"

namespace takt::share {

namespace {

constexpr std::size_t most_past = 64;
/// A publisher that writes so many rings full while one is looked at does not do it for ever.
constexpr int most_looks = 100;

rmw_serialized_message_t empty_message() {
  rmw_serialized_message_t message{};
  message.allocator.allocate = [](std::size_t bytes, void*) { return std::malloc(bytes); };
  message.allocator.zero_allocate = [](std::size_t count, std::size_t bytes, void*) {
    return std::calloc(count, bytes);
  };
  message.allocator.reallocate = [](void* old, std::size_t bytes, void*) {
    return std::realloc(old, bytes);
  };
  message.allocator.deallocate = [](void* old, void*) { std::free(old); };
  return message;
}

std::int64_t time_of_day() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_own_process(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid();
}

}  // namespace

std::shared_ptr<Subscription> Subscription::make(const rmw_node_t* node,
                                                 rmw_subscription_t* subscription,
                                                 const rosidl_message_type_support_t* type) {
  rmw_qos_profile_t qualities{};
  const char* const topic = subscription->topic_name;
  if (middleware().subscription_qos(subscription, &qualities) != RMW_RET_OK) return nullptr;
  const char* why = refusal(topic, qualities, *type);
  if (why == nullptr &&
      (subscription->is_cft_enabled || subscription->options.content_filter_options != nullptr)) {
    why = "it filters messages by their content";
  }
  if (why != nullptr) {
    post().refused(subscription, topic, "subscription", why);
    return nullptr;
  }
  std::shared_ptr<Subscription> made(
      new Subscription(subscription, type, static_cast<std::uint32_t>(qualities.depth),
                       meeting_name(topic, node->context->actual_domain_id, *type) + "."));
  post().add(made);
  if (!made->look()) post().look_soon();
  return made;
}

Subscription::Subscription(rmw_subscription_t* subscription,
                           const rosidl_message_type_support_t* type, std::uint32_t depth,
                           std::string name)
    : subscription_(subscription),
      type_(type),
      topic_(subscription->topic_name),
      name_(std::move(name)),
      depth_(depth),
      spare_(empty_message()) {}

Subscription::~Subscription() {
  std::free(spare_.buffer);
  if (ahead_) std::free(ahead_->message.buffer);
}

void Subscription::end() {
  post().remove(*this);
  const std::scoped_lock lock(mutex_);
  subscription_ = nullptr;
  callback_ = nullptr;
  for (const auto& channel : channels_) post().unwatch(channel->receiver->socket());
  channels_.clear();
}

bool Subscription::look() {
  std::vector<std::string> found = names_in_folder();
  std::erase_if(found, [&](const std::string& name) {
    return !name.starts_with(name_) || name.size() != name_.size() + 2 * sizeof(Gid);
  });
  bool is_done = true;
  const std::scoped_lock lock(mutex_);
  if (subscription_ == nullptr) return true;
  for (const std::string& name : found) {
    const std::string path = *folder() + "/" + name;
    if (std::ranges::find(channels_, path, [](const auto& channel) { return channel->path; }) !=
        channels_.end()) {
      continue;
    }
    Gid gid{};
    for (std::size_t byte = 0; byte < gid.size(); ++byte) {
      const char* const digits = name.data() + name_.size() + 2 * byte;
      std::from_chars(digits, digits + 2, gid[byte], 16);
    }
    auto made = memory::Receiver::connect(path, depth_);
    switch (made.meeting) {
      case memory::Meeting::nobody:
        unlink(path.c_str());  // its process has been killed
        break;
      case memory::Meeting::failed:
        is_done = false;
        break;
      case memory::Meeting::made: {
        if (subscription_->options.ignore_local_publications &&
            is_own_process(made.receiver->socket())) {
          break;
        }
        const int socket = made.receiver->socket();
        channels_.push_back(std::make_shared<Channel>(
            Channel{.path = path, .gid = gid, .receiver = std::move(made.receiver)}));
        post().watch(socket, shared_from_this());
        break;
      }
    }
  }
  return is_done;
}

bool Subscription::is_plain() {
  const std::scoped_lock lock(mutex_);
  return channels_.empty() && !ahead_ && past_.empty();
}

std::uint64_t Subscription::past(const Gid& gid) const {
  const auto found = std::ranges::find(past_, gid, &Past::gid);
  return found == past_.end() ? 0 : found->sequence;
}

void Subscription::update_sequence(Channel& channel) const {
  memory::RingReader& ring = channel.receiver->ring();
  for (int look = 0; look < most_looks; ++look) {
    std::uint64_t left = ring.unread();
    if (left == 0) return;
    for (std::uint64_t number = ring.newest(); left > 0; --number, --left) {
      if (const auto message = ring.look(number)) {
        channel.sequence = std::max(channel.sequence, message->sequence);
        return;
      }
    }
  }
}

bool Subscription::is_new(const rmw_message_info_t& info, Ahead& ahead) {
  Gid gid{};
  std::ranges::copy(info.publisher_gid.data, gid.begin());
  const std::uint64_t sequence = info.publication_sequence_number;
  ahead.channel = nullptr;
  ahead.after = 0;
  if (sequence <= past(gid)) return false;
  const auto found =
      std::ranges::find(channels_, gid, [](const auto& channel) { return channel->gid; });
  if (found == channels_.end() || !(*found)->receiver->is_joined()) return true;
  Channel& channel = **found;
  memory::RingReader& ring = channel.receiver->ring();
  ahead.channel = &channel;
  if (channel.is_switched) {
    // The ring has a message before the middleware gets it.
    update_sequence(channel);
    ahead.after = ring.newest();
    if (sequence > channel.sequence) return true;
    ring.tell_received(sequence);
    return false;
  }
  std::uint64_t number = ring.next();
  for (std::uint64_t left = ring.unread(); left > 0; --left, ++number) {
    const auto message = ring.look(number);
    const bool is_later = message && (message->sequence > sequence ||
                                      (message->sequence == sequence && !message->doubled));
    if (is_later) break;
    ring.skip_to(number);  // it is this message, or one that the middleware had before
    if (message && message->doubled && message->sequence == sequence) {
      channel.is_switched = true;
      channel.sequence = sequence;
      channel.told = number;
      ahead.after = number;
      // From when it has told, messages may come by the ring alone.
      if (callback_ != nullptr || !waiting_.empty()) ring.arm();
      ring.tell_received(sequence);
      break;
    }
  }
  return true;
}

void Subscription::refill() {
  // What is taken here the program takes later, or never.
  const QuietTakes quiet;
  while (!ahead_ && subscription_ != nullptr) {
    Ahead next{};
    next.info = rmw_message_info_t{};
    bool taken = false;
    if (middleware().take_serialized(subscription_, &spare_, &taken, &next.info, nullptr) !=
            RMW_RET_OK ||
        !taken) {
      return;
    }
    if (!is_new(next.info, next)) continue;
    next.message = std::exchange(spare_, empty_message());
    ahead_ = next;
  }
}

void Subscription::drop_gone() {
  std::erase_if(channels_, [&](const auto& channel) {
    if (!channel->is_gone) return false;
    if (channel->is_switched) {
      if (channel->receiver->ring().unread() > 0) return false;
      std::erase_if(past_, [&](const Past& one) { return one.gid == channel->gid; });
      past_.push_back({.gid = channel->gid, .sequence = channel->sequence});
      if (past_.size() > most_past) past_.pop_front();
    }
    if (ahead_ && ahead_->channel == channel.get()) ahead_->channel = nullptr;
    return true;
  });
}

std::shared_ptr<Subscription::Channel> Subscription::oldest(memory::Message& message) const {
  std::shared_ptr<Channel> found;
  for (const auto& channel : channels_) {
    if (!channel->is_switched) continue;
    memory::RingReader& ring = channel->receiver->ring();
    while (ring.unread() > 0) {
      const auto first = ring.look(ring.next());
      if (!first) continue;  // overrun just now
      if (!found || first->published < message.published) {
        found = channel;
        message = *first;
      }
      break;
    }
  }
  return found;
}

void Subscription::drop_beyond_depth() {
  for (;;) {
    std::uint64_t unread = ahead_ ? 1 : 0;
    for (const auto& channel : channels_) {
      if (channel->is_switched) unread += channel->receiver->ring().unread();
    }
    if (unread <= depth_) return;
    memory::Message message;
    const auto channel = oldest(message);
    if (!channel || is_ahead_first(channel.get(), message)) {
      if (!ahead_) return;
      std::free(std::exchange(spare_, ahead_->message).buffer);
      ahead_.reset();
    } else {
      channel->sequence = std::max(channel->sequence, message.sequence);
      channel->receiver->ring().skip_to(channel->receiver->ring().next());
    }
  }
}

bool Subscription::is_ahead_first(const Channel* ring, const memory::Message& message) const {
  if (!ahead_) return false;
  if (ring == nullptr) return true;
  if (ring == ahead_->channel) return ring->receiver->ring().next() > ahead_->after;
  return ahead_->info.source_timestamp <= message.source_time;
}

bool Subscription::has_any() const {
  return ahead_ || std::ranges::any_of(channels_, [](const auto& channel) {
           return channel->is_switched && channel->receiver->ring().unread() > 0;
         });
}

rmw_ret_t Subscription::take(Target& target, const void* traced, bool* taken,
                             rmw_message_info_t* info) {
  *taken = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    refill();
    drop_gone();
    drop_beyond_depth();
    memory::Message message;
    const auto channel = oldest(message);
    if (!channel && !ahead_) return RMW_RET_OK;
    if (is_ahead_first(channel.get(), message)) {
      const Ahead first = *ahead_;
      ahead_.reset();
      const rmw_subscription_t* const handle = subscription_;
      lock.unlock();
      if (info != nullptr) *info = first.info;
      const rmw_ret_t result = target.put(first.message);
      *taken = result == RMW_RET_OK;
      if (*taken) trace_take(handle, traced, first.info.source_timestamp, false);
      lock.lock();
      if (first.message.buffer_capacity > spare_.buffer_capacity) {
        std::free(std::exchange(spare_, first.message).buffer);
      } else {
        std::free(first.message.buffer);
      }
      return result;
    }
    memory::RingReader& ring = channel->receiver->ring();
    const auto lease = ring.lease(ring.next());
    if (!lease) {
      // It has just been overrun, or as many threads as there are leases take messages.
      lock.unlock();
      sched_yield();
      lock.lock();
      continue;
    }
    ring.skip_to(lease->number);
    channel->sequence = std::max(channel->sequence, lease->message.sequence);
    const auto bytes = channel->receiver->bytes(lease->message);
    if (!bytes) {
      ring.release(*lease);
      continue;
    }
    ++by_ring_;
    if (info != nullptr) {
      *info = {};
      info->source_timestamp = lease->message.source_time;
      info->received_timestamp = time_of_day();
      info->publication_sequence_number = std::numeric_limits<std::uint64_t>::max();
      info->reception_sequence_number = std::numeric_limits<std::uint64_t>::max();
      if (subscription_ != nullptr) {
        info->publisher_gid.implementation_identifier = subscription_->implementation_identifier;
      }
      std::ranges::copy(channel->gid, info->publisher_gid.data);
    }
    const rmw_subscription_t* const handle = subscription_;
    lock.unlock();
    rmw_serialized_message_t view{};
    // It is only read.
    view.buffer = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes->data()));
    view.buffer_length = bytes->size();
    view.buffer_capacity = bytes->size();
    const rmw_ret_t result = target.put(view);
    ring.release(*lease);  // a word of its own, so it needs no lock
    *taken = result == RMW_RET_OK;
    if (*taken) trace_take(handle, traced, lease->message.source_time, true);
    lock.lock();
    drop_gone();  // after the last message of a publisher there may be no other take
    return result;
  }
}

void Subscription::arm() {
  for (const auto& channel : channels_) {
    if (channel->is_switched) channel->receiver->ring().arm();
  }
}

void Subscription::wait(const rmw_guard_condition_t* condition) {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(condition);
  arm();
}

void Subscription::stop_waiting(const rmw_guard_condition_t* condition) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(waiting_, condition);
  if (found != waiting_.end()) waiting_.erase(found);
  if (!waiting_.empty() || callback_ != nullptr) return;
  for (const auto& channel : channels_) {
    if (channel->is_switched) channel->receiver->ring().disarm();
  }
}

bool Subscription::is_ready(bool by_middleware) {
  const std::scoped_lock lock(mutex_);
  if (by_middleware) refill();
  drop_gone();
  return has_any();
}

void Subscription::set_callback(rmw_event_callback_t callback, const void* data) {
  const std::scoped_lock lock(mutex_);
  callback_ = callback;
  callback_data_ = data;
  if (callback_ == nullptr) return;
  arm();
  std::size_t unread = ahead_ ? 1 : 0;
  for (const auto& channel : channels_) {
    if (!channel->is_switched) continue;
    unread += channel->receiver->ring().unread();
    channel->told = channel->receiver->ring().newest();
  }
  if (unread > 0) callback_(callback_data_, unread);
}

void Subscription::hear(int socket) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(
      channels_, socket, [](const auto& channel) { return channel->receiver->socket(); });
  if (found == channels_.end()) return;
  Channel& channel = **found;
  if (!channel.receiver->hear()) {
    channel.is_gone = true;
    post().unwatch(socket);
  }
  for (const rmw_guard_condition_t* const condition : waiting_) {
    [[maybe_unused]] const rmw_ret_t result = middleware().trigger(condition);
  }
  if (callback_ == nullptr) return;
  if (channel.is_switched) {
    memory::RingReader& ring = channel.receiver->ring();
    ring.arm();
    const std::uint64_t newest = ring.newest();
    const std::uint64_t known = std::max(channel.told, ring.next() - 1);
    channel.told = newest;
    if (newest > known) callback_(callback_data_, newest - known);
  }
  drop_gone();  // who is told of messages never asks for them by is_ready()
}

std::string Subscription::describe() {
  const std::scoped_lock lock(mutex_);
  const auto count = [&](auto&& which) { return std::ranges::count_if(channels_, which); };
  return fmt::format(R"("topic":"{}","end":"subscription","joined":{},"shared":{},"taken":{})",
                     topic_,
                     count([](const auto& channel) { return channel->receiver->is_joined(); }),
                     count([](const auto& channel) { return channel->is_switched; }), by_ring_);
}

}  // namespace takt::share
