#include "takt/live/monitor.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

#include "replaced.hpp"
#include "takt/flow/matching.hpp"
#include "takt/model/take_out.hpp"

namespace takt::live {

namespace {

/// Events are read this much later, at the latest; most callbacks have ended by then that sent a
/// message which was handled meanwhile.
constexpr std::chrono::milliseconds settle{500};

Instant clock_now() {
  return Instant{
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace

std::vector<execution::Executor> executors_of(const synthesis::Synthesizer& synthesizer,
                                              const execution::Objects& objects,
                                              const events::Threads& threads) {
  auto executors = synthesizer.executors().executors(objects, threads);
  execution::add_announced_threads(executors, objects, threads);
  return executors;
}

Result<std::unique_ptr<Monitor>> Monitor::start(Options options) {
  return Stream::start(options.tracer, options.only_started).map([&](auto stream) {
    return std::unique_ptr<Monitor>(new Monitor(std::move(options), std::move(stream)));
  });
}

Monitor::Monitor(Options options, std::unique_ptr<Stream> stream)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      interpreter_(stream_->threads()),
      synthesizer_({.forgets = true, .prompt = options_.only_prompt_delays ? &prompt_ : nullptr}),
      chains_(options_.completed) {
  interpreter_.add(prompt_);
  interpreter_.add(synthesizer_);
  interpreter_.add(busy_);
  interpreter_.add(chains_);
  now_ = clock_now();
}

std::vector<std::string> Monitor::poll() {
  now_ = clock_now();
  chains_.forget(now_ - options_.window);
  if (stream_->read(batch_)) take_in_batch();
  chains_.follow_until(followed_until());
  if (!model_) return {};
  std::vector<bool> ended;
  for (const model::Chain& chain : model_->chains) {
    ended.push_back(
        expects_end_ || std::ranges::all_of(chain.callbacks, [&](model::CallbackIndex callback) {
          return stream_->has_ended(observed_[(*model_)[callback].executor.value()].process);
        }));
  }
  return alerts_.update(now_, chains_.chains(), chains_.windows(), losses().discarded_events,
                        ended);
}

void Monitor::take_in_batch() {
  if (pass_.events == 0) pass_.first = batch_.events.front().time;
  pass_.last = batch_.events.back().time;
  pass_.events += batch_.events.size();
  interpreter_.consume(batch_);
}

Instant Monitor::followed_until() const { return now_ - settle; }

bool Monitor::refresh() {
  synthesis::Options options;
  options.name = "live";
  options.links = options_.links;
  auto model = synthesizer_.model(*stream_, interpreter_.database(), pass_, options);
  if (!model) return false;
  const execution::Objects& objects = database().objects();
  auto observed = executors_of(synthesizer_, objects, stream_->threads());
  assert(observed.size() == model->executors.size());
  const auto is_replaced = replaced(observed, objects, [this](events::ProcessIndex process) {
    return stream_->has_ended(process);
  });
  std::set<events::ProcessIndex> processes;
  for (std::size_t e = 0; e < observed.size(); ++e) {
    if (is_replaced[e]) processes.insert(observed[e].process);
  }
  take_out_replaced(*model, observed, is_replaced, objects);
  observed_ = std::move(observed);
  apply_goals(*model);
  leave_out_unused(*model);
  const bool others = std::exchange(replaced_, processes) != processes;
  model_ = std::move(*model);
  chains_.replace(*model_, database(), others);
  bounds_ = analysis::analyze(*model_, options_.analysis);
  return true;
}

void Monitor::apply_goals(model::Model& model) {
  missing_.clear();
  if (!options_.goals) return;
  model.chains.clear();
  for (std::size_t i = 0; i < options_.goals->chains.size(); ++i) {
    const goals::Goal& goal = options_.goals->chains[i];
    if (auto ways = goals::find_ways(model, goal)) {
      auto chains = goals::chains_of(goal, static_cast<std::int64_t>(i + 1), std::move(*ways));
      std::ranges::move(chains, std::back_inserter(model.chains));
    } else {
      missing_.push_back({goal.name, ways.error().message});
    }
  }
}

/// Programs that have ended and that no goal is about.
void Monitor::leave_out_unused(model::Model& model) {
  if (!options_.goals) return;
  std::vector<bool> unused;
  for (const execution::Executor& executor : observed_) {
    unused.push_back(stream_->has_ended(executor.process));
  }
  for (const model::Chain& chain : model.chains) {
    for (const model::CallbackIndex callback : chain.callbacks) {
      unused[model[callback].executor.value()] = false;
    }
  }
  std::size_t e = 0;
  std::erase_if(observed_, [&](const auto&) { return unused[e++]; });
  model::take_out(model, unused);
}

std::vector<Monitor::Threads> Monitor::threads() const {
  const events::Threads& known = stream_->threads();
  std::vector<Threads> result;
  for (const execution::Executor& executor : observed_) {
    Threads& threads = result.emplace_back();
    threads.process = known[executor.process].id;
    threads.ended = stream_->has_ended(executor.process);
    for (const events::ThreadIndex thread : executor.threads) {
      threads.threads.push_back(known[thread].id);
      threads.busy += busy_.share(thread, now_);
    }
  }
  return result;
}

void Monitor::set_prompt(const std::set<std::int64_t>& threads) {
  const events::Threads& known = stream_->threads();
  prompt_.remove_if(
      [&](events::ThreadIndex thread) { return !threads.contains(known[thread].id); });
  for (const execution::Executor& executor :
       executors_of(synthesizer_, database().objects(), known)) {
    for (const events::ThreadIndex thread : executor.threads) {
      if (threads.contains(known[thread].id)) prompt_.add(thread, clock_now());
    }
  }
}

std::vector<Monitor::Runs> Monitor::runs() const {
  const execution::Objects& objects = database().objects();
  flow::Matcher matcher(*model_);
  std::vector<std::optional<Runs>> found(model_->callbacks.size());
  std::set<execution::ObservedCallbackIndex> observed;  // the matcher wants them in this order
  for (const execution::Executor& executor : observed_) {
    observed.insert(executor.callbacks.begin(), executor.callbacks.end());
  }
  for (const execution::ObservedCallbackIndex index : observed) {
    const auto match = matcher.match(objects, index);
    if (!match) continue;
    // The callback of a join is several subscriptions.
    auto& runs = found[match->callback.value()];
    if (!runs) runs.emplace(Runs{.all = Runs::most, .prompt = Runs::most});
    runs->all = std::min(runs->all, busy_.runs(index));
    runs->prompt = std::min(runs->prompt, prompt_.runs(index));
    runs->first = std::max(runs->first, busy_.first_run(index));
  }
  std::vector<Runs> result;
  for (const auto& runs : found) result.push_back(runs.value_or(Runs{}));
  return result;
}

std::vector<std::vector<execution::CallbackInstance>> Monitor::instances(
    const std::string& executor, Instant after) const {
  std::vector<std::vector<execution::CallbackInstance>> result;
  const auto known = std::ranges::find(model_->executors, executor, &model::Executor::id);
  if (known == model_->executors.end()) return result;
  const auto index = static_cast<std::size_t>(known - model_->executors.begin());
  for (const events::ThreadIndex thread : observed_[index].threads) {
    result.push_back(chains_.instances(thread, after));
  }
  return result;
}

std::vector<Monitor::Unseen> Monitor::unseen() const {
  const execution::Objects& objects = database().objects();
  std::map<events::ProcessIndex, std::uint64_t> unknown_runs;
  for (std::size_t c = 0; c < objects.callbacks.size(); ++c) {
    const execution::ObservedCallbackIndex index(c);
    const execution::Callback& callback = objects[index];
    if (callback.kind != execution::CallbackKind::unknown) continue;
    unknown_runs[callback.process] += busy_.runs(index);
  }
  std::vector<Unseen> result;
  for (const execution::Executor& executor : observed_) {
    result.push_back({.process = stream_->threads()[executor.process].id,
                      .lost_events = stream_->lost(executor.process),
                      .unknown_runs = unknown_runs[executor.process]});
  }
  return result;
}

std::uint64_t Monitor::structure() const {
  const execution::Objects& objects = database().objects();
  return objects.callbacks.size() + objects.publishers.size() + objects.timers.size() +
         objects.executor_threads.size() + stream_->threads().processes().size() +
         stream_->ended_programs();
}

}  // namespace takt::live
