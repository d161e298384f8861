#include "takt/live/monitor.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "takt/execution/names.hpp"
#include "takt/flow/matching.hpp"

namespace takt::live {

namespace {

/// A message may be handled before the callback that sent it ends. After this time that callback is
/// taken to have ended.
constexpr std::chrono::milliseconds settle{500};

Instant clock_now() {
  return Instant{
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace

Result<std::unique_ptr<Monitor>> Monitor::start(Options options) {
  const bool only_started = options.only_started;
  return Stream::start(only_started).map([&](auto stream) {
    return std::unique_ptr<Monitor>(new Monitor(std::move(options), std::move(stream)));
  });
}

Monitor::Monitor(Options options, std::unique_ptr<Stream> stream)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      interpreter_(stream_->threads()),
      synthesizer_({.prompt = options_.only_prompt_delays ? &prompt_ : nullptr}) {
  interpreter_.add(prompt_);
  interpreter_.add(synthesizer_);
  interpreter_.add(executors_);
  interpreter_.add(busy_);
  interpreter_.add(chains_);
  now_ = clock_now();
}

std::vector<std::string> Monitor::poll() {
  now_ = clock_now();
  chains_.forget(now_ - options_.window);
  if (stream_->read(batch_)) take_in_batch();
  if (!model_) return {};
  return alerts_.update(now_, chains_.chains(), chains_.windows(), losses().discarded_events);
}

void Monitor::take_in_batch() {
  if (pass_.events == 0) pass_.first = batch_.events.front().time;
  pass_.last = batch_.events.back().time;
  pass_.events += batch_.events.size();
  interpreter_.consume(batch_);
  chains_.follow_until(now_ - settle);
}

bool Monitor::refresh() {
  synthesis::Options options;
  options.name = "live";
  auto model = synthesizer_.model(*stream_, interpreter_.database(), pass_, options);
  if (!model) return false;
  apply_goals(*model);
  chains_.replace(*model, interpreter_.database());
  bounds_ = analysis::analyze(*model, options_.analysis);
  model_ = std::move(*model);
  return true;
}

void Monitor::apply_goals(model::Model& model) {
  missing_.clear();
  if (!options_.goals) return;
  model.chains.clear();
  for (std::size_t i = 0; i < options_.goals->chains.size(); ++i) {
    const goals::Goal& goal = options_.goals->chains[i];
    if (auto callbacks = goals::find_chain(model, goal)) {
      model::Chain& chain = model.chains.emplace_back();
      chain.id = goal.name;
      chain.callbacks = std::move(*callbacks);
      chain.goal = goal.latency;
      chain.rank = static_cast<std::int64_t>(i + 1);
    } else {
      missing_.push_back({goal.name, callbacks.error().message});
    }
  }
}

std::vector<Monitor::Threads> Monitor::threads() const {
  const execution::Objects& objects = database().objects();
  const events::Threads& known = stream_->threads();
  const auto found = executors_.executors(objects, known);
  const auto ids = execution::executor_ids(found, known);
  std::vector<Threads> result(model_->executors.size());
  for (std::size_t e = 0; e < result.size(); ++e) {
    const auto place = std::ranges::find(ids, model_->executors[e].id);
    if (place == ids.end()) continue;
    const execution::Executor& executor = found[static_cast<std::size_t>(place - ids.begin())];
    result[e].process = known[executor.process].id;
    for (const events::ThreadIndex thread : executor.threads) {
      result[e].threads.push_back(known[thread].id);
      result[e].busy += busy_.share(thread, now_);
    }
  }
  return result;
}

void Monitor::set_prompt(const std::set<std::int64_t>& threads) {
  const events::Threads& known = stream_->threads();
  prompt_.remove_if(
      [&](events::ThreadIndex thread) { return !threads.contains(known[thread].id); });
  for (const execution::Executor& executor : executors_.executors(database().objects(), known)) {
    for (const events::ThreadIndex thread : executor.threads) {
      if (threads.contains(known[thread].id)) prompt_.add(thread, clock_now());
    }
  }
}

std::vector<Monitor::Runs> Monitor::runs() const {
  const execution::Objects& objects = database().objects();
  flow::Matcher matcher(*model_);
  std::vector<std::optional<Runs>> found(model_->callbacks.size());
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const execution::ObservedCallbackIndex index{i};
    const auto match = busy_.runs(index) == 0 ? std::nullopt : matcher.match(objects, index);
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

std::uint64_t Monitor::structure() const {
  const execution::Objects& objects = database().objects();
  return objects.callbacks.size() + objects.publishers.size() + objects.timers.size() +
         objects.executor_threads.size() + stream_->threads().processes().size() +
         stream_->ended_programs();
}

}  // namespace takt::live
