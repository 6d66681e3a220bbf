# Read by build.sh and check.sh: directories, and the tools of tests/release/requirements.txt.

cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
# The value is part of the build, as in tests/run.sh: with another one everything is built again.
export WAVESIEVE_DATA="${WAVESIEVE_DATA:-$PWD/../shared/data}"

version="$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
triple="x86_64-unknown-linux-gnu"
name="wavesieve-$version-$triple"
profile="dist"
output=""
oldest_glibc="2.28"
most_wheel_bytes=$((35 * 1000 * 1000))

options() {
  # options ARGUMENT…: sets profile and output, and asked to the rest
  asked=()
  while [ "$#" -gt 0 ]; do
    case "$1" in
      --profile) profile="$2"; shift 2 ;;
      --output) output="$2"; shift 2 ;;
      -*) echo "error: unknown option \`$1\`; the options are --profile PROFILE and --output DIR" >&2; exit 2 ;;
      *) asked+=("$1"); shift ;;
    esac
  done
  output="$(realpath -m "${output:-$CARGO_TARGET_DIR/packages/$version}")"
  target="$CARGO_TARGET_DIR/$profile"
}

tools() {
  # The Python tools in an environment of their own, and a linker that knows the symbols of the oldest glibc.
  venv="$cache/release-$(sha256sum tests/release/requirements.txt | cut -c1-12)"
  if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/release/requirements.txt
    touch "$venv/ready"
  fi
  # Found by its name, because its path would be part of the build. cargo-zigbuild replaces the flags that zig does not know.
  cat > "$venv/bin/wavesieve-cc" <<CC
#!/bin/sh
PATH="$venv/bin:\$PATH" exec cargo-zigbuild zig cc -- -g -target x86_64-linux-gnu.$oldest_glibc "\$@"
CC
  chmod +x "$venv/bin/wavesieve-cc"
  export PATH="$venv/bin:$PATH"
}

cargo_tool() {
  # cargo_tool NAME VERSION: builds a tool of cargo once; sets tool to its path
  local place="$cache/tools/$1-$2"
  tool="$place/bin/$1"
  if [ ! -x "$tool" ]; then
    RUSTFLAGS="" cargo install --quiet --locked --root "$place" --target-dir "$cache/tools/target" --version "$2" "$1"
  fi
}
