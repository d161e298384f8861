#pragma once

#include <string>
#include <string_view>

namespace takt::events {

/// Appends a text from a trace to `bytes` as valid UTF-8, on which the readers of our output rely.
/// The text may hold any bytes: each one that is not part of a character becomes U+FFFD.
void append_utf8(std::string_view text, std::string& bytes);

}  // namespace takt::events
