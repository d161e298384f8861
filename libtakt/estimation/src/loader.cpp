#include "takt/estimation/loader.hpp"

#include <cassert>

namespace takt::estimation {

Loader::Loader(std::unique_ptr<Estimator> estimator, const Handoff& handoff, std::size_t capacity,
               bool inline_loading)
    : estimator_(std::move(estimator)), inline_loading_(inline_loading), start_(handoff.start) {
  ring_.assign(capacity, {AnyVector::Zero(handoff.plant.inputs()),
                          AnyVector::Zero(handoff.plant.measurements())});
}

void Loader::begin(const AnyBelief& belief) {
  if (stopped_.load(std::memory_order_acquire)) return;
  assert(!is_busy());
  start_ = belief;
  fed_.store(0, std::memory_order_relaxed);
  taken_ = 0;
  has_lost_samples_ = false;
  outcome_ = {};
  if (inline_loading_) {
    restart();
    state_.store(State::loaded, std::memory_order_relaxed);
    return;
  }
  state_.store(State::requested, std::memory_order_release);
  state_.notify_all();
}

void Loader::feed(const AnyVector& input, const AnyVector& measurement) {
  const std::size_t next = fed_.load(std::memory_order_relaxed);
  if (next == ring_.size()) {
    has_lost_samples_ = true;
    return;
  }
  ring_[next].input = input;
  ring_[next].measurement = measurement;
  fed_.store(next + 1, std::memory_order_release);
  if (inline_loading_) step_what_waits();
}

bool Loader::ready() {
  if (state_.load(std::memory_order_acquire) != State::loaded) return false;
  // The samples that were fed since the other thread had caught up; usually one.
  step_what_waits();
  if (has_lost_samples_ && outcome_.ok()) outcome_.refusal = Refusal::samples_lost;
  state_.store(State::idle, std::memory_order_relaxed);
  return true;
}

bool Loader::load() {
  while (true) {
    if (stopped_.load(std::memory_order_acquire)) return false;
    State seen = state_.load(std::memory_order_acquire);
    if (seen == State::requested) break;
    state_.wait(seen, std::memory_order_acquire);
  }
  state_.store(State::loading, std::memory_order_relaxed);
  restart();
  step_what_waits();
  state_.store(State::loaded, std::memory_order_release);
  return true;
}

void Loader::stop() {
  stopped_.store(true, std::memory_order_release);
  // The waiting thread looks again when the word changes.
  state_.store(State::stopped, std::memory_order_release);
  state_.notify_all();
}

void Loader::restart() { outcome_.refusal = estimator_->restart(start_); }

void Loader::step_what_waits() {
  while (outcome_.ok() && taken_ < fed_.load(std::memory_order_acquire)) {
    const Sample& sample = ring_[taken_++];
    const Outcome outcome = estimator_->step(sample.input, sample.measurement);
    // A measurement that is refused as singular counts as missing; any other refusal ends the
    // loading.
    if (outcome.refusal != Refusal::singular_innovation) outcome_ = outcome;
  }
}

}  // namespace takt::estimation
