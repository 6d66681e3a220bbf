#!/usr/bin/env bash
# As RUSTC_WORKSPACE_WRAPPER, checks the crates of this project against the libraries that `cargo build` left, where `cargo check`
# would compile each library again. FRONT_END names the compiler in place of rustc. No machine code comes out of it.
set -euo pipefail
compiler="${FRONT_END:-$1}"
[ "$compiler" = "$1" ] || set -- "$compiler" "$@"
# A build script has to run.
case " $* " in *" --crate-name build_script_build "*) exec "$@" ;; esac
arguments=()
for argument in "$@"; do
  case "$argument" in
    --emit=*link*) argument=--emit=dep-info,metadata ;;
    # Libraries that tests and programs link.
    *=*/libwavesieve*-*.rlib) argument="${argument%.rlib}.rmeta" ;;
  esac
  arguments+=("$argument")
done
[ "$1" != "${FRONT_END:-}" ] || arguments+=(-D warnings)
exec "${arguments[@]}"
