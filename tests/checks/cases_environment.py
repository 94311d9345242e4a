"""Faults in Dockerfiles, contexts, ignore files and compose files."""

from tests.checks.cases import Draft, bad, near

DOCKER = "environment/Dockerfile"
COMPOSE = "environment/docker-compose.yaml"


@bad("dockerfile-syntax", where=DOCKER, line=5)
def lost_continuation(t: Draft) -> None:
    t.append(DOCKER, "RUN apt-get update &&\n    apt-get install -y git=1:2.39.5\n")


@bad("dockerfile-syntax", where=DOCKER)
def no_from(t: Draft) -> None:
    t.change(DOCKER, "FROM debian:bookworm-20260101\n", "")


@near("dockerfile-syntax")
def long_run(t: Draft) -> None:
    t.append(
        DOCKER,
        'RUN true && \\\n# a remark\n\n    echo \'FROM\' && \\\n    true\nRUN <<END\nif true; then echo; fi\nEND\nSHELL ["/bin/bash", "-c"]\n',
    )


@bad("copy-source-missing", where=DOCKER, line=4)
def copies_nothing(t: Draft) -> None:
    t.append(DOCKER, "COPY tools/ /opt/tools/\n")


@bad("copy-source-missing", where="environment/.dockerignore", line=2)
def ignored_source(t: Draft) -> None:
    t.write("environment/.dockerignore", "# from another project\ndata\n")


@bad("copy-source-missing", where="environment/.dockerignore", line=1)
def ignored_input(t: Draft) -> None:
    t.write("environment/.dockerignore", "**/*.txt\n")
    t.write("environment/data/other.csv", "1\n")


@near("copy-source-missing")
def ignored_rest(t: Draft) -> None:
    t.write("environment/.dockerignore", "**\n!data/*.txt\n")
    t.write("environment/data/draft.md", "not needed\n")


@near("copy-source-missing")
def globs_and_stages(t: Draft) -> None:
    t.change(DOCKER, "FROM debian", "FROM debian:bookworm-20260101 AS tools\nRUN true\nFROM debian")
    t.append(
        DOCKER,
        "COPY data/p*m.txt /app/more/\nCOPY --from=tools /bin/true /opt/true\nADD https://files.example.net/x /opt/x\n",
    )


@bad("ignored-by-git", where=".gitignore", line=2)
def ignored_data(t: Draft) -> None:
    t.write(".gitignore", "node_modules\n*.txt\n")


@bad("ignored-by-git", where="environment/.gitignore", line=1)
def ignored_deeper(t: Draft) -> None:
    t.write("environment/.gitignore", "/data/\n")


@near("ignored-by-git")
def taken_in_again(t: Draft) -> None:
    t.write(".gitignore", "*.txt\n!environment/data/*.txt\n!tests/*.txt\n*.pyc\n__pycache__/\n")
    t.write("tests/__pycache__/x.pyc", b"\0")


@near("ignored-by-git")
def tracked_all_the_same(t: Draft) -> None:
    t.write("environment/data/.gitignore", "*.txt\n")
    t.git("", "init", "-q", "-b", "main")
    t.git("", "add", "--force", ".")


@bad("run-not-executable", where=DOCKER, line=4)
def runs_plain_file(t: Draft) -> None:
    t.write("environment/data/setup.sh", "#!/bin/sh\nexit 0\n")
    t.append(DOCKER, "RUN /app/data/setup.sh\n")


@bad("run-not-executable", where=DOCKER, line=5)
def entrypoint_relative(t: Draft) -> None:
    t.write("environment/start.sh", "#!/bin/sh\nexec sleep infinity\n")
    t.append(DOCKER, 'COPY start.sh .\nENTRYPOINT ["./start.sh"]\n')


@bad("run-not-executable")
def bit_lost_in_index(t: Draft) -> None:
    t.write("environment/data/setup.sh", "#!/bin/sh\nexit 0\n", 0o644)
    t.git("", "init", "-q", "-b", "main")
    t.git("", "add", ".")
    (t.root / "environment/data/setup.sh").chmod(0o755)
    t.append(DOCKER, "RUN /app/data/setup.sh\n")


