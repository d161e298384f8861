#pragma once

#include <string>
#include <string_view>

namespace takt {

/// Text from anywhere, harmless to terminals and on one line: what a terminal would obey or hide
/// becomes U+FFFD. That is control characters (C0, C1), marks of direction and other invisible
/// ones, line and paragraph separators, and bytes that are no UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace takt
