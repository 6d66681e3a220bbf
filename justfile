# Recipes are short cuts; tests/run.sh runs every check by itself.

# as tests/run.sh sets it: a build knows whether the real traces are there, and another value builds everything again
export WAVESIEVE_DATA := env("WAVESIEVE_DATA", justfile_directory() / "../shared/data")

# the checks of a change, or `just test all` or `just test deep`; names of steps may follow
test *what:
    bash tests/run.sh {{what}}

lint:
    cargo clippy --locked --workspace --exclude wavesieve-ballista --exclude wavesieve-fuzz --all-targets -- -D warnings

fmt:
    cargo fmt --all

# make the fixtures again; the same generator gives the same bytes
fixtures:
    bash fixtures/make.sh

# write the generated pages again
docs:
    cargo run --locked -q -- schema tables > docs/tables.md
    cargo run --locked -q -- schema queries > docs/queries.md
    cargo run --locked -q -- schema sql > docs/sql.md
    cargo run --locked -q -- schema metrics > docs/metrics.md
    cargo run --locked -q -- schema rules > docs/rules.md
    cargo run --locked -q -- schema upstream > docs/upstream.md
    cargo run --locked -q -- schema verbs --output docs/verbs
    cargo run --locked -q -- schema skill --output skills/wavesieve

# a script of benches/ with the options that benches/README.md shows, after a release build: just bench programs --before OLD …
bench name *options:
    cargo build --release --locked --bin wavesieve --example generate_trace
    python3 benches/{{name}}.py {{options}}

# take the picture of a report in the README again; needs chromium and pngquant
picture:
    bash docs/images/make.sh

# all packages, without paths of this machine in them; the profile and the flags build all dependencies again
release:
    bash tests/release/build.sh
    bash tests/release/check.sh

# the documentation as a site in target/site; needs mdbook
site:
    docs/book.py --output target/site
