#!/bin/sh
# First process of an agent's container. It runs as root with few capabilities, so it cannot read or write files of
# other users. Then it starts the agent program as `developer`.
#
# The agent program keeps the capabilities SETUID and SETGID to start a read-only turn as another user. Its other
# children get none: setpriv --ambient-caps=-all --inh-caps=-all.
home=/home/developer
keys=$home/.roost/keys
umask 022

# Root owns a volume that was not filled from the image.
[ ! -O "$home" ] || chown 1000:1000 "$home"

# In the background, so that the agent's start neither waits for its SSH server nor fails with it.
(
  # `developer` owns the parent folder, so this path may be missing or anything else.
  if [ -L "$keys" ] || [ ! -d "$keys" ] || [ ! -O "$keys" ]; then
    setpriv --reuid 1000 --regid 1000 --clear-groups \
      sh -c 'umask 022 && { [ ! -e "$1" ] && [ ! -L "$1" ] || mv "$1" "$1.$$"; } && mkdir -p "$1"' sh "$keys"
    chown -h 0:0 "$keys" && chmod 0700 "$keys"
  fi
  [ -s "$keys/ssh_host_ed25519_key" ] ||
    { rm -f "$keys"/ssh_host_ed25519_key* && ssh-keygen -q -t ed25519 -N '' -C '' -f "$keys/ssh_host_ed25519_key"; }
  # Without the platform's variables, because a login must not inherit the agent's key.
  exec env -i PATH="$PATH" /usr/sbin/sshd -D -e -f /opt/roost/images/agent/sshd_config
) &

export HOME=$home USER=developer LOGNAME=developer SHELL=/bin/bash
# A signal must not open the debugger, which would give its caller the program's rights.
# tini runs as `developer` too: as root without the capability KILL it could not forward signals.
exec setpriv --reuid 1000 --regid 1000 --init-groups \
  --inh-caps=+setuid,+setgid --ambient-caps=+setuid,+setgid \
  tini -- node --disable-sigusr1 /opt/roost/agent/src/start.ts "$@"
