# Installs the command line tool. The library needs no installation: a Package.swift names it.
#
#   make                                  builds it
#   make install                          into /usr/local, with manual page and completions
#   make install PREFIX=$HOME/.local      somewhere else; DESTDIR=… puts a folder before it, for packagers
#   make uninstall                        removes what install has put there, with the same PREFIX
#   make deb                              a Debian package of it in the current folder
#   make site                             the documentation as a website, in .build-site
#
# A release build with the Swift runtime linked in: it runs where there is no Swift, but for libcurl, libuv, LMDB and
# zlib, which the system keeps up to date.
PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
STRIP ?= strip

SCRATCH := .build-install
STAGE := $(SCRATCH)/stage
BUILD := $(SWIFT) build -c release --scratch-path $(SCRATCH) --static-swift-stdlib

bindir = $(DESTDIR)$(PREFIX)/bin
mandir = $(DESTDIR)$(PREFIX)/share/man/man1
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# Debian's own packages have it in zsh/vendor-completions.
ZSHDIR ?= zsh/site-functions
zshdir = $(DESTDIR)$(PREFIX)/share/$(ZSHDIR)
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
installed = $(bindir)/netspool $(mandir)/netspool.1 $(bashdir)/netspool $(zshdir)/_netspool $(fishdir)/netspool.fish

.PHONY: all install uninstall deb site clean check

all: check
	@$(MAKE) --no-print-directory stage

check:
	@command -v $(SWIFT) >/dev/null || { echo "make: $(SWIFT) is not in PATH: https://www.swift.org/install has Swift 6.2 or later" >&2; exit 1; }
	@CSupport/install >/dev/null

# Always asks SwiftPM, which knows what has changed. The manual page comes from swift-argument-parser's own generator.
.PHONY: stage
stage:
	@mkdir -p $(STAGE)
	@$(BUILD) --product netspool
	@$(BUILD) --product generate-manual
	@bin=$$($(BUILD) --show-bin-path) && \
	  $(STRIP) -o $(STAGE)/netspool "$$bin/netspool" && \
	  "$$bin/generate-manual" $(STAGE)/netspool --output-directory $(STAGE) && \
	  for shell in bash zsh fish; do $(STAGE)/netspool --generate-completion-script $$shell >$(STAGE)/completion.$$shell || exit 1; done
	@size=$$(stat -c %s $(STAGE)/netspool) && began=$$(date +%s%N) && \
	  for n in 1 2 3 4 5 6 7 8 9 10; do $(STAGE)/netspool --version >/dev/null || exit 1; done && \
	  echo "$$size $$(($$(date +%s%N) - began))" | awk '{ printf "make: $(STAGE)/netspool, %.1f MB, starts in %.0f ms\n", $$1 / 1e6, $$2 / 1e7 }'

install: all
	@install -d "$(bindir)" "$(mandir)" "$(bashdir)" "$(zshdir)" "$(fishdir)" 2>/dev/null || { echo "make: may not write to $(DESTDIR)$(PREFIX): run it with sudo, or with PREFIX=\$$HOME/.local" >&2; exit 1; }
	@install -m 0755 $(STAGE)/netspool "$(bindir)/netspool"
	@install -m 0644 $(STAGE)/netspool.1 "$(mandir)/netspool.1"
	@install -m 0644 $(STAGE)/completion.bash "$(bashdir)/netspool"
	@install -m 0644 $(STAGE)/completion.zsh "$(zshdir)/_netspool"
	@install -m 0644 $(STAGE)/completion.fish "$(fishdir)/netspool.fish"
	@echo "make: installed $(bindir)/netspool"

uninstall:
	@rm -f $(foreach file,$(installed),"$(file)")
	@echo "make: removed $(bindir)/netspool"

deb: ; @CSupport/package-deb

site: ; @CSupport/site

clean: ; @rm -rf $(SCRATCH) .build-site
