#!/bin/sh
# First process of an agent's container. It runs as root with few capabilities, so it cannot read or write files of
# other users. Then it starts the agent program as `roost-agent`.
#
# The agent program keeps the capabilities SETUID, SETGID and CHOWN to run each person's turns as another user.
# Its children get none.
home=/home/developer
volume=/var/lib/roost
keys=$volume/keys
umask 022

# A runtime such as gVisor may have no ambient capabilities. Everything then runs as one user.
as_program='--reuid 900 --regid 1000 --groups 900,901,902,903,1001'
rights='--inh-caps=+setuid,+setgid,+chown --ambient-caps=+setuid,+setgid,+chown'
program_user=900
# shellcheck disable=SC2086
setpriv $as_program $rights setpriv --reuid 1000 /bin/true 2>/dev/null || program_user=1000

# Root owns a volume that was not filled from the image, and a new second volume.
[ ! -O "$home" ] || chown 1000:1000 "$home"
if [ -O "$volume" ]; then
  mkdir -p "$keys"
  # The agent program reads the public half of the host key; sshd keeps the private one readable by root only.
  chmod 0711 "$keys"
  chmod 0771 "$volume"
  chown "$program_user:$program_user" "$volume"
fi
# Another runtime may have given these folders to `roost-agent`.
[ "$program_user" = 900 ] || chown 1000:1000 "$volume" "$volume/program" "$volume/homes" 2>/dev/null || true

# Kubernetes creates it without the sticky bit, so that anybody could rename the folders of others.
chmod 1777 /tmp 2>/dev/null || true

# In the background, so that the agent's start neither waits for its SSH server nor fails with it.
(
  # Agents of earlier versions kept their host key in the workspace.
  earlier=$home/.roost/keys
  if [ ! -s "$keys/ssh_host_ed25519_key" ] && [ -O "$earlier" ] && [ ! -L "$earlier" ]; then
    cp -p "$earlier"/ssh_host_ed25519_key* "$keys/" && rm -f "$earlier"/*
  fi
  [ -s "$keys/ssh_host_ed25519_key" ] ||
    { rm -f "$keys"/ssh_host_ed25519_key* && ssh-keygen -q -t ed25519 -N '' -C '' -f "$keys/ssh_host_ed25519_key"; }
  # Without the platform's variables, because a login must not inherit the agent's key.
  exec env -i PATH="$PATH" /usr/sbin/sshd -D -e -f /opt/roost/images/agent/sshd_config
) &

export HOME=$home USER=developer LOGNAME=developer SHELL=/bin/bash
# A signal must not open the debugger, which would give its caller the program's rights.
# tini runs as `roost-agent` too: as root without the capability KILL it could not forward signals.
program='tini -- node --disable-sigusr1 /opt/roost/agent/src/start.ts'
# shellcheck disable=SC2086
[ "$program_user" != 900 ] || exec setpriv $as_program $rights $program "$@"
echo 'roost: this container runtime cannot keep the people who share an agent apart' >&2
# shellcheck disable=SC2086
exec setpriv --reuid 1000 --regid 1000 --init-groups $program "$@"
