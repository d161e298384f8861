#pragma once

#include <cstdint>

namespace takt::viewer {

// Levels of detail, as in web/src/data/source.ts: level 0 is exact; at level L > 0 spans shorter
// than the resolution are merged with their neighbours.

/// The finest level that is stored; finer ones are made from the spans on request.
inline constexpr int first_stored_level = 5;
inline constexpr int last_stored_level = 16;  // five hours a pixel

/// Nanoseconds; 0 is exact.
constexpr std::int64_t resolution(int level) {
  return level <= 0 ? 0 : std::int64_t{1} << (14 + 2 * (level - 1));
}

constexpr std::int64_t tile_length(int level) { return resolution(level < 1 ? 1 : level) * 2048; }

/// One or more spans of a track that are drawn as one.
struct Merged {
  std::int64_t track = 0;
  /// The id of the longest span, and its subject.
  std::int64_t id = 0;
  std::int64_t subject = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t count = 0;
  /// How long the spans took together.
  std::int64_t busy = 0;
};

/// Merges spans that are handed over by track and start.
class Merger {
 public:
  explicit Merger(std::int64_t resolution) : resolution_(resolution) {}

  /// Calls `done` with a merged span when no later span can belong to it.
  template <typename Done>
  void add(const Merged& span, Done done) {
    const std::int64_t duration = span.end - span.start;
    const bool is_short = duration < resolution_;
    const bool fits = mergeable_ && is_short && span.track == last_.track &&
                      span.start - last_.end < resolution_ &&
                      span.end - last_.start <= 2 * resolution_;
    mergeable_ = is_short;
    if (!fits) {
      finish(done);
      last_ = span;
      longest_ = duration;
      return;
    }
    last_.end = span.end;
    ++last_.count;
    last_.busy += duration;
    if (duration > longest_) {
      longest_ = duration;
      last_.id = span.id;
      last_.subject = span.subject;
    }
  }
  template <typename Done>
  void finish(Done done) {
    if (last_.count > 0) {
      done(last_);
      last_ = {};
    }
  }

 private:
  std::int64_t resolution_;
  Merged last_;
  std::int64_t longest_ = 0;
  bool mergeable_ = false;
};

}  // namespace takt::viewer
