#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"
#include "temporary_directory.hpp"

namespace takt::events {

/// By trace: what is added to the offset of its clock.
using ClockCorrections = std::vector<Duration>;

/// The corrections that give the traces of each host one offset. The library merges traces by the
/// time of day, but those of one host share its monotonic clock, however their offsets were
/// measured. Reads each trace up to its first event of a known type.
[[nodiscard]] ClockCorrections clock_corrections(
    const std::vector<std::filesystem::path>& directories);

/// Reads any CTF trace with libbabeltrace2, which knows all of CTF 1.8. `directories` each hold one
/// trace, and `corrections` are theirs; `unpacked` lives as long as the source.
[[nodiscard]] Result<std::unique_ptr<EventStream>> open_with_babeltrace(
    const std::vector<std::filesystem::path>& directories, const ClockCorrections& corrections,
    std::vector<Input> inputs, std::vector<TemporaryDirectory> unpacked);

}  // namespace takt::events
