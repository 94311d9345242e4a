#!/bin/bash
# Runs the judge and turns the last line that it prints into Harbor's reward.
# Programs by absolute path, and nothing of the environment: what the agent left on PATH or in
# NODE_OPTIONS has no say here.
set -u
umask 022
export PATH=/usr/local/bin:/usr/bin:/bin
readonly node=/usr/local/bin/node
readonly verifier=/logs/verifier

# A process that the submission left running could rewrite the reward, or these files, while we judge.
# Such a process is an orphan: a child of process 1, but of another session than the container's own processes.
# Ours and our ancestors are not; the services of a virtual machine with a real init are left alone.
look_at() { # sets parent and session
  local key value
  parent= session=
  { while read -r key value; do
    case $key in
      PPid:) parent=$value ;;
      NSsid:) session=$value; break ;;
    esac
  done < "/proc/$1/status"; } 2> /dev/null
}

end_orphans() {
  local init parent session own=" " pid=$$ entry found round
  read -r init < /proc/1/comm
  case $init in systemd | init) return ;; esac
  while [ "${pid:-0}" -gt 1 ]; do
    own="$own$pid "
    look_at "$pid"
    pid=$parent
  done
  for round in 1 2 3 4 5; do
    found=no
    for entry in /proc/[0-9]*; do
      pid=${entry#/proc/}
      look_at "$pid"
      if [ "$parent" = 1 ] && [ "$session" != 1 ] && [ "${own#* "$pid" }" = "$own" ]; then
        kill -KILL "$pid" 2> /dev/null && found=yes
      fi
    done
    [ "$found" = no ] && return
  done
}

write_reward() {
  /bin/rm -rf "$verifier/reward.txt" "$verifier/reward.json"
  printf '%s\n' "$1" > "$verifier/.reward.$$"
  /bin/mv -f "$verifier/.reward.$$" "$verifier/reward.txt"
}

end_orphans
[ -L "$verifier" ] && /bin/rm -f "$verifier"
/bin/mkdir -p "$verifier"
output=$(/bin/mktemp "$verifier/judge-output.XXXXXX")

cd /
/usr/bin/env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 "$node" /tests/judge.mjs > "$output"
end_orphans
/bin/cat "$output"

if reward=$(/usr/bin/env -i PATH="$PATH" "$node" /tests/judge-utils.mjs reward "$output"); then
  write_reward "$reward"
else
  echo "[test] the judge could not judge: the reward is 0 ([judge] on_error = \"zero\")" >&2
  write_reward 0
fi
/bin/rm -f "$output"
