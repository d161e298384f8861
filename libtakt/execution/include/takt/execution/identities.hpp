#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"

namespace takt::execution {

/// Recognises what has ended and came back: a node whose process was started again, a node that was
/// destroyed and made anew, what a node with a life cycle makes whenever it is activated, timers
/// that are made for each message, and subscriptions that a thread makes to wait for one message.
///
/// No event tells that an object is destroyed. So a callback is compared with the former ones of
/// its name when it runs first (or when nothing more is to come): a former one that still lived
/// would have run since the new one was made. Two that live at the same time stay two. A process
/// has ended if the recorder tells so, or if it has no event from the beginning of the other to the
/// end of the recording: it did nothing with what the other handled. Silence up to now says
/// nothing.
class Identities {
 public:
  /// Both outlive this.
  Identities(const Objects& objects, const events::Threads& threads)
      : objects_(objects), threads_(threads) {}

  /// Objects are made by this instance from now on; null: by none.
  void note_maker(const CallbackInstance* instance) { maker_ = instance; }
  /// The thread is in this step of a node's life cycle; empty: in none.
  void note_step(ThreadIndex thread, std::string step);
  [[nodiscard]] bool is_in_step(ThreadIndex thread) const;

  /// A callback was made, for an object at this address.
  void add(ObservedCallbackIndex callback, ThreadIndex thread, Handle handle, Instant time);
  /// The former callback that this one continues, which runs the function `symbol`; none if it is
  /// one of its own. To be asked once, at its first run.
  std::optional<ObservedCallbackIndex> former(ObservedCallbackIndex callback,
                                              const std::string& symbol);
  /// The callback of its name that a process has had since the one of this callback, which never
  /// ran, had ended.
  [[nodiscard]] std::optional<ObservedCallbackIndex> later(ObservedCallbackIndex callback) const;
  /// A callback that is settled runs.
  void ran(ObservedCallbackIndex callback, InstanceId instance, Instant time);
  [[nodiscard]] bool is_settled(ObservedCallbackIndex callback) const;

  /// What made an object.
  struct Maker {
    /// The callback that made it, and which instance and message of it.
    std::optional<ObservedCallbackIndex> callback{};
    InstanceId instance = InstanceId::none;
    PublicationId cause = PublicationId::none;
    /// The step of the life cycle in which it was made.
    std::string step{};
    /// How many alike the instance had made before.
    std::size_t number = 0;

    [[nodiscard]] bool is_known() const { return callback || !step.empty(); }
  };
  /// An object that a callback has, or had.
  struct Life {
    Handle handle = 0;
    ThreadIndex thread;
    Maker maker;
    Instant made;
    std::uint64_t runs = 0;
    InstanceId first_run = InstanceId::none;
    Instant first_start;
    Instant last_run;
    /// What activates a timer that fires once.
    PublicationId trigger = PublicationId::none;
  };
  /// The newest object of a callback.
  [[nodiscard]] const Life& life(ObservedCallbackIndex callback) const;
  /// Notes what activates the newest object of the callback.
  void activated_by(ObservedCallbackIndex callback, PublicationId trigger);
  /// The object before, if a callback made both; null if there is none.
  [[nodiscard]] const Life* life_before(ObservedCallbackIndex callback) const;
  /// Whether the callback is that of a timer that a callback makes again and again, each to fire
  /// once.
  [[nodiscard]] bool fires_once(ObservedCallbackIndex callback) const;
  /// The callback of timers that fire once of which this callback's object, which has not run yet,
  /// is the next one; none if that is not known.
  [[nodiscard]] std::optional<ObservedCallbackIndex> expected(ObservedCallbackIndex made) const;

 private:
  struct Entry {
    Life life;
    std::optional<Life> before;
    bool is_settled = false;
    /// Objects that were made by callbacks, and whether one of all ran more than once.
    std::uint64_t makings = 0;
    bool fires_again = false;
  };
  /// Host, node, kind, and its topic or its period.
  using Name = std::tuple<HostIndex, std::string, CallbackKind, std::int64_t>;

  [[nodiscard]] static std::int64_t what(const Objects& objects, const Callback& callback);
  [[nodiscard]] std::optional<Name> name_of(const Callback& callback) const;
  [[nodiscard]] bool has_ended(ObservedCallbackIndex former, const Callback& callback,
                               const Life& life) const;
  [[nodiscard]] bool has_ended(ProcessIndex process, Instant made) const;

  const Objects& objects_;
  const events::Threads& threads_;
  const CallbackInstance* maker_ = nullptr;
  std::vector<Entry> entries_;      // by callback
  std::vector<std::string> steps_;  // by thread
  /// The callbacks of a name that have run.
  std::map<Name, std::vector<ObservedCallbackIndex>> known_;
  /// What the newest instance that makes anything has made, counted by kind and topic or period.
  InstanceId making_ = InstanceId::none;
  std::map<std::pair<CallbackKind, std::int64_t>, std::size_t> made_;
  /// Timers that fire once, by what makes them: the callback, its step, the number, the period.
  std::map<std::tuple<ObservedCallbackIndex, std::size_t, std::int64_t>, ObservedCallbackIndex>
      once_;
};

}  // namespace takt::execution