@near("run-not-executable")
def called_in_other_ways(t: Draft) -> None:
    t.write("environment/data/setup.sh", "#!/bin/sh\nexit 0\n")
    t.write("environment/run.sh", "#!/bin/sh\nexit 0\n", 0o755)
    t.append(
        DOCKER,
        "RUN bash /app/data/setup.sh\nRUN chmod +x /app/data/*.sh && /app/data/setup.sh\n"
        "COPY --chmod=755 data/setup.sh /opt/\nRUN /opt/setup.sh\nCOPY run.sh /usr/local/bin/run\nRUN /usr/local/bin/run\n",
    )


@bad("large-context", where="environment")
def sparse_blob(t: Draft) -> None:
    with (t.root / "environment/data/blob.bin").open("wb") as stream:
        stream.truncate(3 << 30)


@near("large-context")
def large_but_ignored(t: Draft) -> None:
    with (t.root / "environment/blob.bin").open("wb") as stream:
        stream.truncate(3 << 30)
    t.write("environment/.dockerignore", "*.bin\n")


@bad("unpinned-image", where=DOCKER, line=1, select="unpinned-image")
def only_a_tag(t: Draft) -> None:
    t.append(DOCKER, "")


@near("unpinned-image", select="unpinned-image")
def by_digest(t: Draft) -> None:
    t.change(DOCKER, "bookworm-20260101", f"bookworm-20260101@sha256:{'0' * 64}")


@bad("floating-image", where=DOCKER, line=1)
def no_tag(t: Draft) -> None:
    t.change(DOCKER, "debian:bookworm-20260101", "debian")


@bad("floating-image", where="task.toml")
def latest_image(t: Draft) -> None:
    t.change("task.toml", "cpus = 1", 'cpus = 1\ndocker_image = "hub.example.net:5000/judge:latest"')


@near("floating-image")
def tag_by_argument(t: Draft) -> None:
    t.change(
        DOCKER,
        "FROM debian:bookworm-20260101",
        "ARG TAG=bookworm-20260101\nFROM debian:${TAG} AS base\nFROM base",
    )


@bad("unpinned-python-dependency", where=DOCKER, line=4)
def pip_without_version(t: Draft) -> None:
    t.append(DOCKER, "RUN pip install --no-cache-dir requests\n")


@bad("unpinned-python-dependency", where="solution/solve.sh")
def solve_without_version(t: Draft) -> None:
    t.change("task.toml", '"no-network"', '"public"')
    t.append("solution/solve.sh", "python3 -m pip install requests\n")


@near("unpinned-python-dependency")
def pip_with_version(t: Draft) -> None:
    t.append(
        DOCKER,
        "RUN pip install requests==2.32.0 'numpy>=2,<3' -r requirements.txt ./local && pip install --upgrade pip\n",
    )


@bad("unpinned-node-dependency", where=DOCKER, line=4)
def npm_without_version(t: Draft) -> None:
    t.append(DOCKER, "RUN npm install -g pnpm @scope/tool@latest\n")


@near("unpinned-node-dependency")
def npm_with_version(t: Draft) -> None:
    t.append(
        DOCKER,
        "ARG V=1.0.0\nRUN npm install -g pnpm@11.24.0 @scope/tool@1.0.0 && npm install -g x@$V ./local && npm ci\n",
    )


@bad("platform-pinned", where=DOCKER, line=1)
def amd64_only(t: Draft) -> None:
    t.change(DOCKER, "FROM debian", "FROM --platform=linux/amd64 debian")


@near("platform-pinned")
def platform_of_builder(t: Draft) -> None:
    t.change(DOCKER, "FROM debian", "FROM --platform=$BUILDPLATFORM debian")


@bad("unknown-user", where="task.toml", line=8)
def agent_unknown(t: Draft) -> None:
    t.change("task.toml", "[agent]\n", '[agent]\nuser = "agent"\n')


@bad("unknown-user", where=DOCKER, line=4)
def user_unknown(t: Draft) -> None:
    t.append(DOCKER, "USER builder\n")


@bad("unknown-user", where=DOCKER, line=4)
def owner_unknown(t: Draft) -> None:
    t.append(DOCKER, "COPY --chown=agent:agent data/ /home/data/\n")


@near("unknown-user")
def user_made(t: Draft) -> None:
    t.append(DOCKER, "RUN useradd --create-home agent\nUSER 1000:1000\nUSER nobody\n")
    t.change("task.toml", "[agent]\n", '[agent]\nuser = "agent"\n')
    t.change("task.toml", "[verifier]\n", "[verifier]\nuser = 0\n")


@bad("missing-workdir", where="task.toml")
def workdir_nowhere(t: Draft) -> None:
    t.change("task.toml", "cpus = 1", 'cpus = 1\nworkdir = "/workspace"')


