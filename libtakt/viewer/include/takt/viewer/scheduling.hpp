#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/events/event.hpp"
#include "takt/events/fields.hpp"
#include "takt/events/threads.hpp"
#include "takt/flow/stages.hpp"
#include "takt/viewer/array.hpp"
#include "takt/viewer/storage.hpp"

namespace takt::viewer {

/// Which thread ran when on which processor, and why other threads did not run, from the events of
/// the kernel's scheduler. Everything is empty if the trace has none.
class Scheduling {
 public:
  /// Time that a thread had a processor.
  struct Occupation {
    std::uint32_t processor = 0;
    std::int32_t actor = 0;
    Instant start;
    Instant end;
  };
  struct Processor {
    events::HostIndex host;
    std::uint16_t number = 0;
  };

  /// The threads outlive it.
  Scheduling(const events::Threads& threads, const Storage& storage);

  /// The scheduler's events of a batch.
  void add(const events::Batch& batch);
  /// Error: the disk was full, or failed; what happened since is not kept.
  [[nodiscard]] const Result<void>& filled() const { return writer_.result(); }
  /// To be called after the last event, with its time: sorts what was found. Error: as that of
  /// filled().
  [[nodiscard]] Result<void> finish(Instant last);

  [[nodiscard]] bool recorded() const { return recorded_; }
  /// How many absences and occupations were left out because the storage was full.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  /// When a thread did not run between two times, in order and cut off there. O(log all + found).
  [[nodiscard]] std::vector<flow::Off> off(events::ThreadIndex thread, Instant from,
                                           Instant to) const;
  /// Threads by name and number; positions here are the actors.
  [[nodiscard]] std::vector<std::string> actors() const;
  [[nodiscard]] const std::vector<Processor>& processors() const { return processors_; }
  /// By processor, then start.
  [[nodiscard]] const Array<Occupation>& occupations() const { return occupations_; }

 private:
  using ThreadKey = std::pair<std::uint32_t, std::int32_t>;  // host, number

  struct Actor {
    std::int32_t number = 0;
    std::string name;
    bool has_reservation = false;
    /// Why and since when it does not run; nothing while it runs, or before it is known.
    std::optional<flow::Off> off{};
    /// It lost its processor though it could have run on.
    bool was_ousted = false;
    /// Where it waits for a processor.
    std::optional<std::uint32_t> waits_on{};
  };
  struct Cpu {
    std::int32_t actor = -1;
    std::optional<Instant> since{};
    /// Threads that could run here.
    std::vector<std::int32_t> waiting{};
  };
  struct Absence {
    std::int32_t actor = 0;
    flow::Off off;
  };

  void on(const events::Event& event, const events::Batch& batch);
  void sort();
  void on(const events::Event& event, const tracepoints::SchedSwitch& change);
  void wake(const events::Event& event, std::int32_t thread, std::string_view name,
            std::int32_t cpu);
  std::uint32_t processor(std::uint32_t host, std::uint16_t cpu);
  /// -1 for a processor's idle thread.
  std::int32_t actor(std::uint32_t host, std::int32_t thread, std::string_view name);
  void wait_on(std::uint32_t processor, std::int32_t actor, Instant since);
  [[nodiscard]] flow::Off::Why why_not(std::int32_t waiting, std::int32_t running) const;
  void leave(std::int32_t actor, Instant end);
  void occupy(std::uint32_t processor, Instant end);
  [[nodiscard]] std::uint32_t host_of(const events::Event& event) const;

  const events::Threads& threads_;
  StorageWriter writer_;
  std::size_t most_;
  bool recorded_ = false;
  std::uint64_t left_out_ = 0;
  std::map<ThreadKey, std::int32_t> actor_of_;
  std::vector<Actor> actors_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t> processor_of_;
  std::vector<Processor> processors_;
  std::vector<Cpu> cpus_;
  Array<Occupation> occupations_;
  Array<Absence> absences_;  // by actor, then start, once finished
};

/// An actor in the viewer's tables, where -1 is none.
[[nodiscard]] constexpr std::int64_t actor_number(std::uint32_t actor) {
  return actor == flow::no_actor ? -1 : std::int64_t{actor};
}

}  // namespace takt::viewer
