/// The options of `fetch`, `get` and `post`: what they are called, what they take, what they mean and where they act is said
/// here and nowhere else. The parser, help, completions, the manual, the configuration file, refusals, the printed curl
/// command and the masking of secrets go by it.
///
/// A line is `names <value> marks: help`, under the commands that have the option; one without help is hidden.
///
///     inverts        `--no-NAME` says the opposite
///     kind           of another option, before the dash in its name, among which the order says what is sent
///     curl           `--curl` prints it: the library's own command does not tell it
///     unfrozen       'post --freeze' does not take it: another call, which does not know it, may send what is frozen
///     secret-KIND    what of its value is kept from terminals and logs; see `Secrets`
enum OptionTable {
  static let text = """
    # fetch get post
    -H, --header <field> secret-field: Send a header, as 'Name: value'; 'Name:' leaves one out, 'Name;' sends it empty, '@file' has one in each line. Repeatable.
    -A, --user-agent <text>: Send this User-Agent; '' sends none. Default: netspool/VERSION.
    -e, --referer <url> secret-url: Send this Referer.
    -m, --max-time, --timeout <time> curl: Give each attempt up after this long: 30s, 5m, 1h; 0 never. Default: 5m in fetch; in get and post a body that keeps coming has all the time. A stalled transfer ends after 30 s without progress.
    --retry <n> curl unfrozen: Try a request this many times more when it fails for now. Retry-After is honoured. On the command line it holds for POST as well, as with curl. Default: 2.
    --retry-delay <time> curl unfrozen: Wait so long before each other attempt. Default: ever longer.
    --retry-max-time <time> curl unfrozen: Give all attempts together up after this long.
    --retry-all-errors curl unfrozen: Try again whatever the failure, a status of 404 as well.
    --retry-connrefused curl:
    --max-filesize <bytes> curl unfrozen: Give up a body that is longer: 500k, 2M (binary units).
    --limit-rate <bytes> curl unfrozen: Receive at most this many bytes per second: 500k, 2M (binary units).
    --compressed inverts curl: Ask for compressed bodies, and write them decoded. It is so unless told otherwise.
    -u, --user <user> secret-colon: Sign in as this user, by Basic unless told otherwise: 'user:password', or 'user' with the password in --password-file or $NETSPOOL_PASSWORD, where other users of this machine do not see it.
    --password-file <file>: Read the password from the first line of this file; '-' is standard input.
    --basic: Sign in by Basic. It is so unless told otherwise.
    --digest: Sign in by Digest, with MD5 or SHA-256, when the server asks.
    --anyauth: Sign in by Digest if the server offers it, else by Basic; when it asks.
    --ntlm: Sign in by NTLM: 'DOMAIN\\user'. Each request has a connection of its own.
    --aws-sigv4 <scope>: Sign each request as Amazon's services want it (Signature Version 4): 'aws:amz:region:service', with --user 'key:secret'. Region and service may stand in the host's name instead: service.region.amazonaws.com.
    --in-clear: Send the password over plain HTTP to other machines as well, where anybody on the way can read it.
    --oauth2-bearer <token> secret-all: Sign in with this token.
    -n, --netrc: Take user and password from ~/.netrc, which nobody else may read. $NETRC names another file.
    --netrc-file <file>: Take them from this file.
    --netrc-optional: As --netrc, and a file that is not there is none.
    -b, --cookie <data|file> secret-cookie curl: Send these cookies, as 'name=value; other=value', or those of a file that --cookie-jar or a browser wrote.
    -c, --cookie-jar <file> curl unfrozen: Keep cookies, redirects included, and write all of them to this file when it is done.
    -x, --proxy <proxy> secret-proxy curl: Ask by this proxy: [http|https|socks5h://][user:password@]host[:port]; '' for none, whatever http_proxy, https_proxy and all_proxy say.
    -U, --proxy-user <user> secret-colon curl: Sign in to the proxy, as 'user:password'.
    --noproxy <hosts> curl: Hosts to ask without a proxy, divided by commas; '*' for all. Default: $no_proxy.
    --proxy-basic curl:
    -k, --insecure curl: Believe any certificate: whoever is on the way reads everything.
    --cacert <file> curl: Believe the authorities of this file. Default: $CURL_CA_BUNDLE, $SSL_CERT_FILE, or the system's.
    --capath <dir> curl: Believe the authorities in this folder.
    -E, --cert <file[:password]> secret-colon unfrozen: Show this client certificate, PEM or PKCS#12.
    --key <file> unfrozen: The private key of --cert, if it is in a file of its own.
    --pass <text> secret-all unfrozen: The password of the key.
    --resolve <host:port:address> curl: Connect to this address instead of the host's own. Repeatable.
    --connect-to <host1:port1:host2:port2> curl: Connect to the second host and port instead of the first; an empty first one is any. Repeatable.
    -4, --ipv4 curl: Connect to addresses of IPv4 alone.
    -6, --ipv6 curl: Connect to addresses of IPv6 alone.
    --unix-socket <path> curl: Connect to this socket instead of the network.
    --interface <name> curl: Connect by this interface of the machine alone: eth0.
    --connect-timeout <time> curl: Give a connection up after this long: 5s. Default: 10s.
    --http1.1 curl: Speak HTTP/1.1.
    --http2 curl: Speak HTTP/2 over TLS where the server can. It is so unless told otherwise.
    --http2-prior-knowledge curl: Speak HTTP/2 over plain HTTP as well, without asking first.
    -L, --location inverts curl: Follow redirects. It is so unless told otherwise.
    --max-redirs <n> curl: Follow at most this many redirects; -1: as many as it takes.
    -R, --remote-time curl unfrozen: Give files the time of Last-Modified.
    --har <x.har> unfrozen: Write an HTTP archive (HAR 1.2) without bodies, secrets masked.
    -g, --globoff curl: Take brackets and braces in URLs of the command line as they stand.
    -K, --config <file>: Read options from this file, written as the configuration file or as curl's; '-' is standard input.
    --no-config: Pay no attention to the configuration file.

    # fetch get
    --cache <dir>: The folder of the cache. Default: $XDG_CACHE_HOME/netspool/default, or ~/.cache/netspool/default.

    # get
    --cached: Use the cache: take what is fresh in it from there, and keep what comes. Without it, get asks the server as curl does. Implied by --cache.

    # get post
    --url <url> secret-url: A URL, as the others.
    -X, --request, --method <method>: The request method, whatever else says.
    -:, --next: Begin another command line, with options of its own, which runs when this one has ended.
    --curl: Print the equivalent curl command, secrets and all, and send nothing.
    -o, --output <file> curl: Write the body to this file instead of standard output ('-'). It appears when it is whole. With several URLs one for each, in their order; '#1' is what stands for the first brackets or braces of the URL.
    -O, --remote-name curl unfrozen: Write the body to a file with the name that ends the URL; with several URLs once for each.
    --remote-name-all curl unfrozen: As --remote-name for all URLs.
    -J, --remote-header-name curl unfrozen: With -O: take the name that the server gives (Content-Disposition). A file that is there stays.
    --output-dir <dir> curl unfrozen: Put files into this folder.
    --create-dirs curl unfrozen: Make the folders of --output where they are missing.
    -C, --continue-at <-|offset> curl unfrozen: Go on with a download that broke off: '-' finds out by itself where, a number is a byte. Needs a file.
    --continue inverts: As --continue-at -. Without either, files over 8 MiB go on; with --no-continue none.
    -r, --range <range>: Ask for these bytes only: 0-499, 500-, -500; 500 is 500-.
    -z, --time-cond <date|file>: Ask only for what is newer than a date or a file; '-' before it: older.
    -I, --head unfrozen: Ask for the head alone, and write it.
    -i, --include curl unfrozen: Write the head before the body.
    -D, --dump-header <file> curl unfrozen: Write the head to this file; '-' is standard output.
    -w, --write-out <format> curl unfrozen: Write this to standard output when it is done; '%{http_code}', '%{size_download}', '%{time_total}' and their like as curl's, '@file' has it.
    -f, --fail inverts curl: With --fail the body of a status of 400 and more goes nowhere, with --no-fail to a file as well. Without either it goes to standard output only.
    --fail-with-body curl: As --no-fail.
    -s, --silent curl: No progress, no messages.
    -S, --show-error curl: With --silent: messages all the same.
    -v, --verbose curl: Show what is sent and received on standard error, secrets masked.
    --no-clobber curl unfrozen: Leave a file that is there, and write name.1, name.2, ... beside it.
    --etag-save <file> curl unfrozen: Write the ETag of the answer to this file.
    --etag-compare <file>: Ask only for what has another ETag than this file holds.
    --stderr <file> curl: Write messages to this file; '-' is standard output.
    --remove-on-error curl:
    -N, --no-buffer curl:
    -#, --progress-bar curl:
    --no-progress-meter curl: No progress.
    -d, --data, --data-ascii <a=b|@file> kind: Send this text as application/x-www-form-urlencoded; '@file' sends a file without its line ends, '@-' standard input. Several are joined by '&'.
    --data-raw <text> kind: As --data, and '@' means nothing.
    --data-binary <text|@file> kind: As --data, and files are sent as they stand.
    --data-urlencode <text> kind: As --data, percent-encoded first: 'text', 'name=text', '@file' or 'name@file'.
    --url-query <text>: Put this into the query of the URL, encoded as by --data-urlencode.
    -G, --get: Put all of --data into the query of the URL.
    -F, --form <k=v|k=@file> kind: Send a field, as multipart/form-data: 'name=text', 'name=@file' uploads a file, 'name=<file' takes its text; ';type=' and ';filename=' behind it. A value with ';' stands in double quotes. Repeatable.
    --form-string <k=v> kind: As --form, and '@', '<' and ';' mean nothing.
    -T, --upload-file <file>: Send a file by PUT, '-' for standard input; a URL that ends with '/' gets its name. With several URLs one for each, in their order.
    --file <path>: Send a file as it stands, '-' for standard input; as application/octet-stream unless --header names another Content-Type.
    --json <text>: Send this text as application/json, and ask for JSON; '@file' and '@-' send files.

    # post
    --idempotency-key <key>: Send this key with every attempt, so that the server acts once; makes a POST repeatable. With --freeze a key is drawn if none is given.
    --freeze: Keep the request on disk until the origin has answered. Prints its ticket as soon as it is there, and goes on trying until it is sent.
    --detach: With --freeze: leave as soon as it is on disk. 'netspool frozen thaw' sends it.
    --frozen-store <dir>: The folder of the frozen requests, one for all calls. Default: $XDG_STATE_HOME/netspool/tool, or ~/.local/state/netspool/tool.
    --lane <name>: Requests of one lane go one at a time, in order. Default: all to one origin are one lane.
    --dedupe <key>: As long as a request with this key waits, another one adds nothing and waits for it.
    --tag <name>: A name of your own for it, shown by 'frozen list'.
    --expires <time>: Give up what could not be sent for this long: 12h, 7d. Default: 7d.
    --json-output: Print the ticket as one JSON object. The answer's body then goes nowhere unless --output names a file.

    # fetch
    -o, --output <dir|x.tar>: Write each body to a file in this folder, or into this tar, from the cache as from the network. Without it only the cache is filled.
    --results <x.jsonl>: Write one JSON object per URL to this file.
    --resume: Skip what the results file has as done, and go on writing it. Needs --results.
    --failed <x.txt>: Write the failed lines to this file; it can be the next run's list.
    --jobs <auto|n>: Transfers at once: auto, or 1 to 1024. Those that have waited a second for an answer do not count while others wait, up to as many again.
    --skip-existing: Leave out lines whose file is there already.
    --newer: Fetch what is newer than its file: asks with If-Modified-Since, and sets times as --remote-time.
    --tree <tree>: Folders below --output: flat, host, path (as in the URL), hash2 (256 of them, for very many files).
    --names <names>: What files are called that the list does not name: url (as it ends), header (as the server says), final (as the last URL of redirects ends).
    --shard-size <n|bytes>: Divide the tar: x-000000.tar, x-000001.tar, ... of so many items each, or with a unit of so many bytes.
    --continue inverts: Go on with files over 8 MiB that broke off, and leave their parts. It is so unless told otherwise.
    --per-origin <n>: At most this many at once to one origin. Default: adapts, up to 64.
    --rate <n/s>: Start at most this many: 50/s, 30/m, 10/h.
    --per-host-rate <n/s>: Start at most this many for one host: 2/s, 30/m, 10/h.
    --max-errors <n|p%>: Stop with status 3 after more than this many failures: 100, 5%. A share is judged from 100 lines on, and at the end.
    --images-only: A body that is not a whole image (PNG, JPEG, GIF, WebP, AVIF, HEIF, BMP) is a failure: no file, nothing cached.
    --thumbnail <pixels>: Write a thumbnail of each picture in its place, with no side longer than this. Needs the trait Images.
    --format <webp|jpeg|avif|png>: What thumbnails are written as. Default: webp.
    --fit <contain|cover>: Thumbnails with all of the picture (contain), or a square from its middle (cover). Default: contain.
    --robots: Fetch nothing that an origin's robots.txt (RFC 9309) keeps from machines of this User-Agent, and keep nothing whose X-Robots-Tag is noai, noimageai, noindex or none.
    --dry-run: Print what would be fetched, as URL, tab, name; what --resume, --skip-existing and tars have as done is left out. Nothing is sent or written; the cache is not asked.
    --checksum: Record the SHA-256 of each file in the results.
    --shard <i/n>: Take only this part of the list, counted from 0: 0/4 to 3/4. Default: from JOB_COMPLETION_INDEX and NETSPOOL_SHARDS, or SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT.
    --progress <progress>: Progress on standard error: auto (a bar on a terminal, a line every 10 s in a log), always, never, lines.
    -q, --quiet, -s, --silent: No progress, no failures, no summary; only what stops the job.
    --json: Print the summary as JSON on standard output.
    --no-cache: Neither read the cache nor fill it.
    --cache-size <bytes>: Let the cache take this much of the disk: 500M, 20G (binary units); 1 GiB unless told otherwise. What was used longest ago goes first.
    --rules <rules>: What counts as fresh: standard (RFC 9111), relaxed (an ETag lasts a day whatever the origin says).

    # instead-of-fetch
    -v, --verbose: 'netspool get -v' shows what is sent and received of one URL, --results what became of each
    -O, --remote-name: --output names a folder, and files in it are called as their URLs end
    -J, --remote-header-name: files are called as their URLs end, or as the list says
    -C, --continue-at: large files go on where they broke off; --no-continue for not
    -d, --data, -F, --form, -T, --upload-file: it sends no bodies; 'netspool post' does
    -X, --request: a list is asked with GET; 'netspool get -X' has other methods
    -I, --head: 'netspool get -I' shows the head of an answer; --har writes the heads of all
    -i, --include, -D, --dump-header: --har writes the heads of all answers
    -w, --write-out: --results writes a line of JSON for each URL, --json a summary
    -r, --range: --header 'Range: bytes=0-499' asks for a part of each
    -f, --fail: a status of 400 and more is a failure, and its body goes nowhere
    -S, --show-error: --quiet tells what stops the job all the same
    -z, --time-cond: --newer asks for what is newer than its file
    -Z, --parallel: --jobs says how many transfers there are at once
    -N, --no-buffer: files appear when they are whole
    -j: --jobs has no letter
    -G, --get: write the query into the URLs
    -:, --next: a list has one set of options

    # refused
    --location-trusted: secrets go to the server that they are for alone
    --path-as-is: '/../' is taken out of every path
    --proxy-digest, --proxy-ntlm, --proxy-anyauth, --proxy-negotiate: a proxy is told who asks by Basic, or by the user in its URL
    --proxy-header: a proxy is told nothing but --proxy-user
    -p, --proxytunnel: https goes through a proxy by CONNECT, http does not
    -Z, --parallel: 'netspool fetch' takes a list, many at once
    -0, --http1.0: HTTP/1.1 is the oldest version
    --negotiate: there is no Kerberos here
    --crlfile: there are no lists of revoked certificates here
    --tlsv1.0, --tlsv1.1, --sslv3: TLS 1.2 is the oldest version
    --ftp-ssl: only http and https are known here
    --speed-limit, --speed-time: a body slower than 100 bytes/s for 30 s has stalled, always
    --ignore-content-length: a length that is wrong is an error
    --raw: bodies are decoded; --no-compressed asks for none that must be
    """
}
