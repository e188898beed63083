# What the README promises: `make test` installs what the tests need and passes them.

.PHONY: test quick lint deps soak bench fuzz

# Everything: unit, property, golden and integration tests, on real engines.
test: deps
	cargo test --locked --workspace

# The unit tests, for the inner loop.
quick:
	cargo test --locked --workspace --lib --bins

# What a reviewer would otherwise have to say.
lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --locked --workspace --no-deps --document-private-items
	@if command -v cargo-deny > /dev/null; then cargo deny --all-features check; \
	    else echo "cargo-deny is not installed: advisories are not checked"; fi

# Installs the database servers that the tests start, where they are missing.
deps:
	tools/install-servers

# The long bars: resumable, ends with a dated table in docs/measurements/.
soak: deps
	cargo build --locked --release
	cargo run --locked --release -p xtask -- soak

# Ratios, measured in one run; ends with a dated table in docs/measurements/.
bench: deps
	cargo run --locked --release -p xtask -- bench

# Coverage-guided fuzzing of the parsers; needs `cargo install cargo-fuzz`. RUSTC_BOOTSTRAP lets a stable compiler instrument.
FUZZ_SECONDS ?= 600
HISTORY_PARSERS = elle plume awdit dbcop binary
FRONT_ENDS = java python c logs
OTHERS = spec troc procedures schema target
fuzz:
	mkdir -p fuzz/corpus/case fuzz/corpus/toml
	RUSTC_BOOTSTRAP=1 cargo fuzz run case --sanitizer none \
	    fuzz/corpus/case corpus/anomalies corpus/contract -- -max_total_time=$(FUZZ_SECONDS)
	for parser in $(HISTORY_PARSERS); do \
	    mkdir -p fuzz/corpus/$$parser && RUSTC_BOOTSTRAP=1 cargo fuzz run $$parser --sanitizer none \
	        fuzz/corpus/$$parser corpus/histories/* -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done
	for parser in $(OTHERS); do \
	    mkdir -p fuzz/corpus/$$parser && RUSTC_BOOTSTRAP=1 cargo fuzz run $$parser --sanitizer none \
	        fuzz/corpus/$$parser corpus/isolation corpus/programs corpus/bugs -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done
	RUSTC_BOOTSTRAP=1 cargo fuzz run toml --sanitizer none fuzz/corpus/toml profiles -- -max_total_time=$(FUZZ_SECONDS)
	for language in $(FRONT_ENDS); do \
	    mkdir -p fuzz/corpus/$$language && RUSTC_BOOTSTRAP=1 cargo fuzz run $$language --sanitizer none \
	        fuzz/corpus/$$language corpus/programs/*/$$language -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done
