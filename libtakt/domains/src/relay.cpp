#include "takt/domains/relay.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/try.hpp"

namespace takt::domains {

namespace {

std::uint32_t number_of(const Device& device) { return domain_number(device).value_or(0); }

std::unique_ptr<CopyStore> copies_in(Room& room) {
  return std::make_unique<CopyStore>(std::move(room.store));
}

}  // namespace

Relay::Relay(const Ends& ends, Room room, std::uint64_t published)
    : Relay(ends, copies_in(room), room.memory, published) {}

Relay::Relay(const Ends& ends, std::unique_ptr<CopyStore> store, DeviceMemory* memory,
             std::uint64_t published)
    : ends_(ends),
      store_(store.get()),
      memory_(memory),
      sender_(std::move(store), number_of(ends.to)),
      direct_(find_direct(ends.drivers->direct, ends.from, ends.to)),
      sequence_(published) {}

void Relay::add_source(std::unique_ptr<memory::Receiver> source) {
  // What the one before has is not in this one. What comes now is in both.
  announce();
  windows_.push_back({.inbox = Inbox(std::move(source), ends_.from, *ends_.drivers)});
}

bool Relay::admit(Descriptor socket, const memory::Received& hello) {
  announce();
  return sender_.admit(std::move(socket), hello) != nullptr;
}

void Relay::hear() {
  for (Window& window : windows_) static_cast<void>(window.inbox.receiver().hear());
  std::vector<const memory::Sender::Peer*> gone;
  for (const auto& peer : sender_.peers()) {
    if (!sender_.hear(*peer)) gone.push_back(peer.get());
  }
  for (const auto* const peer : gone) sender_.remove(*peer);
}

bool Relay::step() {
  hear();
  const bool has_announced = announce();
  const bool has_answered = answer_all();
  sender_.collect();
  settle();
  return has_announced || has_answered;
}

/// Up to what is the newest now, so that a fast publisher does not keep it from all else.
bool Relay::announce() {
  if (windows_.empty()) return false;
  Window& window = windows_.back();
  memory::RingReader& ring = window.inbox.receiver().ring();
  const std::uint64_t newest = ring.newest();
  if (window.announced >= newest) return false;
  while (window.announced < newest) {
    window.announced = std::max(window.announced, ring.oldest() - 1) + 1;
    const auto message = ring.look(window.announced);
    if (message && message->sequence > sequence_) announce_one(window, *message);
  }
  return true;
}

void Relay::announce_one(Window& window, const memory::Message& message) {
  const std::uint64_t number = window.announced;
  const std::uint64_t missed = message.sequence - sequence_ - 1;
  sequence_ = message.sequence;
  if (missed > 0) {
    sender_.miss(missed);
    counts_.overruns += missed;
  }
  const auto slot = sender_.prepare(0);
  if (!slot) return;
  if (origins_.size() <= *slot) origins_.resize(*slot + 1);
  origins_[*slot] = {.window = &window, .number = number};
  const bool is_wanted =
      std::ranges::any_of(sender_.peers(), [](const auto& peer) { return peer->wants_all(); });
  if (is_wanted && !bring(*slot)) {
    sender_.give_back(*slot);
    sender_.miss(1);
    return;
  }
  const Pending pending{.number = number, .slot = *slot};
  sender_.publish(*slot, message);
  if (is_pending(window, pending)) window.pending.push_back(pending);
}

bool Relay::answer_all() {
  bool has_answered = false;
  for (const auto& peer : sender_.peers()) {
    const auto slot = sender_.wanted(*peer);
    if (!slot) continue;
    if (store_->is_here(*slot) || bring(*slot)) {
      sender_.answer(*peer, *slot);
    } else {
      sender_.drop_wanted(*peer);
    }
    has_answered = true;
  }
  return has_answered;
}

/// False: the publisher has overwritten the message, or it cannot be copied.
bool Relay::bring(Slot slot) {
  const Origin origin = origins_[slot];
  memory::RingReader& ring = origin.window->inbox.receiver().ring();
  const auto lease = ring.lease(origin.number);
  if (!lease) return false;
  const bool is_copied = copy(*origin.window, lease->message, slot).has_value();
  ring.release(*lease);
  if (is_copied) {
    ++counts_.copies;
    counts_.bytes += lease->message.size;
    sender_.send_new_blocks();
  } else {
    ++counts_.failures;
  }
  return is_copied;
}

Result<void> Relay::copy(Window& window, const memory::Message& message, Slot slot) {
  const auto source = TAKT_TRY(window.inbox.open(message));
  if (!store_->fill(slot, message.size)) return error("no memory is left for a copy");
  const memory::Store::Place place = store_->place(slot);
  const Target target = memory_ == nullptr ? Target{.bytes = place.bytes}
                                           : Target{.device = memory_, .offset = place.offset};
  auto copied = copy_between(source, target, message.size, direct_, buffer_);
  if (!copied) store_->clear(slot);
  return copied;
}

bool Relay::is_pending(const Window& window, const Pending& pending) const {
  const Origin& origin = origins_[pending.slot];
  return origin.window == &window && origin.number == pending.number &&
         store_->is_used(pending.slot) && !store_->is_here(pending.slot);
}

/// The publisher may have what no copy is to be made of any more.
void Relay::settle() {
  for (Window& window : windows_) {
    auto& pending = window.pending;
    while (!pending.empty() && !is_pending(window, pending.front())) pending.pop_front();
    window.inbox.receiver().ring().skip_to(pending.empty() ? window.announced
                                                           : pending.front().number - 1);
  }
  while (windows_.size() > 1 && windows_.front().pending.empty()) windows_.pop_front();
}

void Relay::arm() {
  if (!windows_.empty()) windows_.back().inbox.receiver().ring().arm();
}

std::vector<int> Relay::descriptors() const {
  std::vector<int> all;
  for (const Window& window : windows_) all.push_back(window.inbox.receiver().socket());
  for (const auto& peer : sender_.peers()) all.push_back(peer->socket());
  return all;
}

}  // namespace takt::domains
