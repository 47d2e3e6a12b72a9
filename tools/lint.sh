#!/usr/bin/env bash
# Lints a copy of this checkout at a fixed path, which all checkouts of a user share. golangci-lint's cache names files by their absolute paths:
# results of another path match no exclusion, and without a cache the first run takes minutes. Where the user's cache cannot be written, the copy is in _output.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lint=${INTENTPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/intentplane}/lint
{ mkdir -p "$lint" && true >>"$lint/lock"; } 2>/dev/null || { lint=$here/_output/lint && mkdir -p "$lint"; }

exec 9>"$lint/lock"
if command -v flock >/dev/null; then
	flock 9
fi
rm -rf "$lint/checkout"
mkdir "$lint/checkout"
tar -C "$here" --exclude=./.git --exclude=./_output -cf - . | tar -C "$lint/checkout" -xf -
cd "$lint/checkout"
GOLANGCI_LINT_CACHE="$lint/cache" "$GOLANGCI_LINT" run ./...
