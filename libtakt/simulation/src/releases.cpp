#include "releases.hpp"

#include <algorithm>
#include <utility>

namespace takt::simulation {

using model::MinDistanceActivation;
using model::PeriodicActivation;
using model::SporadicActivation;

namespace {

Duration random_offset(const model::Activation& activation, Random& random) {
  if (const auto* periodic = std::get_if<PeriodicActivation>(&activation)) {
    return random.between(Duration{0}, periodic->period - epsilon);
  }
  if (const auto* sporadic = std::get_if<SporadicActivation>(&activation)) {
    return random.between(Duration{0}, sporadic->min_separation - epsilon);
  }
  return random.between(Duration{0}, std::get<MinDistanceActivation>(activation).values.back());
}

}  // namespace

Releases::Releases(const model::Activation& activation, ReleaseModel model,
                   std::optional<Duration> offset, Random random)
    : model_(model), random_(random) {
  if (std::holds_alternative<PeriodicActivation>(activation)) {
    pattern_ = std::get<PeriodicActivation>(activation);
  } else if (const auto* sporadic = std::get_if<SporadicActivation>(&activation)) {
    pattern_ = *sporadic;
  } else {
    const auto& values = std::get<MinDistanceActivation>(activation).values;
    pattern_ = curves::ActivationCurve::min_distance(values);
    most_recent_ = values.size() - 1;
  }
  const auto* periodic = std::get_if<PeriodicActivation>(&activation);
  if (offset) {
    offset_ += *offset;
  } else if (periodic != nullptr && periodic->phase) {
    // Densest, the first one comes late by the whole jitter.
    const bool late = model == ReleaseModel::synchronous;
    offset_ += *periodic->phase + (late ? periodic->jitter : Duration{0});
  } else if (model == ReleaseModel::random) {
    offset_ += random_offset(activation, random_);
  }
}

Releases::Releases(std::vector<Duration> list)
    : pattern_(std::move(list)), random_(0, Stream::release, 0) {}

std::optional<Instant> Releases::next() {
  Instant release = offset_;
  if (const auto* list = std::get_if<std::vector<Duration>>(&pattern_)) {
    if (static_cast<std::size_t>(given_) == list->size()) return std::nullopt;
    release = Instant((*list)[static_cast<std::size_t>(given_)]);
  } else if (const auto* periodic = std::get_if<PeriodicActivation>(&pattern_)) {
    if (given_ > 0) nominal_ += periodic->period;
    if (given_ == 0) nominal_ = offset_;
    // Densest: the first is late by the whole jitter, the others are not.
    release = model_ == ReleaseModel::random
                  ? nominal_ + random_.between(Duration{0}, periodic->jitter)
                  : std::max(offset_, nominal_ - periodic->jitter);
  } else if (const auto* sporadic = std::get_if<SporadicActivation>(&pattern_)) {
    Duration distance = sporadic->min_separation;
    if (model_ == ReleaseModel::random) {
      distance += random_.between(Duration{0}, sporadic->min_separation);
    }
    nominal_ = given_ == 0 ? offset_ : nominal_ + distance;
    release = model_ == ReleaseModel::random
                  ? nominal_ + random_.between(Duration{0}, sporadic->jitter)
                  : std::max(offset_, nominal_ - sporadic->jitter);
  } else {
    release = dense(std::get<curves::ActivationCurve>(pattern_));
  }
  ++given_;
  last_ = std::max(last_, release);
  return last_;
}

/// The earliest activation that keeps its distance from all before; if random, some later. Longer
/// spans than the curve has values for follow by super-additivity.
Instant Releases::dense(const curves::ActivationCurve& curve) {
  Instant release = offset_;
  for (std::size_t n = 0; n < recent_.size(); ++n) {
    const Instant earlier = recent_[recent_.size() - 1 - n];
    release = std::max(release, earlier + curve.distance(static_cast<std::int64_t>(n) + 2));
  }
  if (model_ == ReleaseModel::random && !recent_.empty() && random_.next() % 4 == 0) {
    release += random_.between(Duration{0}, curve.long_run().span);
  }
  if (recent_.size() == most_recent_) recent_.erase(recent_.begin());
  recent_.push_back(release);
  return release;
}

std::optional<Duration> Releases::period() const {
  const auto* periodic = std::get_if<PeriodicActivation>(&pattern_);
  if (periodic == nullptr) return std::nullopt;
  return periodic->period;
}

std::int64_t Releases::skip_until(Instant time) {
  const Duration period = std::get<PeriodicActivation>(pattern_).period;
  const Duration behind = time - (nominal_ + period);
  if (behind <= Duration{0}) return 0;
  const std::int64_t skipped = (behind + period - epsilon) / period;
  nominal_ += skipped * period;
  return skipped;
}

}  // namespace takt::simulation
