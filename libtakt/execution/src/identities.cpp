#include "takt/execution/identities.hpp"

#include <algorithm>

#include "takt/base/grow.hpp"

namespace takt::execution {
namespace {

bool is_same(const Identities::Maker& a, const Identities::Maker& b) {
  return a.is_known() && a.callback == b.callback && a.step == b.step && a.number == b.number;
}

}  // namespace

std::int64_t Identities::what(const Objects& objects, const Callback& callback) {
  if (callback.timer) return objects[*callback.timer].period.count();
  const auto topic = objects.topic_of(callback);
  return topic ? static_cast<std::int64_t>(topic->value()) : -1;
}

std::optional<Identities::Name> Identities::name_of(const Callback& callback) const {
  using enum CallbackKind;
  if (callback.kind == waitable || callback.kind == event_source || callback.kind == unknown ||
      !objects_.node_of(callback)) {
    return std::nullopt;
  }
  return Name{threads_[callback.process].host, objects_.node_name(callback), callback.kind,
              what(objects_, callback)};
}

void Identities::note_step(ThreadIndex thread, std::string step) {
  grow_to(steps_, thread) = std::move(step);
}

bool Identities::is_in_step(ThreadIndex thread) const {
  return thread.value() < steps_.size() && !steps_[thread.value()].empty();
}

void Identities::add(ObservedCallbackIndex callback, ThreadIndex thread, Handle handle,
                     Instant time) {
  Life& life = grow_to(entries_, callback).life;
  life.handle = handle;
  life.thread = thread;
  life.made = time;
  life.maker.step = value_at(steps_, thread);
  if (maker_ == nullptr) return;
  life.maker.callback = maker_->callback;
  life.maker.instance = maker_->id;
  life.maker.cause = maker_->source;
  if (making_ != maker_->id) {
    making_ = maker_->id;
    made_.clear();
  }
  const Callback& made = objects_[callback];
  life.maker.number = made_[{made.kind, what(objects_, made)}]++;
}

bool Identities::is_settled(ObservedCallbackIndex callback) const {
  return callback.value() < entries_.size() && entries_[callback.value()].is_settled;
}

const Identities::Life& Identities::life(ObservedCallbackIndex callback) const {
  return entries_[callback.value()].life;
}

void Identities::activated_by(ObservedCallbackIndex callback, PublicationId trigger) {
  entries_[callback.value()].life.trigger = trigger;
}

const Identities::Life* Identities::life_before(ObservedCallbackIndex callback) const {
  const auto& before = entries_[callback.value()].before;
  return before ? &*before : nullptr;
}

bool Identities::fires_once(ObservedCallbackIndex callback) const {
  const Entry& entry = entries_[callback.value()];
  return entry.makings > 1 && !entry.fires_again;
}

std::optional<ObservedCallbackIndex> Identities::expected(ObservedCallbackIndex made) const {
  const Life& life = entries_[made.value()].life;
  if (!life.maker.callback) return std::nullopt;
  const auto known =
      once_.find({*life.maker.callback, life.maker.number, what(objects_, objects_[made])});
  return known != once_.end() && fires_once(known->second) ? std::optional(known->second)
                                                           : std::nullopt;
}

bool Identities::has_ended(ProcessIndex process, Instant made) const {
  if (!threads_.tells_ends()) return !threads_.goes_on_after(process, made);
  const auto end = threads_.ended(process);
  return end && *end <= made;
}

/// Whether the former callback's object has ended, so that this one may take its place.
bool Identities::has_ended(ObservedCallbackIndex former, const Callback& callback,
                           const Life& life) const {
  const Callback& before = objects_[former];
  const Life& last = entries_[former.value()].life;
  if (before.process != callback.process) return has_ended(before.process, life.made);
  if (before.symbol != callback.symbol) return false;
  if (last.handle == life.handle) return true;  // the address is used again
  const bool is_silent = last.last_run < life.made;
  const auto node = objects_.node_of(callback);
  if (objects_.node_of(before) != node) return is_silent && last.runs > 0;
  if (objects_[*node].since > last.made) return true;  // it belonged to a node that has ended
  const bool once = callback.kind == CallbackKind::timer && last.runs <= 1;
  // As rclcpp::wait_for_message makes them: for one message, again and again.
  const bool for_a_message = callback.kind == CallbackKind::subscription && last.runs == 1 &&
                             is_silent && last.thread == life.thread;
  return for_a_message || (is_same(last.maker, life.maker) && (is_silent || once));
}

std::optional<ObservedCallbackIndex> Identities::former(ObservedCallbackIndex index,
                                                        const std::string& symbol) {
  grow_to(entries_, index).is_settled = true;
  Callback callback = objects_[index];
  if (callback.symbol.empty()) callback.symbol = symbol;
  const auto name = name_of(callback);
  if (!name) return std::nullopt;
  auto& alike = known_[*name];
  const Life life = entries_[index.value()].life;
  const auto found = std::ranges::find_if(
      alike, [&](ObservedCallbackIndex other) { return has_ended(other, callback, life); });
  const bool is_made = life.maker.callback.has_value();
  if (found == alike.end()) {
    alike.push_back(index);
    entries_[index.value()].makings = is_made ? 1u : 0u;
    return std::nullopt;
  }
  Entry& entry = entries_[found->value()];
  entry.fires_again = entry.fires_again || !is_made || !is_same(entry.life.maker, life.maker);
  entry.makings += is_made ? 1u : 0u;
  entry.before = entry.life;
  entry.life = life;
  if (is_made && callback.kind == CallbackKind::timer) {
    once_[{*life.maker.callback, life.maker.number, what(objects_, callback)}] = *found;
  }
  return *found;
}

std::optional<ObservedCallbackIndex> Identities::later(ObservedCallbackIndex index) const {
  const Callback& callback = objects_[index];
  const auto name = name_of(callback);
  const auto alike = name ? known_.find(*name) : known_.end();
  if (alike == known_.end()) return std::nullopt;
  const auto found = std::ranges::find_if(alike->second, [&](ObservedCallbackIndex other) {
    return objects_[other].process != callback.process &&
           has_ended(callback.process, entries_[other.value()].life.made);
  });
  return found != alike->second.end() ? std::optional(*found) : std::nullopt;
}

void Identities::ran(ObservedCallbackIndex callback, InstanceId instance, Instant time) {
  Entry& entry = grow_to(entries_, callback);
  if (++entry.life.runs == 1) {
    entry.life.first_run = instance;
    entry.life.first_start = time;
  }
  entry.fires_again = entry.fires_again || entry.life.runs > 1;
  entry.life.last_run = time;
}

}  // namespace takt::execution
