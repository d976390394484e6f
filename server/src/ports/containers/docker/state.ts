import type { ContainerInspectInfo } from 'dockerode'
import type { ContainerState } from '../port.ts'

/** Converts the engine's inspection to the port's type. */
export function containerState(info: ContainerInspectInfo): ContainerState {
  const status = statusOf(info.State.Status)
  return {
    id: info.Id,
    name: info.Name.replace(/^\//, ''),
    labels: info.Config.Labels ?? {},
    status,
    waiting: null,
    exitCode: status === 'stopped' ? info.State.ExitCode : null,
    // The engine also sets this flag when only a child process was killed.
    oomKilled: status === 'stopped' && info.State.OOMKilled && info.State.ExitCode !== 0,
    startedAt: timeOrNull(info.State.StartedAt),
    volumes: (info.Mounts ?? []).flatMap((mount) =>
      mount.Type === 'volume' && mount.Name ? [mount.Name] : [],
    ),
  }
}

function statusOf(word: string): ContainerState['status'] {
  switch (word) {
    case 'created':
    case 'configured':
    case 'initialized':
      return 'created'
    case 'running':
    case 'paused':
      return 'running'
    // `restarting` is the pause between an exit and the next start; nothing runs then.
    default:
      return 'stopped'
  }
}

/** The engine uses the year 1 for "never". */
function timeOrNull(text: string): string | null {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() < 1970 ? null : time.toISOString()
}
