#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"
#include "temporary_directory.hpp"

namespace takt::events {

/// Reads any CTF trace with libbabeltrace2, which knows all of CTF 1.8. `directories` each hold one
/// trace; `unpacked` lives as long as the source.
[[nodiscard]] Result<std::unique_ptr<EventStream>> open_with_babeltrace(
    const std::vector<std::filesystem::path>& directories, std::vector<Input> inputs,
    std::vector<TemporaryDirectory> unpacked);

}  // namespace takt::events
