# shellcheck shell=bash
# What every script here shares: progress lines, Debian packages, the machine-wide state folder and its lock.

# Kept across clones: the engine's data, its log, the lock. A folder of the user where the machine's cannot be written.
machine_state_dir() {
  if [[ -n ${HARBOR_AUTHOR_STATE:-} ]]; then
    printf '%s\n' "$HARBOR_AUTHOR_STATE"
  elif [[ $(id -u) == 0 ]]; then
    printf '/var/lib/harbor-author\n'
  else
    printf '%s\n' "${XDG_STATE_HOME:-$HOME/.local/state}/harbor-author"
  fi
}

say() { printf '%s: %s\n' "${script_name:-setup}" "$*" >&2; }

fail() {
  say "$*"
  exit 2
}

# note TEXT: what the running step has to tell; it ends up on the step's one line.
note() { printf '%s' "$*" >"$step_dir/note"; }

# step LABEL FUNCTION [ARG...]: run the function with errexit, its output in a log; print one line, and the log's end when it fails.
step() {
  local label=$1 start=$SECONDS status
  shift
  : >"$step_dir/note"
  set +e # a function called in a condition would run without errexit
  (
    set -e
    "$@"
  ) >"$step_dir/log" 2>&1 </dev/null
  status=$?
  set -e
  if ((status != 0)); then
    tail -n 25 "$step_dir/log" | sed 's/^/  | /' >&2
    fail "$label: failed$(note_suffix)"
  fi
  say "$label: ok$(note_suffix), $((SECONDS - start)) s"
}

note_suffix() {
  [[ -s $step_dir/note ]] && printf ' (%s)' "$(<"$step_dir/note")"
  return 0
}

# apt_install PACKAGE...: as root, waiting for another package manager, with the package lists renewed first.
apt_install() {
  command -v apt-get >/dev/null || {
    note "$* missing and no apt-get here: install by hand"
    return 1
  }
  [[ $(id -u) == 0 ]] || {
    note "$* missing: run as root, or install by hand"
    return 1
  }
  apt_update
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=600 "$@"
}

apt_update() {
  local lists=/var/lib/apt/lists
  # Renewed at most once an hour; an empty folder (a fresh image) counts as old.
  if [[ -z $(find "$lists" -maxdepth 1 -name '*_Packages*' -mmin -60 -print -quit 2>/dev/null) ]]; then
    apt-get update -qq -o DPkg::Lock::Timeout=600
  fi
}

# has_candidate PACKAGE: whether Debian offers it here.
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'; }

# lock PATH: hold the lock on this file or folder (descriptor 9) until the script ends. What is left running must close 9.
lock() {
  exec 9<"$1"
  flock -n 9 && return
  say "another set-up is at work here: waiting for it"
  flock 9
}
