#!/usr/bin/env bash
# Builds what a release consists of, for Linux x86_64: build.sh [--profile PROFILE] [--output DIR] [STEP…]
# docs/release.md explains the files. `--profile release` is for trials: it reuses the dependencies of other builds.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/release/tools.sh

steps=(program tree archive deb rpm wheel sdist site sums)
options "$@"
[ "${#asked[@]}" -gt 0 ] || asked=("${steps[@]}")
# The times of files in archives. Compilers must not see it: build scripts of C code run again when it changes, and with
# them all of polars is built again.
epoch="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
unset SOURCE_DATE_EPOCH
if [ "$profile" = dist ]; then
  # Paths of this machine are neither wanted in the program nor equal elsewhere.
  export RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src= --remap-path-prefix=$PWD="
fi

# Only the last link uses the old glibc: objects do not depend on its version. A program at a fixed address has no table of
# 125,000 relocations, which is 0.3 MB of the wheel.
of_program=(-C linker=wavesieve-cc -C relocation-model=static)

make_program() {
  cargo rustc --locked --profile "$profile" --bin wavesieve -- "${of_program[@]}"
  # The library that programs load for `lab capture`. A package of its own, so that it is built without polars.
  cargo rustc --locked --profile "$profile" -p wavesieve-capture --lib -- -C linker=wavesieve-cc
}

clean_wavesieve() {
  # The program without settings of the user.
  env -i PATH="$PATH" HOME=/nonexistent "$target/wavesieve" "$@"
}

make_tree() {
  # Files that are installed below a prefix.
  local package="$target/package"
  local share="$package/share"
  rm -rf "$package"
  mkdir -p "$package"/{bin,lib/wavesieve} "$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,doc/wavesieve/docs}
  install -m 755 "$target/wavesieve" "$package/bin/wavesieve"
  install -m 644 "$target/libwavesieve_capture.so" "$package/lib/wavesieve/libwavesieve_capture.so"
  clean_wavesieve man --output "$share/man/man1"
  gzip -9n "$share"/man/man1/*.1
  clean_wavesieve completions bash > "$share/bash-completion/completions/wavesieve"
  clean_wavesieve completions zsh > "$share/zsh/site-functions/_wavesieve"
  clean_wavesieve completions fish > "$share/fish/vendor_completions.d/wavesieve.fish"
  clean_wavesieve licenses > "$share/doc/wavesieve/THIRD-PARTY.txt"
  cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$share/doc/wavesieve"
  cp -r docs/guide docs/verbs docs/*.md "$share/doc/wavesieve/docs"
}

pack() {
  # pack DIRECTORY NAME FILE: the same files give the same bytes
  tar --create --sort=name --format=gnu --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w,a+X \
    --directory "$1" --transform "s,^\.,$2," . | gzip -9n > "$3"
}

make_archive() { pack "$target/package" "$name" "$output/$name.tar.gz"; }

make_deb() {
  cargo_tool cargo-deb 3.8.0
  SOURCE_DATE_EPOCH="$epoch" "$tool" --locked --no-build --no-strip --profile "$profile" --output "$output/"
}

make_rpm() {
  cargo_tool cargo-generate-rpm 0.21.1
  # Requirements are read from the program, whatever tools of rpm the machine has; rpm of RHEL 8 reads gzip in any case.
  "$tool" --profile "$profile" --target-dir "$CARGO_TARGET_DIR" --auto-req builtin --payload-compress gzip --source-date "$epoch" --output "$output/"
}

make_wheel() {
  (cd python && maturin build --profile "$profile" --compatibility "manylinux_${oldest_glibc/./_}" --compression-level 1 --out "$output" -- "${of_program[@]}")
  python3 tests/release/pack_wheel.py "$output"/wavesieve-"$version"-*.whl
}

make_sdist() { (cd python && SOURCE_DATE_EPOCH="$epoch" maturin sdist --out "$output"); }

make_site() {
  local pages
  pages="$(mktemp -d)"
  docs/book.py --output "$pages/site"
  pack "$pages/site" "wavesieve-$version-docs" "$output/wavesieve-$version-docs.tar.gz"
  rm -rf "$pages"
}

make_sums() {
  rm -f "$output/SHA256SUMS"
  local sums
  sums="$(cd "$output" && sha256sum -- *)"
  printf '%s\n' "$sums" | tee "$output/SHA256SUMS"
}

tools
mkdir -p "$output"
for step in "${asked[@]}"; do
  case " ${steps[*]} " in
    *" $step "*) ;;
    *) echo "error: there is no step \`$step\`; the steps are: ${steps[*]}" >&2; exit 2 ;;
  esac
  printf '\n== %s (after %d s)\n' "$step" "$SECONDS"
  "make_$step"
done
