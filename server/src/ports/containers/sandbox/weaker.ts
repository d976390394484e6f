/** Sentences about what a sandbox on this host lacks compared with an engine's container. */
export function weakerThanContainers(host: { isRoot: boolean; hasCgroups: boolean }): string[] {
  return [
    'Agents share the host’s programs and libraries, read-only, instead of their own image.',
    'System calls are not filtered: there is no seccomp or AppArmor profile.',
    'There is no SSH access and no internet access: agents reach only the platform.',
    'Full capabilities do not allow sudo.',
    'After a restart of the host agents start again with the platform, not by themselves.',
    ...(host.isRoot
      ? []
      : [
          'The platform runs as an ordinary user, so a read-only turn cannot run as a second user.',
          'Programs may be run from /tmp.',
        ]),
    ...(host.hasCgroups
      ? []
      : [
          'Memory and processes are limited per process, not for the whole agent, and CPU time is not limited.',
          'An end caused by the memory limit looks like any other end.',
        ]),
  ]
}
