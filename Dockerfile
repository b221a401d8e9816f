# The command line tool in an image of its own, and a model for the image of a service that links NetSpool.
#   docker build -t netspool .
#   docker run --rm netspool get https://example.org/
# Two stages: the compiler stays in the first. The second has the libraries that the program is linked to, name look-up and
# certificates, and nothing else. Both are of the same release of Debian.
FROM swift:6.2-bookworm AS build
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
# Apart from the sources, so that a change of those does not install the libraries again.
COPY CSupport/install CSupport/test-modules CSupport/
RUN CSupport/install && rm -rf /var/lib/apt/lists/*
COPY Package.swift Makefile ./
COPY CSupport CSupport
COPY Sources Sources
COPY Tests Tests
# For a service: swift build -c release --static-swift-stdlib --product YourService
RUN make install PREFIX=/usr/local DESTDIR=/stage

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends libcurl4 libuv1 liblmdb0 zlib1g ca-certificates \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /stage/usr/local/bin/netspool /usr/local/bin/netspool
# Caches and what is frozen: mount a volume on /var/lib/netspool to keep it. LMDB maps files, so it has to be a local one.
ENV XDG_CACHE_HOME=/var/lib/netspool/cache XDG_STATE_HOME=/var/lib/netspool/state
RUN install -d -o 65532 -g 65532 /var/lib/netspool
VOLUME /var/lib/netspool
USER 65532:65532
# The first SIGTERM drains: give it time (docker stop --time 60).
STOPSIGNAL SIGTERM
ENTRYPOINT ["netspool"]
CMD ["--help"]
