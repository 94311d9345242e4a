# shellcheck shell=bash
# The project's own Python environment, and Node.js for `node --check`.

venv=$root/.venv

find_python() {
  local candidate
  for candidate in python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  note "no Python 3.11 or later on PATH"
  return 1
}

# What the installation depends on: the project's declaration, where it lies and the interpreter.
environment_stamp() {
  { cat "$root/pyproject.toml" && printf '%s\n' "$root" && "$venv/bin/python" -VV; } 2>/dev/null | sha256sum
}

environment_is_current() {
  [[ -x $venv/bin/author && -f $venv/.setup-stamp ]] && [[ $(<"$venv/.setup-stamp") == "$(environment_stamp)" ]]
}

python_environment() {
  local python
  if environment_is_current; then
    note "unchanged"
    return
  fi
  if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null || apt_install "$(basename "$(readlink -f "$python")")-venv"
    "$python" -m venv --clear "$venv"
  fi
  # --group came with pip 25.1.
  "$venv/bin/python" -m pip install -q --disable-pip-version-check --upgrade 'pip>=25.1'
  (cd "$root" && "$venv/bin/python" -m pip install -q --disable-pip-version-check --editable . --group dev)
  environment_stamp >"$venv/.setup-stamp"
  note "$("$venv/bin/python" -V)"
}

host_tools() {
  local missing=()
  command -v git >/dev/null || missing+=(git)
  command -v node >/dev/null || missing+=(nodejs)
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
  note "git $(git --version | cut -d' ' -f3), node $(node --version)"
}

# For the tests of what a person sees in a browser, and of a judge under another clock.
browser() {
  local missing=()
  command -v chromium >/dev/null || missing+=(chromium)
  command -v chromedriver >/dev/null || missing+=(chromium-driver)
  compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null || missing+=(libfaketime)
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
  note "$(chromium --version 2>/dev/null | cut -d' ' -f1-2)"
}
