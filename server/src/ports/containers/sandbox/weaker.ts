/** What a sandbox on this host lacks against a container of an engine, in sentences for people. */
export function weakerThanContainers(host: { isRoot: boolean; hasCgroups: boolean }): string[] {
  return [
    'Agents share the host’s programs and libraries, read-only, instead of an image of their own.',
    'System calls are not filtered: there is no seccomp or AppArmor profile.',
    'There is no SSH access, and no way out to the internet: agents reach the platform and nothing else.',
    'Full capabilities do not allow sudo.',
    'After a restart of the host agents come back when the platform starts, not by themselves.',
    ...(host.isRoot
      ? []
      : [
          'The platform runs as an ordinary user, so a read-only turn cannot run as a second user.',
          'Programs may be run from /tmp.',
        ]),
    ...(host.hasCgroups
      ? []
      : [
          'Memory and processes are limited for each process and not for the agent as a whole, and CPU time is not limited.',
          'An end by the memory limit cannot be told from other ends.',
        ]),
  ]
}
