#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/base/error.hpp"
#include "takt/capture/recording.hpp"
#include "takt/events/event.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/goals/goals.hpp"
#include "takt/links/declarations.hpp"
#include "takt/live/alerts.hpp"
#include "takt/live/measured_chains.hpp"
#include "takt/live/stream.hpp"
#include "takt/live/window.hpp"
#include "takt/model/model.hpp"
#include "takt/synthesis/prompt_threads.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::live {

/// The executors of the model. Their threads are also those that announced themselves and have not
/// run a callback yet: any of them may run the next one.
[[nodiscard]] std::vector<execution::Executor> executors_of(
    const synthesis::Synthesizer& synthesizer, const execution::Objects& objects,
    const events::Threads& threads);

/// What runs now: its timing model, the bounds of its chains and their measured latencies. Memory
/// is bounded by the number of objects of the programs.
///
/// A program that has ended is left out of the model as soon as another one has taken its place, or
/// if no goal's chain passes through it: a robot that was started again has its chains again.
class Monitor {
 public:
  struct Options {
    /// See Stream::start().
    capture::Tracer tracer = capture::Tracer::ring;
    bool only_started = false;
    /// None: all chains that there are, without goals.
    std::optional<goals::Goals> goals{};
    /// What people say of the links within nodes.
    std::optional<links::Declarations> links{};
    analysis::Options analysis{.horizon = std::chrono::seconds{10}};
    /// Whether delays of messages count only if a prompt thread took them (set_prompt()).
    bool only_prompt_delays = false;
    /// Over how long latencies are reported.
    Duration window = std::chrono::seconds{10};
    /// Called by poll() and refresh(). None: nobody wants to know.
    CompletionListener completed{};
  };
  /// A goal that matches no chain of the model, and why.
  struct MissingGoal {
    std::string name;
    std::string reason;
  };
  /// The threads that run an executor of the model.
  struct Threads {
    std::int64_t process = 0;
    std::vector<std::int64_t> threads;
    /// The share of a core that its callbacks took in the last seconds.
    double busy = 0;
    /// Its program does not run any more.
    bool ended = false;
  };
  /// How often a callback of the model has run since the beginning, and on prompt threads. For a
  /// join: how often each of its inputs has run at least.
  struct Runs {
    static constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t all = 0;
    std::uint64_t prompt = 0;
    /// When it ran for the first time; for a join, when the last of its inputs did.
    Instant first{};
  };

  /// What is not known of an executor's program, since the beginning.
  struct Unseen {
    std::int64_t process = 0;
    std::uint64_t lost_events = 0;
    /// Of callbacks whose creation was not seen.
    std::uint64_t unknown_runs = 0;
  };

  [[nodiscard]] static Result<std::unique_ptr<Monitor>> start(Options options);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return stream_->environment();
  }
  /// Takes in what has happened since. To be called some times a second. Returns a line for people
  /// for each alert that began or ended.
  std::vector<std::string> poll();
  /// Forgets what was seen before the last call (synthesis::Observations::forget()). To be called
  /// before refresh() where the last model kept no goal that it should, so that a surge counts no
  /// longer than it lasts; where goals are kept, nothing is gained by forgetting.
  void forget() { synthesizer_.forget(); }
  /// Makes the model anew and bounds it. False: nothing ran yet that a model could be made of.
  bool refresh();
  void set_goals(std::optional<goals::Goals> goals, links::Declarations links) {
    options_.goals = std::move(goals);
    options_.links = std::move(links);
  }

  /// From now on the kernel runs these threads, and no others, before those of best effort.
  void set_prompt(const std::set<std::int64_t>& threads);

  /// What the last refresh() that returned true found.
  [[nodiscard]] const model::Model& model() const { return *model_; }
  [[nodiscard]] const analysis::Bounds& bounds() const { return bounds_; }
  [[nodiscard]] const std::vector<MissingGoal>& missing_goals() const { return missing_; }
  /// By the model's executors.
  [[nodiscard]] std::vector<Threads> threads() const;
  /// By the model's callbacks.
  [[nodiscard]] std::vector<Runs> runs() const;
  /// The latest instances of each thread of an executor of the model that ended after this time,
  /// in the order of their ends; empty if it is not in the model.
  [[nodiscard]] std::vector<std::vector<execution::CallbackInstance>> instances(
      const std::string& executor, Instant after) const;
  /// By the model's executors. What other programs lose says nothing of these.
  [[nodiscard]] std::vector<Unseen> unseen() const;
  [[nodiscard]] const events::StreamLosses& losses() const { return stream_->losses(); }
  [[nodiscard]] const execution::Database& database() const { return interpreter_.database(); }
  /// Changes when objects appear, callbacks run for the first time, or programs end.
  [[nodiscard]] std::uint64_t structure() const;
  [[nodiscard]] const std::vector<ChainWindow>& chains() const { return chains_.windows(); }
  /// Counts the instances of a chain that have ended and wait for a sender to end.
  [[nodiscard]] std::size_t waiting(std::size_t chain) const { return chains_.waiting(chain); }
  /// The chains that ended before this time are measured, those that wait aside. It is a little
  /// before now(), so that what has happened is known.
  [[nodiscard]] Instant followed_until() const;
  [[nodiscard]] const std::vector<Alert>& alerts() const { return alerts_.present(); }
  /// The programs are told to end: from now on nobody waits for chains to be completed.
  void expect_end() { expects_end_ = true; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const execution::Pass& pass() const { return pass_; }
  [[nodiscard]] const Options& options() const { return options_; }

  /// The `takt/watch` version 1 document of this moment.
  [[nodiscard]] std::string to_json() const;

 private:
  Monitor(Options options, std::unique_ptr<Stream> stream);
  void take_in_batch();
  void apply_goals(model::Model& model);
  void leave_out_unused(model::Model& model);

  Options options_;
  std::unique_ptr<Stream> stream_;
  execution::Interpreter interpreter_;
  synthesis::PromptThreads prompt_;
  synthesis::Synthesizer synthesizer_;
  BusyThreads busy_;
  MeasuredChains chains_;
  events::Batch batch_;
  execution::Pass pass_;
  Instant now_{};

  std::optional<model::Model> model_;
  /// The model's executors, as they were observed.
  std::vector<execution::Executor> observed_;
  /// The processes that others have replaced.
  std::set<events::ProcessIndex> replaced_;
  analysis::Bounds bounds_;
  std::vector<MissingGoal> missing_;
  Alerts alerts_;
  bool expects_end_ = false;
};

}  // namespace takt::live
