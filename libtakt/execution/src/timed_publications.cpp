#include "takt/execution/timed_publications.hpp"

#include <algorithm>

#include "takt/base/grow.hpp"

namespace takt::execution {

void TimedPublications::add(const Publication& publication, PublicationId id) {
  Topic& topic = grow_to(topics_, publication.topic);
  if (topic.newest.size() == most_of_a_topic) {
    topic.newest.pop_front();
    ++topic.forgotten;
  }
  topic.newest.push_back({.id = id, .thread = publication.thread, .begin = publication.begin});
  Open& open = grow_to(open_, publication.thread);
  open_count_ += open.is_open ? 0 : 1;
  open = {true, publication.topic, topic.forgotten + topic.newest.size() - 1};
}

void TimedPublications::close(ThreadIndex thread, Instant time) {
  Open& open = open_[thread.value()];
  open.is_open = false;
  --open_count_;
  Topic& topic = topics_[open.topic.value()];
  if (open.number >= topic.forgotten) topic.newest[open.number - topic.forgotten].end = time;
}

MessageIndex::Matches TimedPublications::find(TopicIndex topic, std::int64_t source_timestamp) {
  MessageIndex::Matches matches;
  if (source_timestamp == 0 || topic.value() >= topics_.size()) return matches;
  const Instant sent(bounded(Duration(source_timestamp)) - epoch_);
  Entry* found = nullptr;
  for (Entry& entry : topics_[topic.value()].newest) {
    if (entry.source_timestamp == source_timestamp) return {1, entry.id};
    const bool may_be = entry.source_timestamp == 0 && entry.begin - clock_error <= sent &&
                        (entry.end == Instant::max() || sent <= entry.end + clock_error);
    if (!may_be) continue;
    const bool follows = matches.count == 1 && found->thread == entry.thread;
    if (follows && sent < entry.begin) continue;
    matches.count = follows ? 1 : std::min(matches.count + 1, MessageIndex::several);
    matches.newest = entry.id;
    found = &entry;
  }
  if (matches.count == 1) found->source_timestamp = source_timestamp;
  return matches;
}

}  // namespace takt::execution