@near("missing-workdir")
def workdir_made(t: Draft) -> None:
    t.change("task.toml", "cpus = 1", 'cpus = 1\nworkdir = "/app/data"')


# ---------------------------------------------------------------- compose


def _compose(t: Draft, service: str, more: str = "") -> None:
    t.write(COMPOSE, f"services:\n  main:\n    build: {{context: .}}\n{service}{more}")


@bad("compose-syntax", where=COMPOSE)
def broken_yaml(t: Draft) -> None:
    t.write(COMPOSE, "services: [main\n")


@bad("compose-syntax")
def no_services(t: Draft) -> None:
    t.write(COMPOSE, "version: '3'\n")


@near("compose-syntax")
def plain_compose(t: Draft) -> None:
    _compose(t, "    environment: {A: b}\n    expose: ['8080']\n")


@bad("compose-fixed-name", where=COMPOSE, line=4)
def container_name(t: Draft) -> None:
    _compose(t, "    container_name: words\n")


@bad("compose-fixed-name")
def named_network(t: Draft) -> None:
    _compose(t, "", "networks:\n  inner:\n    name: words-net\n")


@near("compose-fixed-name")
def own_network(t: Draft) -> None:
    _compose(t, "    container_name: ${NAME}\n", "networks:\n  inner: {}\nvolumes:\n  data:\n")


@bad("compose-host-port", where=COMPOSE, line=4)
def fixed_host_port(t: Draft) -> None:
    _compose(t, "    ports: ['127.0.0.1:8080:80/tcp']\n")


@bad("compose-host-port")
def host_network(t: Draft) -> None:
    _compose(t, "    network_mode: host\n")


@near("compose-host-port")
def any_host_port(t: Draft) -> None:
    _compose(t, "    ports: ['80', {target: 81}]\n")


@bad("compose-privileged", where=COMPOSE, line=4)
def privileged(t: Draft) -> None:
    _compose(t, "    privileged: true\n    pid: host\n")


@near("compose-privileged")
def not_privileged(t: Draft) -> None:
    _compose(t, "    privileged: false\n")


@bad("compose-additional-capabilities", where=COMPOSE, line=4)
def more_capabilities(t: Draft) -> None:
    _compose(t, "    cap_add: [SYS_ADMIN]\n")


@near("compose-additional-capabilities")
def default_capability(t: Draft) -> None:
    _compose(t, "    cap_add: [CAP_CHOWN]\n    cap_drop: [ALL]\n")


@bad("compose-external-bind-mount", where=COMPOSE, line=4)
def docker_socket(t: Draft) -> None:
    _compose(t, "    volumes: ['/var/run/docker.sock:/var/run/docker.sock:ro']\n")


@near("compose-external-bind-mount")
def named_volume(t: Draft) -> None:
    _compose(
        t,
        "    volumes: ['data:/data', '${HOST_VERIFIER_LOGS_PATH}:/logs/verifier']\n",
        "volumes: {data: {}}\n",
    )


@bad("compose-writable-bind-mount", where=COMPOSE, line=4)
def writable_mount(t: Draft) -> None:
    _compose(t, "    volumes: ['./data:/app/data']\n")


@near("compose-writable-bind-mount")
def read_only_mount(t: Draft) -> None:
    _compose(
        t, "    volumes: ['./data:/app/data:ro', {type: bind, source: ./data, target: /d, read_only: true}]\n"
    )


@bad("compose-symlink-bind-mount")
def mounts_link(t: Draft) -> None:
    t.link("environment/current", "data")
    _compose(t, "    volumes: ['./current:/app/data:ro']\n")


@near("compose-symlink-bind-mount")
def mounts_folder(t: Draft) -> None:
    t.link("environment/current", "data")
    _compose(t, "    volumes: ['./data:/app/data:ro']\n")


@bad("compose-context-leak", "copy-source-missing", where=COMPOSE, line=3)
def built_from_root(t: Draft) -> None:
    t.write(COMPOSE, "services:\n  main:\n    build: {context: .., dockerfile: environment/Dockerfile}\n")


@near("compose-context-leak")
def built_from_below(t: Draft) -> None:
    t.write("environment/side/Dockerfile", "FROM debian:bookworm-20260101\n")
    t.write(COMPOSE, "services:\n  main:\n    build: .\n  side:\n    build: {context: ./side}\n")
