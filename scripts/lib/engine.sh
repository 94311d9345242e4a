# shellcheck shell=bash
# A container engine: the one that answers, else Debian's, started here. Its data lie in one machine-wide folder, so images survive a clone.

state=$(machine_state_dir)
engine_dir=$state/engine
engine_socket=/var/run/docker.sock
engine_wait_s=90

engine_answers() { timeout 15 docker info >/dev/null 2>&1; }

describe_engine() {
  local builder="classic builder"
  docker buildx version >/dev/null 2>&1 && builder="BuildKit by buildx"
  printf '%s, %s' "$(docker version --format '{{.Server.Version}}')" "$builder"
}

# The process that an earlier set-up started, when it is alive and really is the daemon with our folder (numbers are reused).
our_daemon() {
  local pid
  [[ -s $engine_dir/docker.pid ]] || return 1
  pid=$(<"$engine_dir/docker.pid")
  tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -q -- "dockerd .*--data-root $engine_dir/data" || return 1
  printf '%s\n' "$pid"
}

engine() {
  if engine_answers; then
    note "$(describe_engine), already running"
    return
  fi
  if [[ -n ${DOCKER_HOST:-} && ${DOCKER_HOST} != "unix://$engine_socket" ]]; then
    note "DOCKER_HOST=$DOCKER_HOST does not answer: start that engine, or unset DOCKER_HOST"
    return 1
  fi
  install_engine
  if engine_answers; then # the package may have started it
    note "$(describe_engine), started by its package"
    return
  fi
  if [[ -d /run/systemd/system ]] && systemctl start docker && engine_answers; then
    note "$(describe_engine), started by systemd"
    return
  fi
  [[ $(id -u) == 0 ]] || {
    note "no engine answers, and only root may start one"
    return 1
  }
  start_daemon || retry_with_legacy_iptables
  note "$(describe_engine), started; data and log in $engine_dir"
}

install_engine() {
  local packages=()
  command -v dockerd >/dev/null || packages+=(docker.io)
  command -v iptables >/dev/null || packages+=(iptables)
  apt_update_if_possible
  # Later Debian releases ship the client and BuildKit apart.
  if ! command -v docker >/dev/null && has_candidate docker-cli; then packages+=(docker-cli); fi
  if ! docker buildx version >/dev/null 2>&1 && has_candidate docker-buildx; then packages+=(docker-buildx); fi
  ((${#packages[@]} == 0)) || apt_install "${packages[@]}"
}

apt_update_if_possible() {
  [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null && apt_update
  return 0
}

start_daemon() {
  local pid deadline=$((SECONDS + engine_wait_s))
  mkdir -p "$engine_dir"
  if ! pid=$(our_daemon); then
    # A daemon that was killed leaves numbers of processes that may be others' by now.
    rm -f "$engine_dir/docker.pid" "$engine_dir"/run/containerd/containerd.pid
    : >"$engine_dir/dockerd.log"
    setsid nohup dockerd -H "unix://$engine_socket" --data-root "$engine_dir/data" --exec-root "$engine_dir/run" \
      --pidfile "$engine_dir/docker.pid" </dev/null >>"$engine_dir/dockerd.log" 2>&1 9>&- &
    pid=$!
  fi
  until engine_answers; do
    if ! kill -0 "$pid" 2>/dev/null; then
      tail -n 15 "$engine_dir/dockerd.log"
      note "dockerd ended; its log: $engine_dir/dockerd.log"
      return 1
    fi
    if ((SECONDS > deadline)); then
      tail -n 15 "$engine_dir/dockerd.log"
      note "dockerd (process $pid) has not answered for $engine_wait_s s; end it with: kill $pid; its log: $engine_dir/dockerd.log"
      return 1
    fi
    sleep 0.2
  done
}

# Kernels without nf_tables refuse the default iptables; the legacy one of the same package may work.
retry_with_legacy_iptables() {
  grep -qiE 'iptables|nf_tables' "$engine_dir/dockerd.log" || return 1
  update-alternatives --set iptables /usr/sbin/iptables-legacy
  start_daemon
}

# Ends the daemon that a set-up started, and no other.
stop_engine() {
  local pid
  if ! pid=$(our_daemon); then
    note "none that this project started"
    return
  fi
  kill "$pid"
  timeout 60 tail --pid="$pid" -f /dev/null
  note "process $pid ended"
}
