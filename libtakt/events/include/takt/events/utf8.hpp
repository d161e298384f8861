#pragma once

#include <string>
#include <string_view>

namespace takt::events {

/// Appends a text from a trace, which may be any bytes, as the UTF-8 that readers of what is made
/// from it rely on: each byte that is not part of a character becomes U+FFFD.
void append_utf8(std::string_view text, std::string& bytes);

}  // namespace takt::events
