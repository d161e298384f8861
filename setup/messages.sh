# Sourced by the scripts of this folder: how they speak.

say() { printf 'setup: %s\n' "$*" >&2; }

fail() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 2
}
