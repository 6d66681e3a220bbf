#!/usr/bin/env bash
# Checks the files that build.sh made: check.sh [--profile PROFILE] [--output DIR] [STEP…]
# Needs binutils, debootstrap, rpm and cpio of Debian, and for the clean root to be root.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/release/tools.sh
. tests/run/apt.sh

steps=(sums symbols runs deb rpm wheel sdist repeat)
options "$@"
[ "${#asked[@]}" -gt 0 ] || asked=("${steps[@]}")
# The oldest Debian that the registry still has: glibc 2.31.
suite="${WAVESIEVE_SUITE:-bullseye}"
work="$(mktemp -d)"
trap 'umount "$work/root/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT

fail() { echo "error: $*" >&2; exit 1; }

one() {
  # one PATTERN: the only file of the output with such a name
  local found=("$output"/$1)
  [ "${#found[@]}" -eq 1 ] && [ -e "${found[0]}" ] || fail "expected one $1 in $output, not ${#found[@]}"
  printf '%s\n' "${found[0]}"
}

programs() {
  # The program of every package, unpacked
  mkdir -p "$work/programs"
  tar -xzOf "$(one "$name.tar.gz")" "$name/bin/wavesieve" > "$work/programs/archive"
  dpkg-deb --fsys-tarfile "$(one '*.deb')" | tar -xO ./usr/bin/wavesieve > "$work/programs/deb"
  # rpm2cpio wants a size that the builder does not record, and fails after it has written all. The bytes are compared below.
  { rpm2cpio "$(one '*.rpm')" || true; } | (cd "$work" && cpio --quiet -idu ./usr/bin/wavesieve)
  mv "$work/usr/bin/wavesieve" "$work/programs/rpm"
  python3 - "$(one '*.whl')" "$work/programs/wheel" <<'PYTHON'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[program] = [name for name in wheel.namelist() if name.endswith(".data/scripts/wavesieve")]
open(sys.argv[2], "wb").write(wheel.read(program))
PYTHON
  chmod +x "$work"/programs/*
}

libraries() {
  # The library for captures of every package, unpacked
  local path=lib/wavesieve/libwavesieve_capture.so
  mkdir -p "$work/libraries"
  tar -xzOf "$(one "$name.tar.gz")" "$name/$path" > "$work/libraries/archive"
  dpkg-deb --fsys-tarfile "$(one '*.deb')" | tar -xO "./usr/$path" > "$work/libraries/deb"
  { rpm2cpio "$(one '*.rpm')" || true; } | (cd "$work" && cpio --quiet -idu "./usr/$path")
  mv "$work/usr/$path" "$work/libraries/rpm"
}

behaves() {
  # behaves COMMAND…: the program reads, answers, catches panics of the engine and reports damage
  local code=0 text
  "$@" --version | grep -qx "wavesieve $version" || fail "$*: --version"
  "$@" info "$traces" > "$work/info" || fail "$*: info"
  "$@" table kernel_summary "$traces" -f csv --name base --top 3 --quiet > "$work/csv" || fail "$*: table"
  [ "$(wc -l < "$work/csv")" -ge 4 ] || fail "$*: table printed $(cat "$work/csv")"
  # The engine panics at this statement: what unwinds the stack must work.
  text="$("$@" sql "SELECT GREATEST() FROM kernels" "$traces" 2>&1)" && fail "$*: no error for a statement that panics" || code=$?
  [ "$code" -eq 1 ] || [ "$code" -eq 2 ] || fail "$*: exit code $code for a statement that panics: $text"
  grep -q "the engine gave up on it" <<< "$text" || fail "$*: $text"
  code=0
  text="$("$@" table busy "$damaged" 2>&1)" || code=$?
  [ "$code" -eq 5 ] || fail "$*: exit code $code for a damaged trace: $text"
}

samples() {
  # samples DIRECTORY: traces, and a copy in which one rank's database is cut
  traces="$1/two_nodes" damaged="$1/damaged"
  cp -r fixtures/two_nodes "$traces"
  cp -r fixtures/two_nodes "$damaged"
  local database
  database="$(find "$damaged" -type f -name '*.db' | sort | tail -n 1)"
  truncate -s $(($(stat -c %s "$database") / 2)) "$database"
}

finds_library() {
  # finds_library COMMAND…: `lab capture` finds the library that it comes with
  "$@" lab capture --plan --kernel . -- true > "$work/plan" 2>&1 && grep -q /lib/wavesieve/libwavesieve_capture.so "$work/plan" \
    || fail "$*: lab capture: $(cat "$work/plan")"
}
check_sums() { (cd "$output" && sha256sum --quiet -c SHA256SUMS && echo "$(wc -l < SHA256SUMS) files"); }

check_symbols() {
  programs
  libraries
  local part newest bytes
  cmp "$work/programs/archive" "$work/programs/deb"
  cmp "$work/programs/archive" "$work/programs/rpm"
  for part in deb rpm; do
    cmp "$work/libraries/archive" "$work/libraries/$part"
  done
  for part in programs/archive programs/wheel libraries/archive; do
    newest="$(objdump -T "$work/$part" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)"
    echo "$part: $(stat -c %s "$work/$part") bytes, newest symbols $newest, $(readelf -d "$work/$part" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | xargs)"
    [ "$(printf '%s\n' "GLIBC_$oldest_glibc" "$newest" | sort -V | tail -n 1)" = "GLIBC_$oldest_glibc" ] || fail "$part needs $newest"
  done
  auditwheel show "$(one '*.whl')" | tee "$work/audit"
  tr -d '\n' < "$work/audit" | grep -q "\"manylinux_${oldest_glibc/./_}_x86_64\"\|manylinux_2_1[0-9]_x86_64\|manylinux_2_2[0-8]_x86_64" || fail "auditwheel"
  bytes="$(stat -c %s "$(one '*.whl')")"
  echo "wheel: $bytes bytes"
  [ "$bytes" -le "$most_wheel_bytes" ] || fail "the wheel has more than $most_wheel_bytes bytes"
}

check_runs() {
  programs
  mkdir -p "$work/here"
  samples "$work/here"
  behaves "$work/programs/archive"
  behaves "$work/programs/wheel"
  echo "archive and wheel: run here, with glibc $(ldd --version | sed -n '1s/.* //p')"
}

clean_root() {
  # A minimal system with manual pages and completions, kept as an archive
  local kept="$cache/root-$suite.tar" mirror
  if [ ! -e "$kept" ]; then
    mirror="$(debian_mirror)" || fail "no clean root: this system's sources of packages name no server of Debian"
    debootstrap --variant=minbase --include=man-db,bash-completion "$suite" "$work/bootstrap" "$mirror" > "$work/log" 2>&1 \
      || { tail -n 5 "$work/log" >&2; fail "debootstrap $suite"; }
    tar -C "$work/bootstrap" -cf "$kept.new" . && mv "$kept.new" "$kept"
    rm -rf "$work/bootstrap"
  fi
  mkdir "$1" && tar -C "$1" -xf "$kept"
}

check_deb() {
  [ "$(id -u)" -eq 0 ] || fail "a clean root needs the user root"
  local root="$work/root"
  clean_root "$root"
  inside() { env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 chroot "$root" "$@"; }
  cp "$(one '*.deb')" "$root/tmp/package.deb"
  inside dpkg -i /tmp/package.deb
  samples "$root/tmp"
  traces=/tmp/two_nodes damaged=/tmp/damaged
  behaves inside wavesieve
  # It asks the system where it lies itself.
  mkdir -p "$root/proc" && mount -t proc proc "$root/proc"
  finds_library inside wavesieve
  umount "$root/proc"
  inside man -P cat wavesieve > "$work/page" && grep -q "SYNOPSIS" "$work/page" || fail "man wavesieve"
  inside man -P cat wavesieve-table-kernel_summary | grep -q "kernel_summary" || fail "man wavesieve-table-kernel_summary"
  inside bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader wavesieve; complete -p wavesieve
    COMP_WORDS=(wavesieve ta) COMP_CWORD=1; _wavesieve wavesieve ta wavesieve; [ "${COMPREPLY[*]}" = table ]' || fail "completion in bash"
  inside test -e /usr/share/zsh/vendor-completions/_wavesieve -a -e /usr/share/fish/vendor_completions.d/wavesieve.fish || fail "completions"
  inside grep -q "^polars" /usr/share/doc/wavesieve/THIRD-PARTY.txt || fail "third-party notices"
  echo "deb: installed and run in $suite, glibc $(inside ldd --version | sed -n '1s/.* //p'); $(inside dpkg -L wavesieve | wc -l) paths"
  inside dpkg -r wavesieve
  rm -rf "$root"/tmp/*
  [ -z "$(find "$root" -xdev -iname '*wavesieve*' -not -path '*/var/lib/dpkg/*' -not -path '*/var/cache/*')" ] || fail "dpkg -r leaves files"
}

check_rpm() {
  local package root="$work/rpmroot"
  package="$(one '*.rpm')"
  rpm -qp --nosignature --info "$package" | head -n 12
  rpm -qp --nosignature --requires "$package" | tee "$work/requires"
  local newest
  newest="$(grep -o 'GLIBC_[0-9.]*' "$work/requires" | sort -Vu | tail -n 1)"
  [ "$(printf '%s\n' "GLIBC_$oldest_glibc" "$newest" | sort -V | tail -n 1)" = "GLIBC_$oldest_glibc" ] || fail "the rpm needs $newest"
  rpm -qlp --nosignature "$package" > "$work/list"
  for path in /usr/bin/wavesieve /usr/share/man/man1/wavesieve.1.gz /usr/share/bash-completion/completions/wavesieve \
    /usr/share/zsh/site-functions/_wavesieve /usr/share/licenses/wavesieve/THIRD-PARTY.txt /usr/share/doc/wavesieve/docs/guide/install.md \
    /usr/lib/wavesieve/libwavesieve_capture.so; do
    grep -qx "$path" "$work/list" || fail "the rpm lacks $path"
  done
  mkdir "$root" && rpm --root "$root" --initdb
  rpm --root "$root" --nosignature --nodeps --install "$package"
  "$root/usr/bin/wavesieve" --version
  # Checksums and modes of what was installed; owners are those of the user who runs this.
  rpm --root "$root" --nodeps --nouser --nogroup -V wavesieve || fail "rpm -V"
  echo "rpm: $(wc -l < "$work/list") paths; installed into an empty root, dependencies not resolved"
}

check_wheel() {
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$(one '*.whl')"
  (unset WAVESIEVE_BINARY; env PATH=/usr/bin:/bin "$work/venv/bin/python" - fixtures/two_nodes <<'PYTHON'
import sys
import wavesieve
trace = wavesieve.open(sys.argv[1])
rows = trace.table("kernel_summary", by=["rank"], name="base").to_dicts()
assert {row["rank"] for row in rows} == {0, 1, 2, 3}, rows
assert "<svg" in trace.plot("gpu_utilization_map").svg
print(f"wheel: {wavesieve.__version__}, {len(rows)} rows of kernel_summary, a plot")
PYTHON
  )
  "$work/venv/bin/wavesieve" --version
}

check_sdist() {
  # Everything a build needs is in it; the dependencies that are already built are used again.
  mkdir "$work/sdist" && tar -C "$work/sdist" -xzf "$(one "wavesieve-$version.tar.gz")" --strip-components 1
  (cd "$work/sdist" && maturin build --profile "$profile" --out "$work/from-sdist" -- -C linker=wavesieve-cc)
  python3 - "$(one '*.whl')" "$work"/from-sdist/*.whl <<'PYTHON'
import sys, zipfile
first, second = ({n for n in zipfile.ZipFile(path).namelist()} for path in sys.argv[1:])
if first != second:
    sys.exit(f"error: wheels differ: {sorted(first ^ second)}")
print(f"sdist: a wheel built from it has the same {len(first)} files")
PYTHON
}

same_wheel() {
  python3 - "$@" <<'PYTHON'
import sys, zipfile
def content(path):
    wheel = zipfile.ZipFile(path)
    return [(n, wheel.read(n)) for n in wheel.namelist() if "/sboms/" not in n and not n.endswith(".dist-info/RECORD")]
sys.exit(content(sys.argv[1]) != content(sys.argv[2]))
PYTHON
}

check_repeat() {
  # Packages of the same program once more: equal to the byte
  tests/release/build.sh --profile "$profile" --output "$work/again" tree archive deb rpm wheel sdist site > "$work/log" 2>&1 \
    || { tail -n 20 "$work/log" >&2; fail "building again"; }
  local file different=0
  for file in "$work"/again/*; do
    # The list of components in a wheel has a time and a number drawn at random; RECORD has its checksum.
    case "$file" in
      *.whl) same_wheel "$file" "$output/$(basename "$file")" || different=1 ;;
      *) cmp "$file" "$output/$(basename "$file")" || different=1 ;;
    esac
  done
  [ "$different" -eq 0 ] || fail "files differ from the first build"
  echo "$(find "$work/again" -type f | wc -l) files are equal to the byte when they are packed again, but for the list of components in the wheel"
}

tools
for step in "${asked[@]}"; do
  case " ${steps[*]} " in
    *" $step "*) ;;
    *) fail "there is no step \`$step\`; the steps are: ${steps[*]}" ;;
  esac
  printf '\n== %s (after %d s)\n' "$step" "$SECONDS"
  # In a shell of its own, so that each step begins with an empty directory.
  (work="$work/$step"; mkdir "$work"; "check_$step")
done
echo "all checks passed: ${asked[*]}"
