# Read by tests/run.sh, tests/html/run.sh and tests/stores/run.sh: what checks need, and how it is installed.

. tests/run/apt.sh

has() {
  # has TOOL: a program, or `module:NAME` for a module of the system's own Python
  case "$1" in
    module:*) /usr/bin/python3 -c "import ${1#module:}" >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

need() {
  # need TOOL PACKAGE [TOOL PACKAGE]…: installs the Debian packages of absent tools, all at once
  local packages=()
  while [ "$#" -gt 0 ]; do
    has "$1" || packages+=("$2")
    shift 2
  done
  [ "${#packages[@]}" -eq 0 ] || install_packages "${packages[@]}"
}

install_packages() {
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "WARNING: these packages are absent, and only root can install them here, by apt-get: $*" >&2
    return 1
  fi
  update_lists && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null && return
  echo "WARNING: apt-get cannot install: $*" >&2
  return 1
}

tools_of() {
  # tools_of STEP: pairs of a tool and its package
  case "$1" in
    tests | properties) echo python3 python3 git git openssl openssl groff groff-base ps procps ;;
    device_code) echo clang++-19 clang-19 clang-offload-bundler-19 clang-tools-19 ld.lld-19 lld-19 llvm-readelf-19 llvm-19 ;;
    fuzzing) echo python3 python3 ;;
    pages) echo node nodejs npm npm chromium chromium pdftotext poppler-utils ;;
    agents) echo node nodejs npm npm ;;
    viewers) echo otf2-print otf2-tools module:otf2 python3-otf2 ;;
    spark) echo java default-jre-headless ;;
    stores) echo node nodejs npm npm curl curl ;;
    cluster) echo protoc protobuf-compiler ;;
    packages) echo debootstrap debootstrap rpm rpm cpio cpio objdump binutils ;;
  esac
}

absent_for() {
  # absent_for STEP: the tools that are not there
  local tool package
  while read -r tool package; do
    has "$tool" || echo "$tool ($package)"
  done < <(tools_of "$1" | xargs -r -n 2)
}

hash_of() { sha256sum "$1" | cut -c1-12; }

environment_of() { echo "$cache/$1-$(hash_of "$2")"; }

make_environment() {
  # make_environment DIRECTORY REQUIREMENTS: uv installs in 9 s what takes pip 50; without it, pip does
  [ ! -e "$1/ready" ] || return 0
  python3 -c "import venv, ensurepip" 2>/dev/null || install_packages python3-venv || return 1
  rm -rf "$1"
  python3 -m venv "$1" || return 1
  local pip=("$1/bin/python" -m pip install --quiet --disable-pip-version-check)
  if ! { "${pip[@]}" uv && "$1/bin/uv" pip install --quiet --python "$1/bin/python" -r "$2"; }; then
    "${pip[@]}" -r "$2" || return 1
  fi
  touch "$1/ready"
}

node_modules() {
  # node_modules NAME DIRECTORY: installs what a lock file names, and prints where
  local place
  place="$(environment_of "$1" "$2/package-lock.json")"
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    mkdir -p "$place"
    cp "$2/package.json" "$2/package-lock.json" "$place"
    (cd "$place" && npm ci --silent --no-fund --no-audit) >&2 || return 1
    touch "$place/ready"
  fi
  echo "$place"
}

device_libraries() {
  # HIP's headers, and device libraries that clang 19 reads. They are unpacked, not installed.
  local place="$cache/device-libraries-2" package bitcode
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place" && mkdir -p "$place/packages" "$place/root" || return 1
    download_packages "$place/packages" trixie rocm-device-libs-17 libamdhip64-dev || return 1
    for package in "$place"/packages/*.deb; do dpkg -x "$package" "$place/root" || return 1; done
    rm -r "$place/packages"
    bitcode="$(find "$place/root" -type d -name bitcode | head -n 1)"
    [ -n "$bitcode" ] && mkdir "$place/root/usr/amdgcn" && ln -s "$bitcode" "$place/root/usr/amdgcn/bitcode" || return 1
    touch "$place/ready"
  fi
}
