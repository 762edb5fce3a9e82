# The Debian package: a Python environment with exactly the locked packages in /opt/orrery, the units, and one launcher.
# shellcheck shell=bash

# deb FOLDER: two builds of one commit on one release of Debian are the same, byte by byte. LEVEL is how hard it is
# packed: the rehearsal of the tests packs once and unpacks once.
deb() {
  local into=${1:-dist} stage python version next file
  into=$(mkdir -p "$into" && readlink -f "$into")
  python=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') || fail "A package is built with Debian's own python3."
  next=3.$((${python#3.} + 1))
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y pyproject.toml)
  export SOURCE_DATE_EPOCH
  version=$(deb_version)
  STAGE=$(mktemp -d)
  trap 'rm -rf "$STAGE"' EXIT
  stage=$STAGE/tree
  step "virtual environment" make_deb_environment "$stage/opt/orrery" || fail "The environment could not be made; see above."
  step "locked packages" install_in_deb "$stage/opt/orrery" || fail "The locked packages could not be installed; see above."
  step "settings of the package" describe_deb "$stage" "s/@VERSION@/$version/; s/@PYTHON@/$python/; s/@NEXT_PYTHON@/$next/"
  file=$into/orrery_${version}_$(dpkg --print-architecture).deb
  step "package" pack_deb "$stage" "$file" || fail "The package could not be made; see above."
  note "${BOLD}$file${PLAIN} ${DIM}$(sha256sum "$file" | cut -d' ' -f1)${PLAIN}"
}

# The release's own version for the commit that has its tag. Any other commit adds its time and its name: by `~` it sorts
# below the release that it leads to, by `+` above the one that it follows.
deb_version() {
  local release commit
  release=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
  commit=git$(TZ=UTC printf '%(%Y%m%d%H%M%S)T' "$SOURCE_DATE_EPOCH").$(git rev-parse --short=8 HEAD 2>/dev/null || true)
  case $(git describe --tags --match "v$release" --always 2>/dev/null) in
    '' | "v$release") echo "$release" ;;
    v*) echo "$release+$commit" ;;
    *) echo "$release~$commit" ;;
  esac
}

make_deb_environment() { mkdir -p "$1" && /usr/bin/python3 -m venv --without-pip --symlinks "$1"; }

# The demo is in it, for the first look, and the client of PostgreSQL.
install_in_deb() {
  local here=$1
  "$PY" -m hatchling build -t wheel -d "$STAGE/wheel" &&
    .venv/bin/uv pip install --quiet --python "$here/bin/python3" --link-mode copy --no-compile-bytecode --require-hashes \
      --only-binary :all: -r requirements-demo.lock -r requirements-postgres.lock &&
    .venv/bin/uv pip install --quiet --python "$here/bin/python3" --link-mode copy --no-compile-bytecode --no-deps "$STAGE"/wheel/*.whl
}

# What remembers the folder of the build goes; one launcher stays.
describe_deb() {
  local stage=$1 here=$1/opt/orrery unit
  find "$here/bin" -mindepth 1 ! -name 'python*' -delete
  printf '%s\n' '#!/opt/orrery/bin/python3 -I' 'from orrery.__main__ import main' 'main()' >"$here/bin/orrery"
  chmod 755 "$here/bin/orrery"
  find "$here" \( -name direct_url.json -o -name uv_cache.json -o -name RECORD -o -name .lock -o -name .gitignore \) -delete
  sed -i '/^command = /d' "$here/pyvenv.cfg"
  mkdir -p "$stage"/usr/{bin,share/orrery,share/doc/orrery} "$stage/lib/systemd/system" "$stage/DEBIAN"
  ln -s /opt/orrery/bin/orrery "$stage/usr/bin/orrery"
  cp LICENSE "$stage/usr/share/doc/orrery/copyright"
  gzip -9nc CHANGELOG.md >"$stage/usr/share/doc/orrery/changelog.gz"
  cp deploy/edge/nginx.conf "$stage/usr/share/orrery/"
  for unit in deploy/systemd/*; do
    sed 's|/opt/orrery/.venv/bin/orrery|/usr/bin/orrery|' "$unit" >"$stage/lib/systemd/system/${unit##*/}"
  done
  sed "$2; s/@ARCHITECTURE@/$(dpkg --print-architecture)/" deploy/debian/control >"$stage/DEBIAN/control"
  install -m 755 deploy/debian/{postinst,prerm,postrm} "$stage/DEBIAN/"
}

# Bytecode that asks for no file's time: the package's files have the commit's.
pack_deb() {
  local stage=$1 file=$2
  "$stage/opt/orrery/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash -s "$stage" -p / "$stage/opt/orrery/lib" &&
    chmod -R u+rwX,go=rX "$stage/opt" "$stage/usr" "$stage/lib" &&
    (cd "$stage" && find opt usr lib -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums) &&
    find "$stage" -depth -print0 | xargs -0 touch -hd "@$SOURCE_DATE_EPOCH" &&
    dpkg-deb --root-owner-group -Zzstd "-z${LEVEL:-10}" --build "$stage" "$file"
}
