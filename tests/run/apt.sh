# Read by tests/run/tools.sh and tests/release/check.sh: packages of Debian, from where this system gets its own.

update_lists() {
  # Once in a run: what is listed may be gone from the server.
  [ -z "${lists_updated:-}" ] || return 0
  apt-get update -qq && lists_updated=1
}

debian_mirror() {
  # The address that this system's settings name for Debian's packages; nothing on a system other than Debian.
  local found
  # apt reads sources.list and both forms of sources.list.d itself. Before the first update it knows no origin.
  found="$(apt-get indextargets --format "\$(ORIGIN)|\$(LABEL)|\$(REPO_URI)" 'Created-By: Packages' 'Component: main' 2>/dev/null \
    | sed -n 's/^Debian|Debian|//p' | head -n 1)"
  [ -n "$found" ] && printf '%s\n' "$found"
}

download_packages() {
  # download_packages DIRECTORY RELEASE PACKAGE…: from this system's own release, or from another one of Debian on the same server
  local directory="$1" release="$2"
  shift 2
  if ! command -v apt-get >/dev/null; then
    echo "WARNING: this system has no apt-get" >&2
    return 1
  fi
  [ "$(id -u)" -ne 0 ] || update_lists || true
  (cd "$directory" && apt-get -qq download "$@" 2>/dev/null) || download_from_release "$directory" "$release" "$@"
}

download_from_release() {
  # With lists of its own, so that this system learns nothing of the other release.
  local directory="$1" release="$2" mirror state keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=""
  shift 2
  mirror="$(debian_mirror)" || {
    echo "WARNING: this system's sources of packages name no server of Debian" >&2
    return 1
  }
  state="$(mktemp -d)"
  mkdir -p "$state"/{lists,archives}/partial
  [ ! -e "$keyring" ] || signed="[signed-by=$keyring] "
  echo "deb $signed$mirror $release main" >"$state/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$state/lists"
    -o "Dir::Cache=$state" -o APT::Sandbox::User=root)
  local code=0
  (cd "$directory" && "${apt[@]}" update && "${apt[@]}" download "$@") || code=1
  rm -rf "$state"
  [ "$code" -eq 0 ] || echo "WARNING: $* of Debian's release $release cannot be had from this system's server of packages" >&2
  return "$code"
}
