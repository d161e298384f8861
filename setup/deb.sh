#!/usr/bin/env bash
# Makes the Debian source package of this commit in build/packaging/debian. It has the viewer built
# in it, as packages are built without network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./messages.sh
root=$(cd .. && pwd)
folder=$root/build/packaging/debian
version=$(sed -n '1s/^takt (\(.*\)) .*/\1/p' "$root/debian/changelog")

rm -rf "$folder"
mkdir -p "$folder/takt-$version"
git -C "$root" archive HEAD | tar --extract --directory "$folder/takt-$version"
cp "$root/build/release/python/takt_viewer/viewer.html" "$folder/takt-$version/debian/"
(cd "$folder" && dpkg-source --build "takt-$version" >dpkg-source.log 2>&1) ||
  fail "dpkg-source made no package (build/packaging/debian/dpkg-source.log)"
rm -r "$folder/takt-$version"
echo "$folder/takt_$version.dsc"
