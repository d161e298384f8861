#include "objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "../life.hpp"
#include "../process.hpp"
#include "../process_trace.hpp"
#include "discovery.hpp"
#include "takt/capture/ring/mapping.hpp"
#include "takt/capture/ring/object_log.hpp"

namespace takt::capture::ring {

struct Objects::Source {
  Source(pid_t process, Identity its_ring, Mapping its_mapping,
         std::unique_ptr<ProcessTrace> its_trace)
      : life(process),
        ring(std::move(its_ring)),
        mapping(std::move(its_mapping)),
        log(mapping),
        trace(std::move(its_trace)) {}

  void collect(std::uint64_t events, std::uint64_t since) {
    losses = append_objects(log, events, since, std::numeric_limits<std::uint64_t>::max(), *trace);
    trace->flush();
  }

  Life life;
  Identity ring;
  Mapping mapping;
  ObjectLog log;
  std::unique_ptr<ProcessTrace> trace;
  Losses losses;  // until the log was read last
};

Objects::Objects(ctf::Storage& storage, std::uint64_t events, std::uint64_t since)
    : storage_(storage), events_(events), since_(since) {}

Objects::~Objects() = default;

bool Objects::admit(pid_t process, const Descriptor& memory) {
  release_ended();
  const auto ring = identity_of(memory);
  if (std::ranges::any_of(sources_, [&](const auto& source) { return source->ring == ring; })) {
    return false;
  }
  auto mapping = Mapping::of(memory.get());
  if (!mapping) {  // by another version of Takt: nobody will know what its handles mean
    ++ended_.unrecorded_processes;
    return false;
  }
  const auto name = fmt::format("{}-{}-{}", file_name_of(process), process, admitted_++);
  auto trace = ProcessTrace::create_beside(storage_, std::filesystem::path("objects") / name,
                                           "takt-objects", process, events_, mapping->gid_size());
  if (!trace) {
    ++ended_.unrecorded_processes;
    return false;
  }
  sources_.push_back(
      std::make_unique<Source>(process, ring, std::move(*mapping), std::move(*trace)));
  return true;
}

void Objects::collect() {
  for (const auto& source : sources_) {
    source->collect(events_, since_);
  }
  release_ended();
}

Losses Objects::losses() const {
  Losses all = ended_;
  for (const auto& source : sources_) {
    all = all + source->losses;
  }
  return all;
}

void Objects::release_ended() {
  std::erase_if(sources_, [&](const auto& source) {
    const bool ended = source->life.has_ended();
    if (ended) {
      source->collect(events_, since_);
      ended_ = ended_ + source->losses;
    }
    return ended;
  });
}

}  // namespace takt::capture::ring
