#!/usr/bin/env bash
# packages.sh [tests]: installs the system packages of packages.txt that are missing, and those of
# packages-tests.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh

. /etc/os-release
distribution="$ID-${VERSION_ID:-}"
case $distribution in
  debian-12 | ubuntu-22.04 | ubuntu-24.04) ;;
  *)
    say "${PRETTY_NAME:-this system} is not one of Debian 12, Ubuntu 22.04, Ubuntu 24.04: no system" \
      "packages are installed; setup/packages*.txt list what Takt needs"
    exit 0
    ;;
esac

lists=(packages.txt)
[ "${1:-}" != tests ] || lists+=(packages-tests.txt)
wanted=$(sed -n -e 's/#.*//' -e "s/^$distribution: *//" -e '/^[a-z0-9.+-]\{1,\} *$/p' "${lists[@]}")
missing=()
for package in $wanted; do
  state=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) || state=
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "root or sudo is needed to install: ${missing[*]}"
  as_root=(sudo)
fi
say "installing system packages (some minutes): ${missing[*]}"
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ "${install[@]}" update && "${install[@]}" install --yes --no-install-recommends "${missing[@]}"; } \
  </dev/null >"$log" 2>&1 || {
  cat "$log" >&2
  fail "apt-get could not install: ${missing[*]} (its messages are above)"
}
